"""Spans of numbers found among nodes, beside plain lists of them."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import spans_loops as loops
from laid_rows import BothTries, both_tries, nodes_of
from naive.trees import ListSpans

span_over = from_python(loops.span_over)
span_over_both = from_python(loops.span_over_both)
narrower_span = from_python(loops.narrower_span)
cut_span = from_python(loops.cut_span)
SEEDS = range(1, 60, 2)  # every second case has an attribute of numbers, the first


def with_spans(seed: int) -> tuple[BothTries, ListSpans]:
    both = both_tries(seed)
    spans = both.case.trees[0]
    assert isinstance(spans, ListSpans)
    return both, spans


def found(node: int | None) -> int:
    return -1 if node is None else node


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_are_found_by_their_ends_and_over_two_others(seed: int) -> None:
    both, spans = with_spans(seed)
    for low in range(spans.leaves):
        for high in range(low, spans.leaves):
            assert span_over(both.trees, 0, low, high) == found(spans.find(low, high))
    for node in range(spans.nodes):
        for other in range(spans.nodes):
            assert span_over_both(both.trees, 0, node, other) == found(spans.cover(node, other))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_makes_the_nodes_of_the_twin(seed: int) -> None:
    _, spans = with_spans(seed)
    made = nodes_of(spans)
    assert made.ints[:4].tolist() == [spans.first, spans.last, spans.parent, spans.depth]
    assert made.star == spans.nodes - 1


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_that_are_drawn_or_cut_lie_between_what_a_row_is_and_what_it_shows(seed: int) -> None:
    both, spans = with_spans(seed)
    for row, (base, shown) in enumerate(zip(both.case.base, both.twin.nodes, strict=True)):
        assert narrower_span(both.state, both.trees, row, 0) == both.twin._lower(row, 0)
        ends = (spans.first[base[0]], spans.last[shown[0]]), (spans.first[shown[0]], spans.last[base[0]])
        for below in (True, False):
            assert cut_span(both.state, both.trees, row, 0, below) == found(spans.find(*ends[not below]))
    both.check()
