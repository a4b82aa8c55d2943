"""Linking: somebody who knows some attributes of a person looks for that person's row.

Prosecutor, journalist and marketer are El Emam's three attackers (Guide to the De-Identification of Personal
Health Information, 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Floats, Longs
from kveil.attacker.attacks import Linking
from kveil.attacker.match import Clue, EqualRows, KnownValue, ShownText, group, matches
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World

WORK = 1_000_000_000  # cells an attack may look at; beyond that it takes a sample of targets


def most_targets(groups: int, columns: int) -> int:
    """Return how many targets can be matched with so many groups by so many columns."""
    return max(WORK // max(groups * columns, 1), 1000)


@dataclass(frozen=True)
class Knowledge:
    """What an attacker knows of each target, matched against the groups of a release.

    ``tuples`` are the distinct things known, with each target's own.
    """

    clues: list[Clue]
    targets: Longs
    tuples: EqualRows
    groups: EqualRows


def knowledge(world: World, names: tuple[str, ...], targets: Longs, *, shown: EqualRows | None = None) -> Knowledge:
    """Return what somebody who knows the named attributes of the targets can match them with."""
    known = [world.column("before", name).at(targets) for name in names]
    tuples = group(known, len(targets))
    groups = shown or world.equal("after", names)
    clues: list[Clue] = []
    for name, column in zip(names, known, strict=True):
        released = world.column("after", name)
        cover = world.cover(name, column.texts, released.texts)
        clues.append(KnownValue(cover, column.codes[tuples.first], released.codes[groups.first]))
    return Knowledge(clues, targets, tuples, groups)


def _own_fits(world: World, known: Knowledge, rows: Longs) -> Bools:
    """Return whether each target's own row is among those that fit; no row, no fit."""
    fits: Bools = rows >= 0
    if world.after.height:
        groups = known.groups.member[np.maximum(rows, 0)]
        for clue in known.clues:
            fits &= clue.own(clue.values[known.tuples.member], groups)
    return fits


def chances(world: World, known: Knowledge, hidden: Bools) -> tuple[Floats, Floats]:
    """Return every target's chance to be found, and what it would be at most, if the own group were known.

    The attacker takes one of the rows that fit, each with the same chance; rows of stars only where no other
    fits.
    """
    rows = world.row_of[known.targets]
    in_group = np.bincount(known.groups.member[~hidden], minlength=len(known.groups.sizes)).astype(np.float64)
    stars = float(hidden.sum())
    fitting = matches(known.clues, len(known.tuples.first), in_group[:, None])[:, 0][known.tuples.member]
    own = _own_fits(world, known, rows)
    own_hidden = hidden[np.maximum(rows, 0)] if len(hidden) else np.zeros(len(rows), dtype=bool)
    chance = np.zeros(len(rows))
    seen = own & ~own_hidden
    chance[seen] = 1 / fitting[seen]
    alone = own & own_hidden & (fitting == 0)
    chance[alone] = 1 / max(stars, 1.0)
    most = np.zeros(len(rows))
    most[seen] = 1 / in_group[known.groups.member[rows[seen]]]
    return chance, np.maximum(most, chance)


def chances_before(world: World, names: tuple[str, ...], targets: Longs) -> Floats:
    """Return every target's chance in the original itself, its identifiers taken away."""
    return 1 / world.equal("before", names).own[targets]


def _journalist(world: World, names: tuple[str, ...], hidden: Bools) -> Floats:
    """Return for released rows the chance to name the right person out of everybody in the original.

    The journalist starts from a row: everybody whose values fit it may be the one.
    """
    rows = np.flatnonzero(~hidden)
    if not len(rows):
        return np.zeros(0)
    shown = [world.column("after", name).at(rows) for name in names]
    tuples = group(shown, len(rows)) if hidden.any() else world.equal("after", names)
    everyone = world.equal("before", names)
    most = most_targets(len(everyone.sizes), len(names))
    if len(tuples.first) > most:
        chosen = world.sample(most, among=np.arange(len(rows), dtype=np.int64))
        rows, shown = rows[chosen], [column.at(chosen) for column in shown]
        tuples = group(shown, len(rows))
    clues, own = [], np.ones(len(rows), dtype=bool)
    for name, column in zip(names, shown, strict=True):
        was = world.column("before", name)
        clue = ShownText(
            world.cover(name, was.texts, column.texts), column.codes[tuples.first], was.codes[everyone.first]
        )
        own &= clue.own(column.codes, everyone.member[world.places[rows]])
        clues.append(clue)
    fitting = matches(clues, len(tuples.first), everyone.sizes.astype(np.float64)[:, None])[:, 0][tuples.member]
    chance = np.zeros(len(rows))
    chance[own] = 1 / fitting[own]
    return chance


def linking(world: World, names: tuple[str, ...]) -> list[Linking]:
    """Play prosecutor, journalist and marketer with knowledge of the named attributes."""
    groups = world.equal("after", names)
    targets = world.sample(most_targets(len(groups.sizes), len(names)))
    hidden = world.hidden(names)
    chance, most = chances(world, knowledge(world, names, targets, shown=groups), hidden)
    before = rate_of(chances_before(world, names, targets))
    released = world.row_of[targets] >= 0
    after = {
        "prosecutor": rate_of(chance[released], most=most[released]),
        "journalist": rate_of(_journalist(world, names, hidden)),
        "marketer": rate_of(chance),
    }
    promised = world.promises(names)
    return [
        Linking(attack=kind, attributes=names, before=before, after=rate, promised=promised)
        for kind, rate in after.items()
    ]
