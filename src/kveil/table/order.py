"""The canonical order of rows: the one that breaks every tie, whatever order the input has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.table.persons import Persons
from kveil.table.sensitive import Sensitive


def sorted_rows(keys: Sequence[Ints | Longs]) -> Longs:
    """Return rows sorted by keys, the first one first, equal rows in the order they have.

    Keys of whole numbers from 0 are packed into as few as fit 62 bits: one sort of one key where that is enough.
    """
    packed: list[Longs] = []
    room = 0
    for key in keys:
        most = int(key.max(initial=0)) + 1
        if packed and room // most > 0:
            packed[-1] = packed[-1] * most + key
            room //= most
        else:
            packed.append(key.astype(np.int64))
            room = (1 << 62) // most
    if len(packed) == 1:
        return np.argsort(packed[0], kind="stable")
    return np.asarray(np.lexsort(tuple(reversed(packed))), dtype=np.int64)


def ranks_of_texts(texts: pl.Series) -> Ints:
    """Return every text's rank among the different ones; missing comes first."""
    distinct = texts.unique().drop_nulls().sort()
    codes = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32)
    return (codes + 1).fill_null(0).to_numpy()


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


def ranks_of_others(source: Source, policy: Policy, counted: Sequence[str], persons: Persons | None) -> list[Ints]:
    """Return ranks of the released columns that are neither quasi-identifiers nor counted by models.

    They break the last ties, so that which of two records goes where never depends on the input's order.
    """
    names = [*policy.with_role("sensitive"), *policy.with_role("insensitive")]
    found = []
    for name in names:
        if name not in counted:
            texts = source.texts(name)
            found.append(ranks_of_texts(texts if persons is None else texts.gather(persons.first)))
    return found
