"""`kveil check`: the risk of a raw table, and what a policy already forces on it, before any run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np

from kveil.algorithms.component import components_of
from kveil.algorithms.impossible import WhyImpossible
from kveil.algorithms.limits import is_bounded
from kveil.algorithms.proofs import count_never_kept, groups_at_limits, never_kept
from kveil.algorithms.registry import algorithms_honouring
from kveil.arrays import Ints
from kveil.attacker.risk import RawRisk, raw_risk
from kveil.databases import Place
from kveil.engines.choosing import check_on_spark
from kveil.errors import Refused
from kveil.files import Source, check_layout
from kveil.flow.steps.inputs import check_own_rules, store_for, table_of
from kveil.flow.steps.places import input_path
from kveil.policy.attributes import MaxWidth
from kveil.policy.components import most_suppressed
from kveil.policy.model import Policy
from kveil.policy.privacy import named_k
from kveil.progress import Progress, silent
from kveil.report.warn.bounds import (
    TELLING,
    bound_warning,
    expected_bounds,
    expected_told,
    grid_warning,
    span_columns,
)
from kveil.report.warn.promises import empty_promises
from kveil.report.warn.sheets import sheets_left_aside
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.verifier.label_ends import meaning
from kveil.verifier.labels import bands_that_run_over, untrue_ends
from kveil.words import count


class PartCheck(TypedDict):
    """A component at its limits: how many groups there are, the smallest, and how many are too small."""

    attributes: list[str]
    needs: int
    groups: int
    smallest: int
    too_small: int


class AttributeCheck(TypedDict):
    """What one boundary costs: records never kept without it, with it alone, with it one level up."""

    attribute: str
    without: int
    to_blame_for: int
    alone: int
    one_level_up: int
    saves: int


class BoundaryCheck(TypedDict):
    """What boundaries and models cost whatever an algorithm does: records never kept, and those that may fall."""

    never_kept: int
    falling: int
    limit: int
    components: list[PartCheck]
    attributes: list[AttributeCheck]


class PromiseCheck(TypedDict):
    """A promise that cannot be kept, by its position in the policy's `privacy`, and why."""

    privacy: int
    why: str


class Check(TypedDict):
    """What a policy forces on its table before any run; ``warnings`` are what it shows more of than one may think."""

    records: int
    individuals: int | None
    possible: bool
    impossible: list[str]
    impossible_promises: list[PromiseCheck]
    algorithms: list[str]
    boundaries: BoundaryCheck
    risk: RawRisk
    warnings: list[str]


def check_file(policy: Policy, *, given: Place | None = None, progress: Progress = silent) -> Check:
    """Return what a policy forces on its table; ``possible`` tells whether anything can meet it."""
    progress("reading")
    path = input_path(policy, given)
    if policy.engine == "spark":
        from kveil.flow.spark.by_tuples import read_tuples

        check_on_spark([path])
        check_layout(policy.data, "parquet", path.name)
        told = read_tuples(path, policy)
        return check_tuples(told.source, policy, told.table, records=told.records, progress=progress)
    return check_source(store_for(policy, path, progress=progress).read(policy, path), policy, progress=progress)


def check(frame: Any, policy: Policy) -> Check:
    """Return what a policy forces on a table before any run; ``possible`` tells whether anything can meet it."""
    return check_source(table_of(frame, policy), policy)


def risk(frame: Any, policy: Policy) -> RawRisk:
    """Return the risk of a table as it is: who is alone with what, and what would help; no value of the table."""
    return raw_risk(table_of(frame, policy), policy)


def check_source(source: Source, policy: Policy, *, progress: Progress = silent) -> Check:
    """Return what a policy forces on a table that has been read."""
    progress("encoding")
    return check_tuples(source, policy, encode(source, policy), records=source.rows, progress=progress)


def check_tuples(source: Source, policy: Policy, table: Table, *, records: int, progress: Progress = silent) -> Check:
    """Return what a policy forces on a table that has been encoded, whose rows may stand for several ``records``."""
    check_own_rules(source, policy)
    progress("testing the limits")
    boundaries = check_boundaries(table)
    why = WhyImpossible.of(source.name, table, out=boundaries["never_kept"], falling=boundaries["falling"])
    try:
        able = [algorithm.name for algorithm in algorithms_honouring(policy)]
    except Refused:
        able = []
    progress("looking for who is alone")
    return {
        "records": records,
        "individuals": None if table.persons is None else table.records,
        "possible": not why.sentences,
        "impossible": why.sentences,
        "impossible_promises": [{"privacy": each.position, "why": each.why} for each in why.promises],
        "algorithms": able,
        "boundaries": boundaries,
        "risk": raw_risk(source, policy, times=table.times),
        "warnings": [*sheets_left_aside(source), *_warnings(table)],
    }


