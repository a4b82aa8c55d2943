"""Frames of others: pandas, Polars, PyArrow and DuckDB in, the same kind out, sharing nothing with rows left out.

Whatever else gives its rows as a stream of Arrow is a frame, too; what comes back is then one of Polars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import polars as pl

from kveil.errors import DataError
from kveil.files import Source, check_plain_names, strip_column, text_of

if TYPE_CHECKING:
    import narwhals as nw  # imported where a frame comes in: files never pay for it
    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultedTypeVar  # a bare `Result` is one of anything

    FrameT = DefaultedTypeVar("FrameT", default=Any)  # of a result: the kind of frame that its release is
else:
    FrameT = TypeVar("FrameT")
KnownFrame = TypeVar(
    "KnownFrame", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table | DuckDBPyRelation | FrameOnSpark"
)


class FrameOnSpark(Protocol):
    """A frame of Spark, by what no other frame has: only its engine knows Spark."""

    @property
    def sparkSession(self) -> Any:  # noqa: N802 (Spark's name)
        """The session that it belongs to."""


@runtime_checkable
class ArrowStream(Protocol):
    """What gives its rows as a stream of Arrow, such as a relation of DuckDB or a reader of record batches."""

    def __arrow_c_stream__(self, *, requested_schema: object | None = None) -> object:
        """Return the stream, as Arrow's interface for C has it."""


def is_spark_frame(frame: Any) -> bool:
    """Tell whether a frame is one of Spark, without loading what would read it."""
    return type(frame).__module__.startswith("pyspark.sql.") and type(frame).__name__ == "DataFrame"


def from_frame(frame: Any) -> Source:
    """Return a table of somebody else's as a source; row labels are never looked at."""
    import narwhals as nw

    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    elif _is_stream_alone(frame):
        frame = _from_stream(frame)
    try:
        wrapped = nw.from_native(frame, eager_only=True)
        labels = list(wrapped.columns)
    except TypeError:
        raise DataError(
            f"kveil reads pandas, Polars and PyArrow tables, relations of DuckDB and streams of Arrow, not "
            f"{type(frame).__name__}; convert it first."
        ) from None
    except nw.exceptions.DuplicateError:
        raise DataError("the frame has two columns of one name; rename them.") from None
    strange = [type(label).__name__ for label in labels if not isinstance(label, (str, int))]
    if strange:
        raise DataError(f"the frame has a column labelled by a {strange[0]}; label columns by texts.")
    check_plain_names([str(label) for label in labels], "the frame")
    # Names are handed down, since a frame lays out all of them whenever it is asked for one.
    columns = {str(label): _polars_column(wrapped, position, str(label)) for position, label in enumerate(labels)}
    if len(columns) != len(labels):
        raise DataError("the frame has two columns of one name; rename them.")
    return Source("the frame", pl.DataFrame(columns), "frame", native=frame)


def _is_stream_alone(frame: Any) -> bool:
    """Tell whether a frame is none of those whose columns are taken as they are, and gives its rows by Arrow."""
    import narwhals as nw

    if not isinstance(frame, ArrowStream) or isinstance(frame, pl.DataFrame):
        return False
    native = nw.dependencies.is_pandas_dataframe(frame) or nw.dependencies.is_pandas_like_dataframe(frame)
    return not native and not nw.dependencies.is_pyarrow_table(frame)


def _from_stream(frame: Any) -> pl.DataFrame:
    """Return the rows that somebody gives by Arrow; they may be there to be taken only once."""
    try:
        return pl.DataFrame(frame)
    except pl.exceptions.DuplicateError:
        raise DataError("the frame has two columns of one name; rename them.") from None
    except Exception as error:  # of many kinds, whose texts quote cells
        raise DataError(
            f"the rows of {type(frame).__name__} cannot be read by Arrow ({type(error).__name__}); convert it to a "
            "table of Polars or PyArrow first."
        ) from None


def as_given(release: Any, frame: Any) -> Any:
    """Return a release in the kind of frame that was given, where it was not taken as it is.

    A relation of DuckDB is one of its default connection. What else PyArrow streams is a table of PyArrow.
    """
    if isinstance(frame, pl.LazyFrame):
        return release.lazy()
    maker = type(frame).__module__.split(".")[0]
    if (
        not isinstance(release, pl.DataFrame)
        or isinstance(frame, pl.DataFrame)
        or maker not in {"duckdb", "_duckdb", "pyarrow"}
    ):
        return release
    import pyarrow as pa

    table = pa.table({column.name: _arrow_column(column) for column in release.get_columns()})
    if maker == "pyarrow":
        return table
    import duckdb

    return duckdb.from_arrow(table)


