"""From a solution to released texts, and from released texts back to codes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.arrays import Bools, Ints, Longs
from kveil.errors import DataError
from kveil.files import Source, as_texts, joined_items
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.table.encode import Table
from kveil.table.persons import ITEM_SEPARATOR, item_sets, sets_of
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Scale, Tree
from kveil.words import count

INDIVIDUAL = "individual"  # the column that numbers persons in a release of long shape


@dataclass(frozen=True)
class Release:
    """The released columns in their order.

    ``columns`` holds what was made; None stands for a column that is taken over unchanged from the input's
    ``source_rows``. ``rows`` gives the table's row (a record, or a person) of every released one.
    """

    columns: dict[str, pl.Series | None]
    rows: Longs
    source_rows: Longs
    labels: dict[str, list[str]]  # what each quasi-identifier shows, sorted

    def frame(self, source: Source) -> pl.DataFrame:
        """Return the release as a Polars frame."""
        return pl.DataFrame(
            {
                name: source.frame[name].gather(self.source_rows) if column is None else column
                for name, column in self.columns.items()
            }
        )


def decode(source: Source, table: Table, solution: Solution) -> Release:
    """Return the texts of a solution, in the policy's order and shape."""
    policy = table.policy
    gone = solution.suppressed_anywhere
    kept = np.flatnonzero(~gone) if policy.suppression.show == "drop" else np.arange(table.records)
    component_of = {name: c for c, part in enumerate(table.components) for name in part.attributes}
    released = [name for name in source.frame.columns if name in set(policy.released)]
    codes: dict[str, Ints] = {}
    labels: dict[str, list[str]] = {}
    classes = solution.classes
    here = classes.of_record[kept] if len(kept) < table.records else classes.of_record
    present = np.bincount(here, minlength=len(classes.sizes)) > 0
    for position, name in enumerate(table.names):
        starred = solution.suppressed[component_of[name]] if table.persons is None else gone
        shown = solution.shown[position]
        codes[name], labels[name] = _used(shown, shown.codes[classes.first], starred[classes.first], present)
    sets = _sets(source, table, solution, kept)
    first = kept if table.persons is None else table.persons.first[kept]
    order = _order(source, policy, released, codes, labels, sets, first, here)
    columns: dict[str, pl.Series | None] = {}
    places = pl.Series(here[order])
    for name in released:
        if name in codes:
            texts = pl.Series(name, labels[name] or [STAR], dtype=pl.String)  # a class that is not released needs one
            columns[name] = texts.gather(codes[name]).gather(places)
        else:
            columns[name] = sets[name].gather(order) if name in sets else None
    if policy.release.shape == "long" and table.persons is not None:
        return _long(policy, columns, kept[order], first[order], labels)
    return Release(columns, kept[order], first[order], labels)


def _sets(source: Source, table: Table, solution: Solution, kept: Longs) -> dict[str, pl.Series]:
    """Return the kept persons' sets of sensitive values; a starred person's show `*`."""
    if table.persons is None:
        return {}
    found = {}
    gone = solution.suppressed_anywhere
    for name, sensitive in table.sensitive.items():
        if name in solution.items:
            items = _generalized_sets(table, name, solution.items[name]).gather(kept)
        else:
            items = item_sets(source, table.policy, name, sensitive.in_leaf_order(), table.persons).gather(kept)
            if not gone[kept].any():
                items = _typed(source, name, items)
        if gone[kept].any():
            star = pl.Series([[STAR]], dtype=pl.List(pl.String))
            items = pl.select(pl.when(pl.Series(gone[kept])).then(star).otherwise(items).alias(name))[name]
        found[name] = items
    return found


def _typed(source: Source, name: str, items: pl.Series) -> pl.Series:
    """Return sets of values in the type that the column has in the input."""
    column = source.frame[name]
    kind = column.dtype
    if not (kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean):
        return items
    known = pl.DataFrame({"text": source.texts(name), "value": column}).drop_nulls("text").unique("text", keep="first")
    value = pl.element().replace_strict(known["text"], known["value"], return_dtype=kind)
    return items.list.eval(value).alias(name)


def _generalized_sets(table: Table, name: str, nodes: Ints) -> pl.Series:
    """Return every person's set of shown nodes, in the order of the tree; missing alone is no item."""
    sensitive = table.sensitive[name]
    tree = sensitive.tree
    assert tree is not None
    if table.policy.release.shape == "sets":
        barred = sum(1 for node in np.unique(nodes).tolist() if ITEM_SEPARATOR in tree.labels[node])
        if barred:
            raise DataError(
                f"the hierarchy of {name} has `|` in {count(barred, 'label')} of the release, which joins the items "
                "of a set; rename them, or set release: {shape: long}."
            )
    known = nodes != (-1 if tree.missing is None else int(tree.leaf_nodes[tree.missing]))
    key = np.unique(sensitive.row[known].astype(np.int64) * len(tree.labels) + nodes[known])
    person, node = np.divmod(key, len(tree.labels))
    labels = pl.Series(list(tree.labels), dtype=pl.String)
    pairs = pl.DataFrame({"person": person.astype(np.int32), "item": labels.gather(node)})
    return sets_of(pairs, table.records, name)


