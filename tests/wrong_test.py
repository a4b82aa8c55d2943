"""A collection of wrong policies, files and commands, each with the exact sentence it is told.

`wrong/collection.json` has them; read it from top to bottom and ask of each: could a steward act on this?
"""

import json
from pathlib import Path
from typing import Any

import pytest

from support import names_in, run

COLLECTION = json.loads((Path(__file__).parent / "wrong" / "collection.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", COLLECTION["cases"], ids=lambda case: case["what"].replace(" ", "-"))
def test_what_is_wrong_is_told(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"policy.yaml": COLLECTION["base"], "data.csv": COLLECTION["data"]} | case.get("files", {})
    for key, name in (("policy", "policy.yaml"), ("data", "data.csv")):
        if key in case:
            files[name] = case[key]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding=case.get("encoding", "utf-8") if name == "data.csv" else "utf-8")
    done = run(*case.get("command", ["anonymize", "policy.yaml", "-o", "release.csv"]))
    if case["code"] == 0:  # not wrong enough to be refused: a note goes with the release
        assert (done.code, done.err) == (0, "")
        assert f"note: {case['says']}\n" in done.out
        return
    assert (done.code, done.err, done.out) == (case["code"], f"kveil: {case['says']}\n", "")
    assert names_in(tmp_path) == set(files)
    for name in ("Ann", "Bea", "Cid", "Dan"):
        assert name not in done.err


def test_there_are_many_and_each_ends_with_what_to_do() -> None:
    assert len(COLLECTION["cases"]) >= 60
    assert len({case["what"] for case in COLLECTION["cases"]}) == len(COLLECTION["cases"])
    for case in COLLECTION["cases"]:
        assert case["says"][-1] in ".?"
        assert case["says"].count("\n") == 0
        assert "defect" not in case["says"]


def test_the_messages_that_new_users_met_first_are_among_them() -> None:
    named = {case["what"] for case in COLLECTION["cases"]}
    assert named >= {
        "a column of the policy that the table calls otherwise",
        "another separator than the table has",
        "l above the number of values",
        "intervals that end too early",
        "a line of names in a hierarchy file",
        "a table that is not there",
        "k of one",
        "several blanks between columns",
        "another encoding",
        "a decimal comma where the policy says a point",
        "both decimal signs",
    }
