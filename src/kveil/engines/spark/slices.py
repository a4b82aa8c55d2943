"""A release and its join with the original in slices, which hold whole groups: the driver counts one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.engines.spark.counting import Types, count_release, count_written
from kveil.engines.spark.ordering import quoted
from kveil.engines.spark.parts import forget, kept_on_disk
from kveil.engines.spark.session import told_plainly
from kveil.engines.spark.showing import Joined
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.counts import Questions, ReleaseCounts
from kveil.verifier.rows import TIMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 500_000  # that a slice has, on the average of several
SLICE = "slice"


def grouping_attributes(policy: Policy) -> list[str]:
    """Return the quasi-identifiers that all models are over: rows that differ in them are in no group together."""
    over = [set(policy.attributes_of(model)) for model in policy.privacy]
    return [name for name in policy.quasi_identifiers if all(name in own for own in over)]


@dataclass(frozen=True)
class Slices:
    """A release as it was written, and its join with the original, both divided by the cells that groups share."""

    release: DataFrame
    joined: Joined
    number: int

    @classmethod
    def of(cls, release: DataFrame, joined: Joined, policy: Policy, rows: int, exits: ExitStack) -> Slices:
        """Divide a release of so many rows; what is kept for it is kept until ``exits`` are closed."""
        names = grouping_attributes(policy)
        number = max(-(-rows // ROWS), 1) if names else 1
        if number == 1:
            return cls(release, joined, 1)
        with told_plainly("divide the release"):
            own = _divided(release, [quoted(name) for name in names], number, exits)
            both = _divided(joined.frame, [joined.shown(name) for name in names], number, exits)
        return cls(own, replace(joined, frame=both), number)

    def counted(self, policy: Policy, asked: Questions, types: Types) -> Iterator[ReleaseCounts]:
        """Count the slices, one after another."""
        from pyspark.sql import functions as f

        for i in range(self.number):
            release, frame = self.release, self.joined.frame
            if self.number > 1:
                release = release.where(f.col(SLICE) == i).drop(SLICE)
                frame = frame.where(f.col(SLICE) == i)
            written = count_written(release, policy, asked, types, number=ROWS)
            yield count_release(replace(self.joined, frame=frame), written, policy, asked, None)


def _divided(frame: DataFrame, cells: Sequence[str], number: int, exits: ExitStack) -> DataFrame:
    """Return a frame with the slice of every row, those of a slice side by side, so that one is read without others."""
    from pyspark.sql import functions as f

    numbered = frame.withColumn(SLICE, f.pmod(f.xxhash64(*cells), f.lit(number)).cast("int"))
    kept = kept_on_disk(numbered.repartition(number, SLICE).sortWithinPartitions(SLICE))
    exits.callback(forget, kept)
    return kept


def values_taking_part(release: DataFrame, policy: Policy) -> Mapping[str, pl.DataFrame]:
    """Return the sensitive cells that models compare with those of the whole, of rows that show something."""
    from pyspark.sql import functions as f

    star = f.lit(True)
    for name in policy.quasi_identifiers:
        star = star & (f.col(quoted(name)) == STAR)
    names = {model.sensitive for model in policy.privacy if isinstance(model, TCloseness)}
    told = {}
    for name in sorted(names):
        with told_plainly("count the release"):
            counted = (
                release.where(~f.coalesce(star, f.lit(False)))
                .groupBy(quoted(name))
                .agg(f.count(f.lit(1)).alias("times"))
            )
            held: Any = pl.from_arrow(counted.toArrow())
        told[name] = held.rename({"times": TIMES})
    return told
