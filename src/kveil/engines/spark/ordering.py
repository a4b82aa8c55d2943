"""In which file of a release a row stands, and where in it: by what it shows alone, or by chance."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kveil.engines.spark.driver_tuples import TUPLE_TIMES
from kveil.engines.spark.showing import CLASS, Joined
from kveil.engines.spark.tuple_release import REPEATED, HeldRelease
from kveil.policy.model import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 500_000  # that a file of a release has, on the average of several
CHANCE, EACH = "chance", "each"


def in_order(joined: Joined | HeldRelease, names: Sequence[str], policy: Policy, rows: int) -> DataFrame:
    """Return the rows of a release in the files and the order in which they are written.

    Rows go to files by a hash of all they show, and are sorted inside, by made columns before others: neither the
    order of the input nor the way that Spark divided it has a say in it. To shuffle, both go by a hash that nobody can
    repeat.
    """
    from pyspark.sql import functions as f

    places = [joined.shown(name) for name in names]
    made = [joined.shown(name) for name in names if name in joined.made]
    carried = [place for place in places if place not in made]
    held = joined if isinstance(joined, HeldRelease) else None
    known = joined.known if isinstance(joined, Joined) and joined.known is not None and joined.known.ranked else None
    ranked = held or known
    cells = [CLASS, *carried] if ranked else [*made, *carried]  # a class stands for what it shows
    repeated = held is not None or (isinstance(joined, Joined) and joined.counted)
    if isinstance(joined, HeldRelease):
        kept = joined.rows(names)
    else:
        kept = (joined.frame if known is None else known.units).where(f.col(CLASS) >= 0)
        kept = in_pieces(kept.select(*cells, TUPLE_TIMES)) if repeated else kept.select(*cells)
    if policy.release.order == "shuffle":
        # Never the policy's seed: whoever reads the policy could undo the shuffle. Equal rows need no order.
        salted = f.concat(f.lit(secrets.token_hex(16)), f.xxhash64(*cells).cast("string"))
        kept, cells = kept.withColumn(CHANCE, f.sha2(salted, 256)), [CHANCE, *cells]
    laid = kept.repartition(max(-(-rows // ROWS), 1), *cells)
    if ranked:
        laid = ranked.with_texts(laid)  # before they are sorted: Spark leaves out to sort what is joined
    laid = laid.sortWithinPartitions(*cells)
    if repeated:
        laid = laid.withColumn(EACH, f.explode(f.array_repeat(f.lit(0).cast("byte"), f.col(TUPLE_TIMES).cast("int"))))
    return laid.select([f.col(place).alias(name, metadata={}) for place, name in zip(places, names, strict=True)])


def in_pieces(frame: DataFrame) -> DataFrame:
    """Return rows that stand for few units each, given some that stand for as many as `TUPLE_TIMES` says."""
    from pyspark.sql import functions as f

    last = f.floor((f.col(TUPLE_TIMES) - 1) / REPEATED)
    pieces = frame.withColumn(EACH, f.explode(f.sequence(f.lit(0).cast("bigint"), last)))
    often = f.least(f.lit(REPEATED).cast("bigint"), f.col(TUPLE_TIMES) - f.col(EACH) * REPEATED)
    return pieces.withColumn(TUPLE_TIMES, often).drop(EACH)


def quote_name(name: str) -> str:
    """Return a name as Spark takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
