"""What runs wrote when it was recorded: the same bytes in every way, or a reason."""

from __future__ import annotations

import json
import tomllib

import pytest

import recorded
import release_cases
import releases
from places import ROOT

SCRIPTS = ROOT / "scripts"
BEFORE = json.loads((SCRIPTS / "releases.json").read_text(encoding="utf-8"))
REASONS = tomllib.loads((SCRIPTS / "releases-changed.toml").read_text(encoding="utf-8"))
GOLDEN = {case.name: case for case in release_cases.golden()}


@pytest.mark.parametrize("name", list(GOLDEN))
def test_a_worked_example_is_released_as_before_or_differs_for_a_reason(name: str) -> None:
    for way, line in releases.record(GOLDEN[name], ("frame", "stream")).items():
        assert (line == BEFORE[way]) == (way not in REASONS), way


def test_what_differs_was_recorded() -> None:
    assert set(REASONS) <= set(BEFORE)


def test_what_differs_without_a_reason_is_told_and_so_is_a_reason_for_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {"a": "1", "b": "1", "c": "1"}

    def compared(now: dict[str, str], reasons: dict[str, str]) -> tuple[int, str]:
        code = recorded.compare(before, now, reasons, "releases", lambda *told: print(*told))
        return code, capsys.readouterr().out

    end = "releases are what they were, {} differ for a reason that is given\n"
    assert compared(before, {}) == (0, "3 of 3 " + end.format(0))
    assert compared({**before, "b": "2"}, {"b": "better"}) == (0, "2 of 3 " + end.format(1))
    assert compared({**before, "b": "2"}, {}) == (1, "b 1 2\n2 of 3 " + end.format(0))
    told = "a is said to have changed (better), and has not\n"
    assert compared(before, {"a": "better"}) == (1, told + "3 of 3 " + end.format(0))
