"""The attributes of a component as the search under overlapping constraints reads them, and what it shows in the end.

Trees and spans of numbers are nodes alike, laid end to end. What a start shows of numbers is taken as narrow as the
rows that show it allow: all of them together show less then, and no class changes but for its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.least_loss.span_nodes import SpanNodes, span_nodes
from kveil.algorithms.least_loss.state import RefinedComponent
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps import InvalidStart
from kveil.kernels.least_loss.overlaps_layout import NodeColumns
from kveil.policy.attributes import STAR
from kveil.table.group_spans import group_spans
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Tree


@dataclass(frozen=True)
class OverlapColumns:
    """Nodes of all attributes, and for every row (row × attribute) the lowest, the highest and the shown ones."""

    trees: NodeColumns
    spans: dict[int, SpanNodes]  # by the place of an attribute among the component's
    base: Ints
    limit: Ints
    nodes: Ints

    def narrowed(self, nodes: Ints, inside: Bools, *, merging: bool) -> Ints:
        """Return what rows show where each span is as narrow as the rows that show it allow.

        Spans may come to be the same; without ``merging``, those that would stay as they are.
        """
        nodes = nodes.copy()
        for a, spans in self.spans.items():
            first, last = spans.ints[field.FIRST], spans.ints[field.LAST]
            used, of = np.unique(nodes[inside, a], return_inverse=True)
            own = self.base[inside, a]
            low, high = group_spans(of, len(used), first[own], last[own])
            narrow = spans.find(low, high)
            same = (narrow < 0) | (spans.cost[narrow] >= spans.cost[used])
            narrow = np.where(same, used, narrow)
            if not merging:
                number = np.bincount(np.concatenate([narrow, used[narrow != used]]), minlength=len(first))
                narrow = np.where(number[narrow] > 1, used, narrow)
            nodes[inside, a] = narrow[of]
        return nodes


def lay_out_columns(
    refined: RefinedComponent, rows: Ints, inside: int, costs: NodeCosts, solution: Solution
) -> OverlapColumns:
    """Lay the attributes' nodes end to end; the first ``inside`` of the rows take part in a start.

    Raises InvalidStart where that shows a wider span than may be.
    """
    low, high = refined.leaves(rows)
    ints, cost, ends, spans = [], [], [], {}
    for a, position in enumerate(refined.positions):
        tree, shown = refined.table.trees[position], solution.shown[position]
        if isinstance(tree, Tree):
            base, limit = tree.ends(low[a], high[a])
            ints.append(np.array([tree.first, tree.last, tree.parent, tree.depth, tree.is_star], dtype=np.int32))
            cost.append(costs.nodes[position])
            ends.append((base, limit, shown.codes[rows]))
            continue
        of, number = shown.codes[rows], len(shown.labels)
        hulls = group_spans(of[:inside], number, low[a, :inside], high[a, :inside])
        for ends_of_nobody in hulls:
            ends_of_nobody[hulls[1] < 0] = 0
        widest = refined.table.policy.attributes[refined.table.names[position]].widest
        needed = {
            *zip(*(end.tolist() for end in hulls), strict=True),
            *zip(low[a].tolist(), high[a].tolist(), strict=True),
        }
        spans[a] = own = span_nodes(tree, widest, costs.whole[position], shown=needed)
        node = np.where(shown.is_star, own.star, own.find(*hulls))[of].astype(np.int32)
        if (node[:inside] < 0).any():
            raise InvalidStart("a row shows a wider span than it may.")
        base = own.find(low[a], high[a])
        base = np.where(base < 0, node, base)  # a person whose numbers lie too far apart shows what it does
        ints.append(own.ints)
        cost.append(own.cost)
        ends.append((base, own.tops(base), node))
    trees = _node_columns(ints, cost, spans, sum(costs.whole[p] for p in refined.positions))
    laid = [np.ascontiguousarray(np.array([own[i] for own in ends], dtype=np.int32).T) for i in range(3)]
    return OverlapColumns(trees, spans, *laid)


def _node_columns(ints: list[Ints], cost: list[Longs], spans: dict[int, SpanNodes], whole: int) -> NodeColumns:
    sizes = [len(own) for own in cost]
    at = (np.cumsum(sizes) - sizes).astype(np.int64)
    span_at = np.full(len(sizes), -1, dtype=np.int64)
    tables = [np.zeros(1, dtype=np.int32)]
    for a, own in spans.items():
        span_at[a] = sum(len(table) for table in tables)
        tables.append(own.table)
    joined = np.concatenate(cost).astype(np.int64)
    return NodeColumns(at, np.concatenate(ints, axis=1), joined, whole, np.concatenate(tables), span_at)


def may_be_alone(refined: RefinedComponent, rows: Ints) -> Bools:
    """Tell which rows may show what they are: not persons whose numbers lie further apart than a span may be wide."""
    able = np.ones(len(rows), dtype=bool)
    low, high = refined.leaves(rows)
    for a, position in enumerate(refined.positions):
        scale = refined.table.trees[position]
        widest = refined.table.policy.attributes[refined.table.names[position]].widest
        if not isinstance(scale, Scale) or widest is None:
            continue
        for at in np.flatnonzero(low[a] != high[a]).tolist():
            able[at] &= not scale.shows_more(int(low[a, at]), int(high[a, at]), widest)
    return able


def shown_spans(scale: Scale, spans: SpanNodes, old: Shown, rows: Ints, nodes: Ints) -> Shown:
    """Show nodes in some rows of a `ranges` attribute, and in the others what they showed."""
    used, of = np.unique(nodes, return_inverse=True)
    number_of = {text: code for code, text in enumerate(old.labels)}
    ncp = old.ncp.tolist()
    code = np.zeros(len(used), dtype=np.int32)
    for i, node in enumerate(used.tolist()):
        ends = spans.ints[[field.FIRST, field.LAST], node].tolist()
        text, loss = (STAR, 1.0) if node == spans.star else scale.shown(*ends)
        if text not in number_of:
            number_of[text] = len(number_of)
            ncp.append(loss)
        code[i] = number_of[text]
    codes = old.codes.copy()
    codes[rows] = code[of.reshape(-1)]
    losses = np.array(ncp)
    return replace(
        old, codes=codes, labels=tuple(number_of), ncp=losses, il=losses,
        is_star=np.array([text == STAR for text in number_of], dtype=bool),
    )  # fmt: skip