def _long(
    policy: Policy, columns: dict[str, pl.Series | None], rows: Longs, first: Longs, labels: dict[str, list[str]]
) -> Release:
    """Return one row an item: sets are laid out one under another, persons numbered in the order of the release."""
    if INDIVIDUAL in columns:
        raise DataError(f"a release in long shape has a column {INDIVIDUAL!r} of its own; rename that of the input.")
    sets = [name for name, column in columns.items() if column is not None and column.dtype == pl.List]
    lengths = [columns[name].list.len().cast(pl.Int64).to_numpy() for name in sets]  # type: ignore[union-attr]
    rows_each = np.maximum(np.maximum.reduce([*lengths, np.ones(len(rows), dtype=np.int64)]), 1)
    person = np.repeat(np.arange(len(rows)), rows_each)
    place = np.arange(len(person)) - np.repeat(np.cumsum(rows_each) - rows_each, rows_each)
    laid: dict[str, pl.Series | None] = {INDIVIDUAL: pl.Series(INDIVIDUAL, person + 1)}
    for name, column in columns.items():
        if column is None:
            laid[name] = None
        elif name in sets:
            items = column.gather(person).list.get(pl.Series(place), null_on_oob=True)
            laid[name] = (items.fill_null(policy.data.missing[0]) if items.dtype == pl.String else items).alias(name)
        else:
            laid[name] = column.gather(person)
    return Release(laid, rows, first[person], labels)


def _used(shown: Shown, codes: Ints, starred: Bools, present: Bools) -> tuple[Ints, list[str]]:
    """Return the classes' codes among the labels that are used, and those labels in the order of texts.

    ``present`` are the classes of which a record is released: labels of others are not used.
    """
    if starred.any():
        codes = np.where(starred, np.int32(len(shown.labels)), codes)
    names = [*shown.labels, STAR]
    used = [(names[code], code) for code in np.flatnonzero(np.bincount(codes[present], minlength=1)).tolist()]
    labels = sorted({label for label, _ in used})
    rank = {label: position for position, label in enumerate(labels)}
    renumber = np.zeros(len(names), dtype=np.int32)
    for label, code in used:
        renumber[code] = rank[label]
    return renumber[codes], labels


def _order(
    source: Source,
    policy: Policy,
    released: list[str],
    codes: dict[str, Ints],
    labels: dict[str, list[str]],
    sets: dict[str, pl.Series],
    kept: Longs,
    here: Ints,
) -> Longs:
    """Return the order of the release; ``kept`` are the input rows that unchanged columns are taken from.

    ``codes`` are those of classes, ``here`` every row's class.
    """
    if policy.release.order == "keep":
        return np.arange(len(kept))
    if policy.release.order == "shuffle":
        # Never the policy's seed: whoever reads the policy could undo the shuffle.
        return np.random.default_rng(secrets.randbits(128)).permutation(len(kept))
    if released and len(codes) == len(released) and 2 * len(codes[released[0]]) < len(kept):
        # Nothing else is released, so it is enough to sort the classes, and the records by their class.
        ranked = sort_rows([(codes[name], len(labels[name])) for name in released], len(codes[released[0]]))
        rank = np.empty(len(ranked), dtype=np.int32)
        rank[ranked] = np.arange(len(ranked), dtype=np.int32)
        return sort_rows([(rank[here], len(rank))], len(kept))
    keys: list[tuple[NDArray[Any], int]] = []
    for name in released:
        if name in codes:
            keys.append((codes[name][here], len(labels[name])))
        else:
            column = source.frame[name].gather(kept) if name not in sets else _as_written(sets[name], policy)
            absent = column.is_null()
            texts = as_texts(column).fill_null("")
            distinct = texts.unique().sort().to_list()
            keys.append((texts.cast(pl.Enum(distinct)).to_physical().to_numpy(), len(distinct)))
            if absent.any():  # null after the empty text and after NaN, which have the same text
                keys.append((absent.cast(pl.Int32).to_numpy(), 2))
    return sort_rows(keys, len(kept))


def _as_written(sets: pl.Series, policy: Policy) -> pl.Series:
    """Return sets as a CSV shows them, an empty one as the text for missing."""
    return joined_items(sets).fill_null(policy.data.missing[0])


def sort_rows(keys: list[tuple[NDArray[Any], int]], rows: int) -> Longs:
    """Return the stable order of rows by several rank columns, given with how many ranks each has.

    Columns are packed into 63-bit words, so that few sorts do.
    """
    words: list[NDArray[Any]] = []
    room = 0
    for column, cardinality in keys:
        if cardinality < 2:
            continue
        if words and room * cardinality < 2**62:
            words[-1] = words[-1] * cardinality + column
            room *= cardinality
        else:
            words.append(column.astype(np.int64) if len(keys) > 1 else column)
            room = cardinality
    order = np.arange(rows)
    for word in reversed(words):
        by = pl.DataFrame({"word": word[order]}).select(pl.arg_sort_by("word", maintain_order=True))
        order = order[by["word"].to_numpy()]
    return order


