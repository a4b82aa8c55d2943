"""A proved lower bound on the loss of any release of a policy.

View: choose nodes of the product of hierarchies; each row goes to a chosen node that covers it and pays its cost; each
chosen node gets k rows or more. For any prices a(r) no higher than the loss of a suppressed row,

    Σ a(r) − Σ over nodes g of max(0, max over sets S under g with |S| ≥ k of Σ over S of (a(r) − c(g)))

is a lower bound: Lagrange's relaxation of "each row goes somewhere". Only closed nodes count (the lowest over what they
cover). Prices start at the cheapest node over a row that covers k (the simple bound) and rise by subgradient steps.
Suppressing a row pays its price, so any suppression limit is covered. Several constraints: bounds of constraints over
disjoint attributes add up; a constraint over fewer attributes is implied. Spans of numbers stand in classes of their
widths. See docs/least-loss-research.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, prod
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kveil.algorithms.costs import shares_of
from kveil.arrays import Ints, Longs
from kveil.kernels.bound.bound import Lattice, cheapest, collect, excess, kept_excess
from kveil.kernels.grouping.groups import group_rows
from kveil.policy.attributes import MaxWidth
from kveil.policy.components import implied
from kveil.policy.privacy import PrivacyModel
from kveil.progress import Progress
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree

SCALE = 1 << 30  # a row's whole loss, in the bound's whole numbers; costs are rounded down
MOST_WORK = 1_500_000_000  # level vectors times tuples that one sum over the lattice may look at
ROUNDS, STEPS = 14, 40  # sums over the whole lattice, and steps on the nodes kept between two of them
ROOM = 12_000_000  # tuples of kept nodes
SECONDS = 150.0


@dataclass(frozen=True)
class Bound:
    """A lower bound on the policy's loss: ``at_least`` by the prices found, ``simple`` by cheapest nodes alone."""

    loss: str
    at_least: float
    simple: float
    parts: tuple[dict[str, Any], ...]  # the constraints it is made of


class Fineness(NamedTuple):
    """How finely widths of spans are told apart: classes for every halving, and how many halvings."""

    parts: int
    halvings: int

    @property
    def levels(self) -> int:
        """The levels of an attribute."""
        return 3 + (self.parts * self.halvings - 1) * (self.parts + 1)

    def bounds(self, wide: Fraction) -> list[Fraction]:
        """Return the widths between classes, the widest first, 0 last."""
        number = self.parts * self.halvings
        return [wide * Fraction(round(2 ** (20 - c / self.parts)), 1 << 20) for c in range(number)] + [Fraction(0)]


FINENESS = (Fineness(4, 5), Fineness(3, 5), Fineness(2, 5), Fineness(1, 5), Fineness(1, 3), Fineness(1, 1))
SPAN_WORK = 100_000_000  # of the most work, up to which spans are told apart more finely


def least_size(model: PrivacyModel) -> int:
    """Return how many members every group of a model has at least."""
    found = getattr(model, "k", 1) if model.model in {"k-anonymity", "alpha-k"} else 1
    if model.model == "p-sensitive":
        return int(model.p)
    if model.model == "alpha-k":
        return max(int(found), ceil(1 / Fraction(str(model.alpha))))
    if model.model == "l-diversity" and model.variant in {"distinct", "entropy", "frequency"}:
        return ceil(Fraction(str(model.l)))
    return int(found)


def node_costs(table: Table, position: int) -> Longs:
    """Return what showing each node costs a row at least, in the bound's whole numbers, rounded down."""
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    if table.policy.loss == "precision":
        depth = tree.depth[tree.leaf_nodes]
        below = zip(tree.first.tolist(), tree.last.tolist(), strict=True)
        shallow = np.array([depth[first : last + 1].min(initial=1 << 30) for first, last in below])
        loss = np.clip(1 - tree.depth / np.maximum(shallow, 1), 0, 1)
    else:
        loss = tree.il if table.policy.loss == "il" else tree.ncp
    share = shares_of(table)[position]
    return np.asarray(np.floor(np.asarray(loss) * float(share) * SCALE), dtype=np.int64)


@dataclass
class _Levels:
    """What may cover every tuple in one attribute, level by level, dearest first, and what that costs at least."""

    nodes: list[Ints]
    costs: list[Longs]
    star: int  # what a suppressed cell costs


def _tree_levels(table: Table, position: int, low: Ints, high: Ints) -> _Levels:
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    price = node_costs(table, position)
    base = tree.leaf_nodes[low] if table.low is table.high else tree.lca(low, high)
    limit = tree.depth[tree.limit_of[low]]
    found = _Levels([], [], int(price[0]))
    for depth in range(int(tree.depth[base].max(initial=0)) + 1):
        node = base.copy()
        while (deep := tree.depth[node] > depth).any():
            node[deep] = tree.parent[node[deep]]
        node[(tree.depth[base] < depth) | (limit > depth)] = -1
        found.nodes.append(node)
        found.costs.append(np.where(node >= 0, price[np.maximum(node, 0)], 0))
    return found


