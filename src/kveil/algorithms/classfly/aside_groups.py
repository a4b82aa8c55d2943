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


def _with_room(columns: list[Ints], chosen: Ints | Longs, spare: int) -> Ints:
    """Return the chosen cells of columns, with room for so many more behind them, which shows no node."""
    cells = np.empty((len(columns), len(chosen) + spare), dtype=np.int32)
    cells[:, len(chosen) :] = -1
    for column, into in zip(columns, cells, strict=True):
        np.take(column, chosen, out=into[: len(chosen)], mode="clip")
    return cells


class AsideGroups:
    """The groups of equal values among the tuples set aside, and for every constraint the values they show to it.

    There is room for a group, and for a value of each constraint, per tuple that is left over: what is not used of it
    shows the node -1, which there is not, and has no records.
    """

    def __init__(self, part: ClassflyComponent, aside: Aside) -> None:
        self.part = part
        inside = np.flatnonzero(~aside.left)
        spare = len(aside.left) - len(inside)
        group, first = group_rows(aside.nodes if not spare else np.take(aside.nodes, inside, axis=1))
        self.made = len(first)
        self.shown = _with_room(list(aside.nodes), inside[first], spare)
        self.sizes = np.append(add_up(group, part.weights[inside], len(first)), np.zeros(spare, dtype=np.int64))
        self.of = np.full(len(aside.left), -1, dtype=np.int32)  # every tuple's group, -1 where it is left over
        self.of[inside] = group
        self.number: list[Ints] = []  # for every constraint the number of what every group shows to it
        self.values: list[Ints] = []  # what that is
        self.totals: list[Longs] = []  # how many records show it
        self.known: list[int] = []  # how many values there are
        seen = [constraint.over for constraint in part.constraints]
        for over, (number, first) in zip(seen, group_each(self.shown, seen), strict=True):
            self.number.append(number)
            self.values.append(_with_room([self.shown[a] for a in over], first, spare))
            self.totals.append(add_up(number, self.sizes, len(first) + spare))
            self.known.append(len(first))
        # The groups that show nothing but stars where these take no part.
        self.stars = np.flatnonzero(without_part(part.table, part.stars(self.shown)))

    def all_hold(self) -> bool:
        """Tell whether every value has no record or as many as the k of its constraint."""
        each = zip(self.part.constraints, self.totals, strict=True)
        return all(bool(((total == 0) | (total >= constraint.k)).all()) for constraint, total in each)

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
        new = self.made
        self.made += 1
        self.shown[:, new] = shown
        for j, constraint in enumerate(self.part.constraints):
            known = self._showing(j, shown)
            if known < 0:
                known = self.known[j]
                self.known[j] += 1
                self.values[j][:, known] = shown[constraint.over]
            self.number[j][new] = known
        if without_part(self.part.table, self.part.stars(shown[:, None]))[0]:
            self.stars = np.append(self.stars, new)
        return new

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
