"""From a solution to released texts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.files import Codebook, Source, as_texts, joined_items
from kveil.policy.attributes import STAR
from kveil.policy.components import sensitive_starred_with
from kveil.policy.model import Policy
from kveil.table.columns import code_texts
from kveil.table.long import WholeRecords, lay_out_items
from kveil.table.order import sorted_rows
from kveil.table.sets import shown_sets
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table


@dataclass(frozen=True)
class Release:
    """The released columns in their order.

    ``columns`` holds what was made; None stands for a column that is taken over unchanged from the input's
    ``source_rows``. ``rows`` gives the table's row (a record, or a person) of every released one.
    """

    columns: dict[str, pl.Series | None]
    rows: Longs
    source_rows: Longs
    labels: dict[str, list[str]]  # what each quasi-identifier shows, sorted

    def frame(self, source: Source) -> pl.DataFrame:
        """Return the release as a Polars frame."""
        return pl.DataFrame(
            {
                name: source.column(name).gather(self.source_rows) if column is None else column
                for name, column in self.columns.items()
            }
        )

    def codebook(self, source: Source, policy: Policy) -> Codebook:
        """Return what a file of the release says of its columns; cells that were made show no codes for missing."""
        codebook = source.codebook.of_release(policy.unchanged, rows=self.source_rows)
        return codebook.without_codes_in([name for name, column in self.columns.items() if column is not None])


def decode(source: Source, table: Table, solution: Solution) -> Release:
    """Return the texts of a solution, in the policy's order and shape."""
    policy = table.policy
    gone = solution.suppressed_anywhere
    kept = np.flatnonzero(~gone) if policy.suppression.show == "drop" else np.arange(table.rows)
    released = [name for name in source.columns if name in set(policy.released)]
    codes: dict[str, Ints] = {}
    labels: dict[str, list[str]] = {}
    classes = solution.classes
    here = classes.of_record[kept] if len(kept) < table.rows else classes.of_record
    present = np.bincount(here, minlength=len(classes.sizes)) > 0
    for position, name in enumerate(table.names):
        starred = solution.suppressed[table.component_of[name]] if table.persons is None else gone
        shown = solution.shown[position]
        codes[name], labels[name] = _used(shown, shown.codes[classes.first], starred[classes.first], present)
    first = kept if table.persons is None else table.persons.first[kept]
    records = WholeRecords.of(source, table, gone, kept) if policy.shows_records else None
    made = dict(records.keys) if records else shown_sets(source, table, solution, kept)
    made |= _starred_values(source, table, solution, kept)
    order = _order(source, _ReleaseColumns(released, codes, labels, made), policy, first, here)
    columns: dict[str, pl.Series | None] = {}
    places = pl.Series(here[order].astype(np.uint32))  # as Polars counts rows: others are cast for every column
    for name in released:
        if name in codes:
            texts = pl.Series(name, labels[name] or [STAR], dtype=pl.String)  # a class that is not released needs one
            texts = texts.cast(source.held_type(len(texts)))
            columns[name] = texts.gather(codes[name]).gather(places)
        else:
            columns[name] = made[name].gather(order) if name in made else None
    rows = kept[order]
    if records is not None:
        columns, source_rows = records.lay_out(columns, order)
        return Release(columns, rows, source_rows, labels)
    if policy.release.shape == "long" and table.persons is not None:
        columns, person = lay_out_items(policy, columns)
        return Release(columns, rows, first[order][person], labels)
    return Release(columns, rows, first[order], labels)


def _starred_values(source: Source, table: Table, solution: Solution, kept: Longs) -> dict[str, pl.Series]:
    """Return the sensitive columns in which records that are shown as stars show `*`, too, as texts.

    A starred row must not publish the value of the one who did not fit; see `policy.components.sensitive_starred_with`.
    """
    if table.persons is not None or table.policy.suppression.show == "drop" or not solution.suppressed.any():
        return {}
    beside = sensitive_starred_with(table.policy)
    columns = {}
    for name in table.policy.with_role("sensitive"):
        starred = np.zeros(table.rows, dtype=bool)
        for c, names in enumerate(beside):
            if name in names:
                starred |= solution.suppressed[c]
        if starred[kept].any():
            texts = source.texts(name).gather(kept)
            star = pl.Series([STAR], dtype=pl.String)
            columns[name] = pl.select(pl.when(pl.Series(starred[kept])).then(star).otherwise(texts).alias(name))[name]
    return columns


def _used(shown: Shown, codes: Ints, starred: Bools, present: Bools) -> tuple[Ints, list[str]]:
    """Return the classes' codes among the labels that are used, and those labels in the order of texts.

    ``present`` are the classes of which a record is released: labels of others are not used.
    """
    if starred.any():
        codes = np.where(starred, np.int32(len(shown.labels)), codes)
    names = [*shown.labels, STAR]
    used = [(names[code], code) for code in np.flatnonzero(np.bincount(codes[present], minlength=1)).tolist()]
    labels = sorted({label for label, _ in used})
    rank = {label: position for position, label in enumerate(labels)}
    renumber = np.zeros(len(names), dtype=np.int32)
    for label, code in used:
        renumber[code] = rank[label]
    return renumber[codes], labels


@dataclass(frozen=True)
class _ReleaseColumns:
    """The released columns: quasi-identifiers as codes of classes with their labels, others made anew, or by name."""

    names: list[str]
    codes: dict[str, Ints]
    labels: dict[str, list[str]]
    made: dict[str, pl.Series]


def _order(source: Source, columns: _ReleaseColumns, policy: Policy, kept: Longs, here: Ints) -> Longs:
    """Return the order of the release; ``kept`` are the input rows that unchanged columns are taken from.

    ``here`` is every row's class.
    """
    released, codes, made = columns.names, columns.codes, columns.made
    if policy.release.order == "keep":
        return np.arange(len(kept))
    if policy.release.order == "shuffle":
        # Never the policy's seed: whoever reads the policy could undo the shuffle.
        return np.random.default_rng(secrets.randbits(128)).permutation(len(kept))
    if released and len(codes) == len(released) and 2 * len(codes[released[0]]) < len(kept):
        # Nothing else is released, so it is enough to sort the classes, and the records by what their class shows.
        ranked = sorted_rows([codes[name] for name in released])
        differs = np.zeros(len(ranked), dtype=bool)
        for name in released:
            differs[1:] |= np.diff(codes[name][ranked]) != 0
        rank = np.empty(len(ranked), dtype=np.int32)
        rank[ranked] = np.cumsum(differs, dtype=np.int32)
        return sorted_rows([rank[here]])
    keys: list[Ints] = []
    for name in released:
        if name in codes:
            keys.append(codes[name][here])
        else:
            column = source.column(name).gather(kept) if name not in made else _as_written(made[name], policy)
            absent = column.is_null()
            keys.append(code_texts(as_texts(column).fill_null("")).codes)
            if absent.any():  # null after the empty text and after NaN, which have the same text
                keys.append(absent.cast(pl.Int32).to_numpy())
    # Records that differ in nothing else stand in the order of their codes for missing, not in that of the input.
    coded = [name for name in released if name in source.codebook.absent and name not in codes and name not in made]
    absences = (source.codebook.absent[name].gather(kept) for name in coded)
    keys += [code_texts(as_texts(codes).fill_null("")).codes for codes in absences]
    return sorted_rows(keys)


def _as_written(column: pl.Series, policy: Policy) -> pl.Series:
    """Return sets as a CSV shows them, an empty one as the text for missing; other columns as they are."""
    return joined_items(column).fill_null(policy.data.missing[0]) if column.dtype == pl.List else column
