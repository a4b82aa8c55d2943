"""Which tuple of an earlier release covers a new record, and of several the one that loses least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.algorithms.costs import Reading, node_losses, weights_of
from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.policy.attributes import STAR
from kveil.policy.builders import is_real, label_writer
from kveil.policy.numbers import parse_span
from kveil.stopping import check_cancelled
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree

NOBODY = -1  # the tuple of a record that none covers
AT_ONCE = 1_000_000  # beginnings of tuples that are walked on from together: beyond it memory grows, and no speed
NUMBERS = ("prefix", "value", "next")


@dataclass(frozen=True)
class CoveringLabels:
    """The labels that may stand for the values of one attribute: ``value`` and ``label`` are pairs, by number.

    ``own`` has every row's value; ``code`` what a label is called in a solution for that value, ``cost`` its loss.
    """

    own: Ints
    value: Longs
    label: Longs
    code: Longs
    cost: Floats


@dataclass(frozen=True)
class Covered:
    """For every row the tuple of the earlier release that it gets, -1 where none covers it; ``tuples`` are all."""

    tuples: pl.DataFrame
    group: Longs
    codes: Ints  # per attribute and row: the node of its tree, or the number of the label on a scale

    def shown(self, table: Table) -> tuple[Shown, ...]:
        """Return what rows show, in the notation of the earlier release."""
        columns = []
        for a, tree in enumerate(table.trees):
            labels = self.tuples[table.names[a]].unique().sort().to_list()
            if isinstance(tree, Tree):
                write = label_writer(table.policy.attributes[table.names[a]].hierarchy, labels)
                nodes = Shown.nodes(tree, self.codes[a])
                columns.append(nodes.relabelled([write(label) for label in tree.labels], tree.ncp, tree.il))
            else:
                cost = np.array([tree.loss_of_text(label) for label in labels])
                star = np.array([label == STAR for label in labels], dtype=bool)
                columns.append(Shown(self.codes[a], tuple(labels), cost, cost, star))
        return tuple(columns)


def cover_rows(table: Table, texts: pl.DataFrame) -> Covered:
    """Give every row of a table the tuple that covers it and loses least; of equals the first by its texts.

    ``texts`` are the quasi-identifiers of the earlier release. Rows are walked attribute by attribute through the
    beginnings of tuples that there are: O(pairs of a row's values and a beginning that covers them).
    """
    stars = pl.all_horizontal(pl.all() == STAR)
    tuples = texts.select(table.names).filter(~stars).unique().sort(table.names)
    covering = [_covering(table, a, tuples[name].unique().sort().to_list()) for a, name in enumerate(table.names)]
    own = np.array([labels.own for labels in covering])
    member, first = group_rows(own)
    best = _walk([values[first] for values in own], _steps(table, covering, tuples))
    group = np.full(len(first), NOBODY, dtype=np.int64)
    group[best["row"].to_numpy()] = best["prefix"].to_numpy()
    group = group[member]
    return Covered(tuples, group, _codes(covering, tuples, table.names, group))


def _steps(table: Table, covering: Sequence[CoveringLabels], tuples: pl.DataFrame) -> list[pl.DataFrame]:
    """Return for every attribute which label leads from which beginning of tuples to which next one, at what cost.

    The beginnings after the last attribute are the tuples themselves.
    """
    steps = []
    prefix = np.zeros(tuples.height, dtype=np.int64)
    weights = [float(weight) for weight in weights_of(table)]
    for a, labels in enumerate(covering):
        numbers = _positions(tuples[table.names[a]])
        pairs, following = np.unique(np.array([prefix, numbers]), axis=1, return_inverse=True)
        edges = pl.DataFrame({"prefix": pairs[0], "label": pairs[1], "next": np.arange(pairs.shape[1])})
        prefix = following.reshape(-1).astype(np.int64)
        known = pl.DataFrame({"value": labels.value, "label": labels.label, "more": labels.cost * weights[a]})
        steps.append(edges.join(known, on="label").drop("label").cast(dict.fromkeys(NUMBERS, pl.Int32)))
    return steps


def _walk(values: Sequence[Ints], steps: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return each row's tuple that loses least, of equals the first, for the rows that any covers.

    Where too many beginnings are reached to hold them all, one half of the rows waits for the other.
    """
    rows = np.arange(len(values[0]), dtype=np.int32)
    start = pl.DataFrame({"row": rows, "prefix": np.zeros_like(rows), "cost": np.zeros(len(rows))})
    waiting, found = [(0, start)], [start.clear()]
    while waiting:
        depth, reached = waiting.pop()
        check_cancelled()
        if depth == len(steps):
            found.append(reached.sort("row", "cost", "prefix").unique("row", keep="first", maintain_order=True))
            continue
        who = reached["row"].to_numpy()
        if reached.height > AT_ONCE and who.min() < who.max():
            below = pl.col("row") <= (int(who.min()) + int(who.max())) // 2
            waiting += [(depth, reached.filter(~below)), (depth, reached.filter(below))]
            continue
        own = pl.Series("value", values[depth][who])
        following = reached.with_columns(own).join(steps[depth], on=["prefix", "value"])
        costs = pl.col("cost") + pl.col("more")
        waiting.append((depth + 1, following.select("row", pl.col("next").alias("prefix"), costs)))
    return pl.concat(found)


def _positions(column: pl.Series) -> Longs:
    """Return every label's position among the sorted different ones."""
    labels = column.unique().sort().to_list()
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place[label] for label in column.to_list()], dtype=np.int64)


