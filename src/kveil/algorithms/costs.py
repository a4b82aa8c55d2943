"""What cells lose, by the policy's measure, and losses as whole numbers, so that ties are exact and sums need no order.

A measure is asked what a cell loses that shows a node of a tree. NCP and IL say so for every node. Precision depends on
the record's own leaf as well (the steps it has climbed, of its way to the root), so a node has to be read in one of
three ways: by the deepest leaf below it, the most that a record there can lose, which never falls on the way up; by the
mean over the records below it; by the shallowest leaf, the least that a record there can lose, which a lower bound
needs. Where all leaves are equally deep the three are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.clustering.layout import CostAttributes, CostLeaves, CostNodes, Costs
from kveil.policy.attributes import Intervals
from kveil.policy.interval_scale import IntervalScale
from kveil.stopping import check_deadline
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree

BITS = 62  # of a total over all rows
CELL_BITS = 50  # of one cell: floats are exact below
LARGEST_DENOMINATOR = 10**7  # of the fractions that losses, given as floats, are taken for


class Reading(Enum):
    """By which of the leaves below a node its precision is read."""

    DEEPEST = "deepest"
    MEAN = "mean"
    SHALLOWEST = "shallowest"


class Rounding(Enum):
    """Where a loss goes that is no multiple of the unit."""

    NEAREST = "nearest"
    DOWN = "down"


# ------------------------------------------------------------------------------------------------ losses of cells


def node_losses(table: Table, position: int, reading: Reading) -> Floats:
    """Return what a cell loses that shows each node of an attribute's tree, by the policy's measure."""
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    if table.policy.loss == "ncp":
        return tree.ncp
    if table.policy.loss == "il":
        return tree.il
    if reading is Reading.MEAN:
        return _mean_precision(tree, table.tally(table.leaves[position], tree.leaves))
    way = _deepest_leaf(tree) if reading is Reading.DEEPEST else _shallowest_leaf(tree)
    return np.where(way > 0, (way - tree.depth) / np.maximum(way, 1), 0.0)


def _deepest_leaf(tree: Tree) -> Ints:
    """Return the depth of the deepest leaf below each node."""
    deepest = tree.depth.copy()
    for node in range(len(deepest) - 1, 0, -1):
        above = tree.parent[node]
        deepest[above] = max(deepest[above], deepest[node])
    return deepest


def _shallowest_leaf(tree: Tree) -> Ints:
    """Return the depth of the shallowest leaf below each node."""
    shallowest = np.full(len(tree.depth), int(tree.depth.max(initial=0)), dtype=np.int32)
    shallowest[tree.leaf_nodes] = tree.depth[tree.leaf_nodes]
    for node in range(len(shallowest) - 1, 0, -1):
        above = tree.parent[node]
        shallowest[above] = min(shallowest[above], shallowest[node])
    return shallowest


def _mean_precision(tree: Tree, records: Longs) -> Floats:
    """Return what the records below each node lose on average; ``records`` is their number per leaf."""
    depth = tree.depth[tree.leaf_nodes].astype(np.float64)
    before = np.concatenate([[0], np.cumsum(records)])
    inverse = np.concatenate([[0.0], np.cumsum(records / np.maximum(depth, 1))])
    below = before[tree.last + 1] - before[tree.first]
    mean = (inverse[tree.last + 1] - inverse[tree.first]) / np.maximum(below, 1)
    return np.asarray(np.where(below > 0, np.clip(1 - tree.depth * mean, 0, 1), 0.0))


def weights_of(table: Table) -> list[Fraction]:
    """Return every quasi-identifier's weight; IL is a total that knows no weights."""
    if table.policy.loss == "il":
        return [Fraction(1)] * len(table.names)
    return [Fraction(table.policy.attributes[name].weight) for name in table.names]


def shares_of(table: Table) -> list[Fraction]:
    """Return every quasi-identifier's part of a row's whole loss: its weight over all weights."""
    weights = weights_of(table)
    return [weight / sum(weights) for weight in weights]


def weighted_losses(table: Table, position: int) -> Floats:
    """Return what showing each node of an attribute loses, times its weight, for choices that are made node by node.

    Precision is read by the deepest leaf: the loss of a node is then never above that of a node over it.
    """
    return node_losses(table, position, Reading.DEEPEST) * float(weights_of(table)[position])


# ------------------------------------------------------------------------------------------------ whole numbers


class NodeCosts(NamedTuple):
    """Losses of nodes as whole numbers: a row's whole loss is ``scale``."""

    scale: int
    nodes: dict[int, Longs]  # by the position of an attribute that has a tree
    whole: dict[int, int]  # what a cell that shows nothing costs, by position


def in_units(losses: Floats, unit: float, rounding: Rounding) -> Longs:
    """Return losses as whole numbers, where a loss of 1 is ``unit``."""
    scaled = np.asarray(losses) * unit
    return np.asarray((np.rint(scaled) if rounding is Rounding.NEAREST else np.floor(scaled)), dtype=np.int64)


