"""Find the dependencies that hold in a table."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kveil.arrays import Bools, Ints
from kveil.discover.columns import PART, Columns
from kveil.kernels.grouping.groups import group_rows

WIDEST = 2  # attributes on the left of a multivalued rule, and on its right


def functional_rules(columns: Columns, among: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return the minimal rules X -> A that hold, level by level: X -> A where X and XA have as many tuples.

    What a smaller left side determines already is not asked again, and nothing is added to a left side that tells
    all rows apart. (The lattice of TANE, Huhtala et al. 1999, with counts of distinct tuples in place of partitions.)
    """
    rules: list[tuple[tuple[int, ...], int]] = []
    determined: dict[tuple[int, ...], set[int]] = {}
    everything = columns.groups(tuple(among))
    level: list[tuple[int, ...]] = [(a,) for a in among]
    while level:
        for left in level:
            own = {a for i in range(len(left)) for a in determined.get(left[:i] + left[i + 1 :], ())}
            for a in among:
                if a not in left and a not in own:
                    both = tuple(sorted((*left, a)))
                    if columns.groups(left) == columns.groups(both):
                        rules.append((left, a))
                        own.add(a)
            determined[left] = own
        level = _wider(
            [left for left in level if columns.groups(left) < everything and not determined[left].intersection(left)],
            among,
            determined,
        )
    return rules


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
    first = group_rows(columns.codes[among])[1]
    codes = np.ascontiguousarray(columns.codes[:, first])
    rules: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for size in range(1, WIDEST + 1):
        for left in combinations(among, size):
            others = [a for a in among if a not in left]
            closure = _closure(left, functional)
            open_to = [a for a in others if a not in closure]
            if len(open_to) < 2:
                continue
            part = _whole_groups(codes, list(left))
            for width in range(1, min(WIDEST, len(open_to) // 2) + 1):
                for right in combinations(open_to, width):
                    rest = [a for a in open_to if a not in right]
                    if len(rest) == len(right) and min(rest) < min(right):
                        continue
                    if any(set(x) <= set(left) and set(y) <= set(right) for x, y in rules):
                        continue
                    if all(independent(own, list(left), list(right), rest).all() for own in (codes[:, part], codes)):
                        rules.append((left, right))
    return rules


def _closure(left: tuple[int, ...], functional: list[tuple[tuple[int, ...], int]]) -> set[int]:
    closure = set(left)
    while True:
        more = {right for own, right in functional if set(own) <= closure} - closure
        if not more:
            return closure
        closure |= more


def _whole_groups(codes: Ints, left: list[int]) -> Ints:
    """Return all rows of some groups: a part of many rows that can refute a rule."""
    if codes.shape[1] <= PART:
        return np.arange(codes.shape[1], dtype=np.int32)
    group, first = group_rows(codes[left])
    sizes = np.bincount(group, minlength=len(first))
    few = np.zeros(len(first), dtype=bool)
    order = np.argsort(-sizes, kind="stable")
    few[order[: max(int(np.searchsorted(np.cumsum(sizes[order]), PART)), 1)]] = True
    return np.flatnonzero(few[group]).astype(np.int32)
