"""Prices of tuples, and tolls of cuts, whose bound is high; found by subgradient steps (Lagrange's relaxation).

A cut is a set of tuples with n rows: at most n // k groups can lie inside of it. So every node inside of it may be
charged a toll for being used, if as many tolls as groups fit are taken off the bound. See `bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.bound import cheapest, collect, insides_of, kept_excess, new_tolls, no_cuts, trim
from kveil.kernels.bound.layout import CoverLattice, Cuts, Insides, KeptNodes, Tolls
from kveil.stopping import Stop

ROOM = 12_000_000  # tuples of kept nodes
CUT_ROWS = 4  # sets below so many times k rows are cuts
CUT_ROOM = 4_000_000  # pairs of a node and a cut around it


class Box(NamedTuple):
    """How far prices may go from those at which nodes are collected, and how many steps they take there."""

    share: float  # of a price
    mean: float  # of the mean price, on top
    steps: int


# Tuned on Adult. All nodes that can pay inside of a box are known, so that what is reckoned there is true.
BOXES = (Box(0.8, 0.4, 80), Box(0.3, 0.2, 150), Box(0.2, 0.1, 300), Box(0.15, 0.08, 400))

PROOF = Box(0.0, 0.0, 0)  # only collects: for prices that were found over some of the nodes

# How long steps are. A step aims at a bound a little above the best one that is known, in the first box at one well
# above the simple bound; a part of the last direction is kept.
FIRST_AIM, LATER_AIM = 1.5, 1.06
KEPT_DIRECTION = 0.85
FIRST_STEP, MOST_STEP = 0.7, 1.0
GROW, SHRINK = 1.3, 0.6
PATIENCE, CALMER = 10, 0.7  # after so many steps without a gain, steps shrink by this factor
LEAST_AIM = 0.004  # of the box's best bound, by which a step aims above the present one at least


@dataclass
class Tolled:
    """Prices of tuples and tolls of cuts: the bound that they prove is reckoned from them alone."""

    price: Longs
    cuts: Cuts
    toll: Longs

    def paid(self, weight: Longs) -> int:
        """Return what all rows pay, without the tolls of as many groups as fit."""
        return int((weight * self.price).sum()) - int((self.toll * self.cuts.most).sum())


def _chosen(start: Longs, member: Ints, sets: Longs) -> tuple[Longs, Ints]:
    """Return some of the sets that lie end to end."""
    sizes = start[sets + 1] - start[sets]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return begins, member[np.arange(begins[-1]) - np.repeat(begins[:-1] - start[sets], sizes)]


class _InBox(NamedTuple):
    """All nodes that can pay while prices stay in a box, the cuts around them, and the bound where it was laid."""

    low: Longs
    high: Longs
    nodes: KeptNodes
    insides: Insides
    bound: int


class _Pace(NamedTuple):
    """How steps go: to which aim, how long, and how many."""

    aim: float
    theta: float
    steps: int


@dataclass
class _Climb:
    """Prices as they rise: sums over all nodes, and steps on those that are kept."""

    lattice: CoverLattice
    k: int
    whole: int  # no price is above this: what a suppressed row costs
    stop: Stop

    def __post_init__(self) -> None:
        self.used = np.zeros(len(self.lattice.weight), dtype=np.int64)
        self.rows = max(int(self.lattice.weight.sum()), 1)

    def collect(self, at: Tolled, box: Box) -> tuple[Tolled, _InBox]:
        """Return the nodes that can pay in a box around given prices, and what is given with new cuts among them."""
        weight, k = self.lattice.weight, self.k
        paid = int((weight * at.price).sum())
        far = (box.share * at.price + box.mean * paid / self.rows).astype(np.int64)
        low, high = np.maximum(at.price - far, 0), np.minimum(at.price + far, self.whole)
        total, nodes = collect(self.lattice, at.price, high, k, self.used, ROOM)
        rows = trim(nodes, weight, low, high, k, CUT_ROWS * k)
        at, insides = self._with_cuts(at, nodes, rows)
        free = Insides(np.zeros(nodes.number + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        kept = kept_excess(nodes, weight, at.price, k, self.used, new_tolls(nodes, free, at.toll[:0]))
        bound = self.reckon(at, nodes, new_tolls(nodes, insides, at.toll))
        return at, _InBox(low, high, nodes, insides, bound - (total - kept))  # what had no room pays no tolls

    def _with_cuts(self, at: Tolled, nodes: KeptNodes, rows: Longs) -> tuple[Tolled, Insides]:
        """Return the cuts that have a toll already and all small nodes as new ones, and the cuts around each node."""
        tuples = len(self.lattice.weight)
        small = rows < CUT_ROWS * self.k
        had = np.flatnonzero(at.toll > 0)
        cuts = Cuts(*_chosen(at.cuts.start, at.cuts.member, had), at.cuts.most[had])
        around = insides_of(nodes, small, cuts, tuples, CUT_ROOM)
        node, sizes = (
            np.repeat(np.arange(nodes.number), np.diff(around.start)),
            np.diff(nodes.start[: nodes.number + 1]),
        )
        fresh = small & (rows % self.k > 0)
        fresh[node[np.diff(cuts.start)[around.cut] == sizes[node]]] = False  # has a toll already
        start, member = _chosen(nodes.start, nodes.member, np.flatnonzero(fresh))
        cuts = Cuts(
            np.concatenate([cuts.start, cuts.start[-1] + start[1:]]),
            np.concatenate([cuts.member, member]),
            np.concatenate([cuts.most, rows[fresh] // self.k]),
        )
        toll = np.concatenate([at.toll[had], np.zeros(len(start) - 1, dtype=np.int64)])
        return Tolled(at.price, cuts, toll), insides_of(nodes, small, cuts, tuples, CUT_ROOM)

    def reckon(self, at: Tolled, nodes: KeptNodes, tolls: Tolls, *, risen: int = 0) -> int:
        """Return the bound over kept nodes alone; see `kept_excess`."""
        weight = self.lattice.weight
        return at.paid(weight) - kept_excess(nodes, weight, at.price, self.k, self.used, tolls, risen)

    def steps(self, at: Tolled, here: _InBox, pace: _Pace) -> tuple[Tolled, int]:
        """Return the prices and tolls with the highest bound that steps inside a box reach, over kept nodes alone."""
        weight, most, nodes = self.lattice.weight, at.cuts.most, here.nodes
        best, best_at, theta, stale = here.bound, at, pace.theta, 0
        price, toll = at.price.astype(np.float64), at.toll.astype(np.float64)
        way, toll_way = np.zeros(len(price)), np.zeros(len(toll))
        tolls, before, risen = new_tolls(nodes, here.insides, at.toll), at.price, 0
        for _ in range(pace.steps):
            now = Tolled(np.rint(price).astype(np.int64), at.cuts, np.rint(toll).astype(np.int64))
            risen += max(int((now.price - before).max(initial=0)), 0)
            tolls, before = tolls._replace(toll=now.toll), now.price
            value = self.reckon(now, nodes, tolls, risen=risen)
            if value > best:
                best, best_at, stale = value, now, 0
            else:
                stale += 1
                if stale % PATIENCE == 0:
                    theta *= CALMER
            way = 1.0 - self.used / weight + KEPT_DIRECTION * way
            toll_way = tolls.opened - most + KEPT_DIRECTION * toll_way
            toll_way[(toll <= 0) & (toll_way < 0)] = 0.0
            norm = float((weight * way * way).sum()) + self.k * float((toll_way * toll_way).sum())
            if norm <= 0 or self.stop.late:
                break
            rise = theta * max(pace.aim - value, best * LEAST_AIM) / norm
            price = np.clip(price + rise * way, here.low, here.high)
            toll = np.maximum(toll + rise * self.k * toll_way, 0.0)
        return best_at, self.reckon(best_at, nodes, new_tolls(nodes, here.insides, best_at.toll))


def prices(
    lattice: CoverLattice, k: int, whole: int, stop: Stop, tell: Callable[[int], None], *, price: Longs | None = None
) -> tuple[Tolled, int]:
    """Return prices and tolls whose bound is as high as could be reached, and that bound.

    Deterministic unless time runs out. They start at ``price``, by default that of the cheapest nodes, whose sum is the
    simple bound. Inside of a box no node pays that was not kept: what is reckoned there is a sum over all nodes, unless
    there was no room for some of them. Then only what is reckoned where nodes are collected counts.
    """
    climb = _Climb(lattice, k, whole, stop)
    at = Tolled(cheapest(lattice, k, whole) if price is None else price, no_cuts(), np.zeros(0, dtype=np.int64))
    simple = at.paid(lattice.weight)
    best, best_at, theta, proved = simple, at, FIRST_STEP, True
    for number, box in enumerate((*BOXES, PROOF)):
        if stop.late or (proved and box is PROOF):
            break
        at, here = climb.collect(at, box)
        if here.bound > best:
            best, best_at = here.bound, at
        if number:
            theta = min(theta * GROW, MOST_STEP) if here.bound >= best else theta * SHRINK
        tell(best)
        aim = max(best * LATER_AIM, simple * FIRST_AIM if number == 0 else 0.0)
        at, bound = climb.steps(at, here, _Pace(aim, theta, box.steps))
        proved = here.nodes.whole
        if proved and bound > best:
            best, best_at = bound, at
            tell(best)
    return best_at, best
