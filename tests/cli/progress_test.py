"""Progress: how much is done, how long it may still take, and `--progress json`, a JSON object per line on stderr."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import kveil
from kveil.cli.progress import PLANS, Clock, progress_at, progress_lines
from kveil.datasets import hospital
from kveil.flow.compare import compare_file
from kveil.policy.model import Policy
from kveil.progress import Stage


def test_stages_shares_and_losses_are_told() -> None:
    out = io.StringIO()
    tell = progress_lines(out, "anonymize")
    refining = Stage.with_loss("refining: loss 9.250% after 500 tries", 0.0925)
    for stage in ("reading", Stage.one_of("solving with mondrian", 2, 4), refining, "encoding"):
        tell(stage)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[0]["stage"] == "reading"
    assert lines[2]["loss"] == 0.0925
    assert "loss" not in lines[1]
    done = [line["done"] for line in lines]
    assert done == sorted(done)


def test_a_comparison_tells_of_each_algorithm_as_it_is_done() -> None:
    out = io.StringIO()
    policy = Policy.load(hospital() / "policy.yaml")
    comparison = compare_file(policy, algorithms=["datafly", "mondrian"], progress=progress_lines(out, "compare"))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    told = [line["compared"] for line in lines if "compared" in line]
    assert [entry["algorithm"] for entry in told] == ["datafly", "mondrian"]  # one after the other
    stages = [line["stage"] for line in lines]
    assert stages.index("compared datafly") < stages.index("solving with mondrian (2 of 2)")
    assert sorted(told, key=lambda entry: entry["loss"]["ncp"]) == json.loads(json.dumps(comparison.algorithms))


def test_a_run_tells_nothing_but_json_on_standard_error(tmp_path: Path) -> None:
    arguments = ["anonymize", str(hospital() / "policy.yaml"), "--algorithm", "mondrian", "--progress", "json"]
    command = [sys.executable, "-m", "kveil", *arguments, "--json", "--output", str(tmp_path / "release.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stages = [json.loads(line)["stage"] for line in done.stderr.splitlines()]
    assert stages[0] == "reading"
    assert "verifying" in stages
    assert json.loads(done.stdout)["algorithm"] == "mondrian"


# Told inside another stage, or by a command that has no plan of its own.
WITHOUT_A_PLACE = {"applying", "bounding", "compared", "compiling", "refining"}


def first_words() -> set[str]:
    """The first word of every sentence that the source tells as a stage, where it is written out."""
    found = set()
    for path in Path(kveil.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            told = call.args[0].values[0] if isinstance(call.args[0], ast.JoinedStr) else call.args[0]
            if name in {"progress", "begin", "one_of", "with_loss", "Compared"} and isinstance(told, ast.Constant):
                found.add(str(told.value).split(" ")[0].rstrip(":"))
    return found


def test_every_stage_begins_with_a_word_that_is_known() -> None:
    planned = {stage for plan in PLANS.values() for stage in plan}
    assert first_words() == planned | WITHOUT_A_PLACE


def test_time_left() -> None:
    assert progress_at("reading") == 0
    assert progress_at("compiling the kernels") is None
    first, second = (progress_at(Stage.one_of("solving with datafly", number, 2)) for number in (1, 2))
    assert first is not None
    assert second is not None
    assert first < second < 0.72
    for command, plan in PLANS.items():
        ends = [start + share for start, share in plan.values()]
        assert [progress_at(stage, command=command) for stage in plan] == [start for start, _ in plan.values()]
        assert max(ends) == pytest.approx(1)
    now = [0.0]
    clock = Clock("anonymize", lambda: now[0])
    assert clock.left() == ""
    clock.begin("reading")
    now[0] = 11.0
    clock.begin("solving with mondrian")  # after 22 in 100
    assert clock.left() == "about 39 s left"
    now[0] = 31.0
    clock.begin("compiling the kernels")  # has no place of its own
    assert clock.left() == "about 19 s left"
    now[0] = 71.0
    assert clock.left() == "perhaps 60 s left"
    now[0] = 311.0
    assert clock.left() == "perhaps 5 min left"
