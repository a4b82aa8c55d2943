"""Running an algorithm in this process: what refining may cost, and that what was found is never lost."""

import time
from typing import Any

import polars as pl
import pytest

from kveil.algorithms.least_loss import refine as refining
from kveil.algorithms.registry import find
from kveil.choose import Allowance, trials
from kveil.engines.solver import run, solve
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.stopping import OutOfTime, Stop, current, under
from kveil.table.encode import Table, encode
from kveil.table.solution import Solution
from support import make_policy

ONE = make_policy({"x": {"role": "quasi-identifier"}})
TREE = {"tree": {"*": {"a": ["0", "1", "2"], "b": ["3", "4", "5"]}}}


def table(*, rules: bool = False) -> Table:
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier", "hierarchy": TREE} for name in "xyz"}
    rows = [(str(i % 6), str(i // 3 % 6), str(i % 6)) for i in range(120)]
    frame = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    more = {"dependencies": ["x -> z"]} if rules else {}
    return encode(from_frame(frame), make_policy(attributes, k=7, **more))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """Let refining take all the time it is given, by a clock that nothing else moves, and note how much that is."""
    given: list[float | None] = []

    def refine(
        table: Table, solution: Solution, tries: float, seconds: float | None, *others: object, rules: object
    ) -> Solution:
        given.append(seconds)
        return solution

    monkeypatch.setattr(refining, "refine", refine)
    monkeypatch.setattr("kveil.engines.solver.perf_counter", lambda: sum(seconds or 0 for seconds in given))
    return given


def test_refining_under_rules_takes_no_longer_than_it_may(passes: list[float | None]) -> None:
    run(find("mondrian"), table(rules=True), {"refine": "normal", "refine_seconds": "0.6"})
    assert len(passes) >= 2
    assert sum(seconds or 0 for seconds in passes) == pytest.approx(0.6)


def test_without_a_limit_every_pass_runs_to_its_end(passes: list[float | None]) -> None:
    run(find("mondrian"), table(rules=True), {"refine": "normal"})
    assert set(passes) == {None}


@pytest.mark.parametrize("rules", [False, True])
def test_a_solution_is_kept_where_refining_finds_the_time_over(rules: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # The algorithm itself takes longer than the trial may; what it found is taken all the same.
    real = find("mondrian").solve
    deadline: list[float | None] = []

    def slow(*arguments: Any, **options: Any) -> Solution:
        solution = real(*arguments, **options)
        deadline.append(current().left)
        time.sleep(0.3)
        return solution

    monkeypatch.setattr("kveil.algorithms.splitting.mondrian.mondrian", slow)
    options = {"mondrian": {"refine": "best"}}
    (trial,) = trials(table(rules=rules), [find("mondrian")], options, silent, Allowance(0.2))
    assert trial.solved is not None
    assert not trial.late
    assert deadline[0] is not None


def test_somebody_who_asks_gets_the_best_so_far(passes: list[float | None]) -> None:
    stop = Stop()
    stop.ask()
    with under(stop):
        solved = solve(find("mondrian"), table(rules=True), {"refine": "normal"})
    assert len(passes) == 1  # no second search after somebody has asked
    assert solved.losses.ncp < 1


def test_least_loss_takes_the_best_start_where_the_time_is_over_before_all_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*arguments: object, **options: object) -> Solution:
        raise OutOfTime

    monkeypatch.setattr("kveil.algorithms.registry.FEW_ROWS", 0)  # of which all algorithms are starts
    monkeypatch.setattr("kveil.algorithms.classfly.classfly.classfly_complete", late)
    assert solve(find("least-loss"), table(), {"refine": "off"}).solution.details["start"] == "mondrian"
    monkeypatch.setattr("kveil.algorithms.splitting.mondrian.mondrian", late)
    with pytest.raises(OutOfTime):
        solve(find("least-loss"), table(), {"refine": "off"})


def test_the_steps_of_clustering_grow_faster_than_the_table() -> None:
    steps = [find(name).effort for name in ("k-member", "greedy-cka", "pk-clustering")]
    small, large = (encode(from_frame(pl.DataFrame({"x": [str(i) for i in range(n)]})), ONE) for n in (10, 100))
    for effort in steps:
        assert effort is not None
        assert 10 < effort(large) / effort(small) < 100