def read_release(
    table: Table, texts: dict[str, pl.Series], rows: Longs, starred: Bools | None = None
) -> tuple[Solution, int]:
    """Return a release made anywhere as codes, and how many cells show what their hierarchy does not know.

    ``texts`` are the released quasi-identifiers, ``rows`` every released row's row of the table. Longs that are
    not there are suppressed; so are rows of stars, and components whose stars no generalization can give.
    Persons are suppressed where ``starred``, that is, where their items are stars.
    """
    absent = np.ones(table.records, dtype=bool)
    absent[rows] = False
    shown: list[Shown] = []
    unknown = 0
    for position, name in enumerate(table.names):
        tree = table.trees[position]
        column, strangers = _read_column(tree, texts[name])
        codes = np.zeros(table.records, dtype=np.int32)
        codes[rows] = column.codes
        shown.append(Shown(codes, column.labels, column.ncp, column.il, column.is_star))
        unknown += strangers
    suppressed = np.zeros((len(table.components), table.records), dtype=bool)
    if starred is not None:
        absent[rows[starred]] = True
        suppressed |= absent
        return Solution(tuple(shown), suppressed), unknown
    star = [s.is_star[s.codes] for s in shown]
    everything = np.logical_and.reduce(star)
    for c, component in enumerate(table.components):
        positions = table.positions(component.attributes)
        all_star = np.logical_and.reduce([star[p] for p in positions])
        forced = np.logical_or.reduce([_cannot_star(table, p) for p in positions])
        suppressed[c] = absent | everything | (all_star & forced)
    return Solution(tuple(shown), suppressed), unknown


def read_items(table: Table, name: str, row: Longs, texts: pl.Series, rows: Longs) -> tuple[Ints, int]:
    """Return what every pair of a generalized attribute is shown as, and how many items no hierarchy knows.

    ``row`` and ``texts`` are the items of a release (null for missing), ``rows`` every released row's row of the
    table. An original item became the lowest of its ancestors in the person's set; one that has none there is lost
    and gets a code past the tree's nodes.
    """
    sensitive = table.sensitive[name]
    tree = sensitive.tree
    assert tree is not None
    width = len(tree.labels) + 1
    missing = width - 1 if tree.missing is None else int(tree.leaf_nodes[tree.missing])
    distinct = texts.unique().to_list()
    node_of = {text: missing if text is None else tree.node_of.get(text, width - 1) for text in distinct}
    strangers = [text for text in distinct if text is not None and text not in tree.node_of and text != STAR]
    nodes = texts.replace_strict(list(node_of), list(node_of.values()), return_dtype=pl.Int64).to_numpy()
    shown = np.unique(rows[row] * width + nodes)
    found = np.full(len(sensitive.row), width - 1, dtype=np.int32)
    node = tree.leaf_nodes[sensitive.leaves[sensitive.code]]
    open_pairs = np.arange(len(found))
    while len(open_pairs):
        key = sensitive.row[open_pairs].astype(np.int64) * width + node
        place = np.minimum(np.searchsorted(shown, key), max(len(shown) - 1, 0))
        hit = shown[place] == key if len(shown) else np.zeros(len(key), dtype=bool)
        found[open_pairs[hit]] = node[hit]
        more = ~hit & (node > 0)
        open_pairs, node = open_pairs[more], tree.parent[node[more]]
    return found, int(texts.is_in(strangers).sum()) if strangers else 0


def _cannot_star(table: Table, position: int) -> Bools:
    """Return the records whose value no generalization may show as `*`."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        if not tree.is_star[0]:
            return np.ones(table.records, dtype=bool)
        return np.asarray(tree.limit_of[table.leaves[position]] != 0)
    return np.full(table.records, table.trees[position].missing is None)


def _read_column(tree: Tree | Scale, texts: pl.Series) -> tuple[Shown, int]:
    distinct = texts.unique().sort().to_list() or [STAR]
    physical = texts.cast(pl.Enum(distinct)).to_physical().to_numpy()
    if isinstance(tree, Tree):
        strangers = [text for text in distinct if text not in tree.node_of]
        number: dict[str, int] = {text: len(tree.labels) + i for i, text in enumerate(strangers)}
        number |= {text: tree.node_of[text] for text in distinct if text in tree.node_of}
        ones = np.ones(len(strangers))
        labels: tuple[str, ...] = (*tree.labels, *strangers)
        ncp: Any = np.concatenate([tree.ncp, ones])
        il: Any = np.concatenate([tree.il, ones])
        unknown = sum(1 for text in strangers if text != STAR)
    else:
        number = {text: position for position, text in enumerate(distinct)}
        labels = tuple(distinct)
        ncp = il = np.array([tree.loss_of_text(text) for text in distinct])
        unknown = 0
    codes = np.array([number[text] for text in distinct], dtype=np.int32)[physical]
    is_star = np.array([label == STAR for label in labels], dtype=bool)
    return Shown(codes, labels, ncp, il, is_star), unknown
