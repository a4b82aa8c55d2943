"""A release and its join with the original in slices, which hold whole groups: the driver counts one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.engines.spark.batches import as_bytes, from_bytes
from kveil.engines.spark.counting import (
    NumberedRelease,
    Types,
    Written,
    count_laid,
    count_release,
    count_written,
    rows_of_release,
)
from kveil.engines.spark.driver_tuples import SUMS, CountedTuples, held_rows
from kveil.engines.spark.executor_parts import forget_frame, keep_on_disk, on_executors
from kveil.engines.spark.laying import rows_of_join
from kveil.engines.spark.ordering import quote_name
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS, Joined
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.counts import Questions, ReleaseCounts
from kveil.verifier.rows import TIMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 100_000  # that a slice has, on the average of several: the driver holds its cells a few times over
SLICE, WRITTEN, JOINED = "slice", "written", "joined"


@dataclass(frozen=True)
class Slices:
    """A release as it was written, and its join with the original where that is asked for, divided alike.

    Both go by the columns called ``names``, which the groups of some models share.
    """

    release: DataFrame
    joined: Joined | None
    names: Sequence[str]
    number: int

    @classmethod
    def of(cls, release: DataFrame, joined: Joined | None, names: Sequence[str], rows: int) -> Slices:
        """Divide a release of so many rows."""
        return cls(release, joined, names, max(-(-rows // ROWS), 1) if names else 1)

    def counted(self, policy: Policy, asked: Questions, types: Types, exits: ExitStack) -> Iterator[ReleaseCounts]:
        """Count the slices, one after another; beside the original where its join was divided, too.

        Executors lay out all of them at once; they are kept there until ``exits`` are closed. Nothing of a slice is
        held here once it was given away.
        """
        if self.number == 1:
            written = count_written(self.release, policy, asked, types, number=ROWS)
            yield (_alone(written) if self.joined is None else count_release(self.joined, written, policy, asked, None))
            return
        release = NumberedRelease.of(self.release, types)
        cells = [release.place[name] for name in self.names]
        release = replace(release, frame=self._divided(release.frame, cells))
        own = rows_of_release(release, policy, asked, beside=[SLICE])
        if self.joined is None:
            for content in _brought(own.frame.groupBy(SLICE).applyInArrow(_one, f"{WRITTEN} binary"), exits):
                yield _alone(own.written([_read(content[0], own.keys)]))
            return
        joined = self.joined
        divided = self._divided(joined.frame, [joined.shown(name) for name in self.names], keys=joined.units.keys)
        both = rows_of_join(replace(joined, frame=divided), policy, asked, names=list(types), beside=[SLICE])
        laid = own.frame.groupBy(SLICE).cogroup(both.frame.groupBy(SLICE))
        for content in _brought(laid.applyInArrow(_both, f"{WRITTEN} binary, {JOINED} binary"), exits):
            written = own.written([_read(content[0], own.keys)])
            yield count_laid([both.laid(_read(content[1], both.keys))], written, policy, asked, None)
            del content, written  # before the next one comes

    def _divided(self, frame: DataFrame, cells: Sequence[str], *, keys: Sequence[str] = ()) -> DataFrame:
        """Return a frame with the slice of every row, those of a slice on one machine.

        What is not shown has no cells, and goes by its ``keys``: it would all be in one slice.
        """
        from pyspark.sql import functions as f

        number = f.xxhash64(*cells)
        if keys:
            number = f.when(f.col(CLASS) >= 0, number).otherwise(f.xxhash64(*keys))
        return frame.withColumn(SLICE, f.pmod(number, f.lit(self.number)).cast("int")).repartition(self.number, SLICE)


def _alone(written: Written) -> ReleaseCounts:
    return ReleaseCounts(written.types, written.rows, written.rows, written.totals, written.apart)


def _one(written: Any) -> Any:
    import pyarrow as pa

    return pa.table({WRITTEN: [as_bytes(written)]})


def _both(written: Any, joined: Any) -> Any:
    import pyarrow as pa

    return pa.table({WRITTEN: [as_bytes(written)], JOINED: [as_bytes(joined)]})


def _brought(laid: DataFrame, exits: ExitStack) -> Iterator[Any]:
    """Bring slices to the driver, one after another, once executors have laid out all of them."""
    doing = "compare the release"
    with on_executors(doing):
        kept = keep_on_disk(laid)
        exits.callback(forget_frame, kept)
        kept.count()
        slices = kept.toLocalIterator()
    while True:
        with on_executors(doing):
            content = next(slices, None)
        if content is None:
            return
        yield content
        del content  # or two slices would be held while the next one comes


def _read(content: Any, keys: Sequence[str]) -> CountedTuples:
    rows = from_bytes(content)
    return held_rows(rows.select([name for name in rows.column_names if not name.startswith(SUMS)]), keys)


def values_taking_part(release: DataFrame, policy: Policy) -> Mapping[str, pl.DataFrame]:
    """Return the sensitive cells that models compare with those of the whole, of rows that show something."""
    from pyspark.sql import functions as f

    star = f.lit(True)
    for name in policy.quasi_identifiers:
        star = star & (f.col(quote_name(name)) == STAR)
    names = {model.sensitive for model in policy.privacy if isinstance(model, TCloseness)}
    told = {}
    for name in sorted(names):
        with tell_plainly("count the release"):
            counted = (
                release.where(~f.coalesce(star, f.lit(False)))
                .groupBy(quote_name(name))
                .agg(f.count(f.lit(1)).alias("times"))
            )
            held: Any = pl.from_arrow(counted.toArrow())
        told[name] = held.rename({"times": TIMES})
    return told
