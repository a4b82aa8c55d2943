"""The tuples of a table in an order of chance, which no algorithm may notice."""

from __future__ import annotations

import numpy as np

from kveil.table.table import Table
from kveil.table.tuples import TupleTable, chosen_rows, in_tuples


def shuffled_tuples(table: Table, seed: int) -> TupleTable:
    made = in_tuples(table)
    order = np.random.default_rng(seed).permutation(made.table.rows).astype(np.int32)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    times = made.table.weights[order]
    return TupleTable(chosen_rows(made.table, order, times), place[made.of_row])
