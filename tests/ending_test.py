"""Every loop ends, whatever a policy asks: random policies with every algorithm, in a process that may be stopped.

A compiled loop that runs for ever hears neither Ctrl-C nor a deadline; so it is a process of its own that is held to a
time, and the policy that it stands at is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT
from strategies import seeds

SECONDS = 900  # forty policies take twenty on a quiet machine

# Doors that few policies of 40 rows come to, if any: loops over what they are given alone, which have tests.
NOT_REACHED = {
    "equal_rows_loops.hash_rows": "rows wider than two words: tests/kernels/grouping/equal_rows_test.py",
    "members_loops.write_members": "tables of more rows: tests/kernels/grouping/members_test.py",
    "mondrian_loops.measure_spans": "cuts from counts: tests/kernels/splitting/mondrian_test.py",
}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_policies_of_overlapping_models_that_once_ran_for_ever_end(number: int, tmp_path: Path) -> None:
    case = ROOT / "tests" / "cases" / f"overlapping-models-{number}"
    release = tmp_path / "release.csv"
    program = [sys.executable, "-m", "kveil", "anonymize", str(case / "policy.yaml"), "--output", str(release), "-q"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert release.exists()


def test_every_search_ends_under_random_policies() -> None:
    drawn = seeds(0, 100)
    program = [sys.executable, str(ROOT / "tests" / "watched_doors.py"), str(drawn.start), str(drawn.stop)]
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"0").decode().splitlines()
        pytest.fail(f"joint policy {said[-1]} does not end")
    assert done.returncode == 0, done.stderr
    called = json.loads(done.stdout.splitlines()[-1])
    assert {door for door, times in called.items() if times == 0} <= set(NOT_REACHED) <= set(called)