def _span_levels(table: Table, position: int, low: Ints, high: Ints, fine: Fineness) -> _Levels:
    """Return windows over numbers, in classes by how far apart the numbers of a group are.

    A group of a class is no wider than t, and wider than the next class's t, which is what it costs at least. With
    ``parts`` p, a class's t is 2^(1/p) times the next one's, and windows of width t + t/p begin at every multiple of
    t/p: one of them holds the group, and a number is in p + 1 of them, each a level. The first level is `*`, the last
    one is for groups of one number, which cost nothing.
    """
    scale = table.trees[position]
    assert isinstance(scale, Scale)
    share = shares_of(table)[position] * SCALE
    boundary = table.policy.attributes[table.names[position]].boundary
    widest = Fraction(boundary.max_width) if isinstance(boundary, MaxWidth) else None
    numbers = [Fraction(number) for number in scale.numbers]
    whole = floor(share)
    star = np.full(len(low), -1 if widest is not None else 0, dtype=np.int32)
    found = _Levels([star], [np.full(len(low), whole)], whole)
    known = high < len(numbers)
    gaps = [after - before for before, after in pairwise(numbers)]
    bounds = fine.bounds(numbers[-1] - numbers[0]) if gaps else []
    for number, (most, above) in enumerate(pairwise(bounds)):
        if widest is not None and above >= widest:
            continue
        cost = np.full(len(low), min(floor(share * max(above, min(gaps)) / Fraction(scale.width)), whole))
        if number == 0:  # the widest class has one window
            found.nodes.append(np.where(known, 0, -1).astype(np.int32))
            found.costs.append(cost)
            continue
        slot = np.array([(n - numbers[0]) * fine.parts // most for n in numbers] + [0], dtype=np.int32)
        from_, to = slot[np.minimum(low, len(numbers))], slot[np.minimum(high, len(numbers))]
        for first in range(fine.parts + 1):
            window = (from_ - first) // (fine.parts + 1)
            inside = known & ((to - first) // (fine.parts + 1) == window)
            found.nodes.append(np.where(inside, window + 1, -1).astype(np.int32))
            found.costs.append(cost)
    found.nodes.append(np.where(low == high, low, -1).astype(np.int32))
    found.costs.append(np.zeros(len(low), dtype=np.int64))
    return found


def lattice_of(table: Table, positions: list[int], fine: Fineness) -> tuple[Lattice, int]:
    """Return the distinct tuples over some attributes with all that may cover them, and what a star costs at least."""
    low, high = table.low[positions], table.high[positions]
    member, first = group_rows(low if table.low is table.high else np.concatenate([low, high]))
    weight = np.bincount(member, minlength=len(first)).astype(np.int64)
    found = [
        _tree_levels(table, position, low[a, first], high[a, first])
        if isinstance(table.trees[position], Tree)
        else _span_levels(table, position, low[a, first], high[a, first], fine)
        for a, position in enumerate(positions)
    ]
    at = np.cumsum([0, *(len(levels.nodes) for levels in found)])
    above = np.array([node for levels in found for node in levels.nodes], dtype=np.int32)
    cost = np.array([own for levels in found for own in levels.costs], dtype=np.int64)
    spans = any(isinstance(table.trees[position], Scale) for position in positions)
    return Lattice(at, above, cost, weight, 2 * fine.parts + 1 if spans else 1), sum(levels.star for levels in found)


def _fit(table: Table, positions: list[int]) -> tuple[list[int], Fineness]:
    """Return the attributes that a sum over the lattice can afford, and how finely spans are told apart.

    Spans as finely as a small part of the work allows, then without attributes that weigh least for their levels.
    """
    kept = list(positions)
    share = shares_of(table)
    while True:
        tuples = len(group_rows(np.concatenate([table.low[kept], table.high[kept]]))[1])
        spans = sum(not isinstance(table.trees[p], Tree) for p in kept)
        deep = {p: len(np.unique(t.depth)) for p in kept if isinstance(t := table.trees[p], Tree)}
        work = tuples * prod(deep.values())
        for fine in FINENESS:
            if work * fine.levels**spans <= (MOST_WORK if fine == FINENESS[-1] else SPAN_WORK):
                return kept, fine
        if len(kept) == 1:
            return kept, FINENESS[-1]
        levels = {p: deep.get(p, FINENESS[-1].levels) for p in kept}
        kept.remove(min(kept, key=lambda p: (share[p] / levels[p], -p)))


def prices(
    lattice: Lattice, k: int, whole: int, seconds: float, tell: Callable[[int, int], None], price: Longs | None = None
) -> tuple[Longs, int]:
    """Return prices whose bound is as high as could be reached, and that bound; deterministic unless time runs out.

    They start at ``price``, by default that of the cheapest nodes.
    """
    started = perf_counter()
    price = cheapest(lattice, k, whole) if price is None else price
    best, best_price = int((lattice.weight * price).sum()), price
    simple = best
    used = np.zeros(len(price), dtype=np.int64)
    target = 1.5
    weight = lattice.weight
    step = 0.7
    for number in range(ROUNDS):
        if perf_counter() - started > seconds:
            break
        mean = int((weight * price).sum()) // max(int(weight.sum()), 1)
        total, nodes = collect(lattice, price, max(mean // 12, 1), k, used, ROOM)
        found = int((weight * price).sum()) - total
        if found > best:
            best, best_price = found, price
            step = min(step * 1.3, 1.0)
        elif number:
            step *= 0.6
        tell(best, simple)
        inside, inside_price = found, price
        current = price.astype(np.float64)
        aim = max(best * 1.06, simple * target if number == 0 else 0.0)
        theta, stale = step, 0
        for _ in range(STEPS):
            whole_price = np.clip(np.rint(current), 0, whole).astype(np.int64)
            total = kept_excess(nodes, weight, whole_price, k, used)
            value = int((weight * whole_price).sum()) - total
            if value > inside:
                inside, inside_price, stale = value, whole_price, 0
            else:
                stale += 1
                if stale % 4 == 0:
                    theta *= 0.7
            slope = 1.0 - used / weight
            norm = float((weight * slope * slope).sum())
            if norm <= 0:
                break
            current = np.clip(current + theta * max(aim - value, inside * 0.004) / norm * slope, 0, whole)
        price = inside_price
    total = excess(lattice, price, k, used)
    found = int((weight * price).sum()) - total
    if found > best:
        best, best_price = found, price
    return best_price, best


def _bound_of(
    table: Table, positions: list[int], k: int, seconds: float, tell: Callable[[int, int], None]
) -> tuple[int, int, list[int]]:
    """Return a bound on the rows' summed cost over some attributes, the simple one, and the attributes used."""
    kept, fine = _fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0, 0, kept
    lattice, whole = lattice_of(table, kept, fine)
    first = cheapest(lattice, k, whole)
    simple = int((lattice.weight * first).sum())
    _, best = prices(lattice, k, whole, seconds, tell, first)
    return max(best, simple), simple, kept


def lower_bound(table: Table, progress: Progress, seconds: float = SECONDS) -> Bound:
    """Return a proved lower bound on the loss of any release of a table's policy.

    Constraint by constraint, the one with the highest bound first; those after it only over attributes that are still
    free, since bounds over disjoint attributes add up. Cost: within about the seconds given for every constraint, by
    O(level vectors · tuples) a sum; memory linear in tuples · levels.
    """
    policy = table.policy
    skip = implied(policy)
    wanted: dict[tuple[int, ...], int] = {}
    for i, model in enumerate(policy.privacy):
        if i not in skip:
            over = tuple(table.positions(policy.attributes_of(model)))
            wanted[over] = max(wanted.get(over, 1), least_size(model))
    free = set(range(len(table.names)))
    parts: list[dict[str, Any]] = []
    total = simple_total = 0
    rows = max(table.records, 1)
    share = max(seconds / max(len(wanted), 1), 1.0)

    def tell(best: int, simple: int) -> None:
        progress(f"bounding: at least {(total + best) / rows / SCALE:.3%}")

    open_to = dict(wanted)
    while open_to and free:
        quick = dict.fromkeys(open_to, 1)
        if len(open_to) > 1:
            quick = {over: _simple(table, [p for p in over if p in free], k) for over, k in open_to.items()}
        over = max(quick, key=lambda o: (quick[o], [-p for p in o]))
        k = open_to.pop(over)
        if quick[over] == 0:
            break
        best, simple, used = _bound_of(table, [p for p in over if p in free], k, share, tell)
        free -= set(over)
        total += best
        simple_total += simple
        parts.append({"attributes": [table.names[p] for p in used], "k": k, "at_least": _as_loss(table, best)})
    return Bound(policy.loss, _as_loss(table, total), _as_loss(table, simple_total), tuple(parts))


def _simple(table: Table, positions: list[int], k: int) -> int:
    kept, fine = _fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0
    lattice, whole = lattice_of(table, kept, fine)
    return int((lattice.weight * cheapest(lattice, k, whole)).sum())


def _as_loss(table: Table, total: int) -> float:
    """Return a summed cost as the policy's loss: a share, for IL the total."""
    mean = total / SCALE / max(table.records, 1)
    return mean * table.records * len(table.names) if table.policy.loss == "il" else mean
