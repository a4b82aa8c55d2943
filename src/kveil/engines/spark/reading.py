"""Tables as Spark reads them: folders of Parquet files, tables of a catalog, frames of a caller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.databases import Address, Place
from kveil.engines.spark.session import as_pattern, no_new_warehouse, tell_plainly
from kveil.errors import DataError, FileError
from kveil.files import check_columns, check_plain_names, dataset_files, is_dataset
from kveil.policy.model import Policy
from kveil.words import count, listing

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# What a cell may be: whatever kveil knows a text for.
TEXTS = frozenset({"StringType", "CharType", "VarcharType"})
NUMBERS = frozenset({"ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType", "DecimalType"})
MOMENTS = frozenset({"DateType", "TimestampType", "TimestampNTZType"})
PLAIN = TEXTS | NUMBERS | MOMENTS | {"BooleanType", "NullType"}


@dataclass(frozen=True)
class SparkTable:
    """A table on Spark. Its columns are numbered, so that no name means anything to Spark, and carry no metadata.

    ``kinds`` are the names of their types.
    """

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    frame: DataFrame

    @property
    def session(self) -> SparkSession:
        """The session that the table is read in."""
        return self.frame.sparkSession

    def place(self, name: str) -> str:
        """Return what Spark calls a column."""
        return f"c{self.columns.index(name)}"

    def column(self, name: str) -> Column:
        """Return a column by the name that the policy has for it."""
        from pyspark.sql import functions as f

        return f.col(self.place(name))

    def is_text(self, name: str) -> bool:
        """Tell whether a column holds texts."""
        return self.kinds[self.columns.index(name)] in TEXTS


def compared_columns(policy: Policy) -> list[str]:
    """Return the columns whose texts are compared with others: those that models look at, or dependencies name."""
    ruled = {name for rule in policy.dependencies for name in (*rule.left, *rule.right)}
    return [name for name in policy.released if name in ruled or policy.attributes[name].role != "insensitive"]


def open_table(session: SparkSession, place: Place, *, compared: Collection[str]) -> SparkTable:
    """Return a table that is read when something is asked of it; ``compared`` are columns whose texts matter."""
    if isinstance(place, Address):
        with tell_plainly(f"read {place.name}"):
            return table_of_frame(_catalog_table(session, place), place.name)
    if is_dataset(place):
        _check_alike(place)
    elif not place.is_file():
        raise FileError(f"{place.name}: there is no such file or folder; check the path.")
    _check_zones(place, compared)
    with tell_plainly(f"read {place.name}"):
        return table_of_frame(_files(session, place.absolute()), place.name)


def _files(session: SparkSession, path: Path) -> DataFrame:
    """Return the rows of a file, a folder or a pattern; folders like `year=2024` inside it are columns of texts.

    Of a pattern that is all folders that its files lie in.
    """
    if not is_dataset(path):
        return session.read.parquet(as_pattern(str(path)))
    # File by file: Spark has other patterns than other engines, and passes over folders that are no column.
    files = [as_pattern(str(file)) for file in dataset_files(path)]
    return session.read.options(basePath=str(path) if path.is_dir() else path.root).parquet(*files)


def _check_alike(path: Path) -> None:
    """Raise DataError where files of one table do not have the same columns: Spark would fill in nothing."""
    files = dataset_files(path)
    first: list[str] = []
    for file in files:
        try:
            names = list(_types(file))
        except (OSError, pl.exceptions.PolarsError):
            raise FileError(f"{file.name}: the file is not a whole Parquet file; check the folder.") from None
        first = first or names
        if set(names) != set(first):
            raise DataError(
                f"{path.name}: {file.name} has other columns than {files[0].name}; give all "
                f"{count(len(files), 'file')} the same ones."
            )


def _types(file: Path) -> pl.Schema:
    """Return the types of a file's columns; it is opened here, since Polars takes brackets in a name for a pattern."""
    with file.open("rb") as opened:
        return pl.Schema(pl.read_parquet_schema(opened))


