"""The groups that Classfly has set aside, while left-over tuples join them."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.classfly.classfly_component import Aside, ClassflyComponent, only
from kveil.algorithms.stars import without_part
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, group_each, group_rows
from kveil.models.groups import Groups


def equal_columns(columns: Ints, wanted: Ints) -> Longs:
    """Return the columns of an array that are equal to one; each row looks only at those that the rows before left."""
    equal = np.flatnonzero(columns[0] == wanted[0])
    for row, value in zip(columns[1:], wanted[1:], strict=True):
        equal = equal[row[equal] == value]
    return equal


class AsideGroups:
    """The groups of equal values among the tuples set aside, and for every constraint the values they show to it."""

    def __init__(self, part: ClassflyComponent, aside: Aside) -> None:
        self.part = part
        inside = np.flatnonzero(~aside.left)
        group, first = group_rows(np.take(aside.nodes, inside, axis=1))
        self.shown = np.take(aside.nodes, inside[first], axis=1)
        self.sizes = add_up(group, part.weights[inside], len(first))
        self.of = np.full(len(aside.left), -1, dtype=np.int32)  # every tuple's group, -1 where it is left over
        self.of[inside] = group
        self.number: list[Ints] = []  # for every constraint the number of what every group shows to it
        self.values: list[Ints] = []  # what that is
        self.totals: list[Longs] = []  # how many records show it
        seen = [self.shown[constraint.over] for constraint in part.constraints]
        for mine, (number, first) in zip(seen, group_each(seen), strict=True):
            self.number.append(number)
            self.values.append(np.take(mine, first, axis=1))
            self.totals.append(add_up(number, self.sizes, len(first)))
        self.stars = self._stars()

    def _stars(self) -> Longs:
        """Return the groups that show nothing but stars where these take no part."""
        return np.flatnonzero(without_part(self.part.table, self.part.stars(self.shown)))

    def join(self, at: int, groups: list[int], shown: Ints) -> None:
        """Let a left-over tuple and groups show the same."""
        same = equal_columns(self.shown, shown)
        new = int(same[0]) if len(same) else self._add(shown)
        moving = [group for group in groups if group != new]
        for number, total in zip(self.number, self.totals, strict=True):
            np.subtract.at(total, number[moving], self.sizes[moving])
            total[number[new]] += int(self.sizes[moving].sum()) + int(self.part.weights[at])
        if moving:
            moves = np.zeros(len(self.sizes) + 1, dtype=bool)  # the last place is for who is left over
            moves[moving] = True
            self.of[moves[self.of]] = new
        self.of[at] = new
        self.sizes[new] += int(self.sizes[moving].sum()) + int(self.part.weights[at])
        self.sizes[moving] = 0

    def _add(self, shown: Ints) -> int:
        self.shown = np.concatenate([self.shown, shown[:, None]], axis=1)
        self.sizes = np.append(self.sizes, 0)
        for j, constraint in enumerate(self.part.constraints):
            mine = shown[constraint.over]
            known = self._showing(j, shown)
            if known < 0:
                known = self.values[j].shape[1]
                self.values[j] = np.concatenate([self.values[j], mine[:, None]], axis=1)
                self.totals[j] = np.append(self.totals[j], 0)
            self.number[j] = np.append(self.number[j], np.int32(known))
        self.stars = self._stars()
        return len(self.sizes) - 1

    def _showing(self, j: int, shown: Ints) -> int:
        """Return the number of what a vector shows to a constraint, -1 where no group shows it."""
        known = equal_columns(self.values[j], shown[self.part.constraints[j].over])
        return int(known[0]) if len(known) else -1

    def taking_part(self) -> list[Longs]:
        """Return how many records show each value, without rows of stars where these take no part."""
        if not len(self.stars):
            return self.totals
        taking = [total.copy() for total in self.totals]
        for number, total in zip(self.number, taking, strict=True):
            total[number[self.stars]] -= self.sizes[self.stars]
        return taking

    def hold(self, at: int, groups: list[int], shown: Ints) -> bool:
        """Tell whether everything holds once a tuple and groups show the same."""
        return all(self._changed_hold(j, at, groups, shown).all() for j in range(len(self.number)))

    def spare(self, at: int, groups: list[int], shown: Ints, *, for_good: bool) -> bool:
        """Tell whether everything else holds once a tuple and groups show the same, or are gone for good."""
        verdicts = (self._changed_hold(j, at, groups, shown, gone=for_good) for j in range(len(self.number)))
        return all(good[1:].all() for good in verdicts)

    def _changed_hold(self, j: int, at: int, groups: list[int], shown: Ints, *, gone: bool = False) -> Bools:
        """Tell whether a constraint holds in the groups that may have changed.

        The first answer is for the group that shows the new values, the others for the groups that records left.

        All else that is set aside holds: sets of records that hold do so together, too. Who is ``gone`` counts nowhere.
        """
        constraint, number = self.part.constraints[j], self.number[j]
        left = np.unique(number[groups])
        place = np.full(len(self.totals[j]) + 1, -1, dtype=np.int32)  # the last one is for what nobody shows yet
        place[left] = np.arange(1, len(left) + 1)
        place[self._showing(j, shown)] = 0
        group = place[number]
        group[groups] = 0
        near = np.flatnonzero(group >= 0)
        weights = np.append(self.sizes[near], 0 if gone else self.part.weights[at])
        if gone:
            weights[np.searchsorted(near, groups)] = 0
        pairs = {}
        if constraint.model.sensitive is not None:
            renumber = np.full(len(group) + 1, -1, dtype=np.int32)  # the last one is for who is left over
            renumber[near] = np.arange(len(near))
            tuples = renumber[self.of]
            tuples[at] = len(near)
            pairs = {constraint.model.sensitive: only(self.part.pairs[constraint.model.sensitive], tuples)}
        return constraint.model.good(Groups(np.append(group[near], np.int32(0)), len(left) + 1, weights, pairs))
