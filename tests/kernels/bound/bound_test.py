"""The bound's sums, beside all nodes of the product of trees written out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.bound.bound import (
    cheapest,
    collect,
    excess,
    insides_of,
    kept_excess,
    new_tolls,
    no_cuts,
)
from kveil.kernels.bound.layout import CoverLattice, Cuts, KeptNodes
from strategies import examples


def lattice_of(seed: int, tuples: int) -> CoverLattice:
    """Distinct tuples over three attributes of nine leaves, in threes under one root; some nodes may not be shown."""
    draw = np.random.default_rng(seed)
    leaves = np.unique(draw.integers(0, 9, (3, tuples)), axis=1)
    number = leaves.shape[1]
    above = np.array([level for leaf in leaves for level in (0 * leaf, 1 + leaf // 3, 4 + leaf)], dtype=np.int32)
    for a in range(3):
        forbidden = draw.random(13) < 0.15
        own = above[3 * a : 3 * a + 2]  # a leaf may always be shown as itself
        own[forbidden[own]] = -1
    cost = draw.integers(0, 40, (3, 13))
    cost[:, 4:] = 0
    per_tuple = np.array([[cost[i // 3, node] for node in level] for i, level in enumerate(above)], dtype=np.int64)
    weight = draw.integers(1, 4, number)
    return CoverLattice(np.arange(0, 10, 3), above, per_tuple, weight, np.arange(number, dtype=np.int32), 1)


def nodes_of(lattice: CoverLattice) -> Iterator[tuple[int, list[int], tuple[int, ...]]]:
    """Give every node that covers a tuple: its cost, its tuples, and the rows of ``above`` that it stands in."""
    depths = [range(lattice.at[a], lattice.at[a + 1]) for a in range(len(lattice.at) - 1)]
    tuples = range(lattice.above.shape[1])
    for levels in product(*depths):
        shown = {t: tuple(int(lattice.above[level, t]) for level in levels) for t in tuples}
        for node in {own for own in shown.values() if -1 not in own}:
            members = [t for t in tuples if shown[t] == node]
            yield sum(int(lattice.cost[level, members[0]]) for level in levels), members, levels


def is_lowest(lattice: CoverLattice, members: list[int], levels: tuple[int, ...]) -> bool:
    """Tell whether no node below one that stands in some rows covers all of the tuples."""
    lower = (lattice.above[level + 1, members] for level in levels if level + 1 not in lattice.at)
    return not any(below[0] >= 0 and (below == below[0]).all() for below in lower)


def pays(lattice: CoverLattice, price: np.ndarray, k: int, cost: int, members: list[int]) -> int:
    """Return what the best k rows or more of a node pay above its cost; nothing where that is not more."""
    gains = sorted((int(price[t]) - cost for t in members for _ in range(lattice.weight[t])), reverse=True)
    return max(0, *(sum(gains[:rows]) for rows in range(k, len(gains) + 1)), 0) if len(gains) >= k else 0


def payers_of(lattice: CoverLattice, want: np.ndarray, k: int) -> list[tuple[int, list[int]]]:
    """Return the cost and the payers of every node that is the lowest over them.

    A node's payers are its tuples in sets of k rows or more that pay more than its cost together.
    """
    found = []
    for cost, members, levels in nodes_of(lattice):
        payers = []
        for t in members:
            beside = [int(want[s]) - cost for s in members for _ in range(lattice.weight[s] - (s == t))]
            beside.sort(reverse=True)
            sums = [sum(beside[:rows]) for rows in range(k - 1, len(beside) + 1)]
            if sums and int(want[t]) - cost + max(sums) > 0:
                payers.append(t)
        if payers and is_lowest(lattice, payers, levels):
            found.append((cost, payers))
    return found


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 6))
@examples(60)
def test_the_cheapest_node_over_a_tuple_is_that_of_all_nodes(seed: int, tuples: int, k: int) -> None:
    lattice = lattice_of(seed, tuples)
    least = [100] * lattice.above.shape[1]
    for cost, members, _ in nodes_of(lattice):
        if lattice.weight[members].sum() >= k:
            for t in members:
                least[t] = min(least[t], cost)
    assert cheapest(lattice, k, 100).tolist() == least


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 6), st.sampled_from([0, 7]))
@examples(60)
def test_the_excess_is_what_nodes_pay_that_are_the_lowest_over_their_payers(
    seed: int, tuples: int, k: int, more: int
) -> None:
    lattice = lattice_of(seed, tuples)
    number = lattice.above.shape[1]
    price = np.random.default_rng(seed + 1).integers(0, 60, number)
    closed = [(cost, members) for cost, members, levels in nodes_of(lattice) if is_lowest(lattice, members, levels)]
    used, again = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    least = excess(lattice, price, k, used)
    assert least == sum(pays(lattice, price, k, *own) for own in payers_of(lattice, price, k))
    wanted = payers_of(lattice, price + more, k)
    total, nodes = collect(lattice, price, price + more, k, again, 4_000)
    assert total == sum(pays(lattice, price, k, *own) for own in wanted)
    assert least <= total <= sum(pays(lattice, price, k, *own) for own in closed)
    if more == 0:
        assert again.tolist() == used.tolist()
    assert nodes.whole
    kept = sorted((int(nodes.cost[i]), members_of(nodes, i)) for i in range(nodes.number))
    assert kept == sorted(wanted)
    # At prices higher by as much, the kept nodes are all that pay.
    higher = excess(lattice, price + more, k, used)
    untolled = new_tolls(nodes, insides_of(nodes, all_of(nodes), no_cuts(), number, 9), price[:0])
    assert kept_excess(nodes, lattice.weight, price + more, k, again, untolled) == higher
    assert again.tolist() == used.tolist()


def members_of(nodes: KeptNodes, i: int) -> list[int]:
    return sorted(nodes.member[nodes.start[i] : nodes.start[i + 1]].tolist())


def all_of(nodes: KeptNodes) -> np.ndarray:
    return np.ones(nodes.number, dtype=bool)


def cuts_of(draw: np.random.Generator, lattice: CoverLattice, nodes: KeptNodes, k: int) -> Cuts:
    """Draw sets of tuples: those of some nodes, with others beside them."""
    number = lattice.above.shape[1]
    sets = [
        sorted({*members_of(nodes, i), *draw.integers(0, number, 2).tolist()})
        for i in range(nodes.number)
        if draw.random() < 0.5
    ]
    start = np.cumsum([0, *map(len, sets)])
    member = np.array([t for own in sets for t in own], dtype=np.int32)
    return Cuts(start, member, np.array([lattice.weight[own].sum() // k for own in sets], dtype=np.int64))


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 6))
@examples(60)
def test_a_node_pays_the_tolls_of_the_cuts_it_lies_inside_of(seed: int, tuples: int, k: int) -> None:
    lattice = lattice_of(seed, tuples)
    number = lattice.above.shape[1]
    draw = np.random.default_rng(seed + 1)
    price = draw.integers(0, 60, number)
    used = np.zeros(number, dtype=np.int64)
    _, nodes = collect(lattice, price, price, k, used, 4_000)
    cuts = cuts_of(draw, lattice, nodes, k)
    toll = draw.integers(0, 40, len(cuts.most))
    sets = [set(cuts.member[cuts.start[c] : cuts.start[c + 1]].tolist()) for c in range(len(toll))]
    insides = insides_of(nodes, all_of(nodes), cuts, number, 4_000)
    expected, opened = 0, [0] * len(sets)
    for i in range(nodes.number):
        around = [c for c, own in enumerate(sets) if set(members_of(nodes, i)) <= own]
        assert insides.cut[insides.start[i] : insides.start[i + 1]].tolist() == around
        own = pays(lattice, price, k, int(nodes.cost[i]), members_of(nodes, i)) - int(toll[around].sum())
        expected += max(own, 0)
        for c in around:
            opened[c] += own > 0
    tolls = new_tolls(nodes, insides, toll)
    assert kept_excess(nodes, lattice.weight, price, k, used, tolls) == expected
    assert tolls.opened.tolist() == opened


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 6), st.sampled_from([1, 8]))
@examples(60)
def test_nodes_that_are_passed_over_or_trimmed_change_no_sum(seed: int, tuples: int, k: int, large: int) -> None:
    lattice = lattice_of(seed, tuples)
    weight, number = lattice.weight, lattice.above.shape[1]
    draw = np.random.default_rng(seed + 1)
    low, used = draw.integers(0, 60, number), np.zeros(number, dtype=np.int64)
    high = low + draw.integers(0, 12, number)
    wanted = payers_of(lattice, high, k)
    _, nodes = collect(lattice, low, high, k, used, 4_000)
    _, trimmed = collect(lattice, low, high, k, used, 4_000, low=low, large=large)
    rows = trimmed.rows[: trimmed.number]
    assert rows.tolist() == [int(weight[members_of(nodes, i)].sum()) for i in range(nodes.number)]
    assert all(members_of(nodes, i) == members_of(trimmed, i) for i in np.flatnonzero(rows < large))
    none = insides_of(nodes, all_of(nodes), no_cuts(), number, 9)
    tolls, before, risen = new_tolls(trimmed, none, low[:0]), low, 0
    for _ in range(6):
        price = draw.integers(low, high + 1)
        risen += max(int((price - before).max()), 0)
        before = price
        fresh, again = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
        expected = kept_excess(nodes, weight, price, k, fresh, new_tolls(nodes, none, low[:0]))
        assert expected == sum(pays(lattice, price, k, *own) for own in wanted)
        assert kept_excess(trimmed, weight, price, k, again, tolls, risen) == expected
        assert again.tolist() == fresh.tolist()
