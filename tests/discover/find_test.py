"""Exactly the rules that hold in a table are found, also by a look at a part of it first."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import places
from kveil.discover import coded_columns as as_codes
from kveil.discover import find
from kveil.flow.dependencies import dependencies_of_file
from naive import release as naive
from strategies import examples

GOLDEN = places.GOLDEN / "kmsd"


def write(folder: Path, rows: list[dict[str, str]]) -> Path:
    pl.DataFrame(rows).write_csv(folder / "data.csv")
    return folder / "data.csv"


@given(st.integers(0, 10**9))
@examples(60)
def test_exactly_the_minimal_functional_rules_are_found(seed: int) -> None:
    rng = Random(seed)
    rows = [{name: rng.choice("xyz"[: rng.randint(1, 3)]) for name in "abcde"} for _ in range(rng.randint(2, 9))]
    with tempfile.TemporaryDirectory() as folder:
        found = dependencies_of_file(write(Path(folder), rows))
    varying = [name for name in "abcde" if len({row[name] for row in rows}) > 1]
    assert found["constant"] == [name for name in "abcde" if name not in varying]
    expected = set()
    for size in range(1, len(varying)):
        for left in combinations(varying, size):
            for right in varying:
                smaller = any(set(x) <= set(left) and y == right for x, y in expected)
                if right not in left and not smaller and naive.functional(rows, left, [right]):
                    expected.add((left, right))
    assert {(tuple(rule["left"]), rule["right"][0]) for rule in found["functional"]} == expected
    for rule in found["functional"]:
        assert rule["key"] == (len({tuple(row[n] for n in rule["left"]) for row in rows}) == len(rows))


@given(st.integers(0, 10**9))
@examples(40)
def test_looking_at_a_part_first_changes_no_rule(seed: int) -> None:
    rng = Random(seed)
    rows = [{name: rng.choice("xyz"[: rng.randint(1, 3)]) for name in "abcd"} for _ in range(rng.randint(2, 20))]
    if rng.random() < 0.5:  # a rule that holds, over rows that repeat
        rows = [{**row, "b": row["a"] + "'"} for row in rows for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), rows)
        whole = dependencies_of_file(path)
        with pytest.MonkeyPatch.context() as patch:
            for module in (as_codes, find):
                patch.setattr(module, "FIRST_ROWS", 3)
            patch.setattr(find, "PAIRS", 1)
            assert dependencies_of_file(path) == whole
    for rule in whole["multivalued"]:
        for one, other in combinations(rows, 2):
            if all(one[name] == other[name] for name in rule["left"]):
                assert {**one, **{name: other[name] for name in rule["right"]}} in rows


def test_a_multivalued_rule_is_found(tmp_path: Path) -> None:
    rows = [
        {"course": course, "teacher": teacher, "book": book}
        for course, teachers, books in (("m", "ab", "12"), ("p", "bc", "13"))
        for teacher in teachers
        for book in books
    ]
    found = dependencies_of_file(write(tmp_path, rows))
    assert [rule["rule"] for rule in found["multivalued"]] == ["course ->> teacher"]
    assert dependencies_of_file(write(tmp_path, rows[:-1]))["multivalued"] == []
