"""A release and its join with the original in slices, which hold whole groups: the driver counts one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.engines.spark.counting import Types, count_release, count_written
from kveil.engines.spark.executor_parts import forget_frame, kept_on_disk
from kveil.engines.spark.ordering import quoted_name
from kveil.engines.spark.session import told_plainly
from kveil.engines.spark.showing import Joined
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.counts import Questions, ReleaseCounts
from kveil.verifier.rows import TIMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 250_000  # that a slice has, on the average of several
SLICE = "slice"


@dataclass(frozen=True)
class Slices:
    """A release as it was written, and its join with the original where that is asked for, divided alike.

    Both go by cells that the groups of some models share.
    """

    release: DataFrame
    joined: Joined | None
    number: int

    @classmethod
    def of(cls, release: DataFrame, joined: Joined | None, names: Sequence[str], rows: int, exits: ExitStack) -> Slices:
        """Divide a release of so many rows by the columns called ``names``; it is kept until ``exits`` are closed."""
        number = max(-(-rows // ROWS), 1) if names else 1
        if number == 1:
            return cls(release, joined, 1)
        with told_plainly("divide the release"):
            own = _divided(release, [quoted_name(name) for name in names], number, exits)
            if joined is not None:
                both = _divided(joined.frame, [joined.shown(name) for name in names], number, exits)
                joined = replace(joined, frame=both)
        return cls(own, joined, number)

    def counted(self, policy: Policy, asked: Questions, types: Types) -> Iterator[ReleaseCounts]:
        """Count the slices, one after another; beside the original where its join was divided, too.

        Nothing of a slice is held here once it was given away.
        """
        for i in range(self.number):
            yield self._counted(i, policy, asked, types)

    def _counted(self, i: int, policy: Policy, asked: Questions, types: Types) -> ReleaseCounts:
        from pyspark.sql import functions as f

        release = self.release
        if self.number > 1:
            release = release.where(f.col(SLICE) == i).drop(SLICE)
        written = count_written(release, policy, asked, types, number=ROWS)
        if self.joined is None:
            return ReleaseCounts(types, written.rows, written.rows, written.totals, written.apart)
        frame = self.joined.frame.where(f.col(SLICE) == i) if self.number > 1 else self.joined.frame
        return count_release(replace(self.joined, frame=frame), written, policy, asked, None)


def _divided(frame: DataFrame, cells: Sequence[str], number: int, exits: ExitStack) -> DataFrame:
    """Return a frame with the slice of every row, those of a slice side by side, so that one is read without others."""
    from pyspark.sql import functions as f

    numbered = frame.withColumn(SLICE, f.pmod(f.xxhash64(*cells), f.lit(number)).cast("int"))
    kept = kept_on_disk(numbered.repartition(number, SLICE).sortWithinPartitions(SLICE))
    exits.callback(forget_frame, kept)
    return kept


def values_taking_part(release: DataFrame, policy: Policy) -> Mapping[str, pl.DataFrame]:
    """Return the sensitive cells that models compare with those of the whole, of rows that show something."""
    from pyspark.sql import functions as f

    star = f.lit(True)
    for name in policy.quasi_identifiers:
        star = star & (f.col(quoted_name(name)) == STAR)
    names = {model.sensitive for model in policy.privacy if isinstance(model, TCloseness)}
    told = {}
    for name in sorted(names):
        with told_plainly("count the release"):
            counted = (
                release.where(~f.coalesce(star, f.lit(False)))
                .groupBy(quoted_name(name))
                .agg(f.count(f.lit(1)).alias("times"))
            )
            held: Any = pl.from_arrow(counted.toArrow())
        told[name] = held.rename({"times": TIMES})
    return told
