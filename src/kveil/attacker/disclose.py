"""Disclosure: somebody who knows where a person must be reads the sensitive value off those rows.

Homogeneity and background knowledge are the two attacks of Machanavajjhala et al. 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs
from kveil.attacker.attacks import Disclosure
from kveil.attacker.link import Knowledge, knowledge
from kveil.attacker.match import matches
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.kernels.grouping.members import members_by_group
from kveil.table.columns import codes_among

WORK = 4_000_000_000  # multiplications an attack may take
CELLS = 8_000_000  # of a table that is looked at at once


@dataclass(frozen=True)
class _CodedItems:
    """The items of rows as codes of sorted labels, in the order of the codes."""

    codes: Longs
    rows: Longs

    def between(self, start: int, stop: int) -> tuple[Longs, Longs]:
        """Return the codes, counted from ``start``, and the rows of the items of a block of labels."""
        low, high = np.searchsorted(self.codes, [start, stop])
        return self.codes[low:high] - start, self.rows[low:high]


def _coded_items(items: pl.DataFrame, labels: list[str]) -> _CodedItems:
    """Return items as codes; those that are none of the labels are left out."""
    known = items.filter(pl.col("item").is_in(labels))
    codes = codes_among(known["item"], labels).astype(np.int64)
    order = members_by_group(codes).rows
    return _CodedItems(codes[order], known["row"].to_numpy()[order])


def _labels(items: pl.DataFrame) -> list[str]:
    """Return the different items, sorted; one that nobody has where there are none."""
    return items["item"].unique().sort().to_list() or [""]


def _histogram(codes: Longs, member: Longs, groups: int, width: int) -> Floats:
    """Return how many rows of each group have each of so many labels; a member of -1 is in no group."""
    inside = member >= 0
    flat = np.bincount(member[inside] * width + codes[inside], minlength=groups * width)
    return flat.reshape(groups, width).astype(np.float64)


def _has(codes: Longs, at: Longs, rows: Longs, total: int, width: int) -> Bools:
    """Return which of the rows have which of so many labels; a row of -1 has none."""
    place = np.full(total + 1, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    place[total] = -1
    has = np.zeros((len(rows), width), dtype=bool)
    mine = place[at]
    has[mine[mine >= 0], codes[mine >= 0]] = True
    return has


class _Judge:
    """Judges guesses over blocks of labels: of every target it keeps the best true label and the two best wrong ones.

    The better of two labels is the one that more rows have, of equals the earlier one.
    """

    def __init__(self, targets: int) -> None:
        self.true = np.zeros(targets), np.zeros(targets, dtype=np.int64)
        self.wrong = np.zeros((2, targets)), np.zeros((2, targets), dtype=np.int64)

    def see(self, start: int, values: Floats, has: Bools) -> None:
        """Look at how many rows that fit have each label of a block, and which of them each target has."""
        everyone = np.arange(len(values))
        true = np.where(has, values, 0.0)
        self._offer(self.true[0][None], self.true[1][None], true, start, everyone)
        wrong = np.where(has, 0.0, values)
        for _ in range(2):
            best = self._offer(*self.wrong, wrong, start, everyone)
            wrong[everyone, best] = 0.0

    @staticmethod
    def _offer(counts: Floats, labels: Longs, values: Floats, start: int, everyone: Longs) -> Longs:
        """Put the best label of a block into its place among those kept, and return it."""
        best: Longs = values.argmax(axis=1)
        new, label = values[everyone, best], start + best
        for place in range(len(counts)):
            better = (new > counts[place]) | ((new == counts[place]) & (label < labels[place]))
            counts[place], new = np.where(better, new, counts[place]), np.where(better, counts[place], new)
            labels[place], label = np.where(better, label, labels[place]), np.where(better, labels[place], label)
        return best

    def verdict(self, fitting: Floats) -> tuple[Floats, Floats, Floats]:
        """Return for every target: sure of a true value, best guess true, best guess true with one ruled out."""
        counts, labels = self.true
        sure = (counts == fitting) & (fitting > 0)
        right = []
        for place in (0, 1):
            against, other = self.wrong[0][place], self.wrong[1][place]
            right.append((counts > 0) & ((counts > against) | ((counts == against) & (labels < other))))
        return sure.astype(np.float64), right[0].astype(np.float64), right[1].astype(np.float64)


def _blocks(labels: int, rows: int) -> Iterator[tuple[int, int]]:
    """Cut labels into blocks such that a table of so many rows stays small."""
    width = max(CELLS // max(rows, 1), 1)
    for start in range(0, labels, width):
        yield start, min(start + width, labels)


def disclosure(world: World, sensitive: str, names: tuple[str, ...], *, share: int = 1) -> list[Disclosure]:
    """Play homogeneity and background knowledge on a sensitive attribute, with knowledge of the named ones.

    ``share`` is how many such games there are: each may take its part of the work.
    """
    was = world.items_before[sensitive]
    if not was.height or not world.after.height:
        return []
    groups = world.equal("after", names)
    labels = _labels(world.told_items(sensitive))
    targets = world.sample(max(WORK // share // max(len(groups.sizes) * (len(labels) + 1), 1), 1000))
    has_some = np.zeros(world.people, dtype=bool)
    has_some[was["row"].to_numpy()] = True
    targets = targets[has_some[targets]]
    if not len(targets):
        return []
    after = _after(world, sensitive, knowledge(world, names, targets, shown=groups), names)
    before = _before(world, was, names, targets)
    kinds = ["homogeneity", "best guess"]
    if not world.persons and was["item"].n_unique() > 2:  # of two, ruling out the wrong one leaves nothing to guess
        kinds.append("background knowledge")
    guess = int(was["item"].value_counts(name="len")["len"].to_numpy().max()) / world.people
    return [
        Disclosure(
            attack=kind,
            attributes=names,
            sensitive=sensitive,
            guess=guess,
            before=rate_of(before[i]),
            after=rate_of(after[i]),
        )
        for i, kind in enumerate(kinds)
    ]


def _after(world: World, sensitive: str, known: Knowledge, names: tuple[str, ...]) -> tuple[Floats, Floats, Floats]:
    """Judge the attacks on the release: the rows that fit are those whose group covers what is known.

    A released person is judged by what the release shows, which may be more general; of one left out every label is
    true that stands for a value of the original. A guess names something: `*` is none.
    """
    shown = world.told_items(sensitive)
    labels = _labels(shown)
    was = world.true_items(sensitive, labels)
    groups, asked, targets = known.groups, len(known.tuples.first), known.targets
    seen = np.where(world.hidden(names), -1, groups.member)
    sizes = np.bincount(seen[seen >= 0], minlength=len(groups.sizes)).astype(np.float64)
    rows = world.row_of[targets]
    released, original = _coded_items(shown, labels), _coded_items(was, labels)
    judge = _Judge(len(targets))
    for start, stop in _blocks(len(labels), max(len(groups.sizes), len(targets))):
        codes, at = released.between(start, stop)
        weights = np.column_stack([_histogram(codes, seen[at], len(groups.sizes), stop - start), sizes])
        values = matches(known.clues, asked, weights)[known.tuples.member]
        values, fitting = values[:, :-1], values[:, -1]
        has = _has(codes, at, rows, world.after.height, stop - start)
        absent = _has(*original.between(start, stop), targets, world.people, stop - start)
        has[rows < 0] = absent[rows < 0]
        judge.see(start, values, has)
    return judge.verdict(fitting)


def _before(world: World, was: pl.DataFrame, names: tuple[str, ...], targets: Longs) -> tuple[Floats, Floats, Floats]:
    """Judge the same attacks on the original: the rows that fit are those with equal values."""
    groups = world.equal("before", names)
    asked, of_target = np.unique(groups.member[targets], return_inverse=True)
    number = np.full(len(groups.sizes), -1, dtype=np.int64)
    number[asked] = np.arange(len(asked))
    member = number[groups.member]
    labels = was["item"].unique().sort().to_list()
    items = _coded_items(was, labels)
    judge = _Judge(len(targets))
    for start, stop in _blocks(len(labels), len(targets)):
        codes, at = items.between(start, stop)
        values = _histogram(codes, member[at], len(asked), stop - start)[of_target.reshape(-1)]
        judge.see(start, values, _has(codes, at, targets, world.people, stop - start))
    return judge.verdict(groups.own[targets].astype(np.float64))
