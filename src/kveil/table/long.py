"""Releases in long shape: several rows per person, a column that numbers the persons in the order of the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.errors import DataError
from kveil.files import Source, exact_values
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.table.table import Table

INDIVIDUAL = "individual"
BETWEEN = "\x1f"  # separates cells of one person where they are compared as one text

LongColumns = dict[str, pl.Series | None]  # None stands for a column that is taken over from the input


def check_added_column(columns: LongColumns) -> None:
    """Raise DataError where the input has the column that a long release adds."""
    if INDIVIDUAL in columns:
        raise DataError(f"a release in long shape has a column {INDIVIDUAL!r} of its own; rename that of the input.")


def lay_out_items(policy: Policy, columns: LongColumns) -> tuple[LongColumns, Longs]:
    """Return one row per item, the columns of a row per person given, and the person of every row."""
    check_added_column(columns)
    sets = {name: column for name, column in columns.items() if column is not None and column.dtype == pl.List}
    persons = next(len(column) for column in columns.values() if column is not None)
    lengths = [column.list.len().cast(pl.Int64).to_numpy() for column in sets.values()]
    rows_each = np.maximum.reduce([*lengths, np.ones(persons, dtype=np.int64)])
    person = np.repeat(np.arange(persons), rows_each)
    place = np.arange(len(person)) - np.repeat(np.cumsum(rows_each) - rows_each, rows_each)
    laid: LongColumns = {INDIVIDUAL: pl.Series(INDIVIDUAL, person + 1)}
    for name, column in columns.items():
        if column is None:
            laid[name] = None
        elif name in sets:
            items = column.gather(person).list.get(pl.Series(place), null_on_oob=True)
            laid[name] = (items.fill_null(policy.data.missing[0]) if items.dtype == pl.String else items).alias(name)
        else:
            laid[name] = column.gather(person)
    return laid, person


@dataclass(frozen=True)
class WholeRecords:
    """The records of released persons, each person's together and in an order that tells nothing.

    ``rows`` are rows of the input, ``starts`` and ``lengths`` say which of them each kept person has. A starred person
    has one, which shows `*`. ``starred`` are the sensitive columns as texts where somebody is starred, a cell per row;
    ``keys`` have a text per person and sensitive column, by which persons are sorted.
    """

    rows: Longs
    starts: Longs
    lengths: Longs
    starred: dict[str, pl.Series]
    keys: dict[str, pl.Series]

    @classmethod
    def of(cls, source: Source, table: Table, gone: Bools, kept: Longs) -> WholeRecords:
        """Return the records of kept persons; those who are ``gone`` and kept all the same are starred.

        A person's records are sorted by the cells of the sensitive columns, each in the order in which sets show it,
        missing last. So the order is a function of the released cells.
        """
        persons, policy = table.persons, table.policy
        assert persons is not None
        place = np.full(persons.number, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        first = np.zeros(source.rows, dtype=bool)
        first[persons.first] = True
        rows = np.flatnonzero((place[persons.of_record] >= 0) & (~gone[persons.of_record] | first))
        star = pl.Series(gone[persons.of_record[rows]])
        frame = {"person": pl.Series(place[persons.of_record[rows]]), "row": pl.Series(rows)}
        names = [name for name in source.columns if name in table.sensitive]
        for name in names:
            column = source.column(name).gather(rows)
            texts = source.texts(name).gather(rows).fill_null(policy.data.missing[0])
            texts = pl.select(pl.when(star).then(pl.Series([STAR])).otherwise(texts)).to_series()
            known = texts.filter(~star & ~texts.is_in(list(policy.data.missing)))
            shown = table.sensitive[name].as_shown(set(known.unique().to_list()))
            rank = pl.Series(shown, dtype=pl.String)
            frame[f"{name} place"] = texts.replace_strict(rank, np.arange(len(rank)), default=len(rank))
            frame[f"{name} text"] = texts
            frame[f"{name} exact"] = exact_values(column)
        laid = pl.DataFrame(frame)
        laid = laid.sort("person", *(f"{name} {key}" for name in names for key in ("place", "text", "exact")))
        lengths = np.bincount(laid["person"].to_numpy(), minlength=len(kept))
        by_person = laid.group_by("person", maintain_order=True).agg(
            pl.col(f"{name} text").str.join(BETWEEN) for name in names
        )
        return cls(
            rows=laid["row"].to_numpy(),
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
            starred={name: _with_stars(source, name, laid["row"], gone, table) for name in names if star.any()},
            keys={name: by_person[f"{name} text"].alias(name) for name in names},
        )

    def lay_out(self, columns: LongColumns, order: Longs) -> tuple[LongColumns, Longs]:
        """Return one row per record of persons in an order, and the row of the input that each is.

        ``columns`` have a row per person, in that order.
        """
        check_added_column(columns)
        lengths = self.lengths[order]
        person = np.repeat(np.arange(len(order)), lengths)
        at = np.arange(len(person)) + np.repeat(self.starts[order] - (np.cumsum(lengths) - lengths), lengths)
        laid: LongColumns = {INDIVIDUAL: pl.Series(INDIVIDUAL, person + 1)}
        for name, column in columns.items():
            if name in self.keys:
                laid[name] = self.starred[name].gather(at) if name in self.starred else None
            else:
                laid[name] = None if column is None else column.gather(person)
        return laid, self.rows[at]


def _with_stars(source: Source, name: str, rows: pl.Series, gone: Bools, table: Table) -> pl.Series:
    """Return a sensitive column at some rows as texts, `*` for persons who are suppressed."""
    assert table.persons is not None
    star = pl.Series(gone[table.persons.of_record[rows.to_numpy()]])
    texts = source.texts(name).gather(rows)
    return pl.select(pl.when(star).then(pl.Series([STAR])).otherwise(texts).alias(name)).to_series()
