"""The price of widening groups, beside a sum by hand."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kveil.kernels.classfly.widening import GROUPS_WORTH_A_THREAD, price_groups


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_group_costs_what_its_members_lose_and_what_is_lost_once(seed: int, hides: bool) -> None:
    chance = Random(seed)
    width, groups = chance.randint(1, 3), chance.randint(1, 6)
    number = [chance.randint(1, 5) for _ in range(width)]
    covering = [[chance.randrange(n) for _ in range(n)] for n in number]
    more = [[chance.random() for _ in range(n)] for n in number]
    own = [[chance.random() for _ in range(n)] for n in number]
    nodes = [[chance.randrange(n) for _ in range(groups)] for n in number]
    sizes = [chance.randint(0, 9) for _ in range(groups)]
    expected = []
    for g in range(groups):
        shown = [covering[a][nodes[a][g]] for a in range(width)]
        price = sum(more[a][nodes[a][g]] * sizes[g] + own[a][nodes[a][g]] for a in range(width))
        expected.append(float("inf") if sizes[g] == 0 or (hides and not any(shown)) else price)
    found = price_groups(
        np.array(nodes, dtype=np.int32),
        np.array(sizes, dtype=np.int64),
        [np.array(c, dtype=np.int32) for c in covering],
        [np.array(m) for m in more],
        [np.array(o) for o in own],
        hides,
    )
    assert found == pytest.approx(expected)


def test_many_groups_are_priced_in_threads_as_a_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(7)
    nodes = draw.integers(0, 9, (3, 2 * GROUPS_WORTH_A_THREAD + 1), dtype=np.int32)
    covering = [np.minimum(np.arange(9, dtype=np.int32), 1)] * 3
    more, own = [draw.random(9) for _ in range(3)], [draw.random(9) for _ in range(3)]
    sizes = draw.integers(0, 5, nodes.shape[1])
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    many = price_groups(nodes, sizes, covering, more, own, True)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert np.array_equal(many, price_groups(nodes, sizes, covering, more, own, True))
