"""One person, many records: 1:M-generalization, and Partition alone.

Gong, Luo, Yang, Ni, Li 2017: people instead of records, then Partition for the fingerprints, then Mondrian for the
quasi-identifiers, in that order, since the other order breaks diversity. Partition leaves at least k people with
every fingerprint; Mondrian splits while no fingerprint has more than 1/l of a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from kveil.algorithms.algorithm import DivideOptions
from kveil.algorithms.classfly.classfly import ClassflyOptions, classfly_complete
from kveil.algorithms.component import components_of
from kveil.algorithms.limits import limit_groups
from kveil.algorithms.neighbourhoods import counted_rows, hide_with_neighbours, runs_to_leave_out
from kveil.algorithms.people.combinations import SharedCombinations, generalize_combinations
from kveil.algorithms.people.item_sets import bucketings, finest, generalize_items
from kveil.algorithms.people.person_order import canonical_fingerprints
from kveil.algorithms.splitting.mondrian import split_kept
from kveil.algorithms.stars import NOTHING_LEFT, nothing_left
from kveil.algorithms.suppression import LEFT_BEHIND, LeftOut, beyond_limit
from kveil.arrays import Bools, Ints
from kveil.errors import Unmeetable
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.measures import least_lossy, loss_of
from kveil.models.fingerprints import as_shown, fingerprints, sharers_of_fingerprints
from kveil.models.groups import AtLeastK
from kveil.models.of_policy import sensitive_pairs_of_rows
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.components import binding_sets, largest_k, most_suppressed
from kveil.policy.privacy import KAnonymity, KKmAnonymity, PrivacyModel, sensitive_of
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


class PeopleOptions(DivideOptions):
    """Options of 1:M-generalization and Partition.

    choose: how Mondrian chooses the attribute to split, see there. take_out: when Partition takes a single child out of
    a node instead of opening it: wherever that gains more (`gain`), or only where no node can be opened (`last`).
    """

    choose: Literal["widest", "gain"] = "widest"
    take_out: Literal["gain", "last"] = "gain"


def one_to_many(table: Table, options: PeopleOptions, rng: np.random.Generator) -> Solution:
    """Generalize the fingerprints by Partition, then the quasi-identifiers by Mondrian.

    People whose group of equal limits cannot be diverse are suppressed, only some neighbourhoods of it where that is
    enough; then fingerprints that have lost people are generalized again. Cost: that of Partition, O(items) for every
    node that is opened, and of Mondrian.
    """
    return _best(table, options, "1m-generalization")


def partition(table: Table, options: PeopleOptions, rng: np.random.Generator) -> Solution:
    """Generalize the fingerprints so that k people share each; quasi-identifiers only where a model asks for it."""
    return _best(table, options, "partition")


def _best(table: Table, options: PeopleOptions, name: str) -> Solution:
    """Return Mondrian's solution, or Classfly's where several constraints make that the better one."""
    policy = table.policy
    combinations = any(isinstance(model, KKmAnonymity) for model in policy.privacy)
    if len(binding_sets(policy)) < 2 or combinations or not all(isinstance(tree, Tree) for tree in table.trees):
        return _solve(table, options, name)
    other: Solution | None = None
    if table.records >= largest_k(policy):  # how Mondrian chooses does not matter to Classfly
        other = table.once(("by classfly", options.take_out), lambda: _by_classfly(table, options))
    try:
        first = _solve(table, options, name)
    except Unmeetable:
        if other is None:
            raise
        return other
    if other is None:
        return first
    return least_lossy(table, (first, other))


def _solve(table: Table, options: PeopleOptions, name: str) -> Solution:
    by_items = canonical_fingerprints(table)
    left_out = LeftOut(table, name)
    items: dict[str, Ints] = {}
    fewest = max((bucketing.k for bucketing in bucketings(table.policy)), default=0)
    while True:
        kept = left_out.kept
        if not _shared(table, items, kept):
            if int(kept.sum()) < fewest:
                raise beyond_limit(table, name, table.records, left_out.allowed)
            items = generalize_items(table, by_items[kept[by_items]], patient=options.take_out == "last")
        view, solution, shown = _split(table, items, kept, by_gain=options.choose == "gain")
        gone = solution.suppressed_anywhere & kept
        if gone.any():
            few = _too_much_alike(view, kept, left_out.remaining)
            if 0 < int(few.sum()) < int(gone.sum()):
                left_out.leave_out(few, "in a neighbourhood with too many of the same fingerprint")
            else:
                left_out.leave_out(gone, "too rare, or too much alike, within its boundaries")
            continue
        hidden = hide_with_neighbours(table, solution.shown, shown, kept)
        if not hidden.any():
            break
        left_out.leave_out(hidden, NOTHING_LEFT)
    details = {**solution.details, **_fingerprints_in(view, kept)}
    return Solution(solution.shown, solution.suppressed, left_out.reasons, details, items=shown)


class _SplitPeople(NamedTuple):
    """People split into classes, with what they show of their items; ``view`` is the table with these items."""

    view: Table
    solution: Solution
    items: dict[str, Ints]

    @property
    def with_items(self) -> Solution:
        """The solution with what people show of their items."""
        return replace(self.solution, items=self.items)


def _split(table: Table, items: dict[str, Ints], kept: Bools, *, by_gain: bool) -> _SplitPeople:
    """Split the kept people while every model holds.

    Where k of a class must share combinations of items, these are generalized in every class, and the larger classes
    are, the less: so smallest classes of several sizes are tried, and what loses least is taken.
    """
    view = as_shown(table, items)
    first = _SplitPeople(view, split_kept(view, kept, by_gain=by_gain)[0], items)
    combinations = [model for model in table.policy.privacy if isinstance(model, KKmAnonymity)]
    if not combinations or (first.solution.suppressed_anywhere & kept).any():
        return first
    names = [name for model in combinations for name in sensitive_of(model)]
    items = {**{name: finest(table, name) for name in names}, **items}
    best: _SplitPeople | None = None
    least, people = largest_k(table.policy), table.count(kept)
    while True:
        found = _sharing(_PeopleToSplit(table, kept, combinations, by_gain), items, least)
        if found is not None and (best is None or loss_of(table, found.with_items) < loss_of(table, best.with_items)):
            best = found
        if not table.names or 2 * least > people:
            break
        least *= 2
    if best is None:
        return first._replace(solution=replace(first.solution, suppressed=np.ones_like(first.solution.suppressed)))
    return best


class _PeopleToSplit(NamedTuple):
    """The people to split, the models about combinations of their items, and how Mondrian chooses."""

    table: Table
    kept: Bools
    combinations: Sequence[KKmAnonymity]
    by_gain: bool


def _sharing(asked: _PeopleToSplit, items: dict[str, Ints], least: int) -> _SplitPeople | None:
    """Split people into classes of at least so many, and generalize items until each class shares what it must.

    Coarser items may be too few different ones for another model: then people are split again as they show them. Items
    only ever become coarser, so that this ends. None where it does so without all models holding.
    """
    table, kept = asked.table, asked.kept
    while True:
        view = as_shown(table, items)
        solution, _ = split_kept(_with_classes_of(view, least), kept, by_gain=asked.by_gain)
        if (solution.suppressed_anywhere & kept).any():
            return None
        coarser = _share_combinations(asked, solution, items)
        view = as_shown(table, coarser)
        if bool(_all_hold(view, table, solution, coarser, kept)[kept].all()):
            return _SplitPeople(view, solution, coarser)
        if all(np.array_equal(coarser[name], items[name]) for name in coarser):
            return None
        items = coarser


def share_again(table: Table, solution: Solution, kept: Bools) -> Solution | None:
    """Return a solution with items as fine as its classes allow under the models about combinations, None for none."""
    combinations = [model for model in table.policy.privacy if isinstance(model, KKmAnonymity)]
    names = [name for model in combinations for name in sensitive_of(model)]
    asked = _PeopleToSplit(table, kept, combinations, by_gain=True)
    items = _share_combinations(asked, solution, {name: finest(table, name) for name in names})
    holding = _all_hold(as_shown(table, items), table, solution, items, kept)
    return replace(solution, items=items) if bool(holding[kept].all()) else None


def _with_classes_of(view: Table, least: int) -> Table:
    """Return a table whose classes must have so many people, in every component."""
    policy = view.policy
    over = [tuple(component.attributes) for component in view.components]
    larger = [KAnonymity(k=least, attributes=attributes) for attributes in over if attributes]
    return replace(view, policy=policy.model_copy(update={"privacy": (*policy.privacy, *larger)}))


def _share_combinations(asked: _PeopleToSplit, solution: Solution, items: dict[str, Ints]) -> dict[str, Ints]:
    """Return items so coarse that k people of every class share each combination, under every model about these."""
    table, kept, models, _ = asked
    found = dict(items)
    while True:
        before = dict(found)
        for model in models:
            label, _ = _classes(table, solution, model)
            shared = SharedCombinations(sensitive_of(model), model.k, model.m)
            inside = np.where(kept, label, -1).astype(np.int32)
            found |= generalize_combinations(table, shared, inside, given={name: found[name] for name in shared.names})[
                0
            ]
        if len(models) == 1 or all(np.array_equal(found[name], before[name]) for name in found):
            return found


def _classes(table: Table, solution: Solution, model: PrivacyModel) -> tuple[Ints, int]:
    """Return everyone's class under a model, and how many there are: one where it is over no quasi-identifiers."""
    over = table.positions(table.policy.attributes_of(model))
    if not over:
        return np.zeros(table.rows, dtype=np.int32), 1
    group, first = group_rows(np.array([solution.shown[position].codes for position in over], dtype=np.int32))
    return group, len(first)


