"""Files without a line of names: read with names given by hand, so that a copy with names can be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.compression import unpack_file
from kveil.files.csv_reading import SEPARATORS
from kveil.files.encodings import UTF8, in_utf8
from kveil.files.reading import read_bytes
from kveil.files.records import records
from kveil.files.source import Source, check_plain_names, kind_of
from kveil.words import count, listing

LOOK = 50  # records that the separator is found from


def read_headless(path: Path, names: Sequence[str], *, skip: int = 0, encoding: str = UTF8) -> Source:
    """Return a CSV whose columns have the given names; the first ``skip`` lines are left out.

    Blanks around values are left out, and so are blank lines: files without names are often written with both.
    """
    _check_names(names)
    if kind_of(path) != "csv":
        raise FileError(f"{path.name}: only a CSV can lack names of columns; leave --columns out.")
    text = in_utf8(unpack_file(read_bytes(path), path), encoding, path.name).decode()
    text = text if "\n" in text else text.replace("\r", "\n")  # as old files have it
    separator = _find_separator(text, len(names), skip)
    rows = _rows(text, separator, names, skip, path.name)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return Source(path.name, frame, "csv", separator=separator, encoding=encoding)


def _check_names(names: Sequence[str]) -> None:
    if not names or not all(names):
        raise DataError("--columns must name every column; give all names, separated by commas.")
    check_plain_names(names, "--columns")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise DataError(f"--columns names {listing([repr(name) for name in twice])} more than once; rename them.")


def _find_separator(text: str, width: int, skip: int) -> str:
    """Return the separator that cuts most of the first records into as many fields as there are names."""

    def whole(separator: str) -> int:
        found = records(text, separator, strict=False, skip_blanks=True)
        return sum(len(fields) == width for _, fields in islice(found, skip, skip + LOOK))

    return max(SEPARATORS, key=whole)


def _rows(text: str, separator: str, names: Sequence[str], skip: int, name: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for number, (line, row) in enumerate(records(text, separator, strict=False, skip_blanks=True)):
        if number < skip or not any(field.strip() for field in row):
            continue
        if len(row) != len(names):
            raise FileError(
                f"{name}: line {line} has {count(len(row), 'field')}, and --columns names {len(names)}; name every "
                "column, and leave lines that are no records out with --skip."
            )
        rows.append([field.strip() for field in row])
    return rows
