"""Linking: somebody who knows some attributes of a person looks for that person's row.

Prosecutor, journalist and marketer are El Emam's three attackers (Guide to the De-Identification of Personal
Health Information, 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs
from kveil.attack.match import Clue, Coded, Groups, coded, group, matches
from kveil.attack.rate import rate_of
from kveil.attack.world import World
from kveil.errors import DataError
from kveil.files import Source
from kveil.policy.dependencies import Dependency
from kveil.verifier.rows import released_texts
from kveil.words import listing

WORK = 1_000_000_000  # cells an attack may look at; beyond that it takes a sample of targets


def sample(world: World, groups: int, width: int) -> Longs:
    """Return the targets: everybody, or as many as can be looked at, drawn by the policy's seed."""
    most = max(WORK // max(groups * width, 1), 1000)
    if world.people <= most:
        return np.arange(world.people, dtype=np.int64)
    rng = np.random.default_rng(world.policy.seed)
    return np.sort(rng.choice(world.people, size=most, replace=False)).astype(np.int64)


@dataclass(frozen=True)
class Knowledge:
    """What an attacker knows of each target, matched against the groups of a release.

    ``tuples`` are the distinct things known; ``of_target`` gives each target's.
    """

    clues: list[Clue]
    targets: Longs
    tuples: Groups
    groups: Groups


def knowledge(world: World, names: tuple[str, ...], targets: Longs, shown: Groups | None = None) -> Knowledge:
    """Return what somebody who knows the named attributes of the targets can match them with."""
    known = [world.column("before", name).at(targets) for name in names]
    tuples = group(known, len(targets))
    groups = shown or group([world.column("after", name) for name in names], world.after.height)
    clues = []
    for name, column in zip(names, known, strict=True):
        released = world.column("after", name)
        table = world.covers(name, column.texts, released.texts)
        clues.append(Clue(column.codes[tuples.first], table, released.codes[groups.first]))
    return Knowledge(clues, targets, tuples, groups)


def _own_fits(world: World, known: Knowledge, rows: Longs) -> Bools:
    """Return whether each target's own row is among those that fit; no row, no fit."""
    fits = rows >= 0
    at = known.groups.member[np.maximum(rows, 0)] if world.after.height else np.zeros(len(rows), dtype=np.int64)
    for clue in known.clues:
        if world.after.height:
            fits &= clue.table[clue.values[known.tuples.member], clue.labels[at]]
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
    found = np.zeros(len(rows))
    seen = own & ~own_hidden
    found[seen] = 1 / fitting[seen]
    alone = own & own_hidden & (fitting == 0)
    found[alone] = 1 / max(stars, 1.0)
    most = np.zeros(len(rows))
    most[seen] = 1 / in_group[known.groups.member[rows[seen]]]
    return found, np.maximum(most, found)


def _before(world: World, names: tuple[str, ...], targets: Longs) -> Floats:
    """Return every target's chance in the original itself, its identifiers taken away."""
    groups = group([world.column("before", name) for name in names], world.people)
    return 1 / groups.own[targets]


def _journalist(world: World, names: tuple[str, ...], hidden: Bools) -> Floats:
    """Return for released rows the chance to name the right person out of everybody in the original.

    The journalist starts from a row: everybody whose values fit it may be the one.
    """
    rows = np.flatnonzero(~hidden)
    if not len(rows):
        return np.zeros(0)
    shown = [world.column("after", name).at(rows) for name in names]
    tuples = group(shown, len(rows))
    everyone = group([world.column("before", name) for name in names], world.people)
    most = max(WORK // max(len(everyone.sizes) * len(names), 1), 1000)
    chosen = np.arange(len(rows))
    if len(tuples.first) > most:
        rng = np.random.default_rng(world.policy.seed)
        chosen = np.sort(rng.choice(len(rows), size=most, replace=False))
        shown = [column.at(chosen) for column in shown]
        tuples = group(shown, len(chosen))
    clues, own = [], np.ones(len(chosen), dtype=bool)
    for name, column in zip(names, shown, strict=True):
        was = world.column("before", name)
        table = world.covers(name, was.texts, column.texts).T
        clues.append(Clue(column.codes[tuples.first], table, was.codes[everyone.first]))
        own &= table[column.codes, was.codes[world.places[rows[chosen]]]]
    fitting = matches(clues, len(tuples.first), everyone.sizes.astype(np.float64)[:, None])[:, 0][tuples.member]
    found = np.zeros(len(chosen))
    found[own] = 1 / fitting[own]
    return found


def linking(world: World, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Play prosecutor, journalist and marketer with knowledge of the named attributes."""
    groups = group([world.column("after", name) for name in names], world.after.height)
    targets = sample(world, len(groups.sizes), len(names))
    hidden = world.hidden(names)
    found, most = chances(world, knowledge(world, names, targets, groups), hidden)
    before = _before(world, names, targets)
    released = world.row_of[targets] >= 0
    after = rate_of(found[released]) | {"at_most": float(most[released].mean()) if released.any() else 0.0}
    named = _journalist(world, names, hidden)
    base = {"attributes": list(names)}
    return [
        {"attack": "prosecutor"} | base | {"before": rate_of(before), "after": after},
        {"attack": "journalist"} | base | {"before": rate_of(before), "after": rate_of(named)},
        {"attack": "marketer"} | base | {"before": rate_of(before), "after": rate_of(found)},
    ]


# ---------------------------------------------------------------------------------------------- dependencies


def closure(names: tuple[str, ...], rules: Sequence[Dependency]) -> tuple[str, ...]:
    """Return everything that follows from some attributes by the rules."""
    found = list(names)
    grown = True
    while grown:
        grown = False
        for rule in rules:
            if set(rule.left) <= set(found) and not set(rule.right) <= set(found):
                found += [name for name in rule.right if name not in found]
                grown = True
    return tuple(found)


def _narrow(world: World, rule: Dependency, right: str, clue: Clue, values: list[str], groups: Groups) -> Clue:
    """Return a clue whose groups can only be what a rule says of what they show on its left.

    The attacker is taken to know the rule itself in full, as everybody knows which city a zip code is in.
    """
    table = clue.table[:, clue.labels]
    pairs = world.before.select(*rule.left, right).unique()
    possible = np.zeros_like(table)
    position = {text: i for i, text in enumerate(values)}
    left = [coded(pairs[name]) for name in rule.left]
    fits = []
    for name, column in zip(rule.left, left, strict=True):
        released = world.column("after", name)
        shown = world.covers(name, column.texts, released.texts)
        fits.append(shown[:, released.codes[groups.first]])
    for row, text in enumerate(pairs[right].to_list()):
        if text in position:
            allowed = fits[0][left[0].codes[row]].copy()
            for column, fit in zip(left[1:], fits[1:], strict=True):
                allowed &= fit[column.codes[row]]
            possible[position[text]] |= allowed
    return Clue(clue.values, table & possible, np.arange(len(groups.first), dtype=np.int64))


def refinement(world: World, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Play the prosecutor who also knows the declared dependencies; nothing where they tell nothing more."""
    usable = [
        rule
        for rule in world.policy.dependencies
        if not rule.multivalued and all(name in world.before.columns for name in rule.left + rule.right)
    ]
    wide = closure(names, usable)
    narrowing = [rule for rule in usable if set(rule.right) & set(wide)]
    if not narrowing:
        return []
    columns = tuple(dict.fromkeys([*wide, *(name for rule in narrowing for name in rule.left)]))
    groups = group([world.column("after", name) for name in columns], world.after.height)
    targets = sample(world, len(groups.sizes), len(columns))
    plain, _ = chances(world, knowledge(world, names, targets), world.hidden(names))
    known = knowledge(world, wide, targets, groups)
    clues = list(known.clues)
    for rule in narrowing:
        for right in rule.right:
            if right in wide:
                place = wide.index(right)
                values = world.column("before", right).at(targets).texts
                clues[place] = _narrow(world, rule, right, clues[place], values, groups)
    found, _ = chances(world, replace(known, clues=clues), world.hidden(columns))
    released = world.row_of[targets] >= 0
    entry = {
        "attack": "dependencies",
        "attributes": list(names),
        "rules": [rule.rule for rule in narrowing],
        "before": rate_of(_before(world, wide, targets)),
        "without": rate_of(plain[released]),
        "after": rate_of(found[released]),
    }
    return [entry]


# ---------------------------------------------------------------------------------------------- a file of the attacker


def attackers_file(world: World, original: Source, attacker: Source) -> dict[str, Any]:
    """Join an attacker's file with the original and with the release, and judge the links where that is possible.

    A link can be judged where the file shares an identifier, or the individual column, with the original.
    """
    policy = world.policy
    names = tuple(name for name in policy.quasi_identifiers if name in attacker.frame.columns)
    if not names:
        raise DataError(
            f"{attacker.name} has none of the quasi-identifiers {listing(policy.quasi_identifiers)}; give --attacker a "
            "file whose columns are called as in the policy."
        )
    texts = {name: coded(released_texts(attacker, policy, name)) for name in names}
    rows = np.arange(attacker.rows, dtype=np.int64)
    tuples = group(list(texts.values()), len(rows))
    released = group([world.column("after", name) for name in names], world.after.height)
    hidden = world.hidden(names)
    seen = np.bincount(released.member[~hidden], minlength=len(released.sizes)).astype(np.float64)
    clues = [
        Clue(
            column.codes[tuples.first],
            world.covers(name, column.texts, world.column("after", name).texts),
            world.column("after", name).codes[released.first],
        )
        for name, column in texts.items()
    ]
    fitting = matches(clues, len(tuples.first), seen[:, None])[:, 0][tuples.member]
    equal = _equal(world, names, texts, len(rows))
    content: dict[str, Any] = {
        "attack": "attacker's file",
        "attributes": list(names),
        "rows": attacker.rows,
        "matched": {
            "before": {"none": int((equal == 0).sum()), "one": int((equal == 1).sum())},
            "after": {"none": int((fitting == 0).sum()), "one": int((fitting == 1).sum())},
        },
        "judged_by": None,
        "before": None,
        "after": None,
    }
    truth = _truth(world, original, attacker)
    if truth is None:
        return content
    shared, owner_row, target = truth
    right_before = np.zeros(attacker.rows)
    right_after = np.zeros(attacker.rows)
    own_row = world.row_of[target]
    fits = own_row >= 0
    same = np.ones(len(owner_row), dtype=bool)
    for name, column in texts.items():
        after = world.column("after", name)
        table = world.covers(name, column.texts, after.texts)
        if len(after.codes):
            fits &= table[column.codes[owner_row], after.codes[np.maximum(own_row, 0)]]
        was = world.before[name].gather(target)
        same &= (was == pl.Series(column.texts, dtype=pl.String).gather(column.codes[owner_row])).to_numpy()
    if len(hidden):
        fits &= ~hidden[np.maximum(own_row, 0)]
    np.add.at(right_after, owner_row[fits], 1 / fitting[owner_row[fits]])
    np.add.at(right_before, owner_row[same], 1 / equal[owner_row[same]])
    known = np.unique(owner_row)
    return content | {
        "judged_by": shared,
        "before": rate_of(right_before[known]),
        "after": rate_of(right_after[known]),
    }


def _equal(world: World, names: tuple[str, ...], texts: dict[str, Coded], rows: int) -> Floats:
    """Return how many rows of the original are equal to each row of the attacker's file."""
    there = pl.DataFrame({n: pl.Series(c.texts, dtype=pl.String).gather(c.codes) for n, c in texts.items()})
    counts = world.before.select(names).group_by(names).len("len")
    joined = there.join(counts, on=list(names), how="left", maintain_order="left", nulls_equal=True)
    return joined["len"].fill_null(0).cast(pl.Float64).to_numpy() if rows else np.zeros(0)


def _truth(world: World, original: Source, attacker: Source) -> tuple[list[str], Longs, Longs] | None:
    """Return the shared identifiers and, for pairs of one identity, the attacker's row and the original's."""
    policy = world.policy
    naming = [*policy.with_role("individual"), *policy.with_role("identifier")]
    shared = [name for name in naming if name in attacker.frame.columns and name in original.frame.columns]
    if not shared:
        return None
    from kveil.verifier.rows import original_rows

    _, of_record = original_rows(original, policy)
    ours = original.frame.select(original.texts(name).alias(name) for name in shared)
    ours = ours.with_columns(pl.Series("\0target", of_record)).unique()
    theirs = attacker.frame.select(attacker.texts(name).alias(name) for name in shared).with_row_index("\0row")
    joined = theirs.join(ours, on=shared, how="inner").select("\0row", "\0target").unique(maintain_order=True)
    return shared, joined["\0row"].cast(pl.Int64).to_numpy(), joined["\0target"].cast(pl.Int64).to_numpy()
