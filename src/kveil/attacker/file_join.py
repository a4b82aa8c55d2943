"""An attacker's own file, joined with the original and with the release."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs
from kveil.attacker.attacks import FileJoin, RowMatches
from kveil.attacker.link import most_targets
from kveil.attacker.match import CodedTexts, KnownValue, code_column, group, matches
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.errors import DataError
from kveil.files import Source
from kveil.verifier.rows import original_rows, released_texts
from kveil.words import listing


@dataclass(frozen=True)
class _SamePeople:
    """Pairs of a row of the attacker's file and the row of the original that is the same person, by shared columns."""

    judged_by: tuple[str, ...]
    theirs: Longs
    ours: Longs


def attackers_file(world: World, original: Source, attacker: Source) -> FileJoin:
    """Join an attacker's file with the original and with the release, and judge the links where that is possible.

    A link can be judged where the file shares an identifier, or the individual column, with the original. Of a file
    with too many rows a part is drawn by the policy's seed.
    """
    policy = world.policy
    names = tuple(name for name in policy.quasi_identifiers if name in attacker.frame.columns)
    if not names:
        raise DataError(
            f"{attacker.name} has none of the quasi-identifiers {listing(policy.quasi_identifiers)}; give --attacker a "
            "file whose columns are called as in the policy."
        )
    released = world.equal("after", names)
    rows = world.sample(most_targets(len(released.sizes), len(names)), among=np.arange(attacker.rows, dtype=np.int64))
    texts = {name: code_column(released_texts(attacker, policy, name)).at(rows) for name in names}
    tuples = group(list(texts.values()), len(rows))
    hidden = world.hidden(names)
    seen = np.bincount(released.member[~hidden], minlength=len(released.sizes)).astype(np.float64)
    clues = []
    for name, column in texts.items():
        after = world.column("after", name)
        cover = world.cover(name, column.texts, after.texts)
        clues.append(KnownValue(cover, column.codes[tuples.first], after.codes[released.first]))
    fitting = matches(clues, len(tuples.first), seen[:, None])[:, 0][tuples.member]
    equal = _equal(world, names, texts, len(rows))
    pairs = _same_people(world, original, attacker, rows)
    content = FileJoin(
        attack="attacker's file",
        attributes=names,
        rows=attacker.rows,
        matched={"before": _matched(equal), "after": _matched(fitting)},
        judged_by=None,
        before=None,
        after=None,
        drawn=None if len(rows) == attacker.rows else len(rows),
    )
    if pairs is None:
        return content
    own = world.row_of[pairs.ours]
    fits = own >= 0
    if world.after.height:
        fits &= ~hidden[np.maximum(own, 0)]
        for clue in clues:
            fits &= clue.own(clue.values[tuples.member[pairs.theirs]], released.member[np.maximum(own, 0)])
    same = np.ones(len(pairs.theirs), dtype=bool)
    for name, column in texts.items():
        was = world.before[name].gather(pairs.ours)
        same &= (was == _series(column).gather(pairs.theirs)).to_numpy()
    return _judged(content, pairs, (same, equal), (fits, fitting))


def _matched(fitting: Floats) -> RowMatches:
    return {"none": int((fitting == 0).sum()), "one": int((fitting == 1).sum())}


def _judged(
    content: FileJoin, pairs: _SamePeople, before: tuple[Bools, Floats], after: tuple[Bools, Floats]
) -> FileJoin:
    """Return the join with its rates: a row is linked rightly as often as the person is among those who fit it."""
    rates = []
    known = np.unique(pairs.theirs)
    for right, fitting in (before, after):
        chance = np.zeros(len(fitting))
        np.add.at(chance, pairs.theirs[right], 1 / fitting[pairs.theirs[right]])
        rates.append(rate_of(chance[known]))
    return replace(content, judged_by=pairs.judged_by, before=rates[0], after=rates[1])


def _series(column: CodedTexts) -> pl.Series:
    return pl.Series(column.texts, dtype=pl.String).gather(column.codes)


def _equal(world: World, names: tuple[str, ...], texts: dict[str, CodedTexts], rows: int) -> Floats:
    """Return how many rows of the original are equal to each row of the attacker's file."""
    there = pl.DataFrame({name: _series(column) for name, column in texts.items()})
    counts = world.before.select(names).group_by(names).len("len")
    joined = there.join(counts, on=list(names), how="left", maintain_order="left", nulls_equal=True)
    return joined["len"].fill_null(0).cast(pl.Float64).to_numpy() if rows else np.zeros(0)


def _same_people(world: World, original: Source, attacker: Source, rows: Longs) -> _SamePeople | None:
    """Return which of some rows of the attacker's file and which rows of the original are one person's, if known."""
    policy = world.policy
    naming = [*policy.with_role("individual"), *policy.with_role("identifier")]
    shared = [name for name in naming if name in attacker.frame.columns and name in original.frame.columns]
    if not shared:
        return None
    of_record = original_rows(original, policy).row_of
    ours = original.frame.select(original.texts(name).alias(name) for name in shared)
    ours = ours.with_columns(pl.Series("\0target", of_record)).unique()
    theirs = pl.DataFrame({name: attacker.texts(name).gather(rows) for name in shared}).with_row_index("\0row")
    joined = theirs.join(ours, on=shared, how="inner").select("\0row", "\0target").unique(maintain_order=True)
    return _SamePeople(
        tuple(shared), joined["\0row"].cast(pl.Int64).to_numpy(), joined["\0target"].cast(pl.Int64).to_numpy()
    )
