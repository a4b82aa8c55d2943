"""Models and sensitive values as the loops read them say what they were packed from."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.kernels.models import layout as kinds
from kveil.models.distributions import AlphaShare, Close, DistinctValues, EntropyL, FrequencyL, RecursiveCL
from kveil.models.groups import AtLeastK, GroupModel
from kveil.models.of_policy import sensitive_pairs
from kveil.models.packed import cut_to_rows, needs_of, values_of
from kveil.table.table import Table

TREE = {"tree": {"*": {"X": ["x1", "x2"], "Y": ["y1"]}}}


def table(distance: str = "equal") -> Table:
    columns = {"a": ["u", "v", "u", "v", "w"], "s": ["x1", "y1", "", "x1", "x2"]}
    model = {"model": "t-closeness", "sensitive": "s", "t": 0.5, "distance": distance}
    return coded(columns, {"a": QUASI, "s": {"role": "sensitive", "hierarchy": TREE}}, privacy=[model])


def test_needs_keep_the_numbers_of_their_models() -> None:
    own = table().sensitive["s"]
    models = [
        AtLeastK(4),
        DistinctValues("s", 3),
        EntropyL("s", 2.5),
        RecursiveCL("s", 2, Fraction(3, 2)),
        FrequencyL("s", Fraction(5, 2)),
        AlphaShare("s", Fraction(1, 3), 7),
        Close("s", 0.25, "ordered", own),
    ]
    needs = needs_of(models, ["r", "s"])
    expected = [kinds.AT_LEAST_K, kinds.DISTINCT, kinds.ENTROPY, kinds.RECURSIVE, kinds.FREQUENCY, kinds.ALPHA]
    assert needs.kind.tolist() == [*expected, kinds.ORDERED]
    assert needs.sensitive.tolist() == [-1, 1, 1, 1, 1, 1, 1]
    assert (needs.k[0], needs.k[5]) == (4, 7)
    assert needs.numerator.tolist()[1] == 3
    assert (needs.numerator[3], needs.denominator[3]) == (3, 2)
    assert (needs.numerator[5], needs.denominator[5]) == (1, 3)
    assert needs.bound[2] == pytest.approx(np.log(2.5))
    assert needs.bound[6] == 0.25


@pytest.mark.parametrize("distance", ["equal", "hierarchical"])
def test_values_are_laid_out_tuple_by_tuple_with_the_shares_of_all_that_are_alive(distance: str) -> None:
    own = table(distance)
    pairs, weights = sensitive_pairs(own), own.distinct.weights
    models = [Close("s", 0.5, distance, own.sensitive["s"])]
    for out in (None, 0):
        alive = weights.copy()
        if out is not None:
            alive[out] = 0
        values = values_of(own, pairs, models, alive)
        expected: Counter[int] = Counter()
        for t, code, number in zip(
            *(c.tolist() for c in own.pairs("s", own.distinct.member, len(weights))), strict=True
        ):
            if alive[t]:
                expected[code] += number
        assert sorted(values.whole[0][values.whole[0] > 0]) == pytest.approx(
            sorted(n / sum(expected.values()) for n in expected.values())
        )
        for t in range(len(weights)):
            here = slice(values.start[0, t], values.start[0, t + 1])
            assert int(values.times[here].sum()) == int(weights[t])
        if distance == "hierarchical":
            assert values.mass[0][0] == pytest.approx(1.0)  # everything lies below the root


def test_the_whole_may_be_more_than_the_tuples() -> None:
    own = table()
    models = [Close("s", 0.5, "equal", own.sensitive["s"])]
    whole = {"s": np.array([1, 1, 1, 1])}
    values = values_of(own, sensitive_pairs(own), models, own.distinct.weights, whole_table=whole)
    assert values.whole[0].tolist() == [0.25] * 4


def test_no_sensitive_attribute_is_no_column() -> None:
    own = table()
    values = values_of(own, {}, [AtLeastK(2)], own.distinct.weights)
    assert values.start.shape[0] == 0
    assert len(values.code) == 0


def test_values_are_cut_to_rows_in_the_order_of_these() -> None:
    own = coded(
        {"a": ["u", "v", "u", "w"], "r": ["p", "q", "p", "p"], "s": ["x1", "y1", "y1", "x2"]},
        {"a": QUASI, "r": {"role": "sensitive"}, "s": {"role": "sensitive"}},
        privacy=[{"model": "p-sensitive", "sensitive": name, "p": 2} for name in ("r", "s")],
    )
    models: list[GroupModel] = [DistinctValues("r", 2), DistinctValues("s", 2)]
    values = values_of(own, sensitive_pairs(own), models, own.distinct.weights)
    for rows in ([2, 0], [1], [0, 1, 2], []):
        cut = cut_to_rows(values, np.array(rows, dtype=np.int32))
        assert cut.start.shape == (2, len(rows) + 1)
        assert len(cut.code) == len(cut.times) == cut.start.max()
        assert (cut.whole == values.whole).all()
        for s in range(2):
            for place, row in enumerate(rows):
                here, there = (slice(v.start[s, at], v.start[s, at + 1]) for v, at in ((cut, place), (values, row)))
                assert cut.code[here].tolist() == values.code[there].tolist()
                assert cut.times[here].tolist() == values.times[there].tolist()
