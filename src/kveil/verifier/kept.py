"""Compare what a release keeps with its original: sensitive and insensitive cells, and items."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.files import Source, exact_values
from kveil.policy.model import Policy
from kveil.verifier.fingerprints import Coverage, cover
from kveil.verifier.form import below_text, more_than_text
from kveil.verifier.rows import ITEM, ROW
from kveil.verifier.truth import Aligned, Differences
from kveil.words import count, listing


def compare_kept(aligned: Aligned, policy: Policy, must_be_star: Mapping[str, pl.Series]) -> Differences:
    """Compare the cells that must be as they were, and the items that must be covered by what is shown.

    ``must_be_star`` are, per sensitive attribute, the rows that show `*` instead of their value.
    """
    rows, before, places = aligned.rows, aligned.before, aligned.places
    findings: list[str] = []
    untrue = changed = 0
    if policy.shows_records:
        names = policy.with_role("sensitive")
        changed = _differing_records(aligned, names, policy.data.missing[0])
        if changed:
            findings.append(f"{listing(names)} (sensitive) differ from the original in {count(changed, 'record')}.")
    for name in policy.released:
        role = policy.attributes[name].role
        if role == "quasi-identifier" or (role == "sensitive" and policy.shows_records):
            continue
        if name in policy.generalized:
            coverage = cover(policy, name, before.items[name], rows.items[name], places, rows.starred)
            findings += _coverage(name, coverage)
            untrue += coverage.uncovered + coverage.unfounded
            continue
        if role == "sensitive" and rows.persons:
            differing = _differing_items(before.items[name], rows.items[name], places, rows.starred)
        else:
            differs = _differing_cells(aligned, name, policy.data.missing[0])
            differing = int((differs & ~must_be_star[name]).sum() if name in must_be_star else differs.sum())
            hidden = _differing_below_text(aligned, name)
            if hidden:
                findings.append(f"{more_than_text(name, hidden)}, which the original does not have.")
                changed += hidden
        if differing:
            findings.append(f"{name} ({role}) differs from the original in {count(differing, 'cell')}.")
            changed += differing
    return Differences(untrue, 0, changed, (), findings)


def _differing_cells(aligned: Aligned, name: str, absent: str) -> pl.Series:
    """Return the rows whose cell is not the original's; no value and the text ``absent`` are both missing.

    A column that has both of these must have each where the original has it.
    """
    was = aligned.original.texts(name).gather(aligned.before.source[aligned.places])
    shown = aligned.release.texts(name).gather(aligned.rows.source)
    differs = shown.fill_null(absent) != was.fill_null(absent)
    if shown.null_count() and (shown == absent).any():
        differs |= shown.is_null() != was.is_null()
    return differs


def _differing_below_text(aligned: Aligned, name: str) -> int:
    """Return how many cells hold more than their texts show, and not what the original's cell holds."""
    shown = aligned.release.column(name).gather(aligned.rows.source)
    hidden = below_text(shown)
    if not hidden.any():
        return 0
    was = aligned.original.column(name).gather(aligned.before.source[aligned.places])
    if was.dtype == shown.dtype:
        hidden &= exact_values(shown).ne_missing(exact_values(was))
    return int(hidden.sum())


def _coverage(name: str, coverage: Coverage) -> list[str]:
    """Return what is wrong with generalized items: each must be covered, and each label must cover one."""
    found = []
    if coverage.uncovered:
        found.append(f"{name} shows nothing that covers {count(coverage.uncovered, 'item')} of the original.")
    if coverage.unfounded:
        found.append(f"{name} shows {count(coverage.unfounded, 'item')} that cover no item of the original.")
    return found


def _differing_records(aligned: Aligned, names: list[str], absent: str) -> int:
    """Return how many rows of released persons are none of their records, and how many records are in no row.

    Rows are compared with records as multisets, person by person, all cells of a row together; a starred person's are
    not compared.
    """
    rows, before = aligned.rows, aligned.before
    place = np.full(before.height, -1, dtype=np.int64)
    place[aligned.places] = np.where(rows.starred.to_numpy(), -1, np.arange(rows.height))
    own = place[before.row_of]
    shown = np.where(rows.starred.to_numpy(), -1, np.arange(rows.height))[rows.row_of]
    typed = [name for name in names if aligned.original.dtype(name) == aligned.release.dtype(name)]
    had = _cells_of_records(aligned.original, names, typed, absent, own).with_columns(more=pl.lit(-1))
    has = _cells_of_records(aligned.release, names, typed, absent, shown).with_columns(more=pl.lit(1))
    counts = pl.concat([had, has]).group_by(pl.exclude("more")).agg(pl.col("more").sum())
    return int(counts["more"].abs().sum())


def _cells_of_records(source: Source, names: list[str], typed: list[str], absent: str, rows: Longs) -> pl.DataFrame:
    """Return the row of each record with its cells, those of some columns exactly; rows that are -1 are left out."""
    texts = {name: source.texts(name).fill_null(absent) for name in names}
    exact = {f"{name} exactly": exact_values(source.column(name)) for name in typed}
    return pl.DataFrame({ROW: rows, **texts, **exact}).filter(pl.col(ROW) >= 0)


def _differing_items(before: pl.DataFrame, after: pl.DataFrame, places: Longs, starred: pl.Series) -> int:
    """Return how many items of released persons were added or left out; a starred person's are not compared."""
    place = pl.DataFrame({ROW: np.arange(len(places)), "place": places}).filter(~starred)
    shown = after.join(place, on=ROW).select(pl.col("place").alias(ROW), ITEM)
    had = before.join(place.select(pl.col("place").alias(ROW)), on=ROW)
    added = shown.join(had, on=[ROW, ITEM], how="anti", nulls_equal=True).height
    return added + had.join(shown, on=[ROW, ITEM], how="anti", nulls_equal=True).height
