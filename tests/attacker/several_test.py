"""Somebody who kept the earlier release, on four people of whom it can be reckoned by hand."""

import json
from pathlib import Path

from support import run, write_rows

HEADER = ["who", "a", "b", "s"]
ROWS = [["p1", "x", "u", "1"], ["p2", "x", "v", "2"], ["p3", "y", "u", "3"], ["p4", "y", "v", "1"]]


def _view(folder: Path, name: str) -> Path:
    """Write a policy that shows one of the columns a and b."""
    roles = {"who": "identifier", "a": "identifier", "b": "identifier", "s": "sensitive", name: "quasi-identifier"}
    content = {
        "kveil": 1,
        "data": {"path": "t.csv", "key": "who"},
        "attributes": {column: {"role": role} for column, role in roles.items()},
        "privacy": [{"model": "l-diversity", "sensitive": "s", "l": 2}],
        "algorithm": "mondrian",
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(content))
    return path


def test_two_releases_leave_one_value_for_two_of_four(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv", ROWS, HEADER)
    kept = tmp_path / "kept"
    for name in ("a", "b"):
        out = ["-o", tmp_path / f"{name}.csv", "--owner", tmp_path / f"{name}.owner", "--archive", kept, "-q"]
        assert run("anonymize", _view(tmp_path, name), *out).code == 0
    attack = [
        "attack", tmp_path / "b.yaml", "--original", tmp_path / "t.csv", "--release", tmp_path / "b.csv",
        "--owner", tmp_path / "b.owner", "--previous", kept,
    ]  # fmt: skip
    played = {entry["attack"]: entry for entry in run(*attack, "--json").json["attacks"]}
    entry = played["several releases"]
    assert entry["releases"] == 2
    assert (entry["before"]["rate"], entry["one"]["rate"], entry["after"]["rate"]) == (0.5, 0.5, 0.75)
    assert (entry["one"]["certain"], entry["after"]["certain"]) == (0, 2)
    printed = run(*attack).out
    assert "Certain of 2 records, with the newest alone of 0 records" in " ".join(printed.split())
    assert "several releases" not in {entry["attack"] for entry in run(*attack[:-2], "--json").json["attacks"]}
