"""SPSS, Stata and SAS: codes with labels in; SPSS and Stata out, with labels of released values only.

The library for them wants paths, so that bytes are laid into files without a name.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from kveil.errors import FileError
from kveil.files.extras import import_extra
from kveil.files.source import Labels, kind_of
from kveil.files.texts import as_texts, whole_in_floats
from kveil.suffixes import Kind

NAMES: dict[Kind, str] = {"spss": "SPSS", "stata": "Stata", "sas": "SAS"}
SPSS_TIME = slice(92, 109)  # where the header of an SPSS file says when it was made
ANY_TIME = b"01 Jan 0000:00:00"
STATA_TIME = re.compile(rb"<timestamp>\x11.{17}</timestamp>", re.DOTALL)
ANY_STATA_TIME = b"<timestamp>\x1101 Jan 2000 00:00</timestamp>"


@dataclass(frozen=True)
class Labelled:
    """A table with the codes behind the labels it shows, and what the file says beside its cells."""

    frame: pl.DataFrame
    labels: Labels
    listed: Mapping[str, Mapping[float | str, str]] = field(default_factory=dict)  # all labels of all columns
    notes: tuple[str, ...] = ()  # of the file and its columns, in words


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
    readers: dict[str, Callable[..., Any]] = {
        ".dta": library.read_dta,
        ".sas7bdat": library.read_sas7bdat,
        ".xpt": library.read_xport,
    }
    read = readers.get(path.suffix.lower(), library.read_sav)
    catalog = path.with_suffix(".sas7bcat")
    more = {"catalog_file": str(catalog)} if path.suffix.lower() == ".sas7bdat" and catalog.is_file() else {}
    try:
        with _nameless(raw=raw) as (_, name):
            frame, told = read(name, output_format="polars", **more)
    except Exception:  # of many kinds, whose texts quote cells
        raise FileError(
            f"{path.name}: this is not a whole {NAMES[kind]} file; it may be cut off or of another kind."
        ) from None
    listed: dict[str, dict[float | str, str]] = told.variable_value_labels
    columns, labels = [], {}
    for column in frame.get_columns():
        shown = _as_labels(column, listed.get(column.name, {}))
        if shown is not None:
            labels[column.name] = shown[1]
        columns.append(column if shown is None else shown[0])
    return Labelled(pl.DataFrame(columns), labels, listed, _notes(told))


def _as_labels(column: pl.Series, listed: Mapping[float | str, str]) -> tuple[pl.Series, dict[str, float | str]] | None:
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
    """Return what a file says beside cells and labels of values, in words."""
    notes = []
    if told.file_label:
        notes.append("a title")
    if told.notes:
        notes.append("notes")
    if any(told.column_labels):
        notes.append("descriptions of columns")
    if told.missing_ranges or told.missing_user_values:
        notes.append("values that stand for missing")
    return tuple(notes)


def write_labelled(frame: pl.DataFrame, file: IO[bytes], target: Path, labels: Labels) -> None:
    """Write a table for SPSS or Stata: with labels of the values that it shows, and without the time."""
    kind = kind_of(target)
    library = _library(kind)
    columns, listed = [], {}
    for column in frame.get_columns():
        codes = _codes(column, labels.get(column.name))
        if codes is not None:
            listed[column.name] = codes[1]
        columns.append(_plain(column) if codes is None else codes[0])
    try:
        with _nameless() as (written, name):
            if kind == "stata":
                library.write_dta(pl.DataFrame(columns), name, variable_value_labels=_whole(listed), version=14)
            else:
                library.write_sav(pl.DataFrame(columns), name, variable_value_labels=listed)
            written.seek(0)
            raw = written.read()
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


def _codes(
    column: pl.Series, labels: Mapping[str, float | str] | None
) -> tuple[pl.Series, dict[float | str, str]] | None:
    """Return a column of labels as codes, with the labels of those that it shows; None where it shows other texts."""
    if labels is None or column.dtype != pl.String:
        return None
    shown = [text for text in column.drop_nulls().unique().to_list() if text != ""]
    if not set(shown) <= set(labels):
        return None
    kinds = {type(code) for code in labels.values()}
    kind = pl.String if str in kinds else pl.Int64 if kinds == {int} else pl.Float64
    codes = column.replace_strict(
        pl.Series(shown, dtype=pl.String), pl.Series([labels[text] for text in shown], dtype=kind), default=None
    )
    return codes.cast(kind).alias(column.name), {labels[text]: text for text in sorted(shown)}


def _whole(listed: Mapping[str, Mapping[float | str, str]]) -> dict[str, dict[float | str, str]]:
    """Return labels with whole numbers as codes, which is all that Stata labels."""
    return {name: {int(code): text for code, text in own.items()} for name, own in listed.items()}


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
