"""Losses as whole numbers, so that ties are exact and sums need no order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.clustering.greedy import Costs
from kveil.policy.attributes import Intervals
from kveil.table.scale import Scale, round_outward
from kveil.table.table import Table
from kveil.table.tree import Tree

BITS = 62  # of a total over all rows
CELL_BITS = 50  # of one cell: floats are exact below


@dataclass(frozen=True)
class WholeCosts:
    """Costs of cells as multiples of 1 / ``scale``; ``exact`` where nothing had to be rounded to that."""

    costs: Costs
    scale: int
    exact: bool


def whole_costs(table: Table, positions: list[int]) -> WholeCosts:
    """Return what cells of some attributes cost by the policy's loss, times their weights.

    The scale is the common multiple of all denominators where a total over all rows then fits 62 bits; else a power
    of two, and costs are rounded to it. IL as a total knows no weights.
    """
    policy = table.policy
    weights = [
        Fraction(1) if policy.loss == "il" else Fraction(policy.attributes[table.names[p]].weight) for p in positions
    ]
    room = (1 << BITS) // ((table.records + 1) * max(sum(-(-w.numerator // w.denominator) for w in weights), 1))
    room = min(room, (1 << CELL_BITS) // max(-(-w.numerator // w.denominator) for w in weights))
    scale = 1
    for position, weight in zip(positions, weights, strict=True):
        scale = lcm(scale, weight.denominator * _denominator(table, position))
        if scale > room:
            break
    exact = scale <= room
    if not exact:
        scale = 1 << (max(room, 1).bit_length() - 1)
    return WholeCosts(_laid(table, positions, [weight * scale for weight in weights]), scale, exact)


def node_costs(tree: Tree, loss: str) -> Floats:
    """Return what a cell costs that shows a node.

    For precision it is what the deepest leaf below has climbed, of its way to the root: exactly what every record
    loses where all leaves are equally deep, and otherwise the most that one of them does.
    """
    if loss == "ncp":
        return tree.ncp
    if loss == "il":
        return tree.il
    deepest = _deepest(tree)
    return np.where(deepest > 0, (deepest - tree.depth) / np.maximum(deepest, 1), 0.0)


def _deepest(tree: Tree) -> Ints:
    deepest = tree.depth.copy()
    for node in range(len(deepest) - 1, 0, -1):
        above = tree.parent[node]
        deepest[above] = max(deepest[above], deepest[node])
    return deepest


def _denominator(table: Table, position: int) -> int:
    """Return a number that every cost of an attribute is a multiple of one over."""
    tree = table.trees[position]
    if isinstance(tree, Scale):
        numbers = [*tree.numbers, *tree.spec.within, *([] if tree.spec.round is None else [tree.spec.round])]
        return int(Fraction(tree.width) * 10 ** max(_places(number) for number in numbers))
    if table.policy.loss == "il":
        return max(int(tree.height[0]), 1)
    if table.policy.loss == "precision":
        return lcm(*(int(depth) for depth in np.unique(_deepest(tree)) if depth > 0))
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(spec, Intervals):
        numbers = [spec.from_, spec.to, *spec.widths]
        unit = 10 ** max(_places(number) for number in numbers)
        extent = int(Fraction(spec.to - spec.from_) * unit)
        return lcm(extent, extent + unit)  # half-open and inclusive intervals
    return tree.leaves


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _laid(table: Table, positions: list[int], units: list[Fraction]) -> Costs:
    """Lay trees and scales end to end; ``units`` is what a whole cell of each attribute costs."""
    nodes, leaves, attributes = [], [], []
    node_base = leaf_base = 0
    for position, unit in zip(positions, units, strict=True):
        tree = table.trees[position]
        missing = -1 if tree.missing is None else tree.missing
        attributes.append((isinstance(tree, Tree), leaf_base, _rounded(unit), missing))
        nothing = np.zeros(tree.leaves, dtype=np.int64)
        if isinstance(tree, Tree):
            cost = np.rint(node_costs(tree, table.policy.loss) * float(unit)).astype(np.int64)
            nodes.append(np.column_stack([tree.parent + node_base, tree.first, tree.last, cost]))
            leaves.append(np.column_stack([tree.leaf_nodes + node_base, nothing, nothing]))
            node_base += len(tree.labels)
        else:
            leaves.append(np.column_stack([nothing, *_bounds(tree, unit)]))
        leaf_base += tree.leaves
    return Costs(
        np.concatenate(nodes).astype(np.int64) if nodes else np.zeros((0, 4), dtype=np.int64),
        np.concatenate(leaves).astype(np.int64),
        np.array(attributes, dtype=np.int64),
    )


def _rounded(number: Fraction) -> int:
    return int((2 * number + 1) // 2)


def _bounds(scale: Scale, unit: Fraction) -> tuple[Longs, Longs]:
    """Return where every number's span would begin and end, rounded outward, in the units of costs."""
    origin, width = Fraction(scale.spec.within[0]), Fraction(scale.width)
    bottom, top = np.zeros(scale.leaves, dtype=np.int64), np.zeros(scale.leaves, dtype=np.int64)
    for leaf, number in enumerate(scale.numbers):
        low, high = round_outward(number, number, scale.spec)
        bottom[leaf] = _rounded((Fraction(low) - origin) / width * unit)
        top[leaf] = _rounded((Fraction(high) - origin) / width * unit)
    return bottom, top
