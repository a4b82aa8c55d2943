"""Disclosure: somebody who knows where a person must be reads the sensitive value off those rows.

Homogeneity and background knowledge are the two attacks of Machanavajjhala et al. 2007.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from kveil.attack.link import Knowledge, knowledge
from kveil.attack.match import Bools, Floats, Groups, Ints, group, matches
from kveil.attack.rate import rate_of
from kveil.attack.world import World

WORK = 4_000_000_000  # multiplications an attack may take


def _targets(world: World, groups: int, values: int, share: int) -> Ints:
    most = max(WORK // share // max(groups * (values + 1), 1), 1000)
    if world.people <= most:
        return np.arange(world.people, dtype=np.int64)
    rng = np.random.default_rng(world.policy.seed)
    return np.sort(rng.choice(world.people, size=most, replace=False)).astype(np.int64)


def _histogram(items: pl.DataFrame, labels: list[str], member: Ints, groups: int, hidden: Bools) -> Floats:
    """Return how many rows of each group have each label, and after that how many rows it has."""
    position = pl.Series(labels, dtype=pl.String)
    codes = items["item"].cast(pl.Enum(position)).to_physical().cast(pl.Int64).to_numpy()
    rows = items["row"].to_numpy()
    seen = ~hidden[rows]
    found = np.zeros((groups, len(labels) + 1))
    np.add.at(found, (member[rows[seen]], codes[seen]), 1)
    found[:, -1] = np.bincount(member[~hidden], minlength=groups)
    return found


def _has(items: pl.DataFrame, labels: list[str], rows: Ints, total: int) -> Bools:
    """Return which of the rows have which label; a row of -1 has none."""
    position = {label: i for i, label in enumerate(labels)}
    place = np.full(total + 1, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    found = np.zeros((len(rows), len(labels)), dtype=bool)
    known = items.filter(pl.col("item").is_in(labels))
    at = place[known["row"].to_numpy()]
    codes = np.array([position[label] for label in known["item"].to_list()], dtype=np.int64)
    found[at[at >= 0], codes[at >= 0]] = True
    found[rows < 0] = False
    return found


def _judge(counts: Floats, has: Bools) -> tuple[Floats, Floats, Floats]:
    """Return for every target: sure of a true value, best guess true, best guess true with one value ruled out."""
    values, fitting = counts[:, :-1], counts[:, -1]
    some = fitting > 0
    sure = ((values == fitting[:, None]) & has).any(axis=1) & some
    everyone = np.arange(len(has))
    guess = values.argmax(axis=1)
    best = has[everyone, guess] & some & (values[everyone, guess] > 0)
    wrong = np.where(has, -1.0, values)
    ruled = wrong.argmax(axis=1)
    left = values.copy()
    left[everyone, ruled] = np.where(wrong[everyone, ruled] > 0, -1.0, left[everyone, ruled])
    second = left.argmax(axis=1)
    informed = has[everyone, second] & some & (left[everyone, second] > 0)
    return sure.astype(np.float64), best.astype(np.float64), informed.astype(np.float64)


def disclosure(world: World, sensitive: str, names: tuple[str, ...], share: int = 1) -> list[dict[str, Any]]:
    """Play homogeneity and background knowledge on a sensitive attribute, with knowledge of the named ones.

    ``share`` is how many such games there are: each may take its part of the work.
    """
    was, shown = world.items_before[sensitive], world.items_after[sensitive]
    if not was.height or not world.after.height:
        return []
    groups = group([world.column("after", name) for name in names], world.after.height)
    labels = shown["item"].unique().sort().to_list() or [""]
    old_labels = was["item"].unique().sort().to_list()
    targets = _targets(world, len(groups.sizes), len(labels), share)
    has_some = np.zeros(world.people, dtype=bool)
    has_some[was["row"].to_numpy()] = True
    targets = targets[has_some[targets]]
    if not len(targets):
        return []
    known = knowledge(world, names, targets, groups)
    counts = _after(world, shown, labels, known, groups, names)
    rows = world.row_of[targets]
    # A released person is judged by what the release shows, which may be more general; one left out by the original.
    has = _has(shown, labels, rows, world.after.height)
    absent = rows < 0
    has[absent] = _has(was, labels, targets, world.people)[absent]
    after = _judge(counts, has)
    before = _before(world, was, old_labels, names, targets)
    frequent = was.group_by("item").len().get_column("len").max()
    base = {"attributes": list(names), "sensitive": sensitive, "guess": float(frequent or 0) / world.people}  # type: ignore[arg-type]
    found = [
        {"attack": "homogeneity"} | base | {"before": rate_of(before[0]), "after": rate_of(after[0])},
        {"attack": "best guess"} | base | {"before": rate_of(before[1]), "after": rate_of(after[1])},
    ]
    if not world.persons:
        found.append(
            {"attack": "background knowledge"} | base | {"before": rate_of(before[2]), "after": rate_of(after[2])}
        )
    return found


def _after(
    world: World, shown: pl.DataFrame, labels: list[str], known: Knowledge, groups: Groups, names: tuple[str, ...]
) -> Floats:
    hidden = world.hidden(names)
    weights = _histogram(shown, labels, groups.member, len(groups.sizes), hidden)
    return matches(known.clues, len(known.tuples.first), weights)[known.tuples.member]


def _before(
    world: World, was: pl.DataFrame, labels: list[str], names: tuple[str, ...], targets: Ints
) -> tuple[Floats, Floats, Floats]:
    """Judge the same attacks on the original: the rows that fit are those with equal values."""
    groups = group([world.column("before", name) for name in names], world.people)
    nobody = np.zeros(world.people, dtype=bool)
    asked, place = np.unique(groups.member[targets], return_inverse=True)
    renumber = np.full(len(groups.sizes), -1, dtype=np.int64)
    renumber[asked] = np.arange(len(asked))
    inside = renumber[groups.member] >= 0
    items = was.filter(pl.Series(inside[was["row"].to_numpy()]))
    sizes = groups.sizes[asked].astype(np.float64)
    found: list[list[Floats]] = [[], [], []]
    step = max(40_000_000 // (len(labels) + 1), 1)
    place = place.reshape(-1)
    order = np.argsort(place, kind="stable")
    for start in range(0, len(order), step):
        part = order[start : start + step]
        used, at = np.unique(place[part], return_inverse=True)
        numbers = np.full(len(asked), -1, dtype=np.int64)
        numbers[used] = np.arange(len(used))
        member = np.where(inside, numbers[renumber[groups.member]], -1)
        mine = items.filter(pl.Series(member[items["row"].to_numpy()] >= 0))
        weights = _histogram(mine, labels, member, len(used), nobody | (member < 0))
        weights[:, -1] = sizes[used]
        judged = _judge(weights[at.reshape(-1)], _has(mine, labels, targets[part], world.people))
        for kept, new in zip(found, judged, strict=True):
            kept.append(new)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    whole = [np.concatenate(parts)[back] for parts in found]
    return whole[0], whole[1], whole[2]
