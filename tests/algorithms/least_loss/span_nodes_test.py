"""Spans of numbers as nodes: what each shows and costs, what lies over it, and how it is found by its ends."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pytest

from kveil.algorithms.least_loss.span_nodes import MOST_SPANS, SpanNodes, span_nodes
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.policy.attributes import Ranges
from kveil.table.scale import Scale

WHOLE = 1000


def random_scale(chance: Random) -> Scale:
    number = chance.randint(0, 14)
    numbers = tuple(map(Decimal, sorted(chance.sample(range(60), number))))
    rounded = chance.choice([None, None, Decimal(5), Decimal(10), Decimal(7)])
    missing = number if number == 0 or chance.random() < 0.4 else None
    return Scale(numbers, Ranges(within=(Decimal(0), Decimal(60)), round=rounded), missing, "")


def find(nodes: SpanNodes, low: int, high: int) -> int:
    return int(nodes.find(np.array([low]), np.array([high]))[0])


@pytest.mark.parametrize("seed", range(80))
def test_nodes_are_the_spans_that_may_be_shown(seed: int) -> None:
    chance = Random(seed)
    scale = random_scale(chance)
    widest = chance.choice([None, None, Decimal(3), Decimal(8), Decimal(20)])
    most = chance.choice([MOST_SPANS, 10, 3, 1])
    shown = [tuple(sorted(chance.choices(range(scale.leaves), k=2))) for _ in range(3)]
    nodes = span_nodes(scale, widest, WHOLE, shown=shown, most=most)  # type: ignore[arg-type]
    first, last, _, _, star = nodes.ints.tolist()
    assert [i for i, is_star in enumerate(star) if is_star] == [nodes.star]
    texts = set()
    for node, ends in enumerate(zip(first, last, strict=True)):
        if node != nodes.star:
            text, loss = scale.shown(*ends)
            assert abs(loss * WHOLE - nodes.cost[node]) <= 0.5001
            assert widest is None or not scale.shows_more(*ends, widest)
            assert text not in texts or most < MOST_SPANS
            texts.add(text)
    for low in range(scale.leaves):
        for high in range(low, scale.leaves):
            node = find(nodes, low, high)
            if low != high and widest is not None and scale.shows_more(low, high, widest):
                assert node == -1
            elif node == nodes.star:
                assert high == scale.missing
            elif most == MOST_SPANS or (low, high) in shown:
                assert scale.shown(first[node], last[node])[0] == scale.shown(low, high)[0]
            else:
                assert node == -1 or first[node] <= low <= high <= last[node]


@pytest.mark.parametrize("seed", range(80))
def test_a_parent_covers_more_and_what_covers_more_lies_no_deeper(seed: int) -> None:
    chance = Random(seed)
    scale = random_scale(chance)
    nodes = span_nodes(scale, chance.choice([None, Decimal(9)]), WHOLE, most=chance.choice([MOST_SPANS, 5]))
    first, last, parent, depth, _ = nodes.ints.tolist()
    ends = list(zip(first, last, strict=True))
    for node, above in enumerate(parent):
        assert depth[node] == (0 if above == node else depth[above] + 1)
        assert first[above] <= first[node] <= last[node] <= last[above]
        assert above in (node, nodes.star) or ends[above] != ends[node]
        for other in range(len(ends)):
            if ends[node] != ends[other] and first[node] <= first[other] and last[other] <= last[node]:
                assert depth[node] <= depth[other]
    tops = nodes.tops(np.arange(len(ends)))
    assert (nodes.ints[field.PARENT][tops] == tops).all()