def _check_zones(path: Path, compared: Collection[str]) -> None:
    """Raise DataError where moments have a zone that Spark forgets: they would read otherwise than elsewhere."""
    file = dataset_files(path)[0] if is_dataset(path) else path
    try:
        types = _types(file)
    except (OSError, pl.exceptions.PolarsError):
        raise FileError(f"{file.name}: the file is not a whole Parquet file; check its path.") from None
    for name in compared:
        zone = getattr(types.get(name), "time_zone", None)
        if zone not in (None, "UTC"):
            raise DataError(
                f"{path.name}: {name} has moments in the zone {zone}, which Spark reads as UTC: they would show other "
                "hours and days than with other engines; write it in UTC or as text, or take engine local or stream."
            )


# What tells the newest version of a table, by its format: a query of one cell.
NEWEST = {
    "delta": "DESCRIBE HISTORY {} LIMIT 1",  # its first column is the version
    "iceberg": "SELECT snapshot_id FROM {}.refs WHERE name = 'main'",
}


def quote_table(name: str) -> str:
    """Return the name of a table as SQL takes it, whatever is in its parts."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))


def pin_version(name: str, provider: str, newest: Callable[[str], list[Any]]) -> str:
    """Return a query for a table at the version that it has now, where its format keeps versions.

    ``name`` is quoted; ``newest`` answers a query with the cells of its first column. A table of Iceberg that nothing
    was written to has no version yet.
    """
    asked = NEWEST.get(provider)
    versions = [] if asked is None else newest(asked.format(name))
    return f"SELECT * FROM {name}" + (f" VERSION AS OF {int(versions[0])}" if versions else "")


def _catalog_table(session: SparkSession, address: Address) -> DataFrame:
    """Return a table of the catalog, at the version that it has now where its format keeps versions."""
    from pyspark.errors import AnalysisException

    name = quote_table(str(address.table))
    try:
        with no_new_warehouse(session):
            provider = _provider(session, name)
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        raise DataError(f"there is no table {address.table} in the catalog of Spark; check its name.") from None
    return session.sql(pin_version(name, provider, lambda query: _first_column(session, query)))


def _first_column(session: SparkSession, query: str) -> list[Any]:
    return [row[0] for row in session.sql(query).collect()]


def _provider(session: SparkSession, name: str) -> str:
    """Return the format of a table, as its catalog has it."""
    told = session.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return next((str(row[1]).lower() for row in told if str(row[0]).lower() == "provider"), "")


def table_of_frame(frame: DataFrame, name: str) -> SparkTable:
    """Return a frame of Spark as a table; raise DataError where its columns cannot be told apart or read as texts."""
    from pyspark.sql import functions as f

    names = tuple(frame.columns)
    check_plain_names(names, name)
    small = [column.lower() for column in names]
    alike = sorted({column for column in names if small.count(column.lower()) > 1})
    if alike:
        raise DataError(f"{name} has columns whose names differ only in small and large letters ({listing(alike)}); "
                        "rename one of them.")  # fmt: skip
    if not frame._jdf.queryExecution().analyzed().deterministic():  # it is read several times
        raise DataError(
            f"{name} is not the same each time it is read, since something in it is random; write it down first, as a "
            "table or by localCheckpoint."
        )
    kinds = tuple(type(field.dataType).__name__ for field in frame.schema.fields)
    numbered = frame.toDF(*(f"c{i}" for i in range(len(names))))
    columns = []
    for i, (field, kind) in enumerate(zip(frame.schema.fields, kinds, strict=True)):
        own = f.col(f"c{i}")
        if kind in TEXTS:  # compared byte by byte, whatever collation the column has
            own = own.cast("string")
        if not field.nullable:  # that a column has no nulls is nothing a release should tell
            own = f.try_element_at(f.array(own), f.lit(1))
        columns.append(own.alias(f"c{i}", metadata={}))
    return SparkTable(name, names, kinds, numbered.select(columns))


def check_table(table: SparkTable, policy: Policy) -> None:
    """Raise DataError where a table does not have the columns of its policy, or one that is no plain value."""
    check_columns(table.columns, policy.attributes, table.name)
    needed = [*policy.released, *([] if policy.individual_column is None else [policy.individual_column])]
    check_kinds(table, needed)


def check_kinds(table: SparkTable, names: Sequence[str]) -> None:
    """Raise DataError where a column holds something that has no text."""
    for name in names:
        kind = table.kinds[table.columns.index(name)]
        if kind not in PLAIN:
            raise DataError(
                f"{table.name}: the column {name!r} is of type {kind.removesuffix('Type').lower()}, which kveil cannot "
                "read as text; convert it first."
            )
