"""What warnings ask about the cells of a release on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from kveil.engines.spark.ordering import quote_name
from kveil.engines.spark.session import tell_plainly

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def count_distinct_rows(release: DataFrame, alone: Sequence[str]) -> Callable[[Sequence[str]], int]:
    """Return what tells how many different rows some columns have; those ``alone`` are counted at once."""
    from pyspark.sql import functions as f

    with tell_plainly("count the release"):
        cells = [f.count_distinct(f.struct(quote_name(name))) for name in alone]
        known = dict(zip(alone, release.agg(*cells).collect()[0], strict=True)) if cells else {}

    def number(names: Sequence[str]) -> int:
        if len(names) == 1 and names[0] in known:
            return int(known[names[0]])
        with tell_plainly("count the release"):
            return int(release.select([quote_name(name) for name in names]).distinct().count())

    return number


def count_formulas(release: DataFrame, types: Mapping[str, pl.DataType], like: str, unlike: str) -> int:
    """Return how many cells, also inside sets, are texts that match one pattern and not another."""
    from pyspark.sql import functions as f

    def starts(text: Column) -> Column:
        return f.coalesce(text.rlike(like) & ~text.rlike(unlike), f.lit(False))

    sums = []
    for name, kind in types.items():
        if kind == pl.String:
            sums.append(f.sum(f.when(starts(f.col(quote_name(name))), 1).otherwise(0)))
        elif kind == pl.List(pl.String):
            sums.append(f.sum(f.coalesce(f.size(f.filter(quote_name(name), starts)), f.lit(0))))
    if not sums:
        return 0
    with tell_plainly("count the release"):
        return sum(int(number or 0) for number in release.agg(*sums).collect()[0])
