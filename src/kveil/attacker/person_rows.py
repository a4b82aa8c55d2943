"""Inconsistency: somebody puts the rows of one released person together where they show different values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Floats, Longs
from kveil.attacker.attacks import Inconsistency
from kveil.attacker.cover import Cover
from kveil.attacker.fingerprints import MOST_TARGETS
from kveil.attacker.link import chances, knowledge
from kveil.attacker.match import code_column, matches
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.files import Source
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.attributes import STAR
from kveil.verifier.rows import INDIVIDUAL, released_texts


def inconsistency(world: World, release: Source) -> Inconsistency:
    """Play somebody who puts the rows of one released person together where they show different values.

    A release in sets, or a long one of kveil's, shows every person once: nothing can be put together.
    """
    names = tuple(world.policy.quasi_identifiers)
    before = world.equal("before", names)
    targets = world.sample(MOST_TARGETS)
    if world.policy.release.shape == "long" and INDIVIDUAL in release.frame.columns:
        chance, differing = _put_together(world, release, names, targets)
    else:
        chance, differing = chances(world, knowledge(world, names, targets), world.hidden(names))[0], 0
    return Inconsistency(
        attack="inconsistency",
        attributes=names,
        differing=differing,
        before=rate_of(1 / before.own),
        after=rate_of(chance),
    )


@dataclass(frozen=True)
class _EveryRow:
    """The target's value of an attribute is known; a person fits where all of the person's rows may stand for it.

    ``texts`` are what the rows show, ordered by person; ``starts`` says where each person's rows begin.
    """

    cover: Cover
    values: Longs
    texts: Longs
    starts: Longs

    @property
    def kinds(self) -> int:
        """How many different values there are."""
        return self.cover.values

    def table(self, values: Longs) -> Bools:
        """Return which persons some values fit."""
        rows = self.cover.of_values(values)[:, self.texts]
        fits: Bools = np.logical_and.reduceat(rows, self.starts, axis=1)
        return fits

    def own(self, values: Longs, groups: Longs) -> Bools:
        """Return for pairs of a value and a person whether they fit."""
        lengths = np.diff(np.append(self.starts, len(self.texts)))[groups]
        pair = np.repeat(np.arange(len(groups)), lengths)
        row = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + self.starts[groups][pair]
        fits = np.ones(len(groups), dtype=bool)
        np.logical_and.at(fits, pair, self.cover.of_pairs(values[pair], self.texts[row]))
        return fits


def _put_together(world: World, release: Source, names: tuple[str, ...], targets: Longs) -> tuple[Floats, int]:
    """Return targets' chances when a released person is all of that person's rows, and how many persons differ."""
    person = code_column(release.texts(INDIVIDUAL).fill_null("")).codes
    _, first, number = np.unique(person, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))  # persons in the order in which they appear
    order, ends = members_by_group(place[number.reshape(-1)], len(first))
    starts = ends[:-1]
    differs = np.zeros(len(first), dtype=bool)
    hidden = np.ones(len(first), dtype=bool)  # persons who show nothing but `*`
    clues = []
    for name in names:
        shown = code_column(released_texts(release, world.policy, name, stars=True))
        values = world.column("before", name).at(targets)
        texts = shown.codes[order]
        differs |= np.minimum.reduceat(texts, starts) != np.maximum.reduceat(texts, starts)
        star = np.array([text == STAR for text in shown.texts], dtype=bool)
        hidden &= np.logical_and.reduceat(star[texts], starts)
        clues.append(_EveryRow(world.cover(name, values.texts, shown.texts), values.codes, texts, starts))
    fitting = matches(clues, len(targets), (~hidden).astype(np.float64)[:, None])[:, 0]
    rows = world.row_of[targets]
    own: Bools = rows >= 0
    for clue in clues:
        own[own] &= clue.own(clue.values[own], rows[own])
    chance = np.zeros(len(targets))
    seen = own & ~hidden[np.maximum(rows, 0)]
    chance[seen] = 1 / fitting[seen]
    chance[own & ~seen & (fitting == 0)] = 1 / max(float(hidden.sum()), 1.0)
    return chance, int(differs.sum())