def _by_classfly(table: Table, options: PeopleOptions) -> Solution | None:
    """Return a solution whose quasi-identifiers are Classfly's, None where there is none within the limit.

    Mondrian's parts satisfy every model by themselves, which costs much where models are over different attributes;
    Classfly takes each for itself. Whoever has lost others of their fingerprint or class by suppression goes too.
    """
    allowed = most_suppressed(table.policy, table.records)
    items = generalize_items(table, canonical_fingerprints(table), patient=options.take_out == "last")
    view = as_shown(table, items)
    try:
        solution = classfly_complete(view, ClassflyOptions(), np.random.default_rng(table.policy.seed))
    except Unmeetable:
        return None
    gone = solution.suppressed_anywhere
    kept = _all_hold(view, table, solution, items, ~gone & ~nothing_left(table, solution.shown, items))
    if int((~kept).sum()) > allowed:
        return None
    reasons = dict(solution.reasons)
    if (gone | kept).sum() < table.records:
        reasons[LEFT_BEHIND] = np.flatnonzero(~kept & ~gone).astype(np.int32)
    suppressed = np.repeat(~kept[None, :], len(solution.suppressed), axis=0)
    details = {**solution.details, "quasi_identifiers": "classfly+complete", **_fingerprints_in(view, kept)}
    return Solution(solution.shown, suppressed, reasons, details, items=items)


