"""From a table to a verified release: stages in their order, a bound where it is asked for, nothing that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from battery import cases_for, honours
from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import ALGORITHMS
from kveil.engines.memory import MemoryStore
from kveil.flow.steps import make_release as flow
from kveil.flow.steps import table_search
from kveil.flow.steps.inputs import table_of, with_algorithm
from kveil.flow.steps.make_release import make_release
from kveil.flow.steps.request import Request
from kveil.flow.steps.stages import Stages
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.report.account import make_account
from kveil.table.table import Table
from kveil.table.tuples import TupleTable
from made_runs import FRAME, made_run
from mixed_tuples import shuffled_tuples
from strategies import examples, placed


def test_a_run_is_verified_and_tells_its_stages_in_order() -> None:
    told: list[str] = []
    run = made_run(told=told, algorithm="mondrian")
    assert run.verdict.holds
    assert [stage for stage in told if not stage.startswith("solving")] == ["encoding", "verifying"]
    assert told.index("encoding") < next(i for i, stage in enumerate(told) if stage.startswith("solving"))
    assert (run.bound, run.engine, run.release_sha256) == (None, "local", None)


def test_a_bound_is_reckoned_where_it_is_asked_for_and_is_none() -> None:
    run = made_run(bounded=True, algorithm="mondrian")
    assert run.bound is not None
    assert 0 <= run.bound.at_least <= run.attempt.losses.ncp + 1e-9


def test_a_release_that_the_verifier_refuses_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = flow.verify_rows
    monkeypatch.setattr(flow, "verify_rows", lambda *a, **k: genuine(*a, **k).with_findings(["planted"]))
    with pytest.raises(kveil.KveilError, match="defect of kveil"):
        made_run()


def test_that_no_release_is_found_says_whether_that_is_proved() -> None:
    with pytest.raises(kveil.Unmeetable) as error:
        made_run(k=len(FRAME), limit=0, privacy=[{"model": "l-diversity", "sensitive": "diagnosis", "l": 2,
                                              "variant": "frequency"}, {"model": "k-anonymity", "k": len(FRAME)}],
             algorithm="datafly")  # fmt: skip
    assert error.value.proved or "does not prove" in str(error.value)


Told = tuple[pl.DataFrame, dict[str, Any]] | str


def told_of(policy: Policy, frame: pl.DataFrame, *, by_tuples: bool) -> Told:
    """The release and the account of a run, or what it says instead."""
    asked, stages = Request.of(policy, bounded=False, previous=[]), Stages(silent)
    source = table_of(frame, policy)
    try:
        run = make_release(source, asked, stages, MemoryStore(by_tuples=by_tuples), None)
    except kveil.KveilError as error:
        return f"{type(error).__name__}: {error}"
    return run.release.frame(source), dict(make_account(run, seconds={}, release_sha256=None))


@pytest.mark.parametrize(
    "algorithm", [one for one in ALGORITHMS if one.on_tuples], ids=lambda algorithm: algorithm.name
)
def test_tuples_with_counts_give_the_release_and_the_account_of_records(
    algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = []
    mixed: list[Callable[[Table], TupleTable]] = []
    monkeypatch.setattr(table_search, "in_tuples", lambda table: mixed[-1](table))

    @given(data=st.data())
    @examples(200, every_day=True)
    def same(data: st.DataObject) -> None:
        with placed(data.draw(cases_for(algorithm))) as here:
            assume(honours(algorithm, here.policy))
            policy, frame = with_algorithm(here.policy, algorithm.name), here.case.frame()
            mixed.append(partial(shuffled_tuples, seed=data.draw(st.integers(0, 99))))
            local, by_tuples = (told_of(policy, frame, by_tuples=way) for way in (False, True))
            solved.append(not isinstance(local, str))
            event("solved" if solved[-1] else "not solved")
            if isinstance(local, str) or isinstance(by_tuples, str):
                assert by_tuples == local
                return
            assert by_tuples[0].equals(local[0])
            assert by_tuples[1] == local[1]

    same()
    assert sum(solved) > len(solved) / 2
