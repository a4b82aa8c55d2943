"""Columns as codes: how nearly one follows from another, whatever the order of rows and however many."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.discover.coded_columns import Columns
from strategies import examples


def test_a_rule_that_nearly_holds_is_told_from_chance() -> None:
    draw = np.random.default_rng(3)
    district = draw.integers(0, 20, 4_000)
    precinct = np.where(draw.random(4_000) < 0.97, district // 2, draw.integers(0, 10, 4_000))
    columns = Columns(
        pl.DataFrame(
            {
                "district": district.astype(str),
                "precinct": precinct.astype(str),
                "dummy": (district < 3).astype(str),
                "rare": (draw.random(4_000) < 0.01).astype(str),  # hardly varies: everything nearly tells it, by chance
                "number": np.arange(4_000).astype(str),  # tells everything, by chance
            }
        )
    )
    assert columns.nearly_follows(0, 1)
    assert not columns.follows(0, 1)
    assert not columns.nearly_follows(1, 0)
    assert columns.follows(0, 2)
    assert columns.nearly_follows(0, 2)
    assert not columns.nearly_follows(0, 3)
    assert not columns.nearly_follows(4, 0)
    assert columns.follows(4, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=12), st.randoms())
@examples(200)
def test_a_rule_that_nearly_holds_does_so_in_any_order_of_rows(rows: list[tuple[str, str]], draw: Random) -> None:
    shuffled = draw.sample(rows, len(rows))
    told = [
        Columns(pl.DataFrame(some, schema=["a", "b"], orient="row")).nearly_follows(0, 1) for some in (rows, shuffled)
    ]
    assert told[0] == told[1]


def test_a_long_table_counts_pairs_of_many_values_like_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(5)
    frame = pl.DataFrame({"a": draw.integers(0, 300, 50_000).astype(str)}).with_columns(
        b=pl.col("a").str.head(1), c=pl.Series(draw.integers(0, 300, 50_000).astype(str))
    )
    errors = [(Columns(frame).error(0, 1), Columns(frame).error(0, 2))]
    monkeypatch.setattr("kveil.discover.coded_columns.CELLS", 0)
    errors.append((Columns(frame).error(0, 1), Columns(frame).error(0, 2)))
    assert errors[0] == errors[1]
    assert errors[0][0] == 0 < errors[0][1]
    assert Columns(frame).nearly_follows(0, 1)
    assert not Columns(frame).nearly_follows(0, 2)


def test_the_error_of_a_rule_is_the_share_that_stands_against_it() -> None:
    columns = Columns(pl.DataFrame({"x": list("aaaabbbb"), "y": list("11121222")}))
    assert columns.error(0, 1) == pytest.approx(2 / 8)
    assert columns.error(1, 0) == pytest.approx(2 / 8)
    assert Columns(pl.DataFrame({"x": [], "y": []}, schema={"x": pl.String, "y": pl.String})).error(0, 1) == 0


def test_how_far_a_column_gives_another_back_is_counted() -> None:
    table = {"zip": ["1", "1", "2", "3", "3", "3"], "area": ["n", "n", "n", "s", "s", "n"]}
    for times in (None, np.array([1, 1, 1, 1, 1, 1]), np.array([5, 1, 2, 1, 1, 1])):
        columns = Columns(pl.DataFrame(table), times=times)
        each = [1] * 6 if times is None else times.tolist()
        for left, right in ((0, 1), (1, 0)):
            known, hidden = (list(table.values())[i] for i in (left, right))
            beside: dict[str, dict[str, int]] = {}
            for one, other, records in zip(known, hidden, each, strict=True):
                counts = beside.setdefault(one, {})
                counts[other] = counts.get(other, 0) + records
            assert columns.right_guesses(left, right) == sum(max(counts.values()) for counts in beside.values())
        assert columns.spread(1, 0) == (1, 3)  # s beside 3 alone, n beside all
        assert columns.spread(0, 1) == (1, 2)
