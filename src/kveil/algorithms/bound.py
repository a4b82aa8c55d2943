"""A proved lower bound on the loss of any release of a policy.

View: choose nodes of the product of hierarchies; each row goes to a chosen node that covers it and pays its cost; each
chosen node gets k rows or more. For any prices a(r) no higher than the loss of a suppressed row,

    Σ a(r) − Σ over nodes g of max(0, max over sets S under g with |S| ≥ k of Σ over S of (a(r) − c(g)))

is a lower bound: Lagrange's relaxation of "each row goes somewhere". Only closed nodes count (the lowest over what they
cover). Prices start at the cheapest node over a row that covers k (the simple bound) and rise by subgradient steps.
Suppressing a row pays its price, so any suppression limit is covered. Several constraints: bounds of constraints over
disjoint attributes add up; a constraint over fewer attributes is implied. See docs/least-loss-research.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from kveil.algorithms.codes import weights_of
from kveil.kernels.bound import Lattice, Longs, cheapest, collect, excess, kept_excess
from kveil.kernels.groups import group_rows
from kveil.policy.constraints import implied
from kveil.policy.privacy import PrivacyModel
from kveil.table.encode import Table
from kveil.table.tree import Ints, Tree

Progress = Callable[[str], None]

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
    share = weights_of(table)[position]
    return np.asarray(np.floor(np.asarray(loss) * float(share) * SCALE), dtype=np.int64)


def lattice_of(table: Table, positions: list[int]) -> tuple[Lattice, int]:
    """Return the distinct tuples over some attributes with all that may cover them, and what a star costs at least."""
    low, high = table.low[positions], table.high[positions]
    same = table.low is table.high
    member, first = group_rows(low if same else np.concatenate([low, high]))
    weight = np.bincount(member, minlength=len(first)).astype(np.int64)
    above: list[Ints] = []
    cost: list[Longs] = []
    at = [0]
    whole = 0
    for a, position in enumerate(positions):
        tree = table.trees[position]
        assert isinstance(tree, Tree)
        price = node_costs(table, position)
        whole += int(price[0])
        leaves = low[a, first]
        base = tree.leaf_nodes[leaves] if same else tree.lca(leaves, high[a, first])
        limit = tree.depth[tree.limit_of[leaves]]
        for depth in range(int(tree.depth[base].max(initial=0)) + 1):
            node = base.copy()
            while (deep := tree.depth[node] > depth).any():
                node[deep] = tree.parent[node[deep]]
            node[(tree.depth[base] < depth) | (limit > depth)] = -1
            above.append(node)
            cost.append(np.where(node >= 0, price[np.maximum(node, 0)], 0))
        at.append(len(above))
    return Lattice(np.array(at), np.array(above, dtype=np.int32), np.array(cost, dtype=np.int64), weight), whole


def _fit(table: Table, positions: list[int]) -> list[int]:
    """Return the attributes that a sum over the lattice can afford: `ranges` are left out, then the deepest trees."""
    kept = [p for p in positions if isinstance(table.trees[p], Tree)]
    while len(kept) > 1:
        tuples = len(group_rows(table.low[kept])[1])
        depths = [len(np.unique(table.trees[p].depth)) for p in kept]  # type: ignore[union-attr]
        if tuples * float(np.prod(depths)) <= MOST_WORK:
            break
        share = weights_of(table)
        kept.remove(min(kept, key=lambda p: (share[p] / depths[kept.index(p)], -p)))
    return kept


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
    kept = _fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0, 0, kept
    lattice, whole = lattice_of(table, kept)
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
    kept = _fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0
    lattice, whole = lattice_of(table, kept)
    return int((lattice.weight * cheapest(lattice, k, whole)).sum())


def _as_loss(table: Table, total: int) -> float:
    """Return a summed cost as the policy's loss: a share, for IL the total."""
    mean = total / SCALE / max(table.records, 1)
    return mean * table.records * len(table.names) if table.policy.loss == "il" else mean
