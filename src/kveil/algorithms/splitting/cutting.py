"""A table cut into parts that can be solved one by one, by Mondrian's cuts: they depend on values alone.

Every part satisfies all models as one group, so that each can be solved by itself; and whatever holds in all parts
holds in the whole, since groups that satisfy a model go on doing so together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.algorithms.component import Constraint, SearchComponent, components_of
from kveil.algorithms.splitting.parts import Splitter
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.models.of_policy import sensitive_pairs
from kveil.policy.components import most_suppressed
from kveil.policy.privacy import KLDiversity
from kveil.table.table import Table


@dataclass(frozen=True)
class TableParts:
    """The rows of every part, and those that no part can hold, with the reason."""

    rows: list[Ints]
    left_out: Ints
    why: str


def cut(table: Table, most: int, name: str) -> TableParts:
    """Return the parts of a table, of at most so many records where values and models allow such cuts.

    Neighbouring parts that have no more together are one. Rows of groups of equal limits that can never hold are left
    out, as an algorithm named ``name`` would do. A table that holds only as a whole, or not at all, is one part: what
    is to be done with it is for the algorithm to say.
    """
    whole = TableParts([np.arange(table.rows, dtype=np.int32)], np.zeros(0, dtype=np.int32), "")
    if table.records <= most:
        return whole
    splitter = _splitter(table)
    everyone = splitter.weights > 0
    out, may_split = splitter.outside(everyone)
    lost, allowed = int(splitter.weights[out].sum()), most_suppressed(table.policy, table.records)
    if not may_split or out.all():
        return whole
    if lost > allowed:
        raise beyond_limit(table, name, lost, allowed)
    parts = splitter.split_down(everyone & ~out, by_gain=False, few=most)
    of_row = parts.part[table.distinct.member]
    rows = _packed(table, of_row, parts.low.shape[1], most)
    return TableParts(rows, np.flatnonzero(of_row < 0).astype(np.int32), splitter.why)


def component_to_cut(table: Table) -> SearchComponent:
    """Return a table over all of its quasi-identifiers, under the models of all components.

    What (k,l)-diversity asks for depends on how items are generalized, so that only its k counts here.
    """
    parts = components_of(table)
    constraints: list[Constraint] = [constraint for part in parts for constraint in part.constraints]
    whole = SearchComponent(table, 0, table.names, list(range(len(table.names))), constraints)
    fingerprints = any(isinstance(model, KLDiversity) for model in table.policy.privacy)
    return whole.sizes_only() if fingerprints else whole


def _splitter(table: Table) -> Splitter:
    """Return what splits a table into parts."""
    component = component_to_cut(table)
    return Splitter(component, sensitive_pairs(table) if component.sensitive else {}, table.distinct.weights)


def _packed(table: Table, of_row: Ints, number: int, most: int) -> list[Ints]:
    """Return the rows of parts, those of neighbours together as long as they are few, in canonical order."""
    canonical = table.canonical
    inside = canonical[of_row[canonical] >= 0]
    place = np.full(number, len(inside), dtype=np.int64)
    np.minimum.at(place, of_row[inside], np.arange(len(inside)))
    sizes = table.tally(of_row, number, chosen=of_row >= 0)
    pack = np.zeros(number, dtype=np.int32)
    packs, held = -1, most
    for part in np.argsort(place, kind="stable").tolist():
        if held + int(sizes[part]) > most:
            packs, held = packs + 1, 0
        pack[part] = packs
        held += int(sizes[part])
    return _rows_of(pack, of_row, of_row >= 0)


def _rows_of(pack: Ints, of_row: Ints, inside: Bools) -> list[Ints]:
    """Return the rows of every pack, in the order they have in the table."""
    rows: Longs = np.flatnonzero(inside)
    return [rows[chunk].astype(np.int32) for chunk in members_by_group(pack[of_row[rows]]).split()]
