"""The price of widening groups, beside a sum by hand."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kveil.kernels.classfly.widening import price_groups


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
    sizes = [chance.randint(1, 9) for _ in range(groups)]
    expected = []
    for g in range(groups):
        shown = [covering[a][nodes[a][g]] for a in range(width)]
        price = sum(more[a][nodes[a][g]] * sizes[g] + own[a][nodes[a][g]] for a in range(width))
        expected.append(float("inf") if hides and not any(shown) else price)
    found = price_groups(
        np.array(nodes, dtype=np.int32),
        np.array(sizes, dtype=np.int64),
        [np.array(c, dtype=np.int32) for c in covering],
        [np.array(m) for m in more],
        [np.array(o) for o in own],
        hides,
    )
    assert found == pytest.approx(expected)