def _polars_column(frame: nw.DataFrame[Any], position: int, name: str) -> pl.Series:
    native: Any = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native.to_series(position).rechunk()
    if frame.implementation.is_pyarrow():
        column = native.column(position)
        if not str(column.type).startswith("decimal256"):  # which polars does not have
            series = pl.from_arrow(column)
            assert isinstance(series, pl.Series)
            return series.alias(name)
        values = column.to_pylist()
    else:
        column = native.iloc[:, position]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and column.dtype.itemsize <= 8:
            return pl.Series(name, column.to_numpy())
        values = column.astype(object).tolist()
    try:
        return pl.Series(name, values, dtype=pl.String)  # refuses everything but texts and None
    except (TypeError, ValueError):
        return _converted_column(name, values)


def _converted_column(name: str, values: list[Any]) -> pl.Series:
    """Return a column value by value, whatever each is."""
    try:
        if any(isinstance(value, (list, np.ndarray)) for value in values):  # the sets of a release about individuals
            return pl.Series(name, [_items_of(value) for value in values], dtype=pl.List(pl.String))
        return pl.Series(name, [text_of(value) for value in values], dtype=pl.String)
    except TypeError as error:
        raise DataError(f"the column {name!r} holds values of type {error}; convert them to texts first.") from None


def _items_of(value: Any) -> list[str | None] | None:
    if value is None or isinstance(value, (list, np.ndarray)):
        return None if value is None else [text_of(item) for item in value]
    raise TypeError(f"list and {type(value).__name__}")


def to_frame(source: Source, columns: dict[str, pl.Series | None], rows: np.ndarray[Any, Any]) -> Any:
    """Return a release in the kind of frame the source was.

    A column given as None is taken from the source's own frame at ``rows``, unchanged and with its type. No
    column shares memory or categories with rows or labels that are left out.
    """
    native = source.native
    if native is None or isinstance(native, pl.DataFrame):
        own = source.frame if native is None else native
        return pl.DataFrame(
            {
                name: strip_column(own[name].gather(rows) if column is None else column)
                for name, column in columns.items()
            }
        )
    import narwhals as nw

    position = {name: i for i, name in enumerate(source.frame.columns)}
    wrapped = nw.from_native(native, eager_only=True)
    if wrapped.implementation.is_pyarrow():
        import pyarrow as pa

        return pa.table(
            {
                name: _taken(native.column(position[name]), rows) if column is None else _arrow_column(column)
                for name, column in columns.items()
            }
        )
    import pandas as pd

    def pandas_column(name: str) -> Any:
        column = columns[name]
        if column is not None and column.dtype.is_numeric() and not column.null_count():
            return pd.Series(column.to_numpy().copy())
        if column is not None:
            return pd.Series(column.to_list(), dtype=object)
        taken = native.iloc[:, position[name]].iloc[rows].reset_index(drop=True)
        if isinstance(taken.dtype, pd.CategoricalDtype):
            return taken.cat.remove_unused_categories()
        if str(taken.dtype).startswith("dictionary<"):  # PyArrow's own categories
            return pd.Series(pd.arrays.ArrowExtensionArray(_fresh_dictionary(taken.array.__arrow_array__())))
        if taken.dtype.kind in "biuf" and getattr(taken.dtype, "na_value", None) is pd.NA and taken.hasnans:
            zero = False if taken.dtype.kind == "b" else 0
            return taken.fillna(zero).mask(taken.isna())  # a masked cell would keep the value that was masked
        return taken

    labels = {name: native.columns[position[name]] if name in position else name for name in columns}
    return pd.DataFrame({labels[name]: pandas_column(name) for name in columns})


def _arrow_column(column: pl.Series) -> Any:
    """Return a column that was made here as PyArrow has it: plain texts and lists, not the large ones of Polars."""
    import pyarrow as pa

    arrow = strip_column(column).to_arrow()
    if column.dtype == pl.String:
        return arrow.cast(pa.string())
    if column.dtype == pl.List:
        inside = arrow.type.value_type
        return arrow.cast(pa.list_(pa.string() if column.dtype == pl.List(pl.String) else inside))
    return arrow


def _taken(column: Any, rows: np.ndarray[Any, Any]) -> Any:
    """Return rows of a PyArrow column with its type, and nothing of the others."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _fresh_dictionary(column.take(pa.array(rows)))
    if str(kind) in {"string_view", "binary_view"}:  # which PyArrow cannot take from
        plain = pa.string() if str(kind) == "string_view" else pa.binary()
        return column.cast(plain).take(pa.array(rows)).cast(kind)
    return column.take(pa.array(rows))


def _fresh_dictionary(column: Any) -> Any:
    """Return a dictionary column whose dictionary holds only what its rows show; an ordered one keeps its order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    column = pa.chunked_array(column if isinstance(column, pa.ChunkedArray) else [column], type=kind)
    values = column.cast(kind.value_type)
    used = pc.unique(values).drop_null()
    if kind.ordered:
        whole = pa.chunked_array(column.chunks, type=kind).unify_dictionaries()
        listed = whole.chunk(0).dictionary if whole.num_chunks else used
        used = listed.filter(pc.is_in(listed, value_set=used))
    indices = pc.index_in(values, value_set=used).cast(kind.index_type)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(chunk, used, ordered=kind.ordered) for chunk in indices.chunks], type=kind
    )
