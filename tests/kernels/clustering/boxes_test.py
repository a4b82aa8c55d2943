"""What covers a box of leaves and a tuple, and what that costs, beside the slow way."""

from __future__ import annotations

from random import Random

import pytest

from called_loops import from_python
from kveil.kernels.clustering import boxes_loops as loops
from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering.layout import new_box
from laid_clusters import laid_out
from naive.clusters import random_clusters

SMALL = (0, field.SMALL)  # leaves of trees for which costs are kept: none, and all of these
span_cost = from_python(loops.span_cost)
call_cover = from_python(loops.cover)
call_joined = from_python(loops.widened_cost)
call_least = from_python(loops.cost_at_least)


@pytest.mark.parametrize("seed", range(25))
def test_a_cell_costs_what_covers_its_span(seed: int) -> None:
    case = random_clusters(Random(seed), 2, spans=False)
    costs, _ = laid_out(case)
    for a, own in enumerate(case.attributes):
        for low in range(own.leaves):
            for high in range(low, own.leaves):
                assert span_cost(costs, a, low, high) == own.cost(low, high)


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_a_box_grows_over_tuples_and_costs_what_covers_them(
    seed: int, spans: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "SMALL", small)
    chance = Random(seed)
    case = random_clusters(chance, 2, spans=spans)
    costs, distinct = laid_out(case)
    tuples = [chance.randrange(len(case.rows)) for _ in range(5)]
    box = new_box(costs, len(case.attributes))
    for number, t in enumerate(tuples):
        inside = tuples[:number]
        if inside:
            assert call_joined(costs, box, distinct.low, distinct.high, t) == case.cost([*inside, t])
        changed = call_cover(costs, box, distinct, t, number == 0)
        assert box.first.tolist() == distinct.low[tuples[: number + 1]].min(axis=0).tolist()
        assert box.last.tolist() == distinct.high[tuples[: number + 1]].max(axis=0).tolist()
        if inside and not changed:
            for other in range(len(case.rows)):
                assert call_joined(costs, box, distinct.low, distinct.high, other) == case.cost([*inside, other])


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("seed", range(25))
def test_no_tuple_inside_of_spans_costs_less_than_the_bound(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "SMALL", small)
    chance = Random(seed)
    case = random_clusters(chance, 2, spans=False)
    costs, distinct = laid_out(case)
    box = new_box(costs, len(case.attributes))
    call_cover(costs, box, distinct, 0, True)
    some = chance.sample(range(len(case.rows)), min(4, len(case.rows)))
    low, high = distinct.low[some].min(axis=0)[None, :], distinct.high[some].max(axis=0)[None, :]
    bound = call_least(costs, box, low, high, 0)
    assert bound <= min(case.cost([0, t]) for t in some)
    alone = [call_least(costs, box, distinct.low, distinct.high, t) for t in some]
    assert alone == [case.cost([0, t]) for t in some]  # around one tuple it is its cost
