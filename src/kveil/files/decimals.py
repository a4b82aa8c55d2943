"""Decimal commas: numbers are held with a point while kveil works with them, and written as they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import polars as pl

from kveil.errors import DataError
from kveil.files.source import Source

NUMBER = r"^\s*[+-]?\d+(,\d+)?\s*$"
WITH_COMMA = r"^\s*[+-]?\d+,\d+\s*$"
WITH_POINT = r"^\s*[+-]?\d*\.\d+\s*$"

DecimalSign = Literal[".", ","]


def numbers_with_commas(frame: pl.DataFrame, *, missing: Sequence[str] = ("",)) -> list[str]:
    """Return the columns of texts that hold nothing but numbers, some with a decimal comma, and missing texts."""
    columns = []
    for column in frame.get_columns():
        if column.dtype == pl.String and column.str.contains(",", literal=True).any():
            texts = column.unique().drop_nulls()
            texts = texts.filter(~texts.is_in(list(missing)))
            if texts.str.contains(WITH_COMMA).any() and texts.str.contains(NUMBER).all():
                columns.append(column.name)
    return columns


def with_points(
    source: Source, columns: Iterable[str], missing: Sequence[str], *, decimal: DecimalSign | None = None
) -> Source:
    """Return a table whose numbers have a decimal point in the given columns, which are to hold numbers.

    ``decimal`` is what its owner says; otherwise commas are found by themselves. It goes value by value, so that what
    is left out of a release changes nothing; a column with both signs is an error.
    """
    if decimal == "." or _without_commas(source):
        return source
    commas: list[str] = []
    for name in columns:
        if name not in source.columns or source.dtype(name) != pl.String:
            continue
        column = source.held(name)
        if column.dtype == pl.String and not column.str.contains(",", literal=True).any():
            continue
        texts = column.unique().drop_nulls().cast(pl.String)
        texts = texts.filter(~texts.is_in(list(missing)))
        if texts.str.contains(WITH_COMMA).any():
            if texts.str.contains(WITH_POINT).any():
                raise DataError(
                    f"{source.name}: the numbers of {name} have a decimal comma in some rows and a point in others; "
                    "write them in one way."
                )
            commas.append(name)
    if not commas:
        return source
    return source.with_changed({name: _replaced(name, missing) for name in commas}, commas=frozenset(commas))


def with_likely_points(source: Source) -> Source:
    """Return a table that no policy speaks about yet with a decimal point in the numbers of every column of numbers."""
    if _without_commas(source):
        return source
    return with_points(source, numbers_with_commas(source.frame), ("",))


def _without_commas(source: Source) -> bool:
    """Tell whether no cell can have a comma, since commas separate the cells, and none is in quotes."""
    return source.separator == "," and not source.quoted


def _replaced(name: str, missing: Sequence[str]) -> pl.Expr:
    text = pl.col(name)
    number = text.str.contains(WITH_COMMA) & ~text.is_in(list(missing))
    return pl.when(number).then(text.str.replace(",", ".", literal=True)).otherwise(text).alias(name)


def with_commas(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Return a release with the decimal commas that unchanged columns came with."""
    changed = []
    for name in columns:
        kind = frame.schema.get(name)
        if kind == pl.String:
            changed.append(_with_comma(pl.col(name)).alias(name))
        elif kind == pl.List(pl.String):  # the items of a person
            changed.append(pl.col(name).list.eval(_with_comma(pl.element())))
    return frame.with_columns(changed) if changed else frame


def _with_comma(text: pl.Expr) -> pl.Expr:
    return pl.when(text.str.contains(WITH_POINT)).then(text.str.replace(".", ",", literal=True)).otherwise(text)
