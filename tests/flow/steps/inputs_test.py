"""What every use starts with: a table that fits, and which row each released row is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from coded_tables import coded
from kveil.errors import DataError, PolicyError, Unmeetable
from kveil.flow.steps.inputs import align, check_input, check_released, check_targets, check_values, with_algorithm
from kveil.frames import from_frame
from kveil.report.owner import Owner
from support import make_policy

ATTRIBUTES = {"a": "quasi-identifier", "s": "sensitive"}


def owner(rows: list[int], number: int) -> Owner:
    return Owner(rows=np.array(rows), input_rows=number, **OTHERS)


OTHERS: dict[str, object] = {name: None for name in Owner.__dataclass_fields__ if name not in ("rows", "input_rows")}


def test_rows_are_aligned_by_the_owner_or_by_position_where_the_order_was_kept() -> None:
    kept, sorted_rows = make_policy(release={"order": "keep"}), make_policy()
    assert align(None, kept, released=3, original=3).tolist() == [0, 1, 2]
    assert align(owner([2, 0], 3), sorted_rows, released=2, original=3).tolist() == [2, 0]
    with pytest.raises(DataError, match="the release has 2 rows and the original 3"):
        align(None, kept, released=2, original=3)
    with pytest.raises(DataError, match="does not keep the input's order"):
        align(None, sorted_rows, released=3, original=3)


@pytest.mark.parametrize(
    ("rows", "number", "sentence"),
    [
        ([0], 3, "give the --owner file of this very release"),
        ([0, 1], 4, "give the --owner file of this very release"),
        ([0, 3], 3, "names rows that the original does not have"),
        ([-1, 0], 3, "names rows that the original does not have"),
        ([1, 1], 3, "names an input row twice"),
    ],
)
def test_an_owner_of_something_else_is_refused(rows: list[int], number: int, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        align(owner(rows, number), make_policy(), released=2, original=3)


def test_a_table_that_can_never_meet_its_policy_is_told_before_the_search() -> None:
    columns = {"a": ["x", "x", "y"], "s": ["1", "2", "1"]}
    source = from_frame(pl.DataFrame(columns))
    check_input(source, coded(columns, ATTRIBUTES, k=3))
    with pytest.raises(Unmeetable, match="has 3 records, fewer than k = 4"):
        check_input(source, coded(columns, ATTRIBUTES, k=4))
    with pytest.raises(DataError, match="itself breaks the dependency a -> s for 1 left side"):
        check_input(source, coded(columns, ATTRIBUTES, k=1, dependencies=["a -> s"]))
    model = {"model": "p-sensitive", "sensitive": "s", "p": 3}
    with pytest.raises(Unmeetable, match="has 2 values of s, fewer than p = 3"):
        check_values(source, coded(columns, ATTRIBUTES, privacy=[model], limit=0.5))
    check_values(source, coded(columns, ATTRIBUTES, privacy=[model], limit=1))  # nobody need be released


def test_outputs_are_different_files_and_none_is_an_input(tmp_path: Path) -> None:
    policy, source = make_policy(), tmp_path / "t.csv"
    check_targets(policy, source, [tmp_path / "r.csv", None, tmp_path / "o.json"])
    for targets in ([source], [tmp_path / "r.csv", tmp_path / "sub" / ".." / "r.csv"]):
        with pytest.raises(DataError, match="all outputs must be different files"):
            check_targets(policy, source, targets)


def test_another_algorithm_leaves_the_policys_options_behind() -> None:
    policy = make_policy(algorithm={"name": "k-member", "blocks": 10})
    assert with_algorithm(policy, None) is policy
    assert with_algorithm(policy, "k-member") is policy
    assert with_algorithm(policy, "mondrian").algorithm.options == {}
    with pytest.raises(PolicyError, match="did you mean 'mondrian'"):
        with_algorithm(policy, "mondrain")


def test_a_release_has_its_columns() -> None:
    release = from_frame(pl.DataFrame({"a": ["x"]}))
    check_released(release, ["a"])
    with pytest.raises(DataError, match="lacks b, c"):
        check_released(release, ["a", "b", "c"])


def test_no_output_lies_in_the_folder_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").touch()
    policy = make_policy()
    check_targets(policy, tmp_path / "in", [tmp_path / "out"])
    with pytest.raises(DataError, match="would be part of it"):
        check_targets(policy, tmp_path / "in", [tmp_path / "in" / "below" / "out"])
