"""Month after month: releases with newcomers and leavers that hold together, by an independent count."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from clinic_views import write_view
from kveil.archive import Archive
from kveil.datasets import hospital
from naive.together import Shown, below
from support import refused, run

QUASI = ("birth", "sex", "zip")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    return tmp_path


def _month(folder: Path, number: int) -> Path:
    """Write the patients of a month: 1,200 at first, 150 more each month, every 120th of those before has left."""
    header, *lines = (folder / "patients.csv").read_text().splitlines(keepends=True)
    here = [
        line
        for i, line in enumerate(lines[: 1050 + 150 * number])
        if not any(i % 120 == month and i < 1050 + 150 * month for month in range(1, number))
    ]
    path = folder / f"month{number}.csv"
    path.write_text(header + "".join(here))
    return path


def _shown(folder: Path) -> list[Shown]:
    """Return what every archived release shows of whom, read by other means than kveil's verifier."""
    found = []
    for archived in Archive.open(folder).releases():
        rows = archived.release.frame.select(*QUASI, "diagnosis").iter_rows()
        found.append({p: (row[:-1], row[-1]) for p, row in zip(archived.people.to_list(), rows, strict=True)})
    return found


@pytest.mark.parametrize("algorithm", ["mondrian", "classfly+complete", "datafly"])
def test_three_months_hold_together(clinic: Path, algorithm: str) -> None:
    policy = write_view(clinic, *QUASI, algorithm=algorithm, limit=0.3)
    kept = clinic / "kept"
    for number in (1, 2, 3):
        previous = ["--previous", kept] if number > 1 else []
        out = ["-o", clinic / "r.csv", "--archive", kept, "--json"]
        done = run("anonymize", policy, "--input", _month(clinic, number), *previous, *out)
        assert done.code == 0, done.err
        assert below(_shown(kept), 5, 3) == (0, 0)
    assert any("withheld" in warning for warning in done.json["warnings"])
    assert run("verify", policy, "--release", clinic / "r.csv", "--previous", kept, "-q").code == 0
    # Without a look at the earlier ones the same release would not hold.
    alone = run("anonymize", policy, "--input", clinic / "month3.csv", "-o", clinic / "r.csv", "--archive", kept, "-q")
    assert alone.code == 0
    assert below(_shown(kept), 5, 3) > (0, 0)
    assert run("verify", policy, "--release", clinic / "r.csv", "--previous", kept, "-q").code == 1
    # What is broken stays broken, and is said before anything is tried.
    again = run("anonymize", policy, "--input", clinic / "month3.csv", "-o", clinic / "s.csv", "--previous", kept)
    refused(again, "the earlier releases already break the policy together", code=1)


def test_a_policy_names_its_archives_and_the_library_keeps_to_them(clinic: Path) -> None:
    policy = write_view(clinic, *QUASI, algorithm="mondrian", limit=0.3)
    run("anonymize", policy, "--input", _month(clinic, 1), "-o", clinic / "r.csv", "--archive", clinic / "kept", "-q")
    content = json.loads(policy.read_text())
    policy.write_text(json.dumps({**content, "previous": ["kept"]}))
    month = _month(clinic, 2)
    beside = ["--owner", clinic / "owner", "--receipt", clinic / "receipt", "--report", clinic / "report.html"]
    done = run("anonymize", policy, "--input", month, "-o", clinic / "two.csv", *beside, "--json")
    assert done.code == 0, done.err
    assert "Together with 1 earlier release it shows 1,350 people: 150 for the first time" in " ".join(
        (clinic / "report.html").read_text().split()
    )
    assert done.json["previous"]["releases"] == 2
    assert "previous" not in json.loads((clinic / "receipt").read_text())
    loaded = kveil.Policy.load(policy)
    frame = pl.read_csv(month, infer_schema=False, empty_string_is_null=False)
    result = kveil.anonymize(frame, loaded)
    assert result.account["loss"] == done.json["loss"]
    assert kveil.verify(result.data, loaded, frame, result.owner)
    alone = kveil.anonymize(frame, loaded.model_copy(update={"previous": ()}))
    assert not kveil.verify(alone.data, loaded, frame, alone.owner)
    given = kveil.verify(alone.data, alone.policy, frame, alone.owner, previous=[clinic / "kept"])
    assert not given
    verified = run("verify", policy, "--release", clinic / "two.csv", "--original", month, "--owner", clinic / "owner")
    assert verified.code == 0, verified.out


def test_people_who_left_take_others_with_them_within_the_limit(clinic: Path) -> None:
    policy = write_view(clinic, *QUASI, algorithm="mondrian", limit=0)
    run("anonymize", policy, "--input", _month(clinic, 1), "-o", clinic / "r.csv", "--archive", clinic / "kept", "-q")
    done = run("anonymize", policy, "--input", _month(clinic, 2), "-o", clinic / "s.csv", "--previous", clinic / "kept")
    told = refused(done, "must be withheld", "10 people of earlier releases", "raise suppression.limit", code=1)
    assert "P-0" not in told
    assert not (clinic / "s.csv").exists()


def test_a_new_archive_takes_over_the_key(clinic: Path) -> None:
    policy = write_view(clinic, *QUASI, algorithm="mondrian", limit=0.3)
    one, two = clinic / "one", clinic / "two"
    run("anonymize", policy, "--input", _month(clinic, 1), "-o", clinic / "r.csv", "--archive", one, "-q")
    new = ["-o", clinic / "s.csv", "--previous", one, "--archive", two, "-q"]
    assert run("anonymize", policy, "--input", _month(clinic, 2), *new).code == 0
    assert Archive.open(one).key == Archive.open(two).key
    both = ["--previous", one, "--previous", two]
    assert run("verify", policy, "--release", clinic / "s.csv", *both, "-q").code == 0


@pytest.mark.parametrize("model", ["kl-diversity", "k-km-anonymity"])
def test_models_of_sets_are_refused_by_name(clinic: Path, model: str) -> None:
    settings: dict[str, Any] = {"kl-diversity": {"k": 2, "l": 2}, "k-km-anonymity": {"k": 2, "m": 1}}[model]
    policy = write_view(clinic, *QUASI, algorithm="mondrian", limit=0.3)
    run("anonymize", policy, "--input", _month(clinic, 1), "-o", clinic / "r.csv", "--archive", clinic / "kept", "-q")
    content = json.loads(policy.read_text())
    content["attributes"]["patient_id"]["role"] = "individual"
    content["attributes"]["diagnosis"]["hierarchy"] = "diagnosis.csv"
    content["privacy"] = [{"model": model, "sensitive": "diagnosis", **settings}]
    content["algorithm"] = "auto"
    policy.write_text(json.dumps(content))
    refused(run("anonymize", policy, "-o", clinic / "s.csv", "--previous", clinic / "kept"), model, "earlier releases")


def test_an_algorithm_that_knows_no_boundaries_is_refused(clinic: Path) -> None:
    policy = write_view(clinic, *QUASI, algorithm="k-member", limit=0.3)
    policy.write_text(json.dumps({**json.loads(policy.read_text()), "privacy": [{"model": "k-anonymity", "k": 5}]}))
    mondrian = ["--algorithm", "mondrian", "-o", clinic / "r.csv", "--archive", clinic / "kept", "-q"]
    run("anonymize", policy, "--input", _month(clinic, 1), *mondrian)
    done = run("anonymize", policy, "-o", clinic / "s.csv", "--previous", clinic / "kept")
    refused(done, "k-member", "earlier releases", "least-loss")
