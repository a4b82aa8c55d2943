"""Rows that have everything in common that an algorithm looks at, taken together: tuples with counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.table.order import ranks_of_sets
from kveil.table.sensitive import Sensitive
from kveil.table.table import Table


@dataclass(frozen=True)
class TupleTable:
    """A table whose rows stand for several records each; ``of_row`` gives the tuple of every row it was made of."""

    table: Table
    of_row: Ints


def in_tuples(table: Table) -> TupleTable:
    """Return a table with equal rows taken together.

    Equal are rows with the same quasi-identifiers, the same values that models count, and the same in the columns that
    dependencies name. What else is released only breaks ties between single records, and tuples have none.
    O(records · attributes).
    """
    columns = [table.leaves]
    if table.low is not table.leaves or table.high is not table.leaves:
        columns += [table.low, table.high]
    columns += [ranks_of_sets(own, table.rows)[None, :] for own in table.sensitive.values()]
    columns += [codes[None, :] for codes in table.others.values()]
    columns += [rows[None, :].astype(np.int32) for rows in table.fractions.values()]
    of_row, first = group_rows(columns[0] if len(columns) == 1 else np.concatenate(columns, dtype=np.int32))
    if len(first) == table.rows:  # nothing to take together, and nothing to copy
        return TupleTable(table, np.arange(table.rows, dtype=np.int32))
    return TupleTable(chosen_rows(table, first, table.tally(of_row, len(first)).astype(np.int64)), of_row)


def expand_rows(table: Table) -> TupleTable:
    """Return a table with a row for every record that the rows of another stand for, those of a row side by side."""
    rows = np.repeat(np.arange(table.rows, dtype=np.int32), table.weights)
    return TupleTable(chosen_rows(table, rows, None), rows)


def chosen_rows(table: Table, rows: Ints, times: Longs | None) -> Table:
    """Return a table of some rows, in the order given, with other counts."""
    leaves = np.take(table.leaves, rows, axis=1)
    same = table.low is table.leaves and table.high is table.leaves
    low = leaves if same else np.take(table.low, rows, axis=1)
    return replace(
        table,
        leaves=leaves,
        low=low,
        high=low if table.low is table.high else np.take(table.high, rows, axis=1),
        sensitive={name: _values_of(own, rows) for name, own in table.sensitive.items()},
        others={name: codes[rows] for name, codes in table.others.items()},
        ties=(),
        fractions={name: here[rows] for name, here in table.fractions.items()},
        times=times,
    )


def some_rows(table: Table, rows: Ints) -> Table:
    """Return some rows of a table as they are, with all that tells them apart."""
    times = None if table.times is None else table.times[rows]
    return replace(chosen_rows(table, rows, times), ties=tuple(texts.gather(rows) for texts in table.ties))


def _values_of(sensitive: Sensitive, rows: Ints) -> Sensitive:
    """Return the pairs of a row and a value for some rows, numbered anew."""
    row, at = pairs_of_rows(sensitive, rows)
    return replace(sensitive, row=row, code=sensitive.code[at])


def pairs_of_rows(sensitive: Sensitive, rows: Ints) -> tuple[Ints, Longs]:
    """Return the place of some rows that each of their pairs of a row and a value belongs to, and the pair's own."""
    order, starts = members_by_group(sensitive.row, max(int(own.max(initial=-1)) for own in (sensitive.row, rows)) + 1)
    number = starts[rows + 1] - starts[rows]
    row = np.repeat(np.arange(len(rows), dtype=np.int32), number)
    within = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    return row, order[np.repeat(starts[rows], number) + within]
