"""Costs of cells shared out among the constraints that look at them, so that bounds of all constraints add up.

An attribute's cost is cut into equal parts, and every constraint over it gets some of them. A release satisfies every
constraint, so each constraint's part of its loss is at least the bound of that constraint at its part of the costs; and
all parts together are no more than the whole. Giving all of an attribute to one constraint is the sum of bounds over
disjoint attributes; shares in between can only be better. They are found by moving parts from one constraint to
another while the sum of the simple bounds rises.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kveil.algorithms.bound.covers import WHOLE_SHARE, TupleLevels, affordable_levels, tuple_levels
from kveil.kernels.bound.bound import cheapest
from kveil.kernels.bound.layout import CoverLattice
from kveil.stopping import Stop
from kveil.table.table import Table

CostShares = dict[int, int]  # by position: parts of an attribute's cost

MOVES = (8, 4, 2, 1)  # parts that are moved at a time
MOST_SUMS = 240  # simple bounds that are reckoned for it


@dataclass
class SharedConstraint:
    """A least size over some attributes, its part of each attribute's cost, and what was reckoned of it."""

    table: Table
    over: tuple[int, ...]
    k: int
    shares: CostShares = field(default_factory=dict)
    known: dict[tuple[tuple[int, int], ...], int] = field(default_factory=dict)
    levels: dict[tuple[int, ...], tuple[list[int], TupleLevels]] = field(default_factory=dict)

    def lattice(self, shares: CostShares) -> tuple[CoverLattice, int] | None:
        """Return what may cover the tuples at some shares of its costs, None where nothing costs anything."""
        over = [position for position in self.over if shares.get(position)]
        if not over or self.k < 2:
            return None
        if tuple(over) not in self.levels:
            kept, fine = affordable_levels(self.table, over)
            self.levels[tuple(over)] = kept, tuple_levels(self.table, kept, fine)
        kept, levels = self.levels[tuple(over)]
        return levels.lattice([shares[position] for position in kept])

    def simple(self, shares: CostShares) -> int:
        """Return the simple bound at some shares of its costs."""
        key = tuple(sorted((position, share) for position, share in shares.items() if share))
        if key not in self.known:
            laid = self.lattice(shares)
            self.known[key] = 0 if laid is None else int((laid[0].weight * cheapest(laid[0], self.k, laid[1])).sum())
        return self.known[key]

    def with_more(self, position: int, parts: int) -> CostShares:
        """Return its shares with more parts of an attribute, or fewer."""
        return {**self.shares, position: self.shares.get(position, 0) + parts}


def sum_of_simple(constraints: list[SharedConstraint]) -> int:
    """Return the sum of the constraints' simple bounds at their shares."""
    return sum(own.simple(own.shares) for own in constraints)


def share_out(constraints: list[SharedConstraint], stop: Stop) -> None:
    """Move parts of attributes' costs between constraints while the sum of their simple bounds rises.

    Every constraint's shares are its own to begin with, and all of an attribute's parts stay shared out.
    """
    pairs = [
        (position, giver, taker)
        for giver in constraints
        for taker in constraints
        for position in giver.over
        if giver is not taker and position in taker.over
    ]
    for parts in MOVES:
        moved = True
        while moved:
            moved = False
            for position, giver, taker in pairs:
                if stop.late or sum(len(own.known) for own in constraints) > MOST_SUMS:
                    return
                if giver.shares.get(position, 0) < parts:
                    continue
                less, more = giver.with_more(position, -parts), taker.with_more(position, parts)
                now = giver.simple(giver.shares) + taker.simple(taker.shares)
                if giver.simple(less) + taker.simple(more) > now:
                    giver.shares, taker.shares = less, more
                    moved = True


def even_shares(constraints: list[SharedConstraint]) -> list[CostShares]:
    """Return equal shares of every attribute for the constraints over it, what is left over for the first of them."""
    found: list[CostShares] = [{} for _ in constraints]
    for position in sorted({position for own in constraints for position in own.over}):
        among = [i for i, own in enumerate(constraints) if position in own.over]
        for i in among:
            found[i][position] = WHOLE_SHARE // len(among)
        found[among[0]][position] += WHOLE_SHARE % len(among)
    return found
