"""Stages of a run are told as they begin and timed as they end."""

from __future__ import annotations

import pytest

from kveil.flow.steps import stages as module
from kveil.flow.steps.stages import COMPILING, Stages
from kveil.progress import silent
from kveil.stopping import OutOfTime, Stop, under


def test_seconds_of_a_stage_that_ends_twice_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 3.0, 7.0])
    monkeypatch.setattr(module, "perf_counter", lambda: next(clock))
    told: list[str] = []
    stages = Stages(told.append)
    stages.begin("reading")
    for name in ("reading", "solving", "reading"):
        stages.end(name)
    assert told == ["reading"]
    assert stages.seconds == {"reading": 5.0, "solving": 2.0}


def test_a_search_says_that_it_compiles_only_where_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    stages = Stages(told.append)
    monkeypatch.setattr(module, "not_compiled", lambda loops: ["some"])
    stages.told_when_compiling(["some"])("solving")
    monkeypatch.setattr(module, "not_compiled", lambda loops: [])
    stages.told_when_compiling(["some"])("solving")
    assert told == ["solving" + COMPILING, "solving"]
    assert Stages(silent).told_when_compiling(["some"]) is silent


def test_nobody_waits_for_a_cancelled_stage() -> None:
    stop = Stop()
    stop.cancel()
    with under(stop), pytest.raises(OutOfTime):
        Stages(silent).begin("reading")
