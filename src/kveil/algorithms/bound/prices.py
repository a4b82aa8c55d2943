"""Prices of tuples whose bound is high, found by subgradient steps (Lagrange's relaxation; see `bound`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.bound.bound import cheapest, collect, excess, kept_excess
from kveil.kernels.bound.layout import CoverLattice, KeptNodes
from kveil.stopping import Stop

ROUNDS, STEPS = 8, 80  # sums over the whole lattice, and steps on the nodes kept between two of them
ROOM = 12_000_000  # tuples of kept nodes
KEPT_ABOVE = 12  # nodes are kept that would count if prices rose by a twelfth of their mean

# How long steps are, tuned on Adult. A step aims at a bound a little above the best one that is known, the first round
# at one well above the simple bound; steps grow after a round that gained, and shrink after one that did not.
FIRST_AIM, LATER_AIM = 1.5, 1.06
FIRST_STEP, MOST_STEP = 0.7, 1.0
GROW, SHRINK = 1.3, 0.6
PATIENCE, CALMER = 4, 0.7  # within a round: after so many steps without a gain, steps shrink by this factor
LEAST_AIM = 0.004  # of the round's best bound, by which a step aims above the present one at least


@dataclass
class _Climb:
    """The prices of a lattice's tuples as they rise: sums over all nodes, and steps on those that are kept."""

    lattice: CoverLattice
    k: int
    whole: int  # no price is above this: what a suppressed row costs

    def __post_init__(self) -> None:
        self.used = np.zeros(len(self.lattice.weight), dtype=np.int64)

    def paid(self, price: Longs) -> int:
        """Return what all rows pay together."""
        return int((self.lattice.weight * price).sum())

    def steps(self, nodes: KeptNodes, price: Longs, bound: int, aim: float, theta: float) -> Longs:
        """Return the prices with the highest bound that some steps from given ones reach, over kept nodes alone."""
        weight = self.lattice.weight
        best, best_price = bound, price
        current = price.astype(np.float64)
        stale = 0
        for _ in range(STEPS):
            rounded = np.clip(np.rint(current), 0, self.whole).astype(np.int64)
            value = self.paid(rounded) - kept_excess(nodes, weight, rounded, self.k, self.used)
            if value > best:
                best, best_price, stale = value, rounded, 0
            else:
                stale += 1
                if stale % PATIENCE == 0:
                    theta *= CALMER
            slope = 1.0 - self.used / weight
            norm = float((weight * slope * slope).sum())
            if norm <= 0:
                break
            rise = theta * max(aim - value, best * LEAST_AIM) / norm
            current = np.clip(current + rise * slope, 0, self.whole)
        return best_price


def prices(
    lattice: CoverLattice, k: int, whole: int, stop: Stop, tell: Callable[[int], None], price: Longs | None = None
) -> tuple[Longs, int]:
    """Return prices whose bound is as high as could be reached, and that bound; deterministic unless time runs out.

    They start at ``price``, by default that of the cheapest nodes, whose sum is the simple bound.
    """
    climb = _Climb(lattice, k, whole)
    price = cheapest(lattice, k, whole) if price is None else price
    simple = climb.paid(price)
    best, best_price = simple, price
    step = FIRST_STEP
    for number in range(ROUNDS):
        if stop.late:
            break
        mean = climb.paid(price) // max(int(lattice.weight.sum()), 1)
        total, nodes = collect(lattice, price, max(mean // KEPT_ABOVE, 1), k, climb.used, ROOM)
        bound = climb.paid(price) - total
        if bound > best:
            best, best_price = bound, price
            step = min(step * GROW, MOST_STEP)
        elif number:
            step *= SHRINK
        tell(best)
        aim = max(best * LATER_AIM, simple * FIRST_AIM if number == 0 else 0.0)
        price = climb.steps(nodes, price, bound, aim, step)
    bound = climb.paid(price) - excess(lattice, price, k, climb.used)
    if bound > best:
        best, best_price = bound, price
    return best_price, best
