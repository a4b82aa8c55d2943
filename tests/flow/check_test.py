"""`kveil check`: what boundaries cost before any run, against every set of records tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given

from kveil.flow.check import check_file
from naive.k_member import Twin
from strategies import Case, cases, examples, placed
from support import QUASI, refused, run, write_policy

TREE = {"tree": {"*": {"N": {"No": ["Oslo", "Bergen"], "Se": ["Lund"]}, "S": {"It": ["Rome", "Pisa"]}}}}


def written(folder: Path, city: dict[str, Any], age: dict[str, Any], k: int = 2, limit: float = 0) -> Path:
    attributes = {
        "city": {"role": QUASI, "hierarchy": TREE, **city},
        "age": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 100]}}, **age},
    }
    rows = ["Oslo,20", "Bergen,22", "Lund,24", "Rome,40", "Pisa,70", "Rome,41"]
    (folder / "data.csv").write_text("city,age\n" + "".join(f"{row}\n" for row in rows))
    return write_policy(folder, attributes, k, limit, data={"path": "data.csv"}, algorithm="greedy-cka")


@given(case=cases(many=False, most_rows=12))
@examples(30)
def test_the_records_that_can_never_be_kept_are_out(case: Case) -> None:
    with placed(case) as here:
        if not case.rows:
            return
        out = Twin(here.path, case.records).solve()[1] if len(case.rows) >= here.twin.largest_k else None
        found = check_file(here.policy, given=here.path.parent / "data.csv")
        if out is None:
            assert not found["possible"]
            return
        assert found["boundaries"]["never_kept"] == len(out)
        assert found["possible"] == (len(out) <= here.twin.limit * len(case.rows))


def test_blame_and_what_relaxing_saves(tmp_path: Path) -> None:
    # By country: Norway 2, Sweden 1, Italy 3; ages at most 10 apart leave 70 alone.
    policy = written(tmp_path, {"boundary": ["No", "Se", "It"]}, {"boundary": {"max_width": 10}}, limit=0.4)
    outcome = run("check", policy, "--json")
    assert outcome.code == 0
    found = outcome.json["boundaries"]
    assert (found["never_kept"], found["limit"]) == (2, 2)
    assert found["attributes"] == [
        {"attribute": "city", "without": 1, "to_blame_for": 1, "alone": 1, "one_level_up": 1, "saves": 1},
        {"attribute": "age", "without": 1, "to_blame_for": 1, "alone": 1, "one_level_up": 2, "saves": 0},
    ]
    assert found["components"] == [
        {"attributes": ["city", "age"], "needs": 2, "groups": 4, "smallest": 1, "too_small": 2}
    ]


def test_an_impossible_policy_is_told_and_exits_with_one(tmp_path: Path) -> None:
    outcome = run("check", written(tmp_path, {"boundary": ["No", "Se", "It"]}, {}))
    assert outcome.code == 1
    assert "impossible: k-anonymity (k 2) over city and age cannot be kept" in outcome.out
    assert "1 record of 6 stands in a group that breaks it" in " ".join(outcome.out.split())
    outcome = run("check", written(tmp_path, {}, {}, k=7), "--json")
    assert outcome.code == 1
    assert "fewer than k = 7" in outcome.json["impossible"][0]


def test_a_policy_without_boundaries_is_fine_and_bad_input_is_two(tmp_path: Path) -> None:
    policy = written(tmp_path, {}, {})
    outcome = run("check", policy)
    assert outcome.code == 0
    assert "0 records of 6 can never be kept" in outcome.out
    (tmp_path / "data.csv").write_text("city\nOslo\n")
    refused(run("check", policy))
    refused(run("check", tmp_path / "absent.yaml"))


def test_models_that_only_an_algorithm_can_judge_make_nothing_impossible(tmp_path: Path) -> None:
    attributes = {"city": {"role": QUASI, "hierarchy": TREE, "boundary": ["N", "S"]}, "ill": {"role": "sensitive"}}
    (tmp_path / "data.csv").write_text("city,ill\nOslo,a\nOslo,a\nLund,b\nRome,a\nRome,b\n")
    model = {"model": "alpha-k", "sensitive": "ill", "alpha": 0.5, "k": 1}
    policy = write_policy(tmp_path, attributes, 2, 0.2, data={"path": "data.csv"}, privacy=[model])
    found = run("check", policy, "--json")
    assert found.code == 0
    assert (found.json["boundaries"]["never_kept"], found.json["boundaries"]["falling"]) == (0, 3)


def test_policies_about_fingerprints_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("id,sex,ill\n1,f,flu\n1,f,gout\n2,f,flu\n3,m,gout\n4,m,flu\n")
    attributes = {
        "id": {"role": "individual"},
        "sex": {"role": QUASI},
        "ill": {"role": "sensitive", "hierarchy": {"tree": {"*": ["flu", "gout"]}}},
    }
    privacy = [{"model": "kl-diversity", "sensitive": "ill", "k": 2, "l": 2}]
    policy = write_policy(tmp_path, attributes, data={"path": "data.csv"}, privacy=privacy)
    found = run("check", policy, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["boundaries"]["never_kept"] == 0


def test_rows_that_can_only_show_stars_in_one_component_need_company(tmp_path: Path) -> None:
    # Missing is outside the boundary: its only node above is `*`. Such rows are a group of their own, or suppressed.
    attributes = {
        "a": {"role": QUASI},
        "b": {"role": QUASI, "hierarchy": {"tree": {"*": {"B": ["b1", "b2"]}}}, "boundary": ["B"]},
    }
    privacy = [{"model": "k-anonymity", "attributes": [name], "k": 2} for name in "ab"]
    policy = write_policy(tmp_path, attributes, data={"path": "data.csv"}, privacy=privacy)
    for rows, code in (("x,b1\nx,b2\ny,\ny,b1\n", 1), ("x,b1\nx,b2\ny,\ny,\n", 0)):
        (tmp_path / "data.csv").write_text(f"a,b\n{rows}")
        assert run("check", policy, "--quiet").code == code
        assert run("anonymize", policy, "--output", tmp_path / "out.csv", "--quiet").code == code
