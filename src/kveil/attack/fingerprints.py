"""Attacks on tables with several records a person (seed 002): fingerprints, and rows that disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.attack.match import Bools, Clue, Coded, Floats, Ints, coded, group, matches
from kveil.attack.rate import rate_of
from kveil.attack.world import World
from kveil.files import Source
from kveil.verify.rows import INDIVIDUAL, released_texts

MOST_TARGETS = 1_000
Words = NDArray[np.uint64]


def _bits(rows: list[Ints], width: int) -> Words:
    """Return sets of small numbers as rows of 64-bit words."""
    words = np.zeros((len(rows), max((width + 63) // 64, 1)), dtype=np.uint64)
    for row, members in enumerate(rows):
        np.bitwise_or.at(words[row], members // 64, np.uint64(1) << (members % 64).astype(np.uint64))
    return words


def _sets(items: pl.DataFrame, rows: int, labels: list[str]) -> list[Ints]:
    codes = items["item"].cast(pl.Enum(labels)).to_physical().cast(pl.Int64)
    grouped = pl.DataFrame({"row": items["row"], "code": codes}).group_by("row").agg(pl.col("code").sort())
    found: list[Ints] = [np.zeros(0, dtype=np.int64)] * rows
    for row, members in grouped.iter_rows():
        found[row] = np.array(members, dtype=np.int64)
    return found


def _distinct(sets: list[Ints]) -> tuple[list[Ints], Ints, Ints]:
    number: dict[bytes, int] = {}
    member = np.array([number.setdefault(s.tobytes(), len(number)) for s in sets], dtype=np.int64)
    kinds = [np.frombuffer(key, dtype=np.int64) for key in number]
    return kinds, member, np.bincount(member, minlength=len(kinds)).astype(np.int64)


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
    ways = _bits([np.flatnonzero(line) for line in world.item_covers(sensitive, leaves, labels)], len(labels))
    mine = _sets(was, world.people, leaves)
    kinds, of_row, sizes = _distinct(_sets(shown, world.after.height, labels))
    before_kinds, of_person, people = _distinct(mine)
    game = _Game(
        rows=_bits(kinds, len(labels)),
        weights=sizes.astype(np.float64),
        originals=_bits(before_kinds, len(leaves)),
        counts=people.astype(np.float64),
        ways=ways,
        leaves=len(leaves),
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
            kind = int(of_row[row]) if row >= 0 and not world.starred[row] else None
            everything = int(of_person[target]) if most is None else None
            before[place], after[place] = game.chances(items, everything, kind)
        entry: dict[str, Any] = {"attack": "fingerprint", "sensitive": sensitive, "attributes": [], "items": most}
        found.append(entry | {"before": rate_of(before), "after": rate_of(after)})
    return found


@dataclass(frozen=True)
class _Game:
    """The distinct fingerprints of both tables as bits, with how many people have each."""

    rows: Words
    weights: Floats
    originals: Words
    counts: Floats
    ways: Words  # the labels that cover each leaf
    leaves: int

    def chances(self, items: Ints, everything: int | None, own: int | None) -> tuple[float, float]:
        """Return the chances to find a person with the known items, in the original and in the release.

        ``everything`` is the person's fingerprint in the original where all of it is known, ``own`` what the
        person shows in the release, None where nothing is shown.
        """
        if everything is not None:
            before = 1 / self.counts[everything]
        else:
            mask = _bits([items], self.leaves)[0]
            before = 1 / self.counts[((self.originals & mask) == mask).all(axis=1)].sum()
        if own is None:
            return before, 0.0
        fits = np.ones(len(self.rows), dtype=bool)
        for item in items.tolist():
            fits &= (self.rows & self.ways[item]).any(axis=1)
        if everything is not None:
            allowed = np.bitwise_or.reduce(self.ways[items], axis=0)
            fits &= ~(self.rows & ~allowed).any(axis=1)
        return before, 1 / self.weights[fits].sum() if fits[own] else 0.0


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
