"""Minimal distance generalization of the values of many groups at once, beside one group at a time."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.sequential.k_msd import RunNodes, repair
from naive import k_msd as naive_kmsd
from strategies import examples


def random_tree(rng: Random) -> list[int]:
    """The parents of a tree's nodes in depth-first order."""
    parent = [0]

    def grow(node: int, depth: int) -> None:
        for _ in range(rng.randint(1, 4)):
            if len(parent) > 40:
                return
            parent.append(node)
            if depth < 5 and rng.random() < 0.5:
                grow(len(parent) - 1, depth + 1)

    grow(0, 1)
    return parent


@given(st.integers(0, 10**9))
@examples(400)
def test_minimal_distance_generalization_is_that_of_its_slow_twin(seed: int) -> None:
    rng = Random(seed)
    parent = random_tree(rng)
    number = len(parent)
    depth, end = [0] * number, list(range(number))
    for node in range(1, number):
        depth[node] = depth[parent[node]] + 1
    for node in range(number - 1, 0, -1):
        end[parent[node]] = max(end[parent[node]], end[node])
    k = rng.randint(1, 6)
    groups = []
    for _ in range(rng.randint(1, 4)):
        chosen = sorted(rng.sample(range(number), rng.randint(1, min(number, 12))))
        own = {node: rng.choice([1, 1, 1, 2, 3, 7]) for node in chosen}
        if sum(own.values()) >= k:
            groups.append(own)

    def way(label: str) -> tuple[str, ...]:
        found = [int(label)]
        while found[-1]:
            found.append(parent[found[-1]])
        return tuple(map(str, found))

    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    shown = repair(
        RunNodes(
            np.array(parent, dtype=np.int32),
            np.array(depth, dtype=np.int32),
            np.array(end, dtype=np.int32),
            np.arange(number) == 0,
        ),
        starts,
        np.array([node for own in groups for node in own], dtype=np.int32),
        np.array([count for own in groups for count in own.values()], dtype=np.int64),
        k,
    )
    assert shown is not None
    for i, own in enumerate(groups):
        values = Counter({str(node): count for node, count in own.items()})
        slow = naive_kmsd.mdg(values, way, [str(node) for node in range(number)], k)
        fast = dict(zip(values, map(str, shown[starts[i] : starts[i + 1]]), strict=True))
        assert fast == slow
