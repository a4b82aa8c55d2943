"""Cuts grown where nodes are used too often together: sets that are no node's. Numba is imported with the first one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.bound import no_cuts
from kveil.kernels.bound.layout import Cuts, Growth, KeptNodes, chosen_sets

USED = 50  # a node takes part that was used in more than one of so many sums
TOO_OFTEN = 20  # a cut counts if its nodes were used once too often in more than one of so many sums
ROOM = 4_000_000  # tuples of grown cuts


def grown_cuts(nodes: KeptNodes, weight: Longs, often: Longs, sums: int, k: int, groups: int) -> Cuts:
    """Return sets of tuples whose nodes were used more often than groups fit into them, each set once.

    ``often`` tells in how many of the last ``sums`` sums each node paid: near the best prices that is the part of it
    that the relaxation uses. Every node that was used is a seed for sets of fewer than (n + 1) · k rows, n from 1 to
    ``groups``: as long as one fits, the set takes in the node that was used most often per row that it lacks of it, of
    several the first. If n groups fit, and the nodes inside were used clearly more than n times per sum, it is a cut.
    Nodes of (groups + 1) · k rows or more take no part, so that those of fewer must have all of their tuples.
    """
    from kveil.kernels.bound.grown_loops import grow_sets

    seeds = np.flatnonzero((often * USED > sums) & (nodes.rows[: nodes.number] < (groups + 1) * k)).astype(np.int32)
    if not len(seeds):
        return no_cuts()
    growth = _new_growth(nodes, often, seeds, len(weight))
    start, most = np.zeros(len(seeds) * groups + 1, dtype=np.int64), np.zeros(len(seeds) * groups, dtype=np.int64)
    found = int(grow_sets(growth, seeds, weight, k, groups, sums, sums // TOO_OFTEN, start, most))
    return each_once(Cuts(start[: found + 1], growth.grown[: start[found]], most[:found]), no_cuts(), len(weight))


def _new_growth(nodes: KeptNodes, often: Longs, seeds: Ints, tuples: int) -> Growth:
    """Return room for sets that grow among some nodes, and which of these lie over every tuple."""
    begins, member = chosen_sets(nodes.start, nodes.member, seeds.astype(np.int64))
    order = np.argsort(member, kind="stable")
    over = np.repeat(seeds, np.diff(begins))[order]
    first = np.searchsorted(member[order], np.arange(tuples + 1)).astype(np.int64)
    inside, met = np.zeros(tuples, dtype=np.int64), np.zeros(nodes.number, dtype=np.int64)
    near, grown = np.zeros(len(seeds), dtype=np.int32), np.zeros(ROOM, dtype=np.int32)
    state = np.zeros(5, dtype=np.int64)
    return Growth(
        nodes.start, nodes.member, nodes.rows, often, first, over, inside, met, np.zeros_like(met), near, grown, state
    )


def each_once(cuts: Cuts, before: Cuts, tuples: int) -> Cuts:
    """Return the cuts without those that come up a second time, or are among those ``before``.

    Sets are told apart by sums of 64 bits. Should two different ones have the same, one is left out: fewer tolls.
    """
    sums = _sums(cuts, tuples)
    first = np.sort(np.unique(sums, return_index=True)[1])
    new = first[~np.isin(sums[first], _sums(before, tuples))]
    return Cuts(*chosen_sets(cuts.start, cuts.member, new), cuts.most[new])


def _sums(cuts: Cuts, tuples: int) -> npt.NDArray[np.uint64]:
    """Return a number for every set, the same in whatever order its tuples stand: mixed words of these, added up."""
    word = np.arange(1, tuples + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(word[cuts.member])])
    sums: npt.NDArray[np.uint64] = total[cuts.start[1:]] - total[cuts.start[:-1]]
    return sums


def grow_nothing() -> None:
    """Grow sets around one node, which compiles the loop for the types it is called with."""
    one, tuple_ = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int32)
    grown_cuts(KeptNodes(1, np.array([0, 1]), tuple_, one, one, one, True), one, one, 1, 1, 1)
