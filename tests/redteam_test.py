"""What a red team found, a section per point: each of these published more than its policy promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from support import run


def release_of(folder: Path, policy: Path, *more: str) -> pl.DataFrame:
    """Anonymize by the command line and return the release."""
    done = run("anonymize", policy, "-o", folder / "r.csv", "--owner", folder / "o.json", "--quiet", *more)
    assert done.code == 0, done.err
    return pl.read_csv(folder / "r.csv", infer_schema=False)


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
