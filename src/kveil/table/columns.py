"""Columns as their distinct texts and codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.errors import DataError
from kveil.files import Source, as_categories
from kveil.kernels.threads import threads
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.stopping import check_cancelled
from kveil.words import count

ROWS_WORTH_A_THREAD = 10_000  # below, starting one takes longer than what it does


@dataclass(frozen=True)
class Coded:
    """A column as its distinct texts and every row's position among them; -1 is missing.

    A row is a record, or stands for as many as ``times`` says.
    """

    texts: list[str]
    codes: Ints
    times: Longs | None = None

    def count(self, chosen: set[str]) -> int:
        """Return how many records have one of the chosen texts."""
        tally = np.bincount(self.codes + 1, self.times, minlength=len(self.texts) + 1)[1:]
        return int(sum(tally[i] for i, text in enumerate(self.texts) if text in chosen))


def codes_among(texts: pl.Series, known: Sequence[str]) -> Ints:
    """Return every text's position among the known ones, which must hold each of them; -1 is null."""
    return texts.cast(pl.Enum(known)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()


def code_texts(texts: pl.Series) -> Coded:
    """Return texts as codes in the order of the distinct ones; -1 is null."""
    check_cancelled()
    distinct: list[str] = texts.unique().drop_nulls().sort().to_list()
    return Coded(distinct, codes_among(texts, distinct))


def code_columns(
    source: Source, policy: Policy, names: Sequence[str], *, times: Longs | None = None
) -> Iterator[Coded]:
    """Return columns as distinct texts and codes, missing apart; a literal `*` is an error.

    One pass over the records, all columns at once; everything else works on the distinct texts. ``times`` says how
    many records each row stands for, one where it is not given.
    """
    for name, column in zip(names, _categories(source, names), strict=True):
        check_cancelled()
        coded = replace(_code(column, set(policy.data.missing)), times=times)
        if STAR in coded.texts:
            raise stars_in(source.name, name, coded.count({STAR}))
        yield coded


def _categories(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    """Return columns with categories of their own."""

    def own(name: str) -> pl.Series:
        try:
            column = source.held(name)
        except DataError as error:
            raise DataError(f"{source.name}: {error}") from None
        return column if isinstance(column.dtype, pl.Categorical) else as_categories(column, compact=False)

    if source.rows < ROWS_WORTH_A_THREAD:
        yield from map(own, names)
        return
    # Polars codes the next columns while the caller builds the tree of the one before.
    with ThreadPoolExecutor(min(threads(), 2)) as pool:
        for coded in [pool.submit(own, name) for name in names]:
            yield coded.result()


def _code(column: pl.Series, missing: set[str]) -> Coded:
    # The column has categories of its own, so the numbers in use are 0 to the largest.
    numbers = column.to_physical()
    codes = (numbers.cast(pl.Int32).fill_null(-1) if numbers.null_count() else numbers).to_numpy()
    # Numbers of categories stay far below 2³¹, so that four bytes without a sign need no copy.
    codes = codes.view(np.int32) if codes.dtype == np.uint32 else codes.astype(np.int32, copy=False)
    numbers = pl.Series(np.arange(codes.max(initial=-1) + 1), dtype=numbers.dtype)
    texts: list[str] = numbers.cat.to(column.dtype).cast(pl.String).to_list()
    if missing.isdisjoint(texts):
        return Coded(texts, codes)
    position = np.full(len(texts) + 1, -1, dtype=np.int32)  # the last place is for null
    kept = [number for number, text in enumerate(texts) if text not in missing]
    position[kept] = np.arange(len(kept), dtype=np.int32)
    return Coded([texts[number] for number in kept], position[codes])


def stars_in(where: str, name: str, records: int) -> DataError:
    """Return the error about a literal `*` in the input."""
    return DataError(
        f"{where}: {name} is `*` in {count(records, 'record')}, which is what a release shows for anything; "
        "if it means missing, list it under data.missing, after another text."
    )
