"""Attributes as the neighbourhood search reads them: what two values join to, and whole numbers for costs."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from kveil.algorithms.costs import NodeCosts, shares_of
from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import ChildTable, Codes
from kveil.policy.attributes import MaxWidth
from kveil.table.scale import Scale, round_outward
from kveil.table.table import Table
from kveil.table.tree import Tree

MOST_PAIRS = 1 << 20  # nodes of a tree, squared, up to which a table of pairs is kept
FINE = 1 << 36  # a row's whole loss in the search's units, where losses have no small common denominator
EXACT_DENOMINATOR = 10**6


class TooLarge(Exception):
    """Numbers that do not fit the search's whole numbers; the solution is then left as it is."""


def losses_of(table: Table, position: int) -> Floats:
    """Return the loss of showing each node of a tree, by the policy's measure.

    Precision depends on the leaf as well; a node is taken at the mean over the rows below it.
    """
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    if table.policy.loss == "il":
        return tree.il
    if table.policy.loss == "ncp":
        return tree.ncp
    depth = tree.depth[tree.leaf_nodes].astype(np.float64)
    number = np.bincount(table.leaves[position], minlength=tree.leaves)
    before = np.concatenate([[0], np.cumsum(number)])
    inverse = np.concatenate([[0.0], np.cumsum(number / np.maximum(depth, 1))])
    rows = before[tree.last + 1] - before[tree.first]
    mean = (inverse[tree.last + 1] - inverse[tree.first]) / np.maximum(rows, 1)
    return np.asarray(np.where(rows > 0, np.clip(1 - tree.depth * mean, 0, 1), 0.0))


def whole_numbers(table: Table) -> NodeCosts:
    """Return the cost of every node of every tree; exact where a common denominator is not too large."""
    weights = shares_of(table)
    losses = {p: losses_of(table, p) for p, tree in enumerate(table.trees) if isinstance(tree, Tree)}
    exact = table.policy.loss != "precision" and len(losses) == len(weights)
    scale = 1
    fractions: dict[int, list[Fraction]] = {}
    for position, values in losses.items():
        found = [Fraction(value).limit_denominator(EXACT_DENOMINATOR) for value in np.unique(values).tolist()]
        fractions[position] = found
        for fraction in found:
            scale = lcm(scale, (fraction * weights[position]).denominator)
            exact &= scale <= FINE
            if not exact:
                scale = 1
                break
    if not exact:
        scale = FINE
    nodes = {}
    for position, values in losses.items():
        share = float(weights[position]) * scale
        if exact:
            unique, inverse = np.unique(values, return_inverse=True)
            whole = np.array([int(f * weights[position] * scale) for f in fractions[position]], dtype=np.int64)
            nodes[position] = whole[inverse.reshape(-1)]
            assert len(unique) == len(whole)
        else:
            nodes[position] = np.rint(values * share).astype(np.int64)
    return NodeCosts(scale, nodes, {p: round(weight * scale) for p, weight in enumerate(weights)})


def base_codes(table: Table, positions: list[int], low: Ints, high: Ints) -> Ints:
    """Return what every row would show alone, row × attribute; ``low`` and ``high`` are leaves, attribute × row."""
    columns = []
    for a, position in enumerate(positions):
        tree = table.trees[position]
        if isinstance(tree, Tree):
            columns.append(tree.leaf_nodes[low[a]] if low is high else tree.lca(low[a], high[a]))
        else:
            columns.append(low[a].astype(np.int64) * tree.leaves + high[a])
    dtype = (
        np.int64 if any(column.dtype == np.int64 and column.max(initial=0) >= 2**31 for column in columns) else np.int32
    )
    return np.ascontiguousarray(np.array(columns, dtype=dtype).T)