def _warnings(table: Table) -> list[str]:
    """Return where the policy promises nothing, which labels mislead, and which spans will show exact extremes."""
    warnings = [*empty_promises(table.policy), *_labels_that_mislead(table.policy)]
    for name, spec in span_columns(table.policy).items():
        over = [model for model in table.policy.privacy if name in table.policy.attributes_of(model)]
        k = max((named_k(model) or 1 for model in over), default=1)
        position = table.names.index(name)
        scale, leaves = table.trees[position], table.leaves[position]
        if not isinstance(scale, Scale):
            continue
        known = (leaves if scale.missing is None else leaves[leaves != scale.missing]).astype(np.int64)
        when = f"in groups of k {k}"
        if spec.grid is not None:
            told = expected_told(known, scale.numbers, spec.grid, max(k, 1))
            warnings += [grid_warning(name, spec.grid, told, when)] if told > TELLING else []
        elif (share := expected_bounds(known, max(k, 1))) is not None:
            warnings.append(bound_warning(name, share, when))
    return warnings


def check_boundaries(table: Table) -> BoundaryCheck:
    """Return what boundaries and models already cost, whatever an algorithm does.

    ``never_kept``: records that fail k, distinct l or p even with every value at its limit; no release can hold them.
    ``falling``: the records of all groups that fail some model with every value at its limit. Under models other than
    these three an algorithm may lose fewer, since it may leave out a part of a group. For each bounded attribute, how
    many can never be kept without its boundary, with its boundary alone, and with it relaxed by one level: each limit
    at its parent, a largest width doubled.
    """
    bounded = [position for position in range(len(table.names)) if is_bounded(table, position)]
    out = count_never_kept(table)
    attributes: list[AttributeCheck] = []
    for position in bounded:
        others = [p for p in bounded if p != position]
        without = table.count(never_kept(_changed(table, [position], _no_limit)))
        alone = table.count(never_kept(_changed(table, others, _no_limit)))
        relaxed = table.count(never_kept(_changed(table, [position], _relaxed)))
        attributes.append(
            {
                "attribute": table.names[position],
                "without": without,
                "to_blame_for": out - without,
                "alone": alone,
                "one_level_up": relaxed,
                "saves": out - relaxed,
            }
        )
    parts: list[PartCheck] = []
    for component in components_of(table):
        groups = groups_at_limits(component)
        sizes = np.bincount(groups.group, weights=table.distinct.weights, minlength=groups.number)
        used = sizes[sizes > 0]
        parts.append(
            {
                "attributes": list(component.names),
                "needs": component.least_members,
                "groups": len(used),
                "smallest": int(used.min(initial=table.records)),
                "too_small": int((used < component.least_members).sum()),
            }
        )
    return {
        "never_kept": out,
        "falling": table.count(never_kept(table, certain=False)),
        "limit": most_suppressed(table.policy, table.records),
        "components": parts,
        "attributes": attributes,
    }


def _changed(table: Table, positions: list[int], change: Callable[[Table, int], Table]) -> Table:
    """Return a table with changed boundaries on some attributes."""
    for position in positions:
        table = change(table, position)
    return table


def _no_limit(table: Table, position: int) -> Table:
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return _with_limits(table, position, np.zeros_like(tree.limit_of))
    return _with_width(table, position, None)


def _relaxed(table: Table, position: int) -> Table:
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return _with_limits(table, position, tree.parent[tree.limit_of])
    boundary = table.policy.attributes[table.names[position]].boundary
    assert isinstance(boundary, MaxWidth)
    return _with_width(table, position, MaxWidth(max_width=2 * boundary.max_width))


def _with_limits(table: Table, position: int, limits: Ints) -> Table:
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    moved = replace(tree, moved_limits=limits)
    return table.changed(trees=(*table.trees[:position], moved, *table.trees[position + 1 :]))


def _with_width(table: Table, position: int, boundary: MaxWidth | None) -> Table:
    name, policy = table.names[position], table.policy
    attribute = policy.attributes[name].model_copy(update={"boundary": boundary})
    changed = policy.model_copy(update={"attributes": {**policy.attributes, name: attribute}})
    return table.changed(policy=changed)


def _labels_that_mislead(policy: Policy) -> list[str]:
    """Return which attributes have labels that are false of values below them: far from them, or by one."""
    warnings = []
    for name in (*policy.quasi_identifiers, *policy.generalized):
        fixed = policy.fixed_lines(name)
        untrue = [] if fixed is None else untrue_ends(fixed, policy.data.missing)
        if untrue:
            warnings.append(
                f"the hierarchy of {name} has {count(len(untrue), 'label')} with two ends that a value below lies "
                "outside of; a release that shows one is refused. Rename such labels by what holds for all of them."
            )
        over = [] if fixed is None else bands_that_run_over(fixed, policy.data.missing)
        if over:
            warnings.append(
                f"the hierarchy of {name} has {count(len(over), 'band')} of numbers that begin and end one number "
                f"later than said: {meaning(over[0])}. Rename such labels, or tell readers."
            )
    return warnings
