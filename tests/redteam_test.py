"""What a red team found, a section per point: each of these published more than its policy promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.policy.model import Policy
from support import run


def release_of(folder: Path, policy: Path, *more: str) -> pl.DataFrame:
    """Anonymize by the command line and return the release."""
    done = run("anonymize", policy, "-o", folder / "r.csv", "--owner", folder / "o.json", "--quiet", *more)
    assert done.code == 0, done.err
    return pl.read_csv(folder / "r.csv", infer_schema=False)


def asked(text: str) -> Policy:
    """Return the policy a text writes."""
    return Policy.parse(text, "policy.yaml", Path())


def cells(**columns: Any) -> pl.DataFrame:
    """Return a table of texts, a column per argument."""
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


# ---------------------------------------------------------------------------------------- 1, 2, 11: the verifier's side

TWO_COMPONENTS = """
kveil: 1
attributes:
  city: {role: quasi-identifier}
  age: {role: quasi-identifier}
  d: {role: sensitive}
privacy:
  - {model: l-diversity, attributes: [city], sensitive: d, l: %s}
  - {model: k-anonymity, attributes: [age], k: 2}
suppression: {limit: %s, show: star}
release: {order: keep}
"""


@pytest.mark.parametrize("with_original", [True, False])
def test_1_a_column_of_stars_protects_nobody_whose_values_are_all_the_same(*, with_original: bool) -> None:
    original = cells(city=["C0", "C1", "C2", "C3", "C4", "C5"], age=["31"] * 6, d=["HIV"] * 6)
    release = original.with_columns(city=pl.lit("*"))
    verdict = kveil.verify(release, asked(TWO_COMPONENTS % (3, 0)), original=original if with_original else None)
    assert not verdict.holds
    assert verdict.suppression["records"] == 6
    assert [g["holds"] for g in verdict.guarantees] == [False, True]
    assert any("protects nobody" in finding for finding in verdict.findings)


@pytest.mark.parametrize("with_original", [True, False])
def test_1_a_column_of_stars_is_honest_where_all_together_are_diverse(*, with_original: bool) -> None:
    original = cells(city=["C0", "C1", "C2"], age=["31"] * 3, d=["HIV", "flu", "gout"])
    release = original.with_columns(city=pl.lit("*"))
    verdict = kveil.verify(release, asked(TWO_COMPONENTS % (3, 0)), original=original if with_original else None)
    assert verdict.findings == []
    assert [(g["worst"], g["groups"]) for g in verdict.guarantees] == [(3, 1), (3, 1)]
    assert verdict.suppression["records"] == verdict.suppression["starred"] == 0


@pytest.mark.parametrize("with_original", [True, False])
@pytest.mark.parametrize("outliers", [1, 5])
def test_1_outliers_whose_town_alone_is_starred_do_not_pass(outliers: int, *, with_original: bool) -> None:
    towns = ["Nome", "Barrow", "Juneau", "Sitka", "Kodiak"][:outliers]
    original = cells(
        city=["Boston"] * 6 + towns, age=["31"] * (6 + outliers), d=["flu", "gout"] * 3 + ["HIV"] * outliers
    )
    release = original.with_columns(city=pl.Series(["Boston"] * 6 + ["*"] * outliers))
    verdict = kveil.verify(release, asked(TWO_COMPONENTS % (2, 0)), original=original if with_original else None)
    assert not verdict.holds
    assert verdict.suppression["records"] == outliers


def test_1_t_closeness_of_stars_is_to_all_who_take_part() -> None:
    text = (TWO_COMPONENTS % (1, 0)).replace(
        "{model: l-diversity, attributes: [city], sensitive: d, l: 1}",
        "{model: t-closeness, attributes: [city], sensitive: d, t: 0.2}",
    )
    fair = cells(city="BBBB****", age=["1"] * 8, d=["u", "u", "v", "v"] * 2)
    assert kveil.verify(fair, asked(text)).findings == []
    unfair = cells(city="BBBB****", age=["1"] * 8, d=["u", "u", "v", "v", "u", "u", "u", "u"])
    assert not kveil.verify(unfair, asked(text)).holds


def test_2_a_starred_row_publishes_no_sensitive_value() -> None:
    policy = asked(TWO_COMPONENTS % (2, 0.5))
    shown = cells(city="BBBB*", age=["1"] * 5, d=["flu", "gout", "flu", "gout", "HIV"])
    verdict = kveil.verify(shown, policy)
    assert verdict.suppression["records"] == 1
    assert verdict.findings == ["d shows the value of 1 record suppressed and shown as `*`."]
    starred = shown.with_columns(d=pl.Series(["flu", "gout", "flu", "gout", "*"]))
    original = cells(city="BBBBN", age=["1"] * 5, d=["flu", "gout", "flu", "gout", "HIV"])
    assert kveil.verify(starred, policy).findings == []
    assert kveil.verify(starred, policy, original=original).findings == []


def test_2_values_that_no_model_names_are_hidden_too() -> None:
    one_more = "  d: {role: sensitive}\n  e: {role: sensitive}\n"
    text = (TWO_COMPONENTS % (2, 0.5)).replace("  d: {role: sensitive}\n", one_more)
    rows = {"city": "BBBB*", "age": ["1"] * 5, "d": ["flu", "gout", "flu", "gout", "*"]}
    verdict = kveil.verify(cells(**rows, e="abcde"), asked(text))
    assert verdict.findings == ["e shows the value of 1 record suppressed and shown as `*`."]
    assert kveil.verify(cells(**rows, e="abcd*"), asked(text)).findings == []


def test_2_whoever_is_suppressed_is_so_wherever_the_same_value_is_protected() -> None:
    text = (TWO_COMPONENTS % (2, 0.5)).replace(
        "{model: k-anonymity, attributes: [age], k: 2}", "{model: l-diversity, attributes: [age], sensitive: d, l: 2}"
    )
    rows = {"city": "BBBB*", "d": ["flu", "gout", "flu", "gout", "*"]}
    verdict = kveil.verify(cells(**rows, age="11111"), asked(text))
    assert any("suppressed in one component, but not in another" in finding for finding in verdict.findings)
    assert kveil.verify(cells(**rows, age="1111*"), asked(text)).findings == []


def test_2_nobody_else_hides_a_value() -> None:
    release = cells(city="BBBB", age="1111", d=["flu", "gout", "flu", "*"])
    verdict = kveil.verify(release, asked(TWO_COMPONENTS % (2, 0)))
    assert verdict.findings == ["d shows `*` for 1 record not suppressed."]


def test_11_a_person_who_shows_only_items_takes_part_in_dependencies() -> None:
    text = """
