"""Covers of codes and what these cost, beside the slow way."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import join_loops as loops
from laid_groups import coded, codes_of
from naive.grouped_rows import Code, GroupCase, Row, SpanAttribute, TreeAttribute, random_groups

join = from_python(loops.join)
cost_of = from_python(loops.cost_of)
joined_cost = from_python(loops.joined_cost)
cover_cost = from_python(loops.cover_cost)
vector_cost = from_python(loops.vector_cost)
cover_vector = from_python(loops.cover_vector)
copy_row = from_python(loops.copy_row)
shows_nothing = from_python(loops.shows_nothing)


def random_codes(seed: int) -> tuple[GroupCase, list[Row], Random]:
    """Return attributes, some of numbers that may be missing or have a greatest width, and codes of theirs."""
    chance = Random(seed)
    case = random_groups(chance, 8, spans=True)
    for own in case.attributes:
        if isinstance(own, SpanAttribute):
            if chance.random() < 0.5:
                own.missing = True
                own.numbers.append(own.numbers[-1])
            own.widest = chance.choice([-1, own.extent // 2])
    return case, [tuple(random_code(chance, own) for own in case.attributes) for _ in range(8)], chance


def random_code(chance: Random, own: TreeAttribute | SpanAttribute) -> Code:
    """Return what covers two values, or all; of nodes over the same leaves codes are the lowest."""
    if isinstance(own, SpanAttribute):
        one, other = chance.choice([(0, len(own.numbers) - 1), chance.choices(range(len(own.numbers)), k=2)])
        return own.cover((one, one), (other, other))
    leaves = own.tree.leaf_nodes
    return own.cover(*chance.choice([(leaves[0], leaves[-1]), chance.choices(leaves, k=2)]))


@pytest.mark.parametrize("seed", range(60))
def test_codes_join_to_what_covers_both_and_cost_what_that_costs(seed: int) -> None:
    case, rows, chance = random_codes(seed)
    codes, words = codes_of(case, chance), coded(case, rows)
    for one, mine in zip(words, rows, strict=True):
        for other, yours in zip(words, rows, strict=True):
            both = case.joined(mine, yours)
            for a, own in enumerate(case.attributes):
                assert join(codes, a, int(one[a]), int(other[a])) == coded(case, [both])[0, a]
                assert joined_cost(codes, a, int(one[a]), int(other[a])) == own.cost(both[a])
                assert cost_of(codes, a, int(one[a])) == own.cost(mine[a])


@pytest.mark.parametrize("seed", range(60))
def test_vectors_of_codes_cover_each_other_and_cost_the_sum(seed: int) -> None:
    case, rows, chance = random_codes(seed)
    codes, words = codes_of(case, chance), coded(case, rows)
    for i, mine in enumerate(rows):
        assert vector_cost(codes, words, i) == case.cost(mine)
        nothing = all(own.shows_nothing(code) for own, code in zip(case.attributes, mine, strict=True))
        assert shows_nothing(codes, words, i) == nothing
        for j, yours in enumerate(rows):
            both, number = case.joined(mine, yours), chance.randint(1, 5)
            least = number * case.cost(both)
            for most in (least, least + 1, chance.randint(0, 5000)):
                found = cover_cost(codes, words, i, words, j, number, most)
                assert found == least if least < most else most <= found <= least
            grown = np.zeros_like(words)
            copy_row(grown, 1, words, i)
            assert grown[1].tolist() == words[i].tolist()
            assert cover_vector(codes, grown, 1, words, j) == case.cost(both)
            assert grown[1].tolist() == coded(case, [both])[0].tolist()
            assert not grown[0].any()