def shown_codes(table: Table, position: int, codes: Longs | Ints) -> tuple[Ints, Ints]:
    """Return the leaves low and high of what a code shows."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return tree.first[codes], tree.last[codes]
    return (codes // tree.leaves).astype(np.int32), (codes % tree.leaves).astype(np.int32)


def _bounds(scale: Scale) -> tuple[list[int], list[int], int, int]:
    """Return the bounds that each number shows, downward and upward, as whole numbers of a common unit."""
    shown = [round_outward(number, number, scale.spec) for number in scale.numbers]
    numbers = [n for pair in shown for n in pair] + [scale.width, *scale.spec.within]
    places = max(max(-int(n.as_tuple().exponent), 0) for n in numbers)
    unit = 10**places
    down = [int(Fraction(low) * unit) for low, _ in shown]
    up = [int(Fraction(high) * unit) for _, high in shown]
    if max(map(abs, [*down, *up, int(Fraction(scale.width) * unit)]), default=0) >= 2**52:
        raise TooLarge
    return down, up, int(Fraction(scale.width) * unit), unit


def lay_out(table: Table, positions: list[int], costs: NodeCosts) -> Codes:
    """Return the codes of some attributes for the kernel."""
    about = np.full((len(positions), field.ABOUT), -1, dtype=np.int64)
    ints: list[Ints] = []
    longs: list[Longs] = []
    factor = np.zeros(len(positions))
    at_int = at_long = 0
    for a, position in enumerate(positions):
        tree = table.trees[position]
        about[a, field.WHOLE] = costs.whole[position]
        if isinstance(tree, Tree):
            number = len(tree.labels)
            small = number * number <= MOST_PAIRS
            about[a, [field.KIND, field.WIDTH, field.STAR]] = (
                (field.SMALL if small else field.LARGE),
                number,
                (0 if tree.is_star[0] else -1),
            )
            own = costs.nodes[position]
            about[a, field.COST_AT] = at_long
            longs.append(own)
            if small:
                low = np.minimum(tree.first[:, None], tree.first[None, :]).reshape(-1)
                high = np.maximum(tree.last[:, None], tree.last[None, :]).reshape(-1)
                over = tree.lca(np.minimum(low, tree.leaves - 1), high) if tree.leaves else np.zeros_like(low)
                about[a, [field.PAIR_AT, field.LEAF_AT]] = at_int, at_long + number
                ints.append(over)
                longs.append(own[over])
            else:
                about[a, field.NODE_AT] = at_int
                ints += [tree.first, tree.last, tree.parent]
        else:
            size = max(tree.leaves, 1)
            below, above, width, unit = _bounds(tree)
            about[a, [field.KIND, field.WIDTH, field.SPAN_AT]] = field.SPAN, size, at_long
            down, up = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
            down[: len(below)], up[: len(above)] = below, above
            longs += [down, up]
            factor[a] = costs.whole[position] / width
            boundary = table.policy.attributes[table.names[position]].boundary
            if isinstance(boundary, MaxWidth):
                about[a, field.WIDEST] = min(int(Fraction(boundary.max_width) * unit), 2**53)
            if tree.missing is not None:
                about[a, field.MISSING] = tree.missing
        at_int = sum(len(part) for part in ints)
        at_long = sum(len(part) for part in longs)
    return Codes(
        about,
        np.concatenate([np.zeros(0, dtype=np.int32), *ints]).astype(np.int32),
        np.concatenate([np.zeros(0, dtype=np.int64), *longs]).astype(np.int64),
        factor,
    )


def children_of(table: Table, positions: list[int]) -> ChildTable:
    """Return the children of every node of some trees, for the top-down start."""
    fans, child, rank, parent = [], [], [], []
    for position in positions:
        tree = table.trees[position]
        assert isinstance(tree, Tree)
        below = np.argsort(tree.parent[1:], kind="stable").astype(np.int32) + 1
        fan = np.bincount(tree.parent[1:], minlength=len(tree.labels))
        start = np.concatenate([[0], np.cumsum(fan)])
        place = np.zeros(len(tree.labels), dtype=np.int32)
        place[below] = np.arange(len(below)) - start[tree.parent[below]]
        fans.append(fan)
        child.append(below)
        rank.append(place)
        parent.append(tree.parent)
    sizes = np.array([len(own) for own in parent], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(fans))]).astype(np.int64)
    return ChildTable(
        np.cumsum(sizes) - sizes,
        starts,
        np.concatenate(child).astype(np.int32),
        np.concatenate(rank).astype(np.int32),
        np.concatenate(parent).astype(np.int32),
    )
