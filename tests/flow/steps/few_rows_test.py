"""Engine `stream` where few rows are different: everything is what the local engine makes of all records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from battery import cases_for
from both_engines import as_parquet, run, same_on_both
from kveil.algorithms.registry import ALGORITHMS, able
from kveil.discover import coded_columns
from kveil.engines import distinct
from kveil.files import ShownCells, open_stored
from kveil.flow.steps import few_rows
from kveil.flow.steps.inputs import with_algorithm
from small_people import people
from strategies import examples, placed
from support import make_policy

ON_TUPLES = [algorithm for algorithm in ALGORITHMS if algorithm.on_tuples]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Let every table that may take this way take it, however many of its rows are different; tells which did."""
    told: list[bool] = []

    def few(*arguments: Any, **options: Any) -> few_rows.FewRows | None:
        rows = look(*arguments, **options)
        told.append(rows is not None)
        return rows

    look = few_rows.few_rows
    monkeypatch.setattr(distinct, "FEW", 1)
    monkeypatch.setattr(coded_columns, "FIRST_ROWS", 3)  # so that rules are looked for in a part of the rows first
    monkeypatch.setattr(few_rows, "few_rows", few)
    yield told
    assert any(told)


def test_random_policies_give_the_same_on_both_engines(taken: list[bool]) -> None:
    solved = []

    @given(data=st.data(), number=st.integers(0, len(ON_TUPLES) - 1))
    @examples(150)
    def same(data: st.DataObject, number: int) -> None:
        with placed(data.draw(cases_for(ON_TUPLES[number]).filter(lambda case: "name" not in case.columns))) as here:
            policy = with_algorithm(here.policy, ON_TUPLES[number].name)
            if able(ON_TUPLES[number], policy):
                folder = here.path.parent
                solved.append(not isinstance(same_on_both(policy, as_parquet(here.case.frame(), folder), folder), str))

    same()
    assert sum(solved) > len(solved) / 3 > 0


TYPED = {
    "age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 99]}}},
    "city": {"role": "quasi-identifier"},
    "sex": {"role": "quasi-identifier"},
    "illness": {"role": "sensitive"},
    "ward": {"role": "insensitive"},
    "day": {"role": "insensitive"},
    "insured": {"role": "insensitive"},
}


def typed(rows: int) -> pl.DataFrame:
    frame = people(rows, seed=3).with_columns(pl.col("age").cast(pl.Int64), ("=" + pl.col("sex")).alias("ward"))
    number = pl.Series(np.arange(rows) % 3)
    return frame.with_columns(
        number.cast(pl.Int32).cast(pl.Date).alias("day"),
        pl.select(pl.when(number > 0).then(number > 1)).to_series().alias("insured"),
        illness=pl.when(number == 0).then(None).otherwise(pl.col("illness")),
    )


@pytest.mark.parametrize("order", ["sorted", "keep"])
@pytest.mark.parametrize("show", ["drop", "star"])
def test_typed_columns_missing_cells_and_stars_are_the_same(
    order: str, show: str, taken: list[bool], tmp_path: Path
) -> None:
    more: dict[str, Any] = {"suppression": {"limit": 0.3, "show": show}, "release": {"order": order}}
    models = [{"model": "k-anonymity", "k": 6}, {"model": "l-diversity", "sensitive": "illness", "l": 2}]
    policy = make_policy(TYPED, privacy=models, algorithm="mondrian", **more)
    told = same_on_both(policy, as_parquet(typed(60), tmp_path), tmp_path)
    assert not isinstance(told, str)
    assert any("formulas" in warning for warning in told[2]["warnings"])
    assert any("gives sex back" in warning for warning in told[2]["warnings"])


def test_a_shuffled_release_has_the_rows_of_a_sorted_one_and_its_owner_finds_them(
    taken: list[bool], tmp_path: Path
) -> None:
    frame = typed(300)
    data = as_parquet(frame, tmp_path)
    sorted_one = make_policy(TYPED, k=6, algorithm="mondrian")
    shuffled = make_policy(TYPED, k=6, algorithm="mondrian", release={"order": "shuffle"})
    told = [run(policy, data, "stream", tmp_path) for policy in (sorted_one, shuffled)]
    assert not isinstance(told[0], str)
    assert not isinstance(told[1], str)
    first, second = (pl.read_parquet(one[0]) for one in told if not isinstance(one, str))
    assert not first.equals(second)
    assert first.sort(first.columns).equals(second.sort(second.columns))
    back = [row - 1 for row in told[1][3]["rows"]]
    assert second["illness"].equals(frame["illness"].gather(back))
    assert sorted(back) == sorted(row - 1 for row in told[0][3]["rows"])


def test_a_cell_that_the_disk_changed_is_found(
    taken: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = ShownCells.part

    def changed(self: ShownCells, start: int) -> pl.Series:
        cells = part(self, start)
        return cells if self.cells.name != "illness" else cells.scatter(0, "another")

    monkeypatch.setattr(ShownCells, "part", changed)
    policy = make_policy(TYPED, k=6, algorithm="mondrian")
    told = run(policy, as_parquet(typed(300), tmp_path), "stream", tmp_path)
    assert isinstance(told, str)
    assert "illness (sensitive) differs from the original in 1 cell" in told


def test_tables_that_have_identifiers_or_many_different_rows_go_by_records(tmp_path: Path) -> None:
    frame = people(400).select("sex", "illness")
    roles = {"sex": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}

    def taken(table: pl.DataFrame, **more: Any) -> bool:
        policy = make_policy(roles | {name: {"role": role} for name, role in more.items()})
        return distinct.distinct_rows(open_stored(as_parquet(table, tmp_path)), policy) is not None

    number = pl.Series("x", np.arange(400))
    assert taken(frame)
    assert not taken(frame.with_columns(number), x="identifier")
    assert not taken(frame.with_columns(number), x="insensitive")
    assert not taken(frame.with_columns((number % 2).cast(pl.Float64)), x="insensitive")
    assert taken(frame.with_columns(number % 2), x="insensitive")
