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
from typing import Any

from kveil.algorithms.bound.levels import SCALE, fit, lattice_of
from kveil.algorithms.bound.prices import prices
from kveil.kernels.bound.bound import cheapest
from kveil.models.of_policy import group_model, least_members
from kveil.policy.components import implied
from kveil.progress import Progress
from kveil.stopping import Stop, current
from kveil.table.table import Table

SECONDS = 45.0


@dataclass(frozen=True)
class Bound:
    """A lower bound on the policy's loss: ``at_least`` by the prices found, ``simple`` by cheapest nodes alone."""

    loss: str
    at_least: float
    simple: float
    parts: tuple[dict[str, Any], ...]  # the constraints it is made of


def _bound_of(
    table: Table, positions: list[int], k: int, stop: Stop, tell: Callable[[int], None]
) -> tuple[int, int, list[int]]:
    """Return a bound on the rows' summed cost over some attributes, the simple one, and the attributes used."""
    kept, fine = fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0, 0, kept
    lattice, whole = lattice_of(table, kept, fine)
    first = cheapest(lattice, k, whole)
    simple = int((lattice.weight * first).sum())
    _, best = prices(lattice, k, whole, stop, tell, first)
    return max(best, simple), simple, kept


def lower_bound(table: Table, progress: Progress, seconds: float = SECONDS) -> Bound:
    """Return a proved lower bound on the loss of any release of a table's policy.

    Constraint by constraint, the one with the highest bound first; those after it only over attributes that are still
    free, since bounds over disjoint attributes add up. Cost: within about the seconds given for every constraint, by
    O(level vectors · tuples) per sum; memory linear in tuples · levels.
    """
    policy = table.policy
    skip = implied(policy)
    wanted: dict[tuple[int, ...], int] = {}
    for i, model in enumerate(policy.privacy):
        if i not in skip:
            over = tuple(table.positions(policy.attributes_of(model)))
            wanted[over] = max(wanted.get(over, 1), least_members(group_model(model, table), table))
    free = set(range(len(table.names)))
    parts: list[dict[str, Any]] = []
    total = simple_total = 0
    rows = max(table.records, 1)
    share = max(seconds / max(len(wanted), 1), 1.0)

    def tell(best: int) -> None:
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
        best, simple, used = _bound_of(table, [p for p in over if p in free], k, Stop(share, within=current()), tell)
        free -= set(over)
        total += best
        simple_total += simple
        parts.append({"attributes": [table.names[p] for p in used], "k": k, "at_least": _as_loss(table, best)})
    return Bound(policy.loss, _as_loss(table, total), _as_loss(table, simple_total), tuple(parts))


def _simple(table: Table, positions: list[int], k: int) -> int:
    kept, fine = fit(table, positions)
    if not kept or k < 2 or not table.records:
        return 0
    lattice, whole = lattice_of(table, kept, fine)
    return int((lattice.weight * cheapest(lattice, k, whole)).sum())


def _as_loss(table: Table, total: int) -> float:
    """Return a summed cost as the policy's loss: a share, for IL the total."""
    mean = total / SCALE / max(table.records, 1)
    return mean * table.records * len(table.names) if table.policy.loss == "il" else mean