kveil: 1
attributes:
  who: {role: individual}
  q0: {role: quasi-identifier}
  q1: {role: quasi-identifier}
  item: {role: sensitive}
privacy: [{model: k-anonymity, k: 1}]
dependencies: ["q1 -> q0"]
"""
    verdict = kveil.verify(cells(q0="*xx", q1="***", item="abc"), asked(text))
    assert [rule["holds"] for rule in verdict.dependencies] == [False]
    assert not verdict.holds
    allowed = asked(text + "suppression: {limit: 0.5, show: star}\n")
    starred = kveil.verify(cells(q0="*xx", q1="***", item="*bc"), allowed)
    assert [rule["holds"] for rule in starred.dependencies] == [True]


# ------------------------------------------------------------------ 5: labels, hierarchies and policies tell no values


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """A table of 700 people in 70 towns, and of one person of 97 years in a town of its own."""
    rows = [f"{20 + i % 60},town{i % 70:03},d{i % 3}" for i in range(700)]
    data = tmp_path / "t.csv"
    data.write_text("age,city,diagnosis\n" + "\n".join([*rows, "97,Ny-Alesund,d0"]) + "\n", encoding="utf-8")
    return data


def test_5_a_label_of_init_names_no_rare_value(towns: Path) -> None:
    folder = towns.parent
    assert run("init", towns, "-o", folder / "t.yaml").code == 0
    release = release_of(folder, folder / "t.yaml", "--algorithm", "mondrian")
    assert not any("Ny-Alesund" in text for name in release.columns for text in release[name].to_list())
    lines = (folder / "t.city.hierarchy.csv").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("Ny-Alesund;") for line in lines)
    assert not any("Ny-Alesund" in label for line in lines for label in line.split(";")[1:])
    assert any("town000 … town" in line for line in lines)


def test_5_a_label_of_a_balanced_hierarchy_names_no_rare_value(towns: Path) -> None:
    for k, named in (("1", True), ("5", False)):
        done = run("hierarchy", "build", towns, "--column", "city", "--as", "balanced", "--k", k)
        assert done.code == 0
        labels = {label for line in done.out.splitlines() for label in line.split(";")[1:]}
        assert any("Ny-Alesund" in label for label in labels) == named
    done = run("hierarchy", "build", towns, "--column", "city", "--as", "balanced", "--k", "100")
    assert {line.split(";")[-2].split()[0] for line in done.out.splitlines()} == {"run"}


def test_5_runs_of_people_with_many_records_are_named_by_people(tmp_path: Path) -> None:
    """A value in fifty records of one person is as rare as one in one record."""
    rows = [f"p{i},{20 + i % 50},town{i % 70:03},d{i % 3}" for i in range(700) for _ in range(2)]
    rows += [f"q1,97,Ny-Alesund,d{i % 3}" for i in range(50)]
    (tmp_path / "t.csv").write_text("person_id,age,city,diagnosis\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "t.yaml").code == 0
    assert kveil.Policy.load(tmp_path / "t.yaml").with_role("individual") == ["person_id"]
    lines = (tmp_path / "t.city.hierarchy.csv").read_text(encoding="utf-8").splitlines()
    assert not any("Ny-Alesund" in label for line in lines for label in line.split(";")[1:])


def test_5_init_writes_paths_from_the_policys_folder_and_no_values(towns: Path) -> None:
    folder = towns.parent / "policies" / "mine"
    folder.mkdir(parents=True)
    assert run("init", towns, "-o", folder / "t.yaml").code == 0
    assert kveil.Policy.load(folder / "t.yaml").data.path == "../../t.csv"
    assert str(towns.parent) not in (folder / "t.yaml").read_text(encoding="utf-8")
    (folder / "headless.csv").write_text("Smith,44,Smith,m\nJones,45,Miller,f\n", encoding="utf-8")
    done = run("init", folder / "headless.csv")
    assert done.code == 2
    assert "Smith" not in done.err
    assert "columns 1 and 3" in done.err


# ------------------------------------------------------------------ 9: less is promised than the owner may think


def test_9_init_protects_columns_that_give_a_quasi_identifier_back(tmp_path: Path) -> None:
    """Dummies of a hidden education, a precinct beside its neighbourhood, and what they are not to be mistaken for."""
    draw = np.random.default_rng(1)
    district = draw.integers(0, 12, 3_000)
    precinct = np.where(draw.random(3_000) < 0.97, district // 2, draw.integers(0, 6, 3_000))
    frame = pl.DataFrame(
        {
            "city": [f"city{d:02}" for d in district],
            "post": [f"post{p}" for p in precinct],
            "north": [str(int(d < 4)) for d in district],
            "colour": [("red", "blue", "green")[c] for c in draw.integers(0, 3, 3_000)],
            "diagnosis": [f"d{c}" for c in draw.integers(0, 5, 3_000)],
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    done = run("init", tmp_path / "t.csv", "--json")
    assert done.code == 0, done.err
    columns = {entry["column"]: entry for entry in done.json["columns"]}
    assert [columns[name]["role"] for name in ("city", "post", "north")] == ["quasi-identifier"] * 3
    assert columns["colour"]["role"] == "insensitive"
    assert "nearly follows from city" in columns["post"]["reason"]
    assert "follows from city" in columns["north"]["reason"]
