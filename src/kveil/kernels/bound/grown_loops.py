"""The compiled loop behind `grown`; importing this module imports Numba."""

from __future__ import annotations

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import NEAR, ROWS, TUPLES, TURN, USES, Growth
from kveil.kernels.jit import door, inner


@inner
def grow_by(growth: Growth, node: int, weight: Longs, begin: int) -> None:
    """Add a node's tuples to the set that grows, whose own lie from ``begin`` on; note what it then lacks of others.

    Tuples that there is no room for are counted, so that whoever asks sees that they are missing.
    """
    state = growth.state
    for i in range(growth.start[node], growth.start[node + 1]):
        t = growth.member[i]
        if growth.inside[t] == state[TURN]:
            continue
        growth.inside[t] = state[TURN]
        if begin + state[TUPLES] < len(growth.grown):
            growth.grown[begin + state[TUPLES]] = t
        state[TUPLES] += 1
        state[ROWS] += weight[t]
        for at in range(growth.first[t], growth.first[t + 1]):
            other = growth.over[at]
            if growth.met[other] != state[TURN]:
                growth.met[other] = state[TURN]
                growth.missing[other] = growth.rows[other]
                growth.near[state[NEAR]] = other
                state[NEAR] += 1
            growth.missing[other] -= weight[t]
            if growth.missing[other] == 0:
                state[USES] += growth.often[other]


@inner
def next_to_take(growth: Growth, most: int) -> int:
    """Return the node that was used most often per row that the set lacks of it, -1 if none fits into ``most`` rows."""
    best = -1
    for i in range(growth.state[NEAR]):
        node = growth.near[i]
        lacks = growth.missing[node]
        if lacks == 0 or growth.state[ROWS] + lacks > most:
            continue
        if best >= 0:
            mine, yours = growth.often[node] * growth.missing[best], growth.often[best] * lacks
            if mine < yours or (mine == yours and node > best):
                continue
        best = node
    return best


@door
def grow_sets(
    growth: Growth, seeds: Ints, weight: Longs, k: int, groups: int, sums: int, bar: int, start: Longs, most: Longs
) -> int:
    """Grow sets from every seed; see `grown.grown_cuts`. Return how many of them are cuts that there was room for."""
    found, state = 0, growth.state
    for i in range(len(seeds)):
        for fits in range(1, groups + 1):
            full = (fits + 1) * k - 1
            if growth.rows[seeds[i]] > full:
                continue
            state[TURN] += 1
            state[TUPLES], state[ROWS], state[NEAR], state[USES] = 0, 0, 0, 0
            node = seeds[i]
            for _ in range(full):  # every turn takes in a row
                grow_by(growth, node, weight, start[found])
                node = next_to_take(growth, full)
                if node < 0:
                    break
            end = start[found] + state[TUPLES]
            if state[ROWS] // k == fits and state[USES] - fits * sums > bar and end <= len(growth.grown):
                most[found] = fits
                found += 1
                start[found] = end
    return found
