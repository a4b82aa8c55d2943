"""Compare what a release keeps with its original: sensitive and insensitive cells, and items."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.files import Source, as_texts, exact_values
from kveil.policy.model import Policy
from kveil.verifier.alignment import Aligned, BesideOriginal, KeptCells
from kveil.verifier.fingerprints import Coverage, compare_items
from kveil.verifier.form import below_text, more_than_text
from kveil.verifier.rows import ITEM, ROW, Rows
from kveil.verifier.truth import Differences
from kveil.words import count, listing


def compare_kept(aligned: BesideOriginal, policy: Policy, must_be_star: Mapping[str, pl.Series]) -> Differences:
    """Compare the cells that must be as they were, and the items that must be covered by what is shown.

    ``must_be_star`` are, per sensitive attribute, the rows that show `*` instead of their value.
    """
    rows, before, places = aligned.rows, aligned.before, aligned.places
    findings: list[str] = []
    untrue = changed = 0
    if policy.shows_records:
        assert isinstance(aligned, Aligned), "whole records are compared row by row"
        names = policy.with_role("sensitive")
        changed = _differing_records(aligned, names, policy.data.missing[0])
        if changed:
            findings.append(f"{listing(names)} (sensitive) differ from the original in {count(changed, 'record')}.")
    for name in policy.released:
        role = policy.attributes[name].role
        if role == "quasi-identifier" or (role == "sensitive" and policy.shows_records):
            continue
        if name in policy.generalized:
            coverage = compare_items(policy, name, before, rows, places)
            findings += _coverage(name, coverage)
            untrue += coverage.uncovered + coverage.unfounded
            continue
        if role == "sensitive" and rows.persons:
            differing = _differing_items(before, rows, name, places)
        else:
            cells = aligned.kept(policy, name)
            differing = _differing_cells(cells, policy.data.missing[0], must_be_star.get(name))
            hidden = _differing_below_text(cells)
            if hidden:
                findings.append(f"{more_than_text(name, hidden)}, which the original does not have.")
                changed += hidden
        differing += _differing_codes(aligned, name)
        if differing:
            findings.append(f"{name} ({role}) differs from the original in {count(differing, 'cell')}.")
            changed += differing
    return Differences(untrue, 0, changed, (), findings)


def _differing_cells(cells: KeptCells, absent: str, must_be_star: pl.Series | None) -> int:
    """Return how many cells are not the original's; no value and the text ``absent`` are both missing.

    A column that has both of these must have each where the original has it. Rows that show `*` instead are not asked.
    """
    was, shown = as_texts(cells.was), as_texts(cells.shown)
    differs = shown.fill_null(absent) != was.fill_null(absent)
    two_ways = cells.two_ways
    if two_ways is None:
        two_ways = bool(shown.null_count() and (shown == absent).any())
    if two_ways:
        differs |= shown.is_null() != was.is_null()
    if must_be_star is not None and must_be_star.any():
        instead = must_be_star.to_numpy()[cells.rows] & (cells.rows >= 0)
        differs &= ~pl.Series(instead)
    return cells.count(differs)


def _differing_codes(aligned: BesideOriginal, name: str) -> int:
    """Return how many codes for missing, as files of SPSS and Stata have them, are not the original's; none is no harm.

    A person's must be that of one of the person's records.
    """
    if not isinstance(aligned, Aligned) or name not in aligned.release.codebook.absent:
        return 0
    shown = as_texts(aligned.release.codebook.absent[name])
    codes = aligned.original.codebook.absent.get(name)
    was = (
        pl.Series([None], dtype=pl.String).new_from_index(0, aligned.original.rows)
        if codes is None
        else as_texts(codes)
    )
    of_row = aligned.places[aligned.rows.row_of] if aligned.rows.persons else aligned.places
    of_record = aligned.before.row_of if aligned.before.persons else np.arange(aligned.original.rows)
    has = pl.DataFrame({ROW: of_row, ITEM: shown}).drop_nulls(ITEM)
    had = pl.DataFrame({ROW: of_record, ITEM: was}).drop_nulls(ITEM).unique()
    return has.join(had, on=[ROW, ITEM], how="anti").height


def _differing_below_text(cells: KeptCells) -> int:
    """Return how many cells hold more than their texts show, and not what the original's cell holds."""
    hidden = below_text(cells.shown)
    if not hidden.any():
        return 0
    if cells.was.dtype == cells.shown.dtype:
        hidden &= exact_values(cells.shown).ne_missing(exact_values(cells.was))
    return cells.count(hidden)


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


def _differing_items(before: Rows, after: Rows, name: str, places: Longs) -> int:
    """Return how many items of released persons were added or left out; a starred person's are not compared."""
    place = pl.DataFrame({ROW: np.arange(len(places)), "place": places}).filter(~after.starred)
    shown = after.items[name].join(place, on=ROW).select(pl.col("place").alias(ROW), ITEM)
    had = before.items[name].join(place.select(pl.col("place").alias(ROW)), on=ROW)
    added = shown.join(had, on=[ROW, ITEM], how="anti", nulls_equal=True)
    gone = had.join(shown, on=[ROW, ITEM], how="anti", nulls_equal=True)
    return sum(
        items.height if before.times is None else int(before.times[items[ROW].to_numpy()].sum())
        for items in (added, gone)
    )
