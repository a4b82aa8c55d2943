"""Columns of any type as texts, and copies of columns that carry nothing hidden."""

from __future__ import annotations

import datetime
import io
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kveil.errors import DataError

TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)  # of columns that hold texts, in whatever way

FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, counted from 1970-01-01
DAY_IN = {"ms": 86_400_000, "us": 86_400_000_000}

MOST_WHOLE = 2**53  # beyond it a float no longer holds every whole number


def whole_in_floats(column: pl.Series) -> bool:
    """Tell whether a column has whole numbers alone, each of which a float holds exactly."""
    return column.dtype.is_integer() and bool(column.is_between(-MOST_WHOLE, MOST_WHOLE).all())


def text_of(value: Any) -> str | None:
    """Return one value as text: whole floats as ``3``, dates as ISO, booleans as ``true``/``false``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return str(value)
        return str(int(value)) if value == int(value) else str(value)
    if isinstance(value, Decimal):
        return format(value.to_integral_value() if value == value.to_integral_value() else value.normalize(), "f")
    if isinstance(value, datetime.datetime):
        if value != value:  # NaT
            return None
        # Frames without a type for dates hold midnights; value by value, so that rows left out change nothing.
        midnight = value.time() == datetime.time() and not getattr(value, "nanosecond", 0)
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    raise TypeError(type(value).__name__)


# Their shortest texts are found in their own precision: 0.1 is 0.10000000149011612 only once it is widened.
_WIDTHS = {
    "Boolean": 1 / 8,
    "Int8": 1,
    "UInt8": 1,
    "Int16": 2,
    "UInt16": 2,
    "Int32": 4,
    "UInt32": 4,
    "Float32": 4,
    "Null": 0,
}
_NARROW: dict[str, Callable[[float], Any]] = {"Float32": np.float32, "Float16": np.float16}


def as_texts(column: pl.Series) -> pl.Series:
    """Return a typed column as texts, by its distinct values where the type needs a rule of ours."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind in (pl.Null, pl.Boolean) or kind.is_integer() or isinstance(kind, (pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if kind.is_float() or kind.is_decimal() or (kind.is_temporal() and kind != pl.Duration):
        distinct = column.unique()
        _check_years(distinct)
        narrow = _NARROW.get(str(kind))
        values = [narrow(v) if narrow and v is not None else v for v in distinct]
        texts = pl.Series([text_of(value) for value in values], dtype=pl.String)
        table = pl.DataFrame({"value": distinct, "text": texts})
        joined = column.to_frame("value").join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
        return joined["text"].alias(column.name)
    raise DataError(f"the column {column.name!r} is of type {kind}, which kveil cannot read as text; convert it first.")


def _check_years(column: pl.Series) -> None:
    """Raise DataError where a date or a moment is of no year that has a text: ISO 8601 gives years four digits.

    A day is left at either end, since a moment may be of another year in its own zone.
    """
    kind = column.dtype
    if not isinstance(kind, (pl.Date, pl.Datetime)) or getattr(kind, "time_unit", "") == "ns":  # whose years are few
        return
    per_day = 1 if kind == pl.Date else DAY_IN[kind.time_unit]  # type: ignore[union-attr]
    spare = per_day if getattr(kind, "time_zone", None) else 0
    cells = column.to_physical()
    if not cells.is_between(FIRST_DAY * per_day + spare, (LAST_DAY + 1) * per_day - 1 - spare).all():
        raise DataError(
            f"the column {column.name!r} has dates before the year 1 or after the year 9999, which have no text; "
            "correct them, or convert the column to texts first."
        )


def has_exact_values(kind: pl.DataType) -> bool:
    """Tell whether cells of a type may hold more than their texts show: floats, and moments in nanoseconds."""
    return kind.is_float() or (isinstance(kind, pl.Datetime) and kind.time_unit == "ns") or kind == pl.Time


def exact_values(column: pl.Series) -> pl.Series:
    """Return whole numbers that differ wherever cells of a float or a moment do; null for other types."""
    kind = column.dtype
    if not has_exact_values(kind):
        return pl.Series(column.name, [None], dtype=pl.Int64).new_from_index(0, len(column))
    if kind.is_float():
        wide = column.cast(pl.Float64)
        bits = pl.Series(wide.fill_null(0.0).to_numpy().view(np.int64))
        return pl.select(pl.when(column.is_not_null()).then(bits).alias(column.name)).to_series()
    return column.to_physical()


def item_texts(column: pl.Series) -> pl.Series:
    """Return a column of lists with their items as texts."""
    if column.dtype == pl.List(pl.String):
        return column
    rows = np.arange(len(column))
    laid = pl.DataFrame({"row": rows, "item": column}).filter(pl.col("item").list.len() > 0).explode("item")
    lists = laid.with_columns(as_texts(laid["item"])).group_by("row", maintain_order=True).agg("item")
    joined = pl.DataFrame({"row": rows}).join(lists, on="row", how="left", maintain_order="left")
    return joined["item"].fill_null([]).alias(column.name)


_WIDTHS = {
    "Null": 0, "Boolean": 1 / 8, "Int8": 1, "UInt8": 1, "Int16": 2, "UInt16": 2, "Int32": 4, "UInt32": 4, "Float32": 4,
    "Date": 4, "Categorical": 1, "Enum": 1, "String": 16,
}  # fmt: skip


def frame_of(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Return columns as a frame under their own names; out of a list Polars would name one that is called "" anew."""
    return pl.DataFrame({column.name: column for column in columns})


def least_width(kinds: Iterable[pl.DataType]) -> float:
    """Return how many bytes the cells of a row take at least, by their types."""
    return sum(_WIDTHS.get(kind.base_type().__name__, 8) for kind in kinds)


def strip_column(column: pl.Series) -> pl.Series:
    """Return a column that carries nothing but its own values.

    Texts that polars gathers still point into the memory of all they were gathered from, and Arrow files and
    pickles take that memory along; categories name every value the column once had; a cell without a value may still
    have one in memory.
    """
    if isinstance(column.dtype, pl.Categorical):
        return column.cast(pl.String).cast(pl.Categorical)
    if column.dtype == pl.Enum:
        used = set(column.unique().cast(pl.String).drop_nulls())
        kept = [text for text in column.dtype.categories if text in used]  # type: ignore[attr-defined]
        return column.cast(pl.String).cast(pl.Enum(kept))
    if column.dtype in (pl.String, pl.List):
        copied = io.BytesIO()
        column.to_frame().write_ipc(copied, compat_level=pl.CompatLevel.oldest())
        return pl.read_ipc(copied.getvalue()).to_series()
    return column.gather(np.arange(len(column))) if column.null_count() else column
