"""`kveil dependencies`: what holds in a table, how declared rules stand, and where they fail."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import places
from kveil.discover import coded_columns as as_codes
from kveil.discover import find
from kveil.discover.coded_columns import Columns
from kveil.flow.dependencies import dependencies_of_file
from naive import release as naive
from strategies import examples
from support import refused, run

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


def test_declared_rules_of_a_policy_and_of_its_release() -> None:
    fine = run("dependencies", GOLDEN / "policy-ag.yaml", "--json")
    assert fine.code == 0
    (declared,) = fine.json["declared"]
    assert (declared["rule"], declared["holds"], declared["groups"]) == ("Department -> Phone", True, [])
    assert "Department -> Phone" in [rule["rule"] for rule in fine.json["functional"]]

    broken = run("dependencies", GOLDEN / "policy-ag.yaml", "--input", GOLDEN / "expected-k-msd.csv", "--json")
    assert broken.code == 1
    (declared,) = broken.json["declared"]
    assert declared["broken"] == 1
    assert declared["groups"] == [
        {
            "left": {"Department": "Teaching"},
            "right": [{"Phone": "85152**"}, {"Phone": "85153**"}],
            "right_sides": 2,
            "records": 4,
        }
    ]
    told = run("dependencies", GOLDEN / "policy-ag.yaml", "--input", GOLDEN / "expected-k-msd.csv")
    assert "Teaching: 2 right sides in 4 records: 85152**; 85153**" in told.out


def test_what_is_never_released_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("name,id,zip,city\nAnn,7,1,x\nBob,8,1,x\nCid,9,2,y\n")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "kveil: 1\ndata: {path: data.csv}\nattributes: {name: {role: identifier}, id: {role: individual}, "
        "zip: {role: quasi-identifier}, city: {role: insensitive}}\nprivacy: [{model: k-anonymity, k: 1}]\n"
        "dependencies: ['zip -> city']\n"
    )
    outcome = run("dependencies", policy, "--json")
    assert outcome.json["columns"] == ["zip", "city"]
    assert "Ann" not in outcome.out
    assert "cannot be generalized" in outcome.json["declared"][0]["kept"]
    assert "never releases" in refused(run("dependencies", policy, "--columns", "name,zip"))
    refused(run("dependencies", tmp_path / "data.csv", "--columns", "zipp"), "zip")
    refused(run("dependencies", tmp_path / "data.csv", "--input", policy), "--input")
    refused(run("dependencies", tmp_path / "none.csv"), "none.csv")


def test_only_so_many_columns_are_looked_at(tmp_path: Path) -> None:
    rows = [{f"c{i:02}": str(rng) for i in range(14)} for rng in range(3)]
    found = dependencies_of_file(write(tmp_path, rows))
    assert len(found["columns"]) == 12
    assert found["left_out"] == ["c12", "c13"]
    assert dependencies_of_file(write(tmp_path, rows), columns=["c13", "c00"])["left_out"] == []


def test_empty_and_one_row_tables(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")
    assert dependencies_of_file(tmp_path / "data.csv")["functional"] == []
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    assert dependencies_of_file(tmp_path / "data.csv")["constant"] == ["a", "b"]


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
