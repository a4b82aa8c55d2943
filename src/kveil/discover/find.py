"""Find the dependencies that hold in a table."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.discover.coded_columns import FIRST_ROWS, Columns
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group

WIDEST = 2  # attributes on the left of a multivalued rule, and on its right
PAIRS = 1_000  # of rows with equal left sides that are looked at first


def functional_rules(columns: Columns, among: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return the minimal rules X -> A that hold, level by level: X -> A where X and XA have as many tuples.

    What a smaller left side determines already is not asked again, and nothing is added to a left side that tells
    all rows apart. What all others together do not determine, none of them does. (The lattice of TANE, Huhtala et al.
    1999, with counts of distinct tuples in place of partitions.)
    """
    rules: list[tuple[tuple[int, ...], int]] = []
    determined: dict[tuple[int, ...], set[int]] = {}
    rights = [a for a in among if columns.determine(tuple(b for b in among if b != a), a)]
    level: list[tuple[int, ...]] = [(a,) for a in among]
    while level:
        for left in level:
            own = {a for i in range(len(left)) for a in determined.get(left[:i] + left[i + 1 :], ())}
            for a in rights:
                if a not in left and a not in own and columns.determine(left, a):
                    rules.append((left, a))
                    own.add(a)
            determined[left] = own
        level = _wider(
            [left for left in level if _worth_widening(columns, left, rights, determined)], among, determined
        )
    return rules


def _worth_widening(
    columns: Columns, left: tuple[int, ...], rights: list[int], determined: dict[tuple[int, ...], set[int]]
) -> bool:
    """Tell whether something may follow from more than this left side that does not follow from less."""
    own = determined[left]
    if own.intersection(left) or own.union(left).issuperset(rights):
        return False
    return not columns.tell_apart(left)


def _wider(
    level: list[tuple[int, ...]], among: list[int], determined: dict[tuple[int, ...], set[int]]
) -> list[tuple[int, ...]]:
    """Return the next level's left sides: one attribute more, where all smaller ones are worth widening."""
    open_to = set(level)
    wider = []
    for left in sorted(level):
        for a in among:
            if a <= left[-1]:
                continue
            both = (*left, a)
            smaller = [(both[:i] + both[i + 1 :], both[i]) for i in range(len(both))]
            if all(part in open_to and out not in determined.get(part, ()) for part, out in smaller):
                wider.append(both)
    return wider


def independent(codes: Ints, left: list[int], right: list[int], rest: list[int]) -> Bools:
    """Tell for every row's group of equal left sides whether each right side occurs with each rest."""
    group, first = group_rows(codes[left])
    counts = []
    for part in (right, rest, right + rest):
        at = group_rows(np.array([group, *codes[part]]))[1]
        counts.append(np.bincount(group[at], minlength=len(first)).astype(np.int64))
    return np.asarray((counts[0] * counts[1] == counts[2])[group])


def multivalued_rules(
    columns: Columns, among: list[int], functional: list[tuple[tuple[int, ...], int]]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the rules X ->> Y that hold over the columns, of up to two attributes per side, without trivial ones.

    A rule is trivial where X determines Y or all the rest. Of Y and its complement the smaller is named. A rule
    whose left side is larger than that of one that holds already is not named again.
    """
    codes = columns.distinct
    if len(among) < len(codes):
        codes = np.ascontiguousarray(codes[:, group_rows(codes[among])[1]])
    known = _Known(codes, among)
    rules: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for size in range(1, WIDEST + 1):
        for left in combinations(among, size):
            others = [a for a in among if a not in left]
            closure = _closure(left, functional)
            open_to = [a for a in others if a not in closure]
            if len(open_to) < 2:
                continue
            split = _Split(known, list(left))
            for width in range(1, min(WIDEST, len(open_to) // 2) + 1):
                for right in combinations(open_to, width):
                    rest = [a for a in open_to if a not in right]
                    if len(rest) == len(right) and min(rest) < min(right):
                        continue
                    if any(set(x) <= set(left) and set(y) <= set(right) for x, y in rules):
                        continue
                    if split.independent(list(right), rest):
                        rules.append((left, right))
    return rules


def _closure(left: tuple[int, ...], functional: list[tuple[tuple[int, ...], int]]) -> set[int]:
    closure = set(left)
    while True:
        more = {right for own, right in functional if set(own) <= closure} - closure
        if not more:
            return closure
        closure |= more


class _Known:
    """Which tuples occur, by a random word per value and its sum per tuple: one whose sum is new occurs nowhere."""

    def __init__(self, codes: Ints, among: list[int]) -> None:
        draw = np.random.default_rng(0)
        self.codes = codes
        self.words = {a: draw.integers(2**64, size=int(codes[a].max()) + 1, dtype=np.uint64) for a in among}
        self.sums = np.zeros(codes.shape[1], dtype=np.uint64)
        for a in among:
            self.sums += self.words[a][codes[a]]
        self.sorted = np.sort(self.sums)

    def may_mix(self, one: Longs, other: Longs, right: list[int]) -> bool:
        """Tell whether rows with the right side of other rows may all occur; if not, one of them surely does not."""
        mixed = self.sums[one]
        for a in right:
            mixed += self.words[a][self.codes[a, other]] - self.words[a][self.codes[a, one]]
        at = np.minimum(np.searchsorted(self.sorted, mixed), len(self.sorted) - 1)
        return bool((self.sorted[at] == mixed).all())


class _Split:
    """Distinct rows in their groups of equal left sides, and whether right sides are independent of the rest in each.

    Most are not, and a few pairs of rows of one group show it: the one with the other's right side occurs nowhere.
    """

    def __init__(self, known: _Known, left: list[int]) -> None:
        self.known, self.codes, self.left = known, known.codes, left
        self.group, first = group_rows(self.codes[left])
        self.sizes = np.bincount(self.group, minlength=len(first))
        order = members_by_group(self.group, len(first)).rows
        at = np.flatnonzero(np.diff(self.group[order]) == 0)
        at = at[:: max(len(at) // PAIRS, 1)]
        self.pairs = order[at], order[at + 1]

    def independent(self, right: list[int], rest: list[int]) -> bool:
        """Tell whether each right side occurs with each rest, in all groups."""
        if not self.known.may_mix(*self.pairs, right):
            return False
        return all(bool(independent(codes, self.left, right, rest).all()) for codes in (self._part, self.codes))

    @cached_property
    def _part(self) -> Ints:
        """All rows of some groups: a part of many rows that can refute a rule."""
        if self.codes.shape[1] <= FIRST_ROWS:
            return self.codes
        few = np.zeros(len(self.sizes), dtype=bool)
        order = np.argsort(-self.sizes, kind="stable")
        few[order[: max(int(np.searchsorted(np.cumsum(self.sizes[order]), FIRST_ROWS)), 1)]] = True
        return np.ascontiguousarray(self.codes[:, few[self.group]])
