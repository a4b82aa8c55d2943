"""The demonstration: the whole story, and nothing left where it runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from support import (
    names_in,
    run,
)


def test_the_demo_tells_the_whole_story(tmp_path: Path) -> None:
    outcome = run("demo", "--folder", tmp_path / "demo")
    assert (outcome.code, outcome.err) == (0, "")
    for part in ("Before", "After", "guarantee", "loss", "suppressed"):
        assert part in outcome.out
    folder = tmp_path / "demo"
    assert {"policy.yaml", "everything.yaml", "visits-release.csv", "receipt.json", "owner.json"} <= names_in(folder)
    arguments = ["--release", folder / "visits-release.csv", "--original", folder / "visits.csv"]
    assert run("verify", folder / "everything.yaml", *arguments, "--owner", folder / "owner.json", "--quiet").code == 0
    names = {row["name"] for row in csv.DictReader((folder / "visits.csv").read_text().splitlines())}
    released = (folder / "visits-release.csv").read_text() + (folder / "receipt.json").read_text()
    assert not any(name in released for name in names)


def test_the_demo_leaves_nothing_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run("demo").code == 0
    assert names_in(tmp_path) == set()


@pytest.mark.parametrize("name", ["policy.yaml", "README.md", "visits-release.csv", "owner.json"])
def test_the_demo_replaces_nothing_that_it_has_not_made(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    outcome = run("demo", "--folder", tmp_path)
    assert (outcome.code, names_in(tmp_path)) == (2, {name})
    assert (
        outcome.err
        == f"kveil: {tmp_path} has a {name} of its own, which the demo would replace; give another folder.\n"
    )
    assert (tmp_path / name).read_text() == "mine"


def test_the_demo_can_be_run_again_in_its_folder(tmp_path: Path) -> None:
    made = [(run("demo", "--folder", tmp_path).code, (tmp_path / "visits-release.csv").read_bytes()) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0][0] == 0
