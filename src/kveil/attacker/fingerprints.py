"""Fingerprints: somebody who knows what a person has recognizes the person by it (Gong et al. 2017)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs
from kveil.attacker.attacks import Recognition
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.attributes import STAR
from kveil.table.columns import codes_among

MOST_TARGETS = 1_000


def _sets(items: pl.DataFrame, rows: int, labels: list[str]) -> list[Longs]:
    codes = codes_among(items["item"], labels)
    grouped = pl.DataFrame({"row": items["row"], "code": codes}).group_by("row").agg(pl.col("code").sort())
    sets: list[Longs] = [np.zeros(0, dtype=np.int64)] * rows
    for row, members in grouped.iter_rows():
        sets[row] = np.array(members, dtype=np.int64)
    return sets


@dataclass(frozen=True)
class _Fingerprints:
    """The distinct sets of a table with how many rows have each, and for every member the sets that hold it.

    Everything is as long as the table's items, whatever the number of sets times members.
    """

    of_row: Longs
    weights: Floats
    lengths: Longs
    starts: Longs  # where a member's holders begin
    holders: Longs

    def holding(self, members: Sequence[int]) -> Longs:
        """Return for every set how many of the members it holds."""
        held = np.zeros(len(self.weights), dtype=np.int64)
        for member in members:
            held[self.holders[self.starts[member] : self.starts[member + 1]]] += 1
        return held


def _indexed(sets: list[Longs], width: int) -> _Fingerprints:
    number: dict[bytes, int] = {}
    of_row = np.array([number.setdefault(s.tobytes(), len(number)) for s in sets], dtype=np.int64)
    kinds = [np.frombuffer(key, dtype=np.int64) for key in number]
    lengths = np.array([len(kind) for kind in kinds], dtype=np.int64)
    members = np.concatenate([*kinds, np.zeros(0, dtype=np.int64)])
    order, starts = members_by_group(members, width)
    holders = np.repeat(np.arange(len(kinds), dtype=np.int64), lengths)[order]
    weights = np.bincount(of_row, minlength=len(kinds)).astype(np.float64)
    return _Fingerprints(of_row, weights, lengths, starts, holders)


def play_fingerprints(world: World, sensitive: str, known: Sequence[int | None]) -> list[Recognition]:
    """Play somebody who knows what a person has: all items, or at most so many, the rarest of them.

    Nothing else is known; the rows that fit are those whose shown items cover the known ones and, where all
    are known, show nothing that none of them lies below. Rows that show `*` are taken only where no other fits.
    """
    was, shown = world.items_before[sensitive], world.items_after[sensitive]
    if not was.height or not shown.height:
        return []
    leaves = was["item"].unique().sort().to_list()
    labels = shown["item"].unique().sort().to_list()
    mine = _sets(was, world.people, leaves)
    game = _Game(
        before=_indexed(mine, len(leaves)),
        after=_indexed(_sets(shown, world.after.height, labels), len(labels)),
        ways=world.item_cover(sensitive, leaves, labels).lists(),
        star=labels.index(STAR) if STAR in labels else None,
    )
    frequency = Counter(was["item"].to_list())
    rank = np.array([frequency[leaf] for leaf in leaves])
    targets = np.array([i for i, items in enumerate(mine) if len(items)], dtype=np.int64)
    targets = world.sample(MOST_TARGETS, among=targets)
    attacks = []
    for most in known:
        before, after = np.zeros(len(targets)), np.zeros(len(targets))
        for place, target in enumerate(targets.tolist()):
            items = mine[target]
            if most is not None:
                items = items[np.argsort(rank[items], kind="stable")[:most]]
            row = int(world.row_of[target])
            kind = int(game.after.of_row[row]) if row >= 0 else None
            everything = int(game.before.of_row[target]) if most is None else None
            before[place], after[place] = game.chances(items.tolist(), everything, kind)
        attacks.append(
            Recognition(
                attack="fingerprint",
                attributes=(),
                sensitive=sensitive,
                items=most,
                before=rate_of(before),
                after=rate_of(after),
            )
        )
    return attacks


@dataclass(frozen=True)
class _Game:
    """The fingerprints of both tables, and for every item of the original the shown labels that cover it.

    ``star`` is the label `*`, None where nobody shows it.
    """

    before: _Fingerprints
    after: _Fingerprints
    ways: list[list[int]]
    star: int | None

    @cached_property
    def _hidden(self) -> Bools:
        """The fingerprints of the release that are `*` alone, and tell nothing."""
        if self.star is None:
            return np.zeros(len(self.after.weights), dtype=bool)
        hidden: Bools = (self.after.holding([self.star]) == 1) & (self.after.lengths == 1)
        return hidden

    def chances(self, items: list[int], everything: int | None, own: int | None) -> tuple[float, float]:
        """Return the chances to find a person with the known items, in the original and in the release.

        ``everything`` is the person's fingerprint in the original where all of it is known, ``own`` what the
        person shows in the release, None where nobody is shown.
        """
        if everything is not None:
            before = 1 / self.before.weights[everything]
        else:
            before = 1 / self.before.weights[self.before.holding(items) == len(items)].sum()
        if own is None:
            return before, 0.0
        fits = np.ones(len(self.after.weights), dtype=bool)
        for item in items:
            fits &= self.after.holding(self.ways[item]) > 0
        if everything is not None:
            allowed = sorted({label for item in items for label in self.ways[item]})
            fits &= self.after.holding(allowed) == self.after.lengths
        seen = fits & ~self._hidden
        taken = seen if seen.any() else fits
        return before, 1 / self.after.weights[taken].sum() if taken[own] else 0.0
