"""Attributes as the neighbourhood search reads them: what two values join to, and whole numbers for costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kveil.algorithms import forest
from kveil.algorithms.costs import NodeCosts, Reading, in_common_units, node_losses, shares_of
from kveil.arrays import Ints, Longs
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import ChildTable, Codes
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree

MOST_PAIRS = 1 << 20  # nodes of a tree, squared, up to which a table of pairs is kept
FINE = 1 << 36  # a row's whole loss in the search's units, where losses have no small common denominator
MOST_BOUND = 1 << 52  # a bound of an interval in its unit; a width, the difference of two, is then below MOST_WIDTH
MOST_WIDTH = 2 * MOST_BOUND  # up to here a float holds every whole number


class TooLarge(Exception):
    """Numbers that do not fit the search's whole numbers; the solution is then left as it is."""


def whole_numbers(table: Table) -> NodeCosts:
    """Return the cost of every node of every tree; exact where a common denominator is not too large.

    Precision depends on the leaf as well; a node is taken at the mean over the rows below it.
    """
    weights = shares_of(table)
    trees = [position for position, tree in enumerate(table.trees) if isinstance(tree, Tree)]
    losses = [node_losses(table, position, Reading.MEAN) for position in trees]
    may_be_exact = table.policy.loss != "precision" and len(trees) == len(weights)
    most = FINE if may_be_exact else 0
    whole, scale, _ = in_common_units(losses, [weights[p] for p in trees], most=most, otherwise=FINE)
    nodes = dict(zip(trees, whole, strict=True))
    return NodeCosts(scale, nodes, {p: round(weight * scale) for p, weight in enumerate(weights)})


def base_codes(table: Table, positions: list[int], low: Ints, high: Ints) -> Ints:
    """Return what every row would show alone, row × attribute; ``low`` and ``high`` are leaves, attribute × row."""
    columns = []
    for a, position in enumerate(positions):
        tree = table.trees[position]
        if isinstance(tree, Tree):
            columns.append(tree.lca(low[a], high[a]))
        else:
            columns.append(low[a].astype(np.int64) * tree.leaves + high[a])
    dtype = (
        np.int64 if any(column.dtype == np.int64 and column.max(initial=0) >= 2**31 for column in columns) else np.int32
    )
    return np.ascontiguousarray(np.array(columns, dtype=dtype).T)


def leaves_of_codes(table: Table, positions: list[int], codes: Ints) -> tuple[Ints, Ints]:
    """Return the spans of leaves that codes show, attribute × row; ``codes`` is row × attribute."""
    low, high = np.empty((2, *codes.T.shape), dtype=np.int32)
    for a, position in enumerate(positions):
        tree, code = table.trees[position], codes[:, a]
        if isinstance(tree, Tree):
            low[a], high[a] = tree.first[code], tree.last[code]
        else:
            low[a], high[a] = np.divmod(code, max(tree.leaves, 1))
    return low, high


def bounds_in_units(scale: Scale) -> tuple[list[int], list[int], int, int]:
    """Return the bounds of every number, downward and upward, the width, and the unit they are whole numbers of."""
    shown = scale.bounds()
    numbers = [n for pair in shown for n in pair] + [scale.width, *scale.spec.within]
    places = max(max(-int(n.as_tuple().exponent), 0) for n in numbers)
    unit = 10**places
    down = [int(Fraction(low) * unit) for low, _ in shown]
    up = [int(Fraction(high) * unit) for _, high in shown]
    if max(map(abs, [*down, *up, int(Fraction(scale.width) * unit)]), default=0) >= MOST_BOUND:
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
            below, above, width, unit = bounds_in_units(tree)
            about[a, [field.KIND, field.WIDTH, field.SPAN_AT]] = field.SPAN, size, at_long
            down, up = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
            down[: len(below)], up[: len(above)] = below, above
            longs += [down, up]
            factor[a] = costs.whole[position] / width
            widest = table.policy.attributes[table.names[position]].widest
            if widest is not None:
                about[a, field.WIDEST] = min(int(Fraction(widest) * unit), MOST_WIDTH)
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


def children_of_trees(table: Table, positions: list[int]) -> ChildTable:
    """Return the children of every node of some trees, for the top-down start."""
    trees: list[Tree] = []
    for position in positions:
        tree = table.trees[position]
        assert isinstance(tree, Tree)
        trees.append(tree)
    lists = [forest.children_of(tree) for tree in trees]
    return ChildTable(
        forest.starts_of([len(tree.parent) for tree in trees])[:-1],
        forest.starts_of(np.concatenate([own.fan for own in lists])),
        forest.end_to_end([own.child for own in lists], np.int32),
        forest.end_to_end([own.rank for own in lists], np.int32),
        forest.end_to_end([tree.parent for tree in trees], np.int32),
    )
