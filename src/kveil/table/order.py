"""The canonical order of rows: the one that breaks every tie, whatever order the input has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.table.columns import code_texts
from kveil.table.sensitive import Sensitive


def sorted_rows(keys: Sequence[Ints | Longs]) -> Longs:
    """Return rows sorted by keys, the first one first, equal rows in the order they have.

    Keys of whole numbers from 0 are packed into as few words as fit 62 bits, so that few sorts do.
    """
    words: list[Ints | Longs] = []
    room = 0
    for key in keys:
        most = int(key.max(initial=0)) + 1
        if words and room // most > 0:
            words[-1] = words[-1].astype(np.int64, copy=False) * most + key
            room //= most
        else:
            words.append(key)
            room = (1 << 62) // most
    if not words:
        return np.arange(0)
    order = _sorted(words[-1])
    for word in reversed(words[:-1]):
        order = order[_sorted(word[order])]
    return order


def _sorted(word: Ints | Longs) -> Longs:
    """Return the places of whole numbers from 0 in their order, equal ones in the order they have."""
    if word.max(initial=0) < 1 << 16:  # sorted by counting, not by comparing
        return np.argsort(word.astype(np.uint16), kind="stable")
    by = pl.DataFrame({"word": word}).select(pl.arg_sort_by("word", maintain_order=True))
    return by["word"].to_numpy().astype(np.int64, copy=False)


def ranks_of_texts(texts: pl.Series) -> Ints:
    """Return every text's rank among the different ones; missing comes first."""
    return code_texts(texts).codes + np.int32(1)


def ranks_of_sets(sensitive: Sensitive, rows: int) -> Ints:
    """Return every row's rank by the set of its values."""
    if len(sensitive.row) == rows and np.array_equal(sensitive.row, np.arange(rows)):
        return sensitive.code
    digits = len(str(sensitive.known))
    pairs = pl.DataFrame({"row": sensitive.row, "code": sensitive.code}).sort("row", "code")
    sets = pairs.group_by("row", maintain_order=True).agg(
        pl.col("code").cast(pl.String).str.zfill(digits).str.join(" ").alias("set")
    )
    everyone = pl.DataFrame({"row": np.arange(rows, dtype=np.int32)})
    return ranks_of_texts(everyone.join(sets, on="row", how="left", maintain_order="left")["set"])
