"""The join of a release with its original, where the driver holds the tuples: numbers stand for them on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kveil.arrays import Longs
from kveil.engines.spark.driver_tuples import (
    HASH,
    CountedTuples,
    count_different_rows,
    in_slices,
    one_by_one,
    records_at,
)
from kveil.engines.spark.laying import LaidTuples, with_halves
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS, TUPLE_NUMBER, Joined, KnownTuples, shown_cells
from kveil.engines.spark.units import hash_number
from kveil.errors import NotVerified
from kveil.policy.model import Policy
from kveil.table.sensitive import error_of_change
from kveil.verifier.counts import Questions

SHOWS = "shows"  # a hash of the made cells of a row


def lay_known(
    joined: Joined, known: KnownTuples, policy: Policy, asked: Questions, names: Sequence[str]
) -> Iterator[LaidTuples]:
    """Bring the join to the driver where that holds the tuples: a hash stands for each, and a number for its class.

    Every tuple must be there as often as it was when it was read first. Where columns stand apart, every row must show
    what its class does: that is looked at by a hash of the made cells, which Spark also takes of the table of classes
    itself. Where none does, the rows of the release as they were written are compared with those of the classes, cell
    by cell, which leaves nothing that such a hash could tell.
    """
    from pyspark.sql import functions as f

    units, made = joined.units, [joined.shown(name) for name in joined.made]
    frame, keys = known.units, [HASH, CLASS]
    half: list[str] = []
    sums = [units.hashed_beside(f.col(HASH))] if units.carried else []
    if asked.apart:
        frame, half = with_halves(joined, known.with_texts(frame), policy, asked)
        frame = frame.withColumn(SHOWS, hash_number(made))
        sums.append(f.when(f.col(CLASS) >= 0, hash_number(map(joined.shown, names))))
        keys += [SHOWS, *(f"h{units.table.place(name)}" for name in half)]
    number, rows = len(known.tuples.place), int(known.tuples.times.sum())
    if rows <= 2 * number:  # to group them would move them all, and leave nearly as many
        counted, number = one_by_one(frame, keys, sums), rows
    else:
        counted = count_different_rows(frame, keys, sums)
    shows = _shown_by_classes(known, made) if asked.apart else None
    seen = _Seen(shows, np.zeros(len(known.tuples.place), dtype=np.int64))
    for part in in_slices(counted, keys, number, "compare the release"):
        yield _laid(joined, known, part, half, seen)
    if not np.array_equal(seen.times, known.tuples.times):
        raise error_of_change(units.table.name)


@dataclass
class _Seen:
    """What the rows of each class must show, as a hash where that is asked, and how often each tuple was there."""

    shows: Longs | None
    times: Longs


def _shown_by_classes(known: KnownTuples, made: Sequence[str]) -> Longs:
    """Return a hash of what each class shows, by the table that was sent to Spark."""
    with tell_plainly("compare the release"):
        texts = known.texts.select(TUPLE_NUMBER, hash_number(made).alias(SHOWS)).toArrow()
    shows = np.empty(texts.num_rows, dtype=np.int64)
    shows[texts.column(TUPLE_NUMBER).to_numpy()] = texts.column(SHOWS).to_numpy()
    return shows


def _laid(joined: Joined, known: KnownTuples, counted: CountedTuples, half: Sequence[str], seen: _Seen) -> LaidTuples:
    """Lay out counted rows of a join whose tuples the driver holds."""
    units, tuples, column = joined.units, known.tuples, counted.column(CLASS)
    hashes = counted.column(HASH).to_numpy()
    order = np.argsort(hashes)  # to find sorted numbers among sorted ones is much faster
    at = np.empty(len(order), dtype=np.int64)
    at[order] = np.minimum(np.searchsorted(tuples.hashes, hashes[order]), len(tuples.place) - 1)
    if column.null_count() or (tuples.hashes[at] != hashes).any():
        raise error_of_change(units.table.name)
    classes, times = column.to_numpy(), counted.times
    out = classes >= 0
    if seen.shows is not None and (counted.column(SHOWS).to_numpy()[out] != seen.shows[classes[out]]).any():
        raise NotVerified(
            "rows of the release do not show what was found for them; nothing was written. Look into the log of the "
            "cluster, and run again."
        )
    here = np.bincount(at, weights=times, minlength=len(tuples.place)).astype(np.int64)
    seen.times += here
    apart = {name: counted.column(f"h{units.table.place(name)}") for name in half}
    class_of = np.empty(len(tuples.place), dtype=np.int64)
    class_of[at] = classes
    if not half and np.array_equal(class_of[at], classes):  # rows of one tuple show the same
        at = np.flatnonzero(here)
        classes, times = class_of[at], here[at]
    if len(at) == len(tuples.place) and not half:
        records, tuple_of = tuples.cells, tuples.of_row.astype(np.int64)
    else:
        records, tuple_of = records_at(units, tuples.counted, tuples.place[at])
    shown = shown_cells(units, known.shown, joined.made, (records, tuple_of), classes)
    told = iter(counted.sums)
    sums = (next(told) if units.carried else 0, 0 if seen.shows is None else next(told))
    counted = replace(counted, times=times, sums=sums)
    return LaidTuples(
        units, records, tuple_of, shown, apart, classes >= 0, counted=counted, classes=classes, made=joined.made
    )
