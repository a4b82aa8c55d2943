"""From released texts back to codes, for measures of releases made anywhere."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.policy.attributes import STAR, Intervals
from kveil.policy.builders import is_real, label_writer
from kveil.table.columns import code_texts
from kveil.table.notation import in_whole_numbers
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


def codes_of_release(
    table: Table, texts: dict[str, pl.Series], rows: Longs, *, starred: Bools | None = None
) -> tuple[Solution, int]:
    """Return a release made anywhere as codes, and how many cells show what their hierarchy does not know.

    ``texts`` are the released quasi-identifiers, ``rows`` every released row's row of the table. Rows that are
    not there are suppressed; so are rows of stars, and components whose stars no generalization can give.
    Persons are suppressed where ``starred``, that is, where their items are stars.
    """
    absent = np.ones(table.rows, dtype=bool)
    absent[rows] = False
    shown: list[Shown] = []
    unknown = 0
    for position, name in enumerate(table.names):
        tree = table.trees[position]
        if isinstance(tree, Tree):
            column, strangers = _read_nodes(_nodes_as_written(table, name, tree, texts[name]), texts[name])
        else:
            column, strangers = _read_spans(tree, texts[name])
        codes = np.zeros(table.rows, dtype=np.int32)
        codes[rows] = column.codes
        shown.append(Shown(codes, column.labels, column.ncp, column.il, column.is_star))
        unknown += strangers
    suppressed = np.zeros((len(table.components), table.rows), dtype=bool)
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
    writer = label_writer(table.policy.attributes[name].hierarchy, [text for text in distinct if text is not None])
    nodes_by_text = {writer(label): node for node, label in enumerate(tree.labels)}
    node_of = {text: missing if text is None else nodes_by_text.get(text, width - 1) for text in distinct}
    strangers = [text for text in distinct if text is not None and text not in nodes_by_text and text != STAR]
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
            return np.ones(table.rows, dtype=bool)
        return np.asarray(tree.limit_of[table.leaves[position]] != 0)
    return np.full(table.rows, table.trees[position].missing is None)


def _nodes_as_written(table: Table, name: str, tree: Tree, texts: pl.Series) -> Shown:
    """Return the nodes of a tree as a release writes them; intervals may be written for whole numbers."""
    nodes = Shown.nodes(tree, np.zeros(0, dtype=np.int32))
    spec = table.policy.attributes[name].hierarchy
    if isinstance(spec, Intervals) and name in table.fractions and not is_real(texts.unique().to_list()):
        return in_whole_numbers(spec, nodes)
    return nodes


def _read_nodes(nodes: Shown, texts: pl.Series) -> tuple[Shown, int]:
    coded = code_texts(texts)
    distinct = coded.texts or [STAR]
    number = {label: code for code, label in enumerate(nodes.labels)}
    strangers = [text for text in distinct if text not in number]
    number |= {text: len(nodes.labels) + i for i, text in enumerate(strangers)}
    labels = (*nodes.labels, *strangers)
    ones = np.ones(len(strangers))
    codes = np.array([number[text] for text in distinct], dtype=np.int32)[coded.codes]
    is_star = np.array([label == STAR for label in labels], dtype=bool)
    shown = Shown(codes, labels, np.concatenate([nodes.ncp, ones]), np.concatenate([nodes.il, ones]), is_star)
    return shown, sum(1 for text in strangers if text != STAR)


def _read_spans(scale: Scale, texts: pl.Series) -> tuple[Shown, int]:
    coded = code_texts(texts)
    distinct = coded.texts or [STAR]
    cost = np.array([scale.loss_of_text(text) for text in distinct])
    is_star = np.array([text == STAR for text in distinct], dtype=bool)
    return Shown(np.arange(len(distinct), dtype=np.int32)[coded.codes], tuple(distinct), cost, cost, is_star), 0
