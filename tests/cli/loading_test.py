"""A table that is read early, or by its different lines, tells the same as one that is read in its turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kveil.cli import loading
from kveil.policy.load import read_document
from support import HEADER, ROLES, ROWS, Outcome, csv_text, run, write_policy

ALL_AT_ONCE = 1 << 60  # bytes: no file is as large
MANY = ROWS * 5


def both_ways(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[Outcome, Outcome]:
    """The same command where every file counts as large, and where none does."""
    told = []
    for large in (1, ALL_AT_ONCE):
        monkeypatch.setattr(loading, "LARGE", large)
        told.append(run(*arguments))
    return told[0], told[1]


def read_early(policy: Path, given: str | None) -> loading.EarlyTable | None:
    return loading.read_early(read_document(policy), policy.parent, given)


CONTENT: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (csv_text(MANY), {}),
    "semicolons": (csv_text(MANY, separator=";"), {}),
    "a separator that is named": (csv_text(MANY, separator="|"), {"separator": "|"}),
    "a separator that is wrong": (csv_text(MANY, separator=";"), {"separator": "|"}),
    "a separator that only the columns tell": (csv_text(MANY, [*HEADER[:4], "ward;a;b;c;d;e;f;g"]), {}),
    "quotes": (csv_text(MANY).replace("flu", '"flu, or so"'), {}),
    "no line end": (csv_text(MANY).rstrip("\n"), {}),
    "a row that is cut off": (csv_text(MANY) + "Zoe,31\n", {}),
    "blank lines": (csv_text(MANY) + "\n\n", {}),
    "letters beyond ASCII": (csv_text(MANY).replace("flu", "Grippe ü"), {}),
    "a mark in front": ("\ufeff" + csv_text(MANY), {}),
    "a column too many": (csv_text([[*row, "x"] for row in MANY], [*HEADER, "more"]), {}),
    "nothing": ("", {}),
    "only names": (csv_text([]), {}),
    "an encoding": (csv_text(MANY), {"encoding": "latin-1"}),
}


@pytest.mark.parametrize("kind", CONTENT)
@pytest.mark.parametrize("named", [True, False])
def test_a_table_that_is_read_early_gives_the_same_release(
    kind: str, named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, data = CONTENT[kind]
    table = tmp_path / "table.csv"
    table.write_text(text, encoding="utf-8")
    policy = write_policy(tmp_path, data={**data, "path": "table.csv"} if not named else data)
    release = tmp_path / "release.csv"
    given = ("--input", table) if named else ()
    made = []
    for large in (1, ALL_AT_ONCE):
        monkeypatch.setattr(loading, "LARGE", large)
        told = run("anonymize", policy, *given, "--output", release, "--quiet")
        made.append((told, release.read_bytes() if release.exists() else None))
        release.unlink(missing_ok=True)
    assert made[0] == made[1]
    assert (made[0][1] is None) == (made[0][0].code != 0)


def test_what_is_read_early_is_cut_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LARGE", 1)
    table = tmp_path / "table.csv"
    table.write_text(csv_text(MANY), encoding="utf-8")
    early = read_early(write_policy(tmp_path, data={"path": "table.csv"}), None)
    assert early is not None
    text = early.text()
    assert (early.path, text.separator) == (table, ",")
    assert text.cells is not None
    assert text.cells.height == len(MANY)


@pytest.mark.parametrize(
    ("policy", "given"),
    [
        ({"data": {"path": "absent.csv"}}, None),
        ({"data": {"path": "policy.yaml"}}, None),
        ({"data": {"path": "table.csv", "encoding": "latin-1"}}, None),
        ({"data": {"path": "table.csv"}, "engine": "stream"}, None),
        ({"data": {"path": ["table.csv"]}}, None),
        ({"data": "table.csv"}, None),
        ({}, None),
        ({}, "sqlite:///table.csv?table=t"),
        ({}, "table.csv.gz"),
    ],
)
def test_what_only_the_policy_tells_is_not_read_early(
    policy: dict[str, Any], given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "LARGE", 1)
    monkeypatch.chdir(tmp_path)
    for name in ("table.csv", "table.csv.gz"):
        (tmp_path / name).write_text(csv_text(MANY), encoding="utf-8")
    assert read_early(write_policy(tmp_path, **policy), given) is None


def test_a_policy_that_is_no_policy_is_told_by_loading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("{", encoding="utf-8")
    first, second = both_ways(monkeypatch, "anonymize", policy)
    assert first == second
    assert first.code == 2


RELEASES: dict[str, str] = {
    "good": csv_text([["30-39", "F", "flu", "w1"], ["60-69", "M", "gout", "w2"]] * 8, HEADER[1:]),
    "a group of one": csv_text([["30-39", "F", "flu", "w1"]] * 8 + [["60-69", "M", "flu", "w1"]], HEADER[1:]),
    "a name": csv_text([["Ann", "30-39", "F", "flu", "w1"]] * 8),
    "labels that nobody knows": csv_text([["30-39", "F", "flu", "w1"], ["3x", "F", "flu", "w1"]] * 8, HEADER[1:]),
    "stars": csv_text([["30-39", "F", "flu", "w1"]] * 8 + [["*", "*", "*", "w1"]] * 2, HEADER[1:]),
    "quotes": csv_text([['"30-39"', "F", "flu", "w1"]] * 8, HEADER[1:]),
    "carriage returns": csv_text([["30-39", "F", "flu", "w1"]] * 8, HEADER[1:]).replace("\n", "\r\n"),
    "a column too few": csv_text([["30-39", "F", "flu"]] * 8, HEADER[1:4]),
    "a row that is cut off": csv_text([["30-39", "F", "flu", "w1"]] * 8, HEADER[1:]) + "30-39,F\n",
    "nobody": csv_text([], HEADER[1:]),
}


@pytest.mark.parametrize("kind", RELEASES)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_release_whose_lines_are_counted_has_the_same_verdict(
    kind: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tmp_path / "release.csv"
    release.write_bytes(RELEASES[kind].encode())
    policy = write_policy(tmp_path, ROLES, k=3)
    first, second = both_ways(monkeypatch, "verify", policy, "--release", release, *options)
    assert first == second


THREADS_BEGIN = """
import threading
import numpy as np
import kveil.files
from kveil.cli import loading

print("ma" in vars(np))
threading.Thread.start = lambda thread: print("random" in vars(np))
loading.load_in_background([])
"""


def test_what_numpy_loads_when_it_is_asked_for_is_there_before_threads_ask() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS_BEGIN], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "True"]