def _codes(covering: Sequence[CoveringLabels], tuples: pl.DataFrame, names: Sequence[str], group: Longs) -> Ints:
    """Return what every row's tuple is called in a solution, per attribute; anything for a row without one."""
    codes = np.zeros((len(names), len(group)), dtype=np.int32)
    inside = np.flatnonzero(group >= 0)
    for a, (labels, name) in enumerate(zip(covering, names, strict=True)):
        position = _positions(tuples[name])
        width = max(int(position.max(initial=0)), int(labels.label.max(initial=0))) + 1
        keys = labels.value * width + labels.label
        order = np.argsort(keys)
        wanted = labels.own[inside].astype(np.int64) * width + position[group[inside]]
        codes[a, inside] = labels.code[order[np.searchsorted(keys[order], wanted)]] if len(inside) else 0
    return codes


def _covering(table: Table, a: int, labels: list[str]) -> CoveringLabels:
    """Return which of the labels may stand for which values of an attribute, inside its boundary."""
    tree = table.trees[a]
    both = np.array([table.low[a], table.high[a]])
    own, first = group_rows(both)
    spans = both[:, first]
    found = _on_tree(table, a, tree, spans, labels) if isinstance(tree, Tree) else _on_scale(tree, spans, labels)
    beyond = _numbers_between(table, a, own, labels)
    found = [pair for pair in found if pair[0] not in beyond or labels[pair[1]] == STAR]
    value, label, code, cost = zip(*found, strict=True) if found else ((), (), (), ())
    return CoveringLabels(
        own,
        np.array(value, dtype=np.int64),
        np.array(label, dtype=np.int64),
        np.array(code, dtype=np.int64),
        np.array(cost, dtype=np.float64),
    )


def _numbers_between(table: Table, a: int, own: Ints, labels: list[str]) -> set[int]:
    """Return the values with a fraction, where labels are intervals of whole numbers: `20-29` says nothing of 29.5."""
    rows = table.fractions.get(table.names[a])
    return set() if rows is None or is_real(labels) else set(own[rows].tolist())


def _on_tree(table: Table, a: int, tree: Tree, spans: Ints, labels: list[str]) -> list[tuple[int, int, int, float]]:
    """Return value, label, node and loss of the labels on the values' ways up to their limits."""
    place = {label: i for i, label in enumerate(labels)}
    write = label_writer(table.policy.attributes[table.names[a]].hierarchy, labels)
    cost = node_losses(table, a, Reading.DEEPEST)
    found = []
    starts, limits = tree.ends(spans[0].astype(np.int32), spans[1].astype(np.int32))
    for value, (start, limit) in enumerate(zip(starts.tolist(), limits.tolist(), strict=True)):
        for node in tree.way_up(start, limit):
            text = write(tree.labels[node])
            if text in place:
                found.append((value, place[text], node, float(cost[node])))
    return found


def _on_scale(scale: Scale, spans: Ints, labels: list[str]) -> list[tuple[int, int, int, float]]:
    """Return value, label, its number and its loss for the labels whose numbers reach around the values."""
    bounds = {i: span for i, label in enumerate(labels) if (span := parse_span(label)) is not None}
    found = []
    for value, (low, high) in enumerate(spans.T.tolist()):
        if scale.missing is not None and high == scale.missing:
            wanted = {scale.missing_text, STAR} if low == high else {STAR}
            found += [(value, i, i, scale.loss_of_text(label)) for i, label in enumerate(labels) if label in wanted]
            continue
        bottom, top = scale.numbers[low], scale.numbers[high]
        for i, (first, last) in bounds.items():
            if first <= bottom and top <= last:
                found.append((value, i, i, scale.loss_of_text(labels[i])))
    return found
