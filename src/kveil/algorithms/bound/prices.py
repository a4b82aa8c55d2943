"""Prices of tuples, and tolls of cuts, whose bound is high; found by subgradient steps (Lagrange's relaxation).

A cut is a set of tuples with n rows: at most n // k groups can lie inside of it. So every node inside of it may be
charged a toll for being used, if as many tolls as groups fit are taken off the bound. See `bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.bound.bound import cheapest, collect, insides_of, kept_excess, new_tolls, no_cuts
from kveil.kernels.bound.grown import each_once, grown_cuts
from kveil.kernels.bound.layout import CoverLattice, Cuts, Insides, KeptNodes, Tolls, chosen_sets
from kveil.stopping import Stop

ROOM = 12_000_000  # tuples of kept nodes
CUT_ROWS = 4  # sets below so many times k rows are cuts
CUT_ROOM = 4_000_000  # pairs of a node and a cut around it


class Stretch(NamedTuple):
    """Steps in a row: how many, how long the first of them are, and to what times the best known bound they aim."""

    steps: int
    length: float
    aim: float


class Box(NamedTuple):
    """How far prices may go from those at which nodes are collected, and the steps they take there."""

    share: float  # of a price
    mean: float  # of the mean price, on top
    moved: float  # of how far a price went in the box before, where that is more
    stretches: tuple[Stretch, ...]


# Tuned on Adult. All nodes that can pay inside of a box are known, so that what is reckoned there is true. Few prices
# have a long way to go, and they show it: these get room, so that boxes are small. Between stretches, cuts are grown.
BOXES = (
    Box(1.0, 0.6, 0.0, (Stretch(80, 0.7, 1.06),)),
    Box(0.12, 0.1, 1.0, (Stretch(100, 0.7, 1.04),)),
    Box(0.06, 0.04, 1.2, (Stretch(120, 0.5, 1.02), Stretch(80, 0.3, 1.02))),
    Box(0.03, 0.02, 1.6, (Stretch(100, 0.3, 1.02), Stretch(100, 0.2, 1.01), Stretch(100, 0.1, 1.01))),
)
PROOF = Box(0.0, 0.0, 0.0, ())  # only collects: for prices that were found over some of the nodes

FIRST_AIM = 1.5  # times the simple bound: what the first steps aim at, at least
KEPT_DIRECTION = 0.85  # of the last direction, added to the next
PATIENCE, CALMER = 10, 0.7  # after so many steps without a gain, steps shrink by this factor
LEAST_AIM = 0.004  # of the box's best bound, by which a step aims above the present one at least
EVEN = 0.3  # of the mean price, added to each before steps are made longer for higher ones, by its square root


@dataclass
class Tolled:
    """Prices of tuples and tolls of cuts: the bound that they prove is reckoned from them alone."""

    price: Longs
    cuts: Cuts
    toll: Longs

    def paid(self, weight: Longs) -> int:
        """Return what all rows pay, without the tolls of as many groups as fit."""
        return int((weight * self.price).sum()) - int((self.toll * self.cuts.most).sum())


class _InBox(NamedTuple):
    """All nodes that can pay while prices stay in a box, the cuts around them, and the bound where it was laid."""

    low: Longs
    high: Longs
    nodes: KeptNodes
    insides: Insides
    bound: int


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

    def collect(self, at: Tolled, box: Box, moved: Longs) -> tuple[Tolled, _InBox]:
        """Return the nodes that can pay in a box around given prices, and what is given with new cuts among them."""
        weight, k = self.lattice.weight, self.k
        paid = int((weight * at.price).sum())
        far = np.maximum(box.share * at.price + box.mean * paid / self.rows, box.moved * moved).astype(np.int64)
        low, high = np.maximum(at.price - far, 0), np.minimum(at.price + far, self.whole)
        total, nodes = collect(self.lattice, at.price, high, k, self.used, ROOM, low=low, large=CUT_ROWS * k)
        at, insides = self._with_cuts(at, nodes)
        free = Insides(np.zeros(nodes.number + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        kept = kept_excess(nodes, weight, at.price, k, self.used, new_tolls(nodes, free, at.toll[:0]))
        bound = self.reckon(at, nodes, new_tolls(nodes, insides, at.toll))
        return at, _InBox(low, high, nodes, insides, bound - (total - kept))  # what had no room pays no tolls

    def _with_cuts(self, at: Tolled, nodes: KeptNodes) -> tuple[Tolled, Insides]:
        """Return the cuts that have a toll already and all small nodes as new ones, and the cuts around each node."""
        tuples, rows = len(self.lattice.weight), nodes.rows[: nodes.number]
        small = rows < CUT_ROWS * self.k
        had = np.flatnonzero(at.toll > 0)
        cuts = Cuts(*chosen_sets(at.cuts.start, at.cuts.member, had), at.cuts.most[had])
        around = insides_of(nodes, small, cuts, tuples, CUT_ROOM)
        node, sizes = (
            np.repeat(np.arange(nodes.number), np.diff(around.start)),
            np.diff(nodes.start[: nodes.number + 1]),
        )
        fresh = small & (rows % self.k > 0)
        fresh[node[np.diff(cuts.start)[around.cut] == sizes[node]]] = False  # has a toll already
        new = Cuts(*chosen_sets(nodes.start, nodes.member, np.flatnonzero(fresh)), rows[fresh] // self.k)
        return self._added(Tolled(at.price, cuts, at.toll[had]), new, nodes)

    def _added(self, at: Tolled, new: Cuts, nodes: KeptNodes) -> tuple[Tolled, Insides]:
        """Return prices with more cuts, which have no toll yet, and the cuts around each node."""
        old = at.cuts
        start = np.concatenate([old.start, old.start[-1] + new.start[1:]])
        cuts = Cuts(start, np.concatenate([old.member, new.member]), np.concatenate([old.most, new.most]))
        toll = np.concatenate([at.toll, np.zeros(len(new.most), dtype=np.int64)])
        small = nodes.rows[: nodes.number] < CUT_ROWS * self.k
        return Tolled(at.price, cuts, toll), insides_of(nodes, small, cuts, len(self.lattice.weight), CUT_ROOM)

    def grow(self, at: Tolled, here: _InBox, often: Longs, sums: int) -> tuple[Tolled, _InBox]:
        """Return what is given with cuts around nodes that were used too often together in so many sums."""
        weight = self.lattice.weight
        grown = grown_cuts(here.nodes, weight, often, sums, self.k, CUT_ROWS - 1)
        at, insides = self._added(at, each_once(grown, at.cuts, len(weight)), here.nodes)
        return at, here._replace(insides=insides)

    def reckon(self, at: Tolled, nodes: KeptNodes, tolls: Tolls, *, risen: int = 0) -> int:
        """Return the bound over kept nodes alone; see `kept_excess`."""
        weight = self.lattice.weight
        return at.paid(weight) - kept_excess(nodes, weight, at.price, self.k, self.used, tolls, risen)

    def steps(self, at: Tolled, here: _InBox, pace: Stretch, aim: float) -> tuple[Tolled, int, Longs]:
        """Return the prices and tolls with the highest bound that steps inside a box reach, over kept nodes alone.

        The bound is the second of what is returned; the third is in how many of the last half of the steps nodes paid.
        """
        weight, most = self.lattice.weight.astype(np.float64), at.cuts.most.astype(np.float64)
        low, high, nodes = here.low.astype(np.float64), here.high.astype(np.float64), here.nodes
        best, best_at, theta, stale = 0, at, pace.length, 0
        price, toll = at.price.astype(np.float64), at.toll.astype(np.float64)
        pull = np.sqrt(price + EVEN * (weight * price).sum() / self.rows)
        pull /= max(float((weight * pull).sum()) / self.rows, 1.0)
        heavy, way, toll_way = weight * pull, np.zeros(len(price)), np.zeros(len(toll))
        tolls, before, risen = new_tolls(nodes, here.insides, at.toll), at.price, 0
        for step in range(pace.steps):
            now = Tolled(np.rint(price).astype(np.int64), at.cuts, np.rint(toll).astype(np.int64))
            risen += max(int((now.price - before).max(initial=0)), 0)
            tolls, before = tolls._replace(toll=now.toll), now.price
            if step == pace.steps - sums_of(pace):
                tolls.often[:] = 0
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
            norm = float((heavy * way * way).sum()) + self.k * float((toll_way * toll_way).sum())
            if norm <= 0 or self.stop.late:
                break
            rise = theta * max(aim - value, best * LEAST_AIM) / norm
            price = np.clip(price + rise * pull * way, low, high)
            toll = np.maximum(toll + rise * self.k * toll_way, 0.0)
        return best_at, self.reckon(best_at, nodes, new_tolls(nodes, here.insides, best_at.toll)), tolls.often


def sums_of(pace: Stretch) -> int:
    """Return over how many of its steps, the last ones, it is counted how often nodes pay."""
    return pace.steps // 2


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
    best, best_at, proved = simple, at, True
    moved = np.zeros_like(at.price)
    for number, box in enumerate((*BOXES, PROOF)):
        if stop.late or (proved and box is PROOF):
            break
        at, here = climb.collect(at, box, moved)
        begun, proved = at.price, here.nodes.whole
        if here.bound > best:
            best, best_at = here.bound, at
        tell(best)
        often, sums = np.zeros(0, dtype=np.int64), 0
        for pace in box.stretches:
            if sums and not stop.late:
                at, here = climb.grow(at, here, often, sums)
            aim = max(best * pace.aim, simple * FIRST_AIM if number == 0 else 0.0)
            at, bound, often = climb.steps(at, here, pace, aim)
            sums = sums_of(pace)
            if proved and bound > best:
                best, best_at = bound, at
                tell(best)
        moved = np.abs(at.price - begun)
    return best_at, best
