"""From a table to a verified release: stages in their order, a bound where it is asked for, nothing that fails."""

from __future__ import annotations

import pytest

import kveil
from kveil.flow.steps import make_release as flow
from made_runs import FRAME, made_run


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
