"""Columns of any type as texts, and copies that carry nothing hidden."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from kveil.errors import DataError
from kveil.files.texts import as_texts, exact_values, has_exact_values, item_texts, strip_column, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None), ("a", "a"), (True, "true"), (np.bool_(False), "false"), (3, "3"), (np.int8(-1), "-1"),
        (3.0, "3"), (0.1, "0.1"), (float("nan"), None), (float("inf"), "inf"), (Decimal("3.00"), "3"),
        (Decimal("0.10"), "0.1"), (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2), "2020-01-02"), (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02T03:04:00"),
        (datetime.time(3, 4), "03:04:00"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_people_write_it(value: Any, text: str | None) -> None:
    assert text_of(value) == text


def test_what_is_no_cell_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="bytes"):
        text_of(b"a")


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pl.Series([1.0, 2.5, None]), ["1", "2.5", None]),
        (pl.Series([0.1, 2.0], dtype=pl.Float32), ["0.1", "2"]),
        (pl.Series([True, None]), ["true", None]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"]),
        (pl.Series([datetime.date(2020, 1, 2)]), ["2020-01-02"]),
        (pl.Series([None, None]), [None, None]),
    ],
)
def test_a_column_is_read_value_by_value(column: pl.Series, texts: list[str | None]) -> None:
    assert as_texts(column).to_list() == texts


def test_a_type_that_has_no_text_is_named() -> None:
    with pytest.raises(DataError, match="the column 'd' is of type Duration"):
        as_texts(pl.Series("d", [datetime.timedelta(1)]))


def test_exact_values_differ_wherever_cells_do() -> None:
    exact = exact_values(pl.Series([0.0, -0.0, 1.0, None]))
    assert exact[0] != exact[1]
    assert exact[3] is None
    assert exact_values(pl.Series(["a"])).to_list() == [None]
    assert has_exact_values(pl.Datetime("ns"))
    assert not has_exact_values(pl.Datetime("us"))


def test_items_of_lists_are_texts() -> None:
    assert item_texts(pl.Series("s", [[1.0, 2.5], [], None])).to_list() == [["1", "2.5"], [], []]


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["secret", "kept"])])
def test_a_fresh_column_takes_nothing_along(kind: Any) -> None:
    whole = pl.Series("s", ["secret " * 10 if kind == pl.String else "secret", "kept"], dtype=kind)
    left = strip_column(whole.gather([1]))
    assert left.to_list() == ["kept"]
    assert b"secret" not in pickle.dumps(left.to_frame())
