"""Decimal commas: numbers are held with a point while kveil works with them, and written as they came."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Literal

import polars as pl

from kveil.errors import DataError
from kveil.files.source import Source

NUMBER = r"^\s*[+-]?\d+(,\d+)?\s*$"
WITH_COMMA = r"^\s*[+-]?\d+,\d+\s*$"
WITH_POINT = r"^\s*[+-]?\d*\.\d+\s*$"
ITEMS = "|"  # between the items of a set, in a file that has no lists

LISTS = pl.List(pl.String)  # of the items of a person

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
    source: Source,
    columns: Iterable[str],
    missing: Sequence[str],
    *,
    decimal: DecimalSign | None = None,
    sets: Collection[str] = (),
) -> Source:
    """Return a table whose numbers have a decimal point in the given columns, which are to hold numbers.

    ``decimal`` is what its owner says; otherwise commas are found by themselves. It goes value by value, so that what
    is left out of a release changes nothing; a column with both signs is an error. Of a list every item is a value, and
    so it is of a text in a column of ``sets``, which a file without lists joins by `|`.
    """
    if decimal == "." or _without_commas(source):
        return source
    changes: dict[str, pl.Expr] = {}
    for name in columns:
        kind = source.dtype(name) if name in source.columns else None
        if kind not in (pl.String, LISTS):
            continue
        joined = kind == pl.String and name in sets
        texts = _different(source.column(name) if kind == LISTS else source.held(name), joined=joined)
        texts = texts.filter(~texts.is_in(list(missing)))
        if texts.str.contains(WITH_COMMA).any():
            if texts.str.contains(WITH_POINT).any():
                raise DataError(
                    f"{source.name}: the numbers of {name} have a decimal comma in some rows and a point in others; "
                    "write them in one way."
                )
            changes[name] = _by_item(pl.col(name), kind, partial(_with_point, missing=missing), joined=joined)
    if not changes:
        return source
    joined_by_bars = frozenset(name for name in changes if name in sets)
    return source.with_changed(changes, commas=frozenset(changes), comma_sets=joined_by_bars)


def _different(column: pl.Series, *, joined: bool) -> pl.Series:
    """Return the different texts of a column, items of its sets where it has sets; none where it has no comma."""
    if column.dtype == LISTS:
        column = column.explode(empty_as_null=True)
    if column.dtype == pl.String and not column.str.contains(",", literal=True).any():
        return pl.Series([], dtype=pl.String)
    texts = column.unique().drop_nulls().cast(pl.String)
    return texts.str.split(ITEMS).explode(empty_as_null=True).unique() if joined else texts


def _by_item(
    cells: pl.Expr, kind: pl.DataType | None, change: Callable[[pl.Expr], pl.Expr], *, joined: bool
) -> pl.Expr:
    """Return cells with every text changed: a cell itself, or every item of its set."""
    if kind == LISTS:
        return cells.list.eval(change(pl.element()))
    return cells.str.split(ITEMS).list.eval(change(pl.element())).list.join(ITEMS) if joined else change(cells)


def with_likely_points(source: Source) -> Source:
    """Return a table that no policy speaks about yet with a decimal point in the numbers of every column of numbers."""
    if _without_commas(source):
        return source
    return with_points(source, numbers_with_commas(source.frame), ("",))


def _without_commas(source: Source) -> bool:
    """Tell whether no cell can have a comma, since commas separate the cells, and none is in quotes."""
    return source.separator == "," and not source.quoted


def _with_point(text: pl.Expr, *, missing: Sequence[str]) -> pl.Expr:
    number = text.str.contains(WITH_COMMA) & ~text.is_in(list(missing))
    return pl.when(number).then(text.str.replace(",", ".", literal=True)).otherwise(text)


def with_commas(frame: pl.DataFrame, columns: Iterable[str], *, sets: Collection[str] = ()) -> pl.DataFrame:
    """Return a release with the decimal commas that unchanged columns came with; ``sets`` as in `with_points`."""
    changed = []
    for name in columns:
        kind = frame.schema.get(name)
        if kind in (pl.String, LISTS):
            joined = kind == pl.String and name in sets
            changed.append(_by_item(pl.col(name), kind, _with_comma, joined=joined).alias(name))
    return frame.with_columns(changed) if changed else frame


def _with_comma(text: pl.Expr) -> pl.Expr:
    return pl.when(text.str.contains(WITH_POINT)).then(text.str.replace(".", ",", literal=True)).otherwise(text)
