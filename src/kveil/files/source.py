"""A table as it came in, and the kinds of files there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.codebook import Codebook
from kveil.files.texts import as_texts
from kveil.stopping import check_cancelled
from kveil.suffixes import SUFFIXES, WRITTEN, Kind, plain_suffix, suffix_of
from kveil.words import count, did_you_mean, listing


@dataclass(frozen=True)
class Source:
    """A table as it came in.

    ``frame`` has every column, typed as the source typed it; ``native`` is the caller's own frame where there
    is one, from which unchanged columns are taken. ``codebook`` is what a file of SPSS or Stata says of columns, and
    ``commas`` the columns whose numbers came with a decimal comma and are held with a point; of these, cells of
    ``comma_sets`` may be sets, whose items are joined by `|`.
    """

    name: str
    frame: pl.DataFrame
    kind: Kind | Literal["frame", "database"]
    _: KW_ONLY
    separator: str = ","
    sha256: str | None = None
    native: Any = None
    codebook: Codebook = field(default_factory=Codebook)
    commas: frozenset[str] = frozenset()
    comma_sets: frozenset[str] = frozenset()
    encoding: str = "utf-8"
    sheet: str | None = None  # of a workbook, where one was asked for
    skip: int = 0  # lines above the names of columns
    left_aside: tuple[str, ...] = ()  # other sheets of a workbook that hold something, where nobody chose one
    quoted: bool = True  # whether cells may hold the separator, as those of a CSV without quotes do not

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return self.frame.columns

    @cached_property
    def _types(self) -> Mapping[str, pl.DataType]:
        """The types of all columns; to ask a frame for them takes as long as it has columns."""
        return dict(self.frame.schema)

    def column(self, name: str) -> pl.Series:
        """Return a column, typed as the source typed it."""
        return self.frame[name]

    def dtype(self, name: str) -> pl.DataType:
        """Return the type of a column."""
        return self._types[name]

    def texts(self, column: str) -> pl.Series:
        """Return a column as texts, null where the source has none."""
        try:
            self.dtype(column)
        except KeyError:
            raise DataError(f"{self.name} lacks the column {column}; check that it is the right table.") from None
        check_cancelled()
        return as_texts(self.column(column))

    def held(self, column: str) -> pl.Series:
        """Return a column as texts, or as categories where the source holds it so, which take less room."""
        return self.texts(column)

    def held_type(self, number: int) -> pl.DataType:
        """Return how the source would hold a column of so many different texts."""
        return pl.String()

    def distinct(self, names: Sequence[str]) -> int:
        """Return how many different rows some columns have."""
        return self.frame.select(names).n_unique()

    def with_changed(self, changes: Mapping[str, pl.Expr], **others: Any) -> Source:
        """Return the source with other cells in some columns of texts, and with some fields changed."""
        changed = self.frame.with_columns(change.alias(name) for name, change in changes.items())
        return replace(self, frame=changed, **others)


def kind_of(path: Path) -> Kind:
    """Return the kind of file a suffix names."""
    suffix = suffix_of(path)
    plain = plain_suffix(suffix)
    kind = SUFFIXES.get(plain)
    if kind is None or (plain != suffix and kind != "csv"):
        raise FileError(
            f"{path.name or path}: kveil does not know files that end in {suffix or 'nothing'!r}; "
            f"use one of {listing(list(SUFFIXES), 20, 'or')}, a CSV also with .gz or .zst behind it."
        )
    return kind


def check_written(path: Path) -> None:
    """Raise FileError where a file of this suffix is read but not written."""
    kind_of(path)
    suffix = suffix_of(path)
    if plain_suffix(suffix) not in WRITTEN:
        raise FileError(
            f"{path.name}: kveil reads files that end in {suffix!r} but does not write them; name the release "
            f"{WRITTEN_INSTEAD[SUFFIXES[suffix]]}."
        )


WRITTEN_INSTEAD: dict[Kind, str] = {"excel": "….xlsx", "spss": "….sav", "sas": "….csv, ….sav or ….dta"}


def check_plain_names(names: Sequence[str], where: str) -> None:
    """Raise DataError where Polars would take the name of a column for a pattern of names, or for one of kveil's own.

    By its place: where a file has no line of names, its first record stands there.
    """
    odd = [str(place) for place, name in enumerate(names, 1) if _is_pattern(name) or "\0" in name]
    if odd:
        raise DataError(
            f"{where}: {count(len(odd), 'column')} (number {listing(odd)}) "
            f"{'has a name' if len(odd) == 1 else 'have names'} that cannot be told from a pattern of names; rename "
            "what is called `*`, begins with `^` and ends with `$`, or holds a NUL character."
        )


def _is_pattern(name: str) -> bool:
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def check_named(found: Sequence[str], expected: Iterable[str], name: str) -> None:
    """Raise DataError where not one column is known: the first line may be a record, and is not repeated."""
    if found and not set(expected).intersection(found):
        raise DataError(
            f"{name} has none of the columns that the policy lists under attributes; check that it is the right "
            "table, and a CSV that its first line has the names."
        )


def check_columns(found: Sequence[str], expected: Iterable[str], name: str) -> None:
    """Raise DataError where a table and its policy do not have the same columns."""
    expected, known = dict.fromkeys(expected), frozenset(found)
    check_named(found, expected, name)
    unlisted = [column for column in found if column not in expected]
    if unlisted:
        raise DataError(
            f"{name} has {count(len(unlisted), 'column')} without a role: {listing(unlisted)}; "
            "list every column under attributes, nothing is released by accident."
        )
    absent = [column for column in expected if column not in known]
    if absent:
        hint = did_you_mean(absent[0], found)
        remedy = "; take it out there, or check that it is the right table."
        raise DataError(f"{name} lacks {listing(absent)}, which the policy lists under attributes{hint or remedy}")