def _all_hold(view: Table, table: Table, solution: Solution, items: dict[str, Ints], alive: Bools) -> Bools:
    """Return people, of those alive, among whom every model holds and every fingerprint is shared by enough."""
    required = [
        requirement
        for component in components_of(view, with_implied=True)
        for requirement in component.requirements(component.shown_by(solution))
    ]
    for bucketing in bucketings(view.policy):
        code, first = fingerprints(table, bucketing.names, items)
        required.append(Requirement(AtLeastK(bucketing.k), code, len(first)))
    return maximal_anonymous_subset(required, view.weights, sensitive_pairs_of_rows(view), alive)


def _fingerprints_in(view: Table, kept: Bools) -> dict[str, int]:
    different = [len(np.unique(view.sensitive[name].code[kept])) for name in sharers_of_fingerprints(view.policy)]
    return {"fingerprints": max(different, default=0)}


def _shared(table: Table, items: dict[str, Ints], kept: Bools) -> bool:
    """Tell whether every fingerprint is still shared by k of those who are kept."""
    if not items:
        return not bucketings(table.policy)
    for bucketing in bucketings(table.policy):
        code, first = fingerprints(table, bucketing.names, items)
        shared = np.bincount(code[kept], minlength=len(first))
        if (shared[shared > 0] < bucketing.k).any():
            return False
    return True


def _too_much_alike(view: Table, kept: Bools, allowed: int) -> Bools:
    """Return neighbourhoods to leave out so that no fingerprint has more than 1/l of a group of equal limits.

    Nobody of a group where no neighbourhoods are enough.
    """
    out = np.zeros(view.rows, dtype=bool)
    prints = sharers_of_fingerprints(view.policy)
    for component in components_of(view):
        models = [model for model in component.models if model.sensitive in prints]
        if not models:
            continue
        group = limit_groups(view, component.positions, component.spans()[0])[0][view.distinct.member]
        people = np.flatnonzero(kept & ~out)
        for own in members_by_group(group[people]).without_empty().split():
            members = people[own]
            few = runs_to_leave_out(counted_rows(view, members), models, allowed - int(out.sum()))
            out[members[few]] = True
    return out
