"""SPSS, Stata and SAS: codes with labels in; SPSS and Stata out, with labels of released values only.

The library for them wants paths, so that bytes are laid into files without a name.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from kveil.errors import FileError
from kveil.files.codebook import Code, Codebook, ColumnNotes
from kveil.files.extras import import_extra
from kveil.files.room import check_declared, free_memory
from kveil.files.source import kind_of
from kveil.files.texts import as_texts, frame_of, whole_in_floats
from kveil.suffixes import Kind

HELD = 16  # bytes that the library holds of a cell at least
INSTEAD = "convert it to Parquet, which engine stream reads piece by piece, or use a machine with more memory"
MEASURES = ("nominal", "ordinal", "scale")
MOST_OF_STATA = 80  # characters of what a column is called there
NAMES: dict[Kind, str] = {"spss": "SPSS", "stata": "Stata", "sas": "SAS"}
SPSS_TIME = slice(92, 109)  # where the header of an SPSS file says when it was made
ANY_TIME = b"01 Jan 0000:00:00"
STATA_TIME = re.compile(rb"<timestamp>\x11.{17}</timestamp>", re.DOTALL)
ANY_STATA_TIME = b"<timestamp>\x1101 Jan 2000 00:00</timestamp>"


@dataclass(frozen=True)
class Labelled:
    """A table with what its file says of columns, such as the codes behind the labels it shows, and of itself."""

    frame: pl.DataFrame
    codebook: Codebook
    notes: tuple[str, ...] = ()  # of the file as a whole, in words


def _pyreadstat() -> Any:
    import pyreadstat

    return pyreadstat


def _library(kind: Kind) -> Any:
    return import_extra(_pyreadstat, f"{NAMES[kind]} files", "pyreadstat")


@contextmanager
def _nameless(*, raw: bytes = b"") -> Iterator[tuple[IO[bytes], str]]:
    """Give an open file without a name and a path to it; a kill leaves nothing behind."""
    if not hasattr(os, "memfd_create"):  # not on Linux
        with tempfile.NamedTemporaryFile() as named:
            named.write(raw)
            named.flush()
            yield named, named.name
        return
    with os.fdopen(os.memfd_create("kveil"), "w+b") as file:
        file.write(raw)
        file.flush()
        yield file, f"/proc/self/fd/{file.fileno()}"


def read_labelled(raw: bytes, path: Path) -> Labelled:
    """Return a table of SPSS, Stata or SAS; codes that all have a label of their own are shown as labels."""
    kind = kind_of(path)
    library = _library(kind)
    try:
        with _nameless(raw=raw) as (_, name):
            frame, told, absent = _read(library, path, name)
    except FileError:
        raise
    except Exception:  # of many kinds, whose texts quote cells
        raise FileError(
            f"{path.name}: this is not a whole {NAMES[kind]} file; it may be cut off or of another kind."
        ) from None
    listed: dict[str, dict[Code, str]] = told.variable_value_labels
    columns, labels = [], {}
    for column in frame.get_columns():
        shown = _as_labels(column, listed.get(column.name, {}))
        if shown is not None:
            labels[column.name] = shown[1]
        columns.append(column if shown is None else shown[0])
    notes = {name: _notes_of(name, told) for name in frame.columns}
    return Labelled(frame_of(columns), Codebook(labels, notes, absent), _notes(told))


def _read(library: Any, path: Path, name: str) -> tuple[pl.DataFrame, Any, dict[str, pl.Series]]:
    """Return a file's table without the codes that stand for missing, what it says, and these codes.

    The library tells which codes stand for missing only where it is asked to leave them in, so that columns which have
    such are read twice. A day that stands for missing has no code: the library counts days from other beginnings.
    """
    suffix = path.suffix.lower()
    if suffix in (".sas7bdat", ".xpt"):
        catalog = path.with_suffix(".sas7bcat")
        more = {"catalog_file": str(catalog)} if suffix == ".sas7bdat" and catalog.is_file() else {}
        read_sas: Callable[..., Any] = library.read_sas7bdat if suffix == ".sas7bdat" else library.read_xport
        return *read_sas(name, output_format="polars", **more), {}
    read: Callable[..., Any] = library.read_dta if suffix == ".dta" else library.read_sav
    frame, told = _read_whole(read, path, name)
    coded = [column for column in frame.columns if column in {**told.missing_ranges, **told.missing_user_values}]
    if not coded:
        return frame, told, {}
    plain, _ = read(name, output_format="polars", usecols=coded)
    absent = {}
    for column in coded:
        codes = _codes_for_missing(frame[column], plain[column])
        if codes.null_count() < len(codes):
            absent[column] = codes
    return frame.with_columns(plain[column] for column in coded), told, absent


def _read_whole(read: Callable[..., Any], path: Path, name: str) -> tuple[pl.DataFrame, Any]:
    """Return a file's table, codes for missing included, and what it says; raise FileError where it is too large.

    Few bytes may stand for many rows, and a header need not say how many there are: then reading ends where they are
    more than the memory can hold.
    """
    _, told = read(name, metadataonly=True)
    width = max(told.number_columns, 1) * HELD
    check_declared(path.name, told.number_rows or 0, width, instead=INSTEAD)
    free = free_memory()
    most = 0 if told.number_rows or free is None else free // width + 1
    frame, told = read(name, output_format="polars", user_missing=True, row_limit=most)
    if most:
        check_declared(path.name, frame.height, width, instead=INSTEAD)
    return frame, told


def _codes_for_missing(coded: pl.Series, plain: pl.Series) -> pl.Series:
    """Return what a column shows where it stands for missing, null elsewhere."""
    if coded.dtype == pl.Object:  # numbers beside the letters of Stata
        return pl.Series(coded.name, [cell if isinstance(cell, str) else None for cell in coded], dtype=pl.String)
    if coded.dtype != pl.String and not coded.dtype.is_numeric():
        return pl.Series(coded.name, [None], dtype=pl.String).new_from_index(0, len(coded))
    return pl.select(pl.when(plain.is_null()).then(coded).alias(coded.name)).to_series()


def _as_labels(column: pl.Series, listed: Mapping[Code, str]) -> tuple[pl.Series, dict[str, Code]] | None:
    """Return a column as labels with their codes, None where a value has none or two codes share one.

    Such columns keep their codes: ages with a label for 98 are numbers all the same.
    """
    codes = column.drop_nulls().unique().to_list()
    if not listed or any(code not in listed or not listed[code] for code in codes if code != ""):
        return None
    texts = list(listed.values())
    if len(set(texts)) < len(texts):
        return None
    distinct = [code for code in codes if code in listed]
    shown = pl.Series([listed[code] for code in distinct], dtype=pl.String)
    old = pl.Series(distinct, dtype=column.dtype)
    rest = pl.lit("") if column.dtype == pl.String else None
    texts_of = column.replace_strict(old, shown, default=rest, return_dtype=pl.String)
    return texts_of.alias(column.name), {text: code for code, text in listed.items()}


def _notes(told: Any) -> tuple[str, ...]:
    """Return what a file says beside cells and what it says of columns, in words."""
    notes = []
    if told.file_label:
        notes.append("a title")
    if told.notes:
        notes.append("notes")
    if getattr(told, "mr_sets", None):
        notes.append("sets of multiple responses")
    return tuple(notes)


def _notes_of(name: str, told: Any) -> ColumnNotes:
    """Return what a file says of a column."""
    measure = told.variable_measure.get(name, "")
    return ColumnNotes(
        label=told.column_names_to_labels.get(name) or "",
        values=dict(told.variable_value_labels.get(name, {})),
        ranges=tuple((span["lo"], span["hi"]) for span in told.missing_ranges.get(name, ())),
        letters=tuple(told.missing_user_values.get(name, ())),
        measure=measure if measure in MEASURES else "",
    )


def write_labelled(frame: pl.DataFrame, file: IO[bytes], target: Path, codebook: Codebook) -> None:
    """Write a table for SPSS or Stata: with labels of the values that it shows, and without the time."""
    kind = kind_of(target)
    library = _library(kind)
    written = [_written(column, codebook, kind) for column in frame.get_columns()]
    notes = {one.column.name: one.notes for one in written}
    labels = {name: own.label for name, own in notes.items() if own.label}
    values = {name: dict(own.values) for name, own in notes.items() if own.values}
    plain = frame_of(one.column for one in written)
    try:
        with _nameless() as (out, name):
            if kind == "stata":
                letters = {column: list(own.letters) for column, own in notes.items() if own.letters}
                library.write_dta(
                    plain,
                    name,
                    column_labels=labels,
                    variable_value_labels=values,
                    missing_user_values=letters,
                    version=14,
                )
            else:
                library.write_sav(
                    plain,
                    name,
                    column_labels=labels,
                    variable_value_labels=values,
                    missing_ranges=_written_ranges(notes),
                    variable_measure={column: own.measure for column, own in notes.items() if own.measure},
                )
            out.seek(0)
            raw = out.read()
    except Exception:  # of many kinds, whose texts may quote cells
        raise FileError(
            f"{target.name}: {NAMES[kind]} cannot hold this table, for its names of columns or its long texts; write "
            "CSV or Parquet instead."
        ) from None
    if kind == "stata":
        raw = STATA_TIME.sub(lambda _: ANY_STATA_TIME, raw, count=1)
    else:
        raw = raw[: SPSS_TIME.start] + ANY_TIME + raw[SPSS_TIME.stop :]
    file.write(raw)


def _written_ranges(notes: Mapping[str, ColumnNotes]) -> dict[str, list[dict[str, Code]]]:
    """Return the codes that stand for missing as the library takes them."""
    return {name: [{"lo": low, "hi": high} for low, high in own.ranges] for name, own in notes.items() if own.ranges}


@dataclass(frozen=True)
class _FileColumn:
    """A column as codes, numbers or texts, and what is said of it."""

    column: pl.Series
    notes: ColumnNotes


def _written(column: pl.Series, codebook: Codebook, kind: Kind) -> _FileColumn:
    """Return a column as a file holds it, with labels of the codes that it shows, and its codes for missing."""
    own = codebook.of(column.name)
    codes = _codes(column, codebook.labels.get(column.name))
    plain = _plain(column) if codes is None else codes
    bare = ColumnNotes(label=own.label[:MOST_OF_STATA] if kind == "stata" else own.label)
    if column.dtype.is_temporal():
        return _FileColumn(plain, replace(bare, measure="" if kind == "stata" else own.measure))
    absent = codebook.absent.get(column.name)
    texts = column.dtype == pl.String or (column.dtype == pl.Null and absent is None)
    if texts and codes is None and any(isinstance(code, float | int) for code in _said(own)):
        return _FileColumn(plain, bare)  # texts now, in place of the codes that something is said of
    if column.dtype == pl.Null and absent is not None:  # nothing but codes for missing
        plain = column.cast(pl.Int64 if absent.dtype == pl.String and own.letters else absent.dtype)
    if (kind == "stata") != bool(own.letters):
        absent = None if own.letters or kind == "stata" else absent
    shown = set(plain.drop_nulls().unique().to_list())
    if absent is not None:
        shown |= set(absent.drop_nulls().unique().to_list())
        plain = _with_absent(plain, absent)
    values = {code: own.values[code] for code in sorted(own.values, key=str) if code in shown and own.values[code]}
    if codes is None and _as_labels(column, values) is not None:  # it would be read as labels, unlike the original
        values = {}
    if kind == "stata":
        values = {} if plain.dtype == pl.String else _for_stata(values)
        return _FileColumn(plain, replace(bare, values=values, letters=() if absent is None else own.letters))
    values = {code: text for code, text in values.items() if not (own.letters and isinstance(code, str))}
    return _FileColumn(plain, replace(bare, values=values, ranges=own.ranges, measure=own.measure))


def _said(notes: ColumnNotes) -> Iterator[Code]:
    yield from notes.values
    yield from (code for span in notes.ranges for code in span)


def _with_absent(plain: pl.Series, absent: pl.Series) -> pl.Series:
    """Return a column with its codes for missing where it has nothing; letters stand beside numbers."""
    if plain.dtype != pl.String and absent.dtype == pl.String:
        cells = [code if cell is None else cell for cell, code in zip(plain.to_list(), absent.to_list(), strict=True)]
        return pl.Series(plain.name, cells, dtype=pl.Object)
    if plain.dtype == pl.String:
        return pl.select(pl.when(absent.is_not_null()).then(absent).otherwise(plain).alias(plain.name)).to_series()
    whole = plain.dtype.is_integer() and bool((absent.drop_nulls() == absent.drop_nulls().cast(pl.Int64)).all())
    kind = pl.Int64 if whole else pl.Float64
    return pl.select(pl.coalesce(plain.cast(kind), absent.cast(kind)).alias(plain.name)).to_series()


def _codes(column: pl.Series, labels: Mapping[str, Code] | None) -> pl.Series | None:
    """Return a column of labels as codes; None where it shows other texts."""
    if labels is None or column.dtype != pl.String:
        return None
    shown = [text for text in column.drop_nulls().unique().to_list() if text != ""]
    if not set(shown) <= set(labels):
        return None
    kinds = {type(labels[text]) for text in shown} or {type(code) for code in labels.values()}
    kind = pl.String if str in kinds else pl.Int64 if kinds == {int} else pl.Float64
    codes = column.replace_strict(
        pl.Series(shown, dtype=pl.String), pl.Series([labels[text] for text in shown], dtype=kind), default=None
    )
    return codes.cast(kind).alias(column.name)


def _for_stata(values: Mapping[Code, str]) -> dict[Code, str]:
    """Return labels of whole numbers and of letters, which is all that Stata labels."""
    return {
        code if isinstance(code, str) else int(code): text
        for code, text in values.items()
        if (isinstance(code, str) and len(code) == 1) or (not isinstance(code, str) and code == int(code))
    }


def _plain(column: pl.Series) -> pl.Series:
    """Return a column in a type that these files have; what they could not hold exactly becomes text."""
    kind = column.dtype
    if whole_in_floats(column):
        return column.cast(pl.Int64)
    if kind == pl.Float64 and not np.isinf(column.to_numpy()).any():
        return column.fill_nan(None)
    if kind in (pl.Date, pl.Datetime) and getattr(kind, "time_zone", None) is None:
        return column
    return as_texts(column).fill_null("")
