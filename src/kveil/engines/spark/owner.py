"""The owner's private folder: by a key, what is shown of whom, and why somebody is left out.

Rows on a cluster have no places that a file of numbers could name. So a column says who is who: one whose values are
all different, or the one that names individuals.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kveil.engines.spark.reading import SparkTable, check_kinds
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS, NOT_SHOWN, WHY, Joined
from kveil.engines.spark.units import Units
from kveil.errors import DataError
from kveil.files import as_json
from kveil.policy.model import Policy
from kveil.version import __version__
from kveil.words import count, listing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ABOUT = "_owner.json"  # Spark passes over files that start with an underscore
KEY, SHOWN, RELEASED = "key", "shown", "released"


def check_key(table: SparkTable, policy: Policy, key: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that say who is who; raise DataError where they do not.

    Of individuals that is the column that names them.
    """
    from pyspark.sql import functions as f

    if policy.individual_column is not None:
        if set(key) - {policy.individual_column}:
            raise DataError(
                f"the owner's folder goes by {policy.individual_column}, which names people; leave --owner-key out."
            )
        return (policy.individual_column,)
    strange = [name for name in key if name not in table.columns]
    if strange or not key:
        told = f"{listing(strange)} is no column of {table.name}" if strange else "rows on Spark have no numbers"
        raise DataError(f"{told}; name columns with --owner-key whose values are all different.")
    check_kinds(table, key)
    columns = [table.column(name) for name in key]
    with tell_plainly(f"read {table.name}"):
        twice = table.frame.groupBy(*columns).count().where(f.col("count") > 1).count()
        absent = table.frame.select(*columns).na.drop().count() < table.frame.count()
    if twice or absent:
        told = f"the same for {count(twice, 'pair')} of records or more" if twice else "missing in some records"
        raise DataError(
            f"{listing(list(key))} is {told}; name columns with --owner-key whose values are all different."
        )
    return tuple(key)


def owner_frame(joined: Joined, key: Sequence[str]) -> DataFrame:
    """Return for every unit its key, the made cells that are released of it, and why it is suppressed, if it is."""
    from pyspark.sql import functions as f

    table = joined.units.table
    who = f.struct(*(table.column(name).alias(f"k{i}") for i, name in enumerate(key)))
    shown = f.struct(*(f.col(joined.shown(name)).alias(f"m{i}") for i, name in enumerate(joined.made)))
    cells = [who.alias(KEY), shown.alias(SHOWN), (f.col(CLASS) >= 0).alias(RELEASED), f.col(WHY)]
    frame = joined.frame.select(*cells)
    return frame.repartition(1, KEY).sortWithinPartitions(KEY)


def about(joined: Joined, key: Sequence[str]) -> bytes:
    """Return what the folder says of itself."""
    return as_json(
        {
            "kveil": __version__,
            "private": "Whoever has this and the input can identify everyone in the release. Keep it to yourself.",
            "key": list(key),
            "shown": list(joined.made),
        }
    )


def join_by_owner(session: SparkSession, units: Units, folder: Path) -> Joined:
    """Return every unit of an original with what the owner's folder says it shows."""
    from pyspark.sql import functions as f

    told = _told(folder)
    key, made = told["key"], tuple(told["shown"])
    absent = [name for name in key if name not in units.table.columns]
    if absent:
        raise DataError(f"{units.table.name} lacks {listing(absent)}, by which the owner's folder goes; check --owner.")
    with tell_plainly("read the owner's folder"):
        owner = session.read.parquet(str(folder.absolute()))
        renamed = [f.col(f"{KEY}.k{i}").alias(f"k{i}") for i in range(len(key))]
        cells = [f.col(f"{SHOWN}.m{i}").alias(f"m{i}") for i in range(len(made))]
        number = f.when(f.col(RELEASED), f.lit(0)).otherwise(f.lit(NOT_SHOWN)).cast("long").alias(CLASS)
        owner = owner.select(*renamed, *cells, number)
        same = f.lit(True)
        for i, name in enumerate(key):
            same = same & (units.table.column(name) == f.col(f"k{i}"))
        frame = units.frame.join(owner, same, "left").drop(*(f"k{i}" for i in range(len(key))))
    return Joined(units, frame, made)


def _told(folder: Path) -> Any:
    try:
        told = json.loads((folder / ABOUT).read_bytes())
        if not all(isinstance(told[name], list) for name in ("key", "shown")):
            raise TypeError
    except OSError as error:
        raise DataError(
            f"{folder.name}: the owner's folder cannot be read ({error.strerror}); check --owner."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{folder.name} is no owner's folder of kveil; give the one --owner wrote.") from None
    return told
