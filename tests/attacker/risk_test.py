"""The risk of a raw table: counts against slow twins, and on the hospital."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

import kveil
from kveil.attacker.risk import raw_risk, risk_sentences
from kveil.datasets import hospital
from kveil.files import read_table
from kveil.frames import from_frame
from strategies import Case, cases, examples, placed
from support import ROWS, columns_of, make_policy, run, write_policy, write_rows


@examples(40)
@given(cases(with_ranges=True))
def test_counts_agree_with_counting(case: Case) -> None:
    with placed(case) as place:
        twin, records = place.twin, case.records
        risk = raw_risk(from_frame(case.frame()), place.policy)

        def alone(names: list[str]) -> int:
            tuples = [tuple(twin.text(record[name]) for name in names) for record in records]
            return sum(1 for key in tuples if Counter(tuples)[key] == 1)

        assert risk["rows"] == len(records)
        assert risk["unique"]["rows"] == alone(twin.quasi)
        by_name = {entry["attribute"]: entry for entry in risk["attributes"]}
        for name in twin.quasi:
            assert by_name[name]["unique_alone"] == alone([name])
        for entry in risk["constraints"]:
            tuples = [tuple(twin.text(r[n]) for n in entry["attributes"]) for r in records]
            assert entry["below_k"] == sum(1 for key in tuples if Counter(tuples)[key] < entry["k"])
        sizes = {len(entry["attributes"]) for entry in risk["smallest_sets"]["sets"]}
        assert len(sizes) <= 1
        for smaller in range(1, min(sizes, default=1)):
            for chosen in combinations(twin.quasi, smaller):
                assert alone(list(chosen)) <= 0.5 * len(records)
        for entry in risk["levels"]:
            assert entry["below_k"][0] >= entry["below_k"][-1]


def test_what_drives_the_loss() -> None:
    risk = raw_risk(from_frame(pl.DataFrame(columns_of())), make_policy(k=4))
    (constraint,) = risk["constraints"]
    assert constraint["below_k"] == 9
    assert next(iter(constraint["drivers"])) == "age"
    assert constraint["below_other_k"]["2"] == 7  # Ann and Fay are alike
    ages = next(entry for entry in risk["levels"] if entry["attribute"] == "age")
    assert ages["below_k"] == [9, 1, 0]  # tens leave Ivy alone, `*` nobody


def test_the_hospital_in_words() -> None:
    policy = kveil.Policy.load(hospital() / "policy.yaml")
    risk = raw_risk(read_table(hospital() / "patients.csv"), policy)
    told = risk_sentences(risk)
    assert risk["unique"]["share"] > 0.9
    assert any("birth" in sentence for sentence in told)
    assert all(sentence.endswith(".") for sentence in told)


def test_persons_are_counted() -> None:
    rows = [("p1", "30", "flu"), ("p1", "30", "gout"), ("p2", "34", "flu")]
    policy = kveil.Policy(
        attributes={"pid": {"role": "individual"}, "age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    risk = raw_risk(from_frame(pl.DataFrame(rows, schema=["pid", "age", "ill"], orient="row")), policy)
    assert (risk["counts"], risk["rows"], risk["unique"]["rows"]) == ("people", 2, 2)


@pytest.mark.parametrize("rows", [1, 2])
def test_tiny_tables(rows: int) -> None:
    risk = raw_risk(from_frame(pl.DataFrame({n: v[:rows] for n, v in columns_of().items()})), make_policy())
    assert risk["rows"] == rows
    assert risk_sentences(risk)


def test_check_tells_it(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, k=4, data={"path": "data.csv"})
    write_rows(tmp_path / "data.csv")
    done = run("check", policy, "--json")
    assert done.json["risk"]["constraints"][0]["below_k"] == 9
    for row in ROWS:
        assert row[0] not in done.out
    shown = run("check", policy)
    assert "are alone with their age and sex" in shown.out
    assert "1 up" in shown.out


def test_one_record_is_told_in_the_singular() -> None:
    rows = pl.DataFrame({name: [*values[:1], *[values[1]] * 4] for name, values in columns_of().items()})
    told = " ".join(risk_sentences(raw_risk(from_frame(rows), make_policy(k=4))))
    assert "1 record of 5 (20.0%) is alone with its " in told
    assert "finds it in the raw table" in told
    assert "1 record (20.0%) is in groups below k 4" in told
