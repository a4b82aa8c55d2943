"""A proved lower bound on the loss of any release of a policy.

View: choose nodes of the product of hierarchies; each row goes to a chosen node that covers it and pays its cost; each
chosen node gets k rows or more. For any prices a(r) no higher than the loss of a suppressed row,

    Σ a(r) − Σ over nodes g of max(0, max over sets S under g with |S| ≥ k of Σ over S of (a(r) − c(g)))

is a lower bound: Lagrange's relaxation of "each row goes somewhere". Only closed nodes count (the lowest over what they
cover). Prices start at the cheapest node over a row that covers k (the simple bound) and rise by subgradient steps.
Suppressing a row pays its price, so any suppression limit is covered. Several constraints: bounds of constraints over
disjoint attributes add up, and so do bounds at shares of the attributes' costs (`cost_shares`); a constraint over fewer
attributes is implied. Overlapping constraints of a small table are priced all together, by an integer program. Spans of
numbers stand in classes of their widths. See docs/least-loss-research.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TypedDict

from kveil.algorithms.bound.cost_shares import SharedConstraint, even_shares, share_out, sum_of_simple
from kveil.algorithms.bound.covers import SCALE, WHOLE_SHARE, affordable_levels, lattice_of, node_costs
from kveil.algorithms.bound.prices import prices
from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.small_tables import least_cost
from kveil.kernels.bound.bound import cheapest
from kveil.models.of_policy import least_members
from kveil.progress import Progress
from kveil.stopping import Stop, current
from kveil.table.table import Table

SECONDS = 45.0


class ComponentLoss(TypedDict):
    """What the attributes of a component lose at least, as a part of the whole loss."""

    attributes: list[str]
    at_least: float


class BoundPart(ComponentLoss):
    """What one constraint on sizes, or all of a component together, add to the bound, over which attributes."""

    k: int


@dataclass(frozen=True)
class Bound:
    """A lower bound on the policy's loss: ``at_least`` by the prices found, ``simple`` by cheapest nodes alone."""

    loss: str
    at_least: float
    simple: float
    parts: tuple[BoundPart, ...]  # the constraints it is made of
    components: tuple[ComponentLoss, ...]  # what each component adds to it


def _bound_of(
    table: Table, positions: list[int], k: int, stop: Stop, tell: Callable[[int], None]
) -> tuple[int, int, list[int]]:
    """Return a bound on the rows' summed cost over some attributes, the simple one, and the attributes used."""
    kept, fine = affordable_levels(table, positions)
    if not kept or k < 2 or not table.records:
        return 0, 0, kept
    lattice, whole = lattice_of(table, kept, fine)
    first = cheapest(lattice, k, whole)
    simple = int((lattice.weight * first).sum())
    _, best = prices(lattice, k, whole, stop, tell, price=first)
    return max(best, simple), simple, kept


def lower_bound(table: Table, progress: Progress, *, seconds: float = SECONDS) -> Bound:
    """Return a proved lower bound on the loss of any release of a table's policy.

    Components have no attribute in common, so that their bounds add up. Cost: within about the seconds given for every
    constraint, by O(level vectors · tuples) per sum; memory linear in tuples · levels.
    """
    parts: list[BoundPart] = []
    losses: list[ComponentLoss] = []
    total = simple = 0
    rows = max(table.records, 1)
    components = components_of(table)
    share = max(seconds / max(sum(len(component.constraints) for component in components), 1), 1.0)

    def tell(best: int) -> None:
        progress(f"bounding: at least {best / rows / SCALE:.3%}")

    for component in components:
        own = _bound_of_component(component, share, partial(_told, tell, total))
        parts += own.parts
        losses.append({"attributes": list(component.names), "at_least": _as_loss(table, own.total)})
        total += own.total
        simple += own.simple
    return Bound(table.policy.loss, _as_loss(table, total), _as_loss(table, simple), tuple(parts), tuple(losses))


@dataclass(frozen=True)
class _ComponentBound:
    """What the rows of a component cost at least, by the prices found and by cheapest nodes alone."""

    total: int
    simple: int
    parts: list[BoundPart]
    owners: dict[int, tuple[int, ...]]  # by position: over what the constraint is that was charged for an attribute


