"""Sets of what persons have, as a release shows them: each item once, in the order of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.errors import DataError
from kveil.files import Source, exact_values
from kveil.policy.attributes import STAR
from kveil.table.sensitive import Sensitive
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import count

ITEM_SEPARATOR = "|"


def shown_sets(source: Source, table: Table, solution: Solution, kept: Longs) -> dict[str, pl.Series]:
    """Return the kept persons' sets of sensitive values; a starred person's show `*`.

    Nothing depends on what suppressed persons have: not the order of items, nor how they are written.
    """
    if table.persons is None:
        return {}
    found = {}
    gone = solution.suppressed_anywhere
    shown = kept[~gone[kept]]
    for name, sensitive in table.sensitive.items():
        if name in solution.items:
            items = _generalized(table, sensitive, solution.items[name], ~gone)
        else:
            items = _unchanged(source, table, sensitive, shown)
        items = items.gather(kept) if len(kept) < table.rows else items
        if len(shown) < len(kept):
            star = pl.Series([[STAR]], dtype=pl.List(pl.String))
            items = pl.select(pl.when(pl.Series(gone[kept])).then(star).otherwise(items).alias(name))[name]
        elif name not in solution.items:
            items = _typed(source, name, items, table.persons.records_of(shown))
        found[name] = items
    return found


def _unchanged(source: Source, table: Table, sensitive: Sensitive, shown: Longs) -> pl.Series:
    """Return every person's set of values, those of persons who are not ``shown`` empty; missing is left out."""
    name, missing = sensitive.name, list(table.policy.data.missing)
    persons = table.persons
    assert persons is not None
    texts = source.texts(name)
    barred = int(texts.str.contains(ITEM_SEPARATOR, literal=True).sum())
    if barred and table.policy.release.shape == "sets":
        raise DataError(
            f"{source.name}: {name} has `|` in {count(barred, 'value')}, which joins the items of a set; replace it, "
            "or set release: {shape: long}."
        )
    records = persons.records_of(shown)
    pairs = (
        pl.DataFrame({"person": persons.of_record[records], "item": texts.gather(records)})
        .filter(pl.col("item").is_not_null() & ~pl.col("item").is_in(missing))
        .unique()
    )
    values = sensitive.as_shown(pairs["item"].unique().to_list())
    # An order and no codes, for which there is `codes_among`: items stay texts of which each is kept once.
    pairs = pairs.with_columns(pl.col("item").cast(pl.Enum(values))).sort("person", "item")
    return _lists(pairs, table.rows, name)


def _lists(pairs: pl.DataFrame, persons: int, name: str) -> pl.Series:
    """Return every person's list of items, given sorted pairs of a person and an item."""
    lists = pairs.group_by("person", maintain_order=True).agg(pl.col("item").cast(pl.String))
    if lists.height == persons:  # everybody has some, and they stand in order
        return lists["item"].alias(name)
    everyone = pl.DataFrame({"person": np.arange(persons, dtype=np.int32)})
    joined = everyone.join(lists, on="person", how="left", maintain_order="left")
    return joined["item"].fill_null([]).alias(name)


def _typed(source: Source, name: str, items: pl.Series, records: Longs) -> pl.Series:
    """Return sets of values in the type that the column has in the input; of values with one text, the smallest.

    ``records`` are those of released persons.
    """
    kind = source.dtype(name)
    if not (kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean):
        return items
    column = source.column(name).gather(records)
    known = pl.DataFrame({"text": source.texts(name).gather(records), "value": column, "exact": exact_values(column)})
    known = known.drop_nulls("text").sort("text", "exact").unique("text", keep="first", maintain_order=True)
    value = pl.element().replace_strict(known["text"], known["value"], return_dtype=kind)
    return items.list.eval(value).alias(name)


def _generalized(table: Table, sensitive: Sensitive, nodes: Ints, here: Bools) -> pl.Series:
    """Return the set of shown nodes of every person who is ``here``, in the order of the tree; missing is no item."""
    tree = sensitive.tree
    assert tree is not None
    known = here[sensitive.row] & (nodes != (-1 if tree.missing is None else int(tree.leaf_nodes[tree.missing])))
    codes = np.unique(sensitive.code[known]).tolist()
    values = [sensitive.values[code] for code in codes if code < sensitive.known]  # missing may be generalized, too
    labels, place = sensitive.nodes_as_shown(values)
    if table.policy.release.shape == "sets":
        barred = sum(1 for node in np.unique(nodes[known]).tolist() if ITEM_SEPARATOR in labels[node])
        if barred:
            raise DataError(
                f"the hierarchy of {sensitive.name} has `|` in {count(barred, 'label')} of the release, which joins "
                "the items of a set; rename them, or set release: {shape: long}."
            )
    in_order, number = _in_order(labels, place)
    owner, item = np.divmod(
        np.unique(sensitive.row[known] * np.int64(len(in_order)) + number[nodes[known]]), len(in_order)
    )
    items = pl.Series(in_order, dtype=pl.String).gather(item)
    return _lists(pl.DataFrame({"person": owner.astype(np.int32), "item": items}), table.rows, sensitive.name)


def _in_order(labels: Sequence[str], place: Ints) -> tuple[list[str], Longs]:
    """Return the different labels of a tree's nodes by their places in a set, and the number of each node's among them.

    Several nodes may be written with the same label, which a set shows once.
    """
    first: dict[str, int] = {}
    for node in np.argsort(place, kind="stable").tolist():
        first.setdefault(labels[node], len(first))
    return list(first), np.array([first[label] for label in labels], dtype=np.int64)
