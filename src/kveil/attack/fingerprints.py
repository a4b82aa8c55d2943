"""Attacks on tables with several records a person (seed 002): fingerprints, and rows that disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs
from kveil.attack.match import Clue, Coded, coded, group, matches
from kveil.attack.rate import rate_of
from kveil.attack.world import World
from kveil.files import Source
from kveil.table.columns import codes_among
from kveil.verifier.rows import INDIVIDUAL, released_texts

MOST_TARGETS = 1_000


def _sets(items: pl.DataFrame, rows: int, labels: list[str]) -> list[Longs]:
    codes = codes_among(items["item"], labels)
    grouped = pl.DataFrame({"row": items["row"], "code": codes}).group_by("row").agg(pl.col("code").sort())
    found: list[Longs] = [np.zeros(0, dtype=np.int64)] * rows
    for row, members in grouped.iter_rows():
        found[row] = np.array(members, dtype=np.int64)
    return found


@dataclass(frozen=True)
class _Sets:
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
        found = np.zeros(len(self.weights), dtype=np.int64)
        for member in members:
            found[self.holders[self.starts[member] : self.starts[member + 1]]] += 1
        return found


def _indexed(sets: list[Longs], width: int) -> _Sets:
    number: dict[bytes, int] = {}
    of_row = np.array([number.setdefault(s.tobytes(), len(number)) for s in sets], dtype=np.int64)
    kinds = [np.frombuffer(key, dtype=np.int64) for key in number]
    lengths = np.array([len(kind) for kind in kinds], dtype=np.int64)
    members = np.concatenate([*kinds, np.zeros(0, dtype=np.int64)])
    order = np.argsort(members, kind="stable")
    holders = np.repeat(np.arange(len(kinds), dtype=np.int64), lengths)[order]
    starts = np.searchsorted(members[order], np.arange(width + 1)).astype(np.int64)
    weights = np.bincount(of_row, minlength=len(kinds)).astype(np.float64)
    return _Sets(of_row, weights, lengths, starts, holders)


def fingerprints(world: World, sensitive: str, known: Sequence[int | None]) -> list[dict[str, Any]]:
    """Play somebody who knows what a person has: all items, or at most so many, the rarest of them.

    Nothing else is known; the rows that fit are those whose shown items cover the known ones and, where all
    are known, show nothing that none of them lies below.
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
        ways=world.item_labels(sensitive, leaves, labels),
    )
    frequency = Counter(was["item"].to_list())
    rank = np.array([frequency[leaf] for leaf in leaves])
    targets = np.array([i for i, items in enumerate(mine) if len(items)], dtype=np.int64)
    if len(targets) > MOST_TARGETS:
        rng = np.random.default_rng(world.policy.seed)
        targets = np.sort(rng.choice(targets, size=MOST_TARGETS, replace=False))
    found = []
    for most in known:
        before, after = np.zeros(len(targets)), np.zeros(len(targets))
        for place, target in enumerate(targets.tolist()):
            items = mine[target]
            if most is not None:
                items = items[np.argsort(rank[items], kind="stable")[:most]]
            row = int(world.row_of[target])
            kind = int(game.after.of_row[row]) if row >= 0 and not world.starred[row] else None
            everything = int(game.before.of_row[target]) if most is None else None
            before[place], after[place] = game.chances(items.tolist(), everything, kind)
        entry: dict[str, Any] = {"attack": "fingerprint", "sensitive": sensitive, "attributes": [], "items": most}
        found.append(entry | {"before": rate_of(before), "after": rate_of(after)})
    return found


@dataclass(frozen=True)
class _Game:
    """The fingerprints of both tables, and for every item of the original the shown labels that cover it."""

    before: _Sets
    after: _Sets
    ways: list[list[int]]

    def chances(self, items: list[int], everything: int | None, own: int | None) -> tuple[float, float]:
        """Return the chances to find a person with the known items, in the original and in the release.

        ``everything`` is the person's fingerprint in the original where all of it is known, ``own`` what the
        person shows in the release, None where nothing is shown.
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
        return before, 1 / self.after.weights[fits].sum() if fits[own] else 0.0


def inconsistency(world: World, release: Source) -> dict[str, Any]:
    """Play somebody who puts the rows of one released person together where they show different values.

    A release in sets, or a long one of kveil's, shows every person once: nothing can be put together.
    """
    policy = world.policy
    names = tuple(policy.quasi_identifiers)
    base: dict[str, Any] = {"attack": "inconsistency", "attributes": list(names)}
    groups = group([world.column("before", name) for name in names], world.people)
    before = rate_of(1 / groups.own)
    differing = 0
    found: Floats = np.zeros(world.people)
    if policy.release.shape == "long" and INDIVIDUAL in release.frame.columns:
        person = coded(release.texts(INDIVIDUAL).fill_null(""))
        table = _person_tables(world, release, names, person)
        differing = table[1]
        found = table[0]
    else:
        from kveil.attack.link import chances, knowledge

        targets = np.arange(world.people, dtype=np.int64)
        if world.people > MOST_TARGETS:
            rng = np.random.default_rng(policy.seed)
            targets = np.sort(rng.choice(world.people, size=MOST_TARGETS, replace=False))
        found = chances(world, knowledge(world, names, targets), world.hidden(names))[0]
    return base | {"differing": differing, "before": before, "after": rate_of(found)}


def _person_tables(world: World, release: Source, names: tuple[str, ...], person: Coded) -> tuple[Floats, int]:
    """Return targets' chances when a released person is all of that person's rows, and how many persons differ."""
    first = pl.DataFrame({"p": person.codes}).with_row_index("row").group_by("p").agg(pl.col("row").min()).sort("row")
    order = {p: i for i, p in enumerate(first["p"].to_list())}
    of_row = np.array([order[p] for p in person.codes.tolist()], dtype=np.int64)
    targets = np.arange(world.people, dtype=np.int64)
    if world.people > MOST_TARGETS:
        rng = np.random.default_rng(world.policy.seed)
        targets = np.sort(rng.choice(world.people, size=MOST_TARGETS, replace=False))
    number = first.height
    differs = np.zeros(number, dtype=bool)
    clues = []
    for name in names:
        shown = coded(released_texts(release, world.policy, name, stars=True))
        values = world.column("before", name).at(targets)
        table = world.covers(name, values.texts, shown.texts)
        every = np.ones((len(values.texts), number), dtype=bool)
        for value in range(len(values.texts)):
            np.logical_and.at(every[value], of_row, table[value][shown.codes])
        low = np.full(number, len(shown.texts), dtype=np.int64)
        high = np.full(number, -1, dtype=np.int64)
        np.minimum.at(low, of_row, shown.codes)
        np.maximum.at(high, of_row, shown.codes)
        differs |= low != high
        clues.append(Clue(values.codes, every, np.arange(number, dtype=np.int64)))
    fitting = matches(clues, len(targets), np.ones((number, 1)))[:, 0]
    rows = world.row_of[targets]
    own: Bools = rows >= 0
    for clue in clues:
        own &= clue.table[clue.values, np.maximum(rows, 0)]
    found = np.zeros(len(targets))
    found[own] = 1 / fitting[own]
    return found, int(differs.sum())