def _bound_of_component(component: SearchComponent, share: float, tell: Callable[[int], None]) -> _ComponentBound:
    """Return the best of three bounds: by disjoint attributes, by shares, and of a small table as a program."""
    table = component.table
    best = _one_by_one(component, share, tell)
    if component.over_everything:
        return best
    if component.trees_only:
        costs = [node_costs(table, position) for position in component.positions]
        together = least_cost(component, costs, current().left)
        if together > best.total:
            least: BoundPart = {
                "attributes": list(component.names),
                "k": component.largest_k,
                "at_least": _as_loss(table, together),
            }
            return replace(best, total=together, parts=[least])
    shared = _shared_out(component, best, share, tell)
    return shared if shared is not None and shared.total > best.total else best


def _sizes_asked(component: SearchComponent) -> dict[tuple[int, ...], int]:
    """Return the least size of a group over every set of attributes that a constraint is over."""
    found: dict[tuple[int, ...], int] = {}
    for constraint in component.constraints:
        over = tuple(constraint.positions)
        found[over] = max(found.get(over, 1), least_members(constraint.model, component.table))
    return found


def _shared_out(
    component: SearchComponent, apart: _ComponentBound, share: float, tell: Callable[[int], None]
) -> _ComponentBound | None:
    """Add up bounds of all constraints at shares of the costs; None where the simple ones gain nothing by it."""
    table = component.table
    constraints = [SharedConstraint(table, over, k) for over, k in _sizes_asked(component).items()]
    owned = [{p: WHOLE_SHARE for p, owner in apart.owners.items() if owner == own.over} for own in constraints]
    tried = []
    for beginning in (owned, even_shares(constraints)):
        for own, shares in zip(constraints, beginning, strict=True):
            own.shares = shares
        share_out(constraints, Stop(seconds=share, within=current()))
        tried.append((sum_of_simple(constraints), [own.shares for own in constraints]))
    simple, chosen = max(tried, key=itemgetter(0))
    if simple <= apart.simple:
        return None
    total = 0
    parts: list[BoundPart] = []
    for own, shares in zip(constraints, chosen, strict=True):
        laid = own.lattice(shares)
        if laid is None:
            continue
        _, best = prices(laid[0], own.k, laid[1], Stop(seconds=share, within=current()), partial(_told, tell, total))
        best = max(best, own.simple(shares))
        total += best
        names = [table.names[p] for p in own.over if shares.get(p)]
        parts.append({"attributes": names, "k": own.k, "at_least": _as_loss(table, best)})
    return _ComponentBound(total, simple, parts, apart.owners)


def _one_by_one(component: SearchComponent, share: float, tell: Callable[[int], None]) -> _ComponentBound:
    """Add up bounds of constraints over disjoint attributes: the one with the highest bound first.

    Those after it only over attributes that are still free.
    """
    table = component.table
    open_to = _sizes_asked(component)
    owners: dict[int, tuple[int, ...]] = {}
    free = set(component.positions)
    parts: list[BoundPart] = []
    total = simple_total = 0
    while open_to and free:
        quick = dict.fromkeys(open_to, 1)
        if len(open_to) > 1:
            quick = {over: _simple(table, [p for p in over if p in free], k) for over, k in open_to.items()}
        over = max(quick, key=lambda o: (quick[o], [-p for p in o]))
        k = open_to.pop(over)
        if quick[over] == 0:
            break
        here = partial(_told, tell, total)
        best, simple, used = _bound_of(
            table, [p for p in over if p in free], k, Stop(seconds=share, within=current()), here
        )
        owners.update((p, over) for p in over if p in free)
        free -= set(over)
        total += best
        simple_total += simple
        parts.append({"attributes": [table.names[p] for p in used], "k": k, "at_least": _as_loss(table, best)})
    return _ComponentBound(total, simple_total, parts, owners)


def _told(tell: Callable[[int], None], before: int, best: int) -> None:
    tell(before + best)


def _simple(table: Table, positions: list[int], k: int) -> int:
    kept, fine = affordable_levels(table, positions)
    if not kept or k < 2 or not table.records:
        return 0
    lattice, whole = lattice_of(table, kept, fine)
    return int((lattice.weight * cheapest(lattice, k, whole)).sum())


def _as_loss(table: Table, total: int) -> float:
    """Return a summed cost as the policy's loss: a share, for IL the total."""
    mean = total / SCALE / max(table.records, 1)
    return mean * table.records * len(table.names) if table.policy.loss == "il" else mean
