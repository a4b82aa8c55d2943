"""Several walks that share the nodes of a bound find what one walk finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.bound import bound
from kveil.kernels.bound.layout import CoverLattice, Insides
from strategies import examples


def lattice_of(seed: int, tuples: int) -> CoverLattice:
    """Four attributes of nine leaves, in threes under one root; the tuples may be equal."""
    draw = np.random.default_rng(seed)
    leaves = draw.integers(0, 9, (4, tuples))
    above = np.array([level for leaf in leaves for level in (0 * leaf, 1 + leaf // 3, 4 + leaf)], dtype=np.int32)
    cost = np.array([level for price in (40, 30, 20, 10) for level in (price, price // 2, 0)], dtype=np.int64)
    weight = draw.integers(1, 4, tuples)
    first = np.arange(tuples, dtype=np.int32)
    return CoverLattice(np.arange(0, 13, 3), above, np.repeat(cost[:, None], tuples, axis=1), weight, first, 1)


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([2, 5]), st.sampled_from([0, 60, 4_000]))
@examples(30)
def test_any_number_of_walks_comes_to_the_same(seed: int, tuples: int, k: int, room: int) -> None:
    lattice = lattice_of(seed, tuples)
    price = np.random.default_rng(seed + 1).integers(0, 60, tuples)
    results = []
    for walks in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bound, "MANY", 1)
            patch.setattr(bound, "threads", lambda own=walks: own)
            used = np.zeros(tuples, dtype=np.int64)
            total, nodes = bound.collect(lattice, price, price + 3, k, used, room)
            number = nodes.number
            kept = [nodes.cost[:number].tolist(), nodes.start[: number + 1].tolist()]
            kept.append(nodes.member[: nodes.start[number]].tolist())
            results.append((bound.cheapest(lattice, k, 100).tolist(), total, used.tolist(), kept, nodes.whole))
    assert results[0] == results[1] == results[2]


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([2, 5]))
@examples(30)
def test_any_number_of_threads_sums_kept_nodes_up_to_the_same(seed: int, tuples: int, k: int) -> None:
    lattice = lattice_of(seed, tuples)
    draw = np.random.default_rng(seed + 1)
    price = draw.integers(0, 60, tuples)
    nodes = bound.collect(lattice, price, price + 3, k, np.zeros(tuples, dtype=np.int64), 4_000)[1]
    around = [sorted(draw.choice(3, draw.integers(0, 3), replace=False).tolist()) for _ in range(nodes.number)]
    start = np.cumsum([0, *map(len, around)])
    insides = Insides(start, np.array([cut for own in around for cut in own], dtype=np.int32))
    toll = draw.integers(0, 20, 3)
    results = []
    for several in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bound, "MANY_MEMBERS", 0)
            patch.setattr(bound, "threads", lambda own=several: own)
            used, tolls = np.zeros(tuples, dtype=np.int64), bound.new_tolls(nodes, insides, toll)
            total = bound.kept_excess(nodes, lattice.weight, price, k, used, tolls)
            results.append((total, used.tolist(), tolls.opened.tolist(), tolls.due.tolist()))
    assert results[0] == results[1] == results[2]