def in_common_units(
    losses: Sequence[Floats], weights: Sequence[Fraction], *, most: int, otherwise: int
) -> tuple[list[Longs], int, bool]:
    """Return losses times weights as multiples of one over a scale, that scale, and whether that is exact.

    The scale is the common denominator of all of them where that is at most ``most``; else it is ``otherwise``, and
    what is no multiple is rounded to the nearest one. With 0 as ``most`` nothing is exact.
    """
    if not most:
        return _rounded_to(losses, weights, otherwise), otherwise, False
    unique = [np.unique(own, return_inverse=True) for own in losses]
    fractions = [
        [Fraction(value).limit_denominator(LARGEST_DENOMINATOR) * weight for value in values.tolist()]
        for (values, _), weight in zip(unique, weights, strict=True)
    ]
    scale = 1
    for fraction in (fraction for own in fractions for fraction in own):
        scale = lcm(scale, fraction.denominator)
        if scale > most:
            return _rounded_to(losses, weights, otherwise), otherwise, False
    exact = [
        np.array([int(fraction * scale) for fraction in own], dtype=np.int64)[place.reshape(-1)]
        for own, (_, place) in zip(fractions, unique, strict=True)
    ]
    return exact, scale, True


def _rounded_to(losses: Sequence[Floats], weights: Sequence[Fraction], scale: int) -> list[Longs]:
    """Return losses times weights as the nearest multiples of one over a scale."""
    each = zip(losses, weights, strict=True)
    return [in_units(own, float(weight) * scale, Rounding.NEAREST) for own, weight in each]


@dataclass(frozen=True)
class WholeCosts:
    """Costs of cells as multiples of 1 / ``scale``; ``exact`` where nothing had to be rounded to that."""

    costs: Costs
    scale: int
    exact: bool


def whole_costs(table: Table, positions: list[int]) -> WholeCosts:
    """Return what cells of some attributes cost by the policy's loss, times their weights; spans of numbers included.

    The scale is the common multiple of all denominators where a total over all rows then fits 62 bits; else a power
    of two, and costs are rounded to the nearest multiple.
    """
    weights = [weights_of(table)[position] for position in positions]
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


def _denominator(table: Table, position: int) -> int:
    """Return a number that every cost of an attribute is a multiple of one over."""
    tree = table.trees[position]
    if isinstance(tree, Scale):
        numbers = [*tree.numbers, *tree.spec.within, *([] if (step := tree.spec.grid) is None else [step])]
        return int(Fraction(tree.width) * 10 ** max(_places(number) for number in numbers))
    if table.policy.loss == "il":
        return max(int(tree.height[0]), 1)
    if table.policy.loss == "precision":
        return lcm(*(int(depth) for depth in np.unique(_deepest_leaf(tree)) if depth > 0))
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(spec, Intervals):
        numbers = [spec.from_, spec.to, *spec.widths]
        unit = 10 ** max(_places(number) for number in numbers)
        if spec.open_above:
            return int(Fraction(IntervalScale(spec, real=True).extent) * unit)
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
            cost = in_units(node_losses(table, position, Reading.DEEPEST), float(unit), Rounding.NEAREST)
            nodes.append((tree.parent + node_base, tree.first, tree.last, cost))
            leaves.append((tree.leaf_nodes + node_base, nothing, nothing))
            node_base += len(tree.labels)
        else:
            leaves.append((nothing, *_bounds_in_units(tree, unit)))
        leaf_base += tree.leaves
    return Costs(
        CostNodes(*_laid_end_to_end(nodes, 4)),
        CostLeaves(*_laid_end_to_end(leaves, 3)),
        CostAttributes(*(np.array(column, dtype=np.int64) for column in zip(*attributes, strict=True))),
    )


def _laid_end_to_end(parts: Sequence[Sequence[Ints | Longs]], columns: int) -> list[Longs]:
    """Return columns of which every part has a piece, each as one array."""
    pieces = zip(*parts, strict=True) if parts else [[] for _ in range(columns)]
    return [np.concatenate([np.zeros(0, dtype=np.int64), *column]).astype(np.int64) for column in pieces]


def _rounded(number: Fraction) -> int:
    return int((2 * number + 1) // 2)


def _bounds_in_units(scale: Scale, unit: Fraction) -> tuple[Longs, Longs]:
    """Return the bounds of every number in the units of costs, to the nearest one."""
    check_deadline()
    origin, per_number = Fraction(scale.spec.within[0]), unit / Fraction(scale.width)

    def in_units_of(number: Decimal) -> int:
        # `_rounded` of a product of fractions, in whole numbers: a column may have a number for every record.
        own, parts = number.as_integer_ratio()
        above = (own * origin.denominator - origin.numerator * parts) * per_number.numerator
        whole = parts * origin.denominator * per_number.denominator
        return (2 * above + whole) // (2 * whole)

    bottom, top = np.zeros(scale.leaves, dtype=np.int64), np.zeros(scale.leaves, dtype=np.int64)
    for leaf, (low, high) in enumerate(scale.bounds()):
        bottom[leaf] = in_units_of(low)
        top[leaf] = bottom[leaf] if high is low else in_units_of(high)
    return bottom, top
