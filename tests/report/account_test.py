"""The account of a run: its counts, its bound, and warnings of every kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kveil.algorithms.bound.bound import Bound
from kveil.report.account import count_suppressed, make_account
from made_runs import made_run


def test_rows_that_stand_for_several_records_are_counted_as_many() -> None:
    gone = np.array([True, False, True, False])
    assert count_suppressed(gone) == {"input": 4, "released": 2, "suppressed": 2}
    times = np.array([5, 1, 2, 10])
    assert count_suppressed(gone, times=times) == {"input": 18, "released": 11, "suppressed": 7}
    assert count_suppressed(np.zeros(0, dtype=bool)) == {"input": 0, "released": 0, "suppressed": 0}


def test_an_account_has_the_runs_own_figures_and_warnings_of_all_kinds_in_order() -> None:
    run = made_run(k=2)
    verdict = replace(run.verdict, warnings=["of the verdict"])
    told = replace(run, verdict=verdict, warnings=["of cells"], private_warnings=["with the original"])
    account = make_account(told, seconds={"solve": 1.5}, release_sha256="abc")
    assert account["warnings"][:3] == ["of the verdict", "of cells", "with the original"]
    assert account["records"] == {"input": 9, "released": 8, "suppressed": 1}
    assert account["individuals"] is None
    assert account["sha256"] == {"policy": run.policy_sha256, "release": "abc"}
    assert account["components"] == [{"attributes": ["age", "sex"], "constraints": [0]}]
    assert account["boundaries"] == {"violations": 0}
    assert "previous" not in account


@pytest.mark.parametrize(("share", "gap"), [(0.5, 1.0), (1.0, 0.0), (0.0, None)])
def test_the_gap_is_what_is_lost_beyond_the_bound_as_a_share_of_it(share: float, gap: float | None) -> None:
    run = made_run(k=4)
    lost = run.attempt.losses.of("ncp")
    bound = make_account(replace(run, bound=Bound("ncp", share * lost, 0.0, (), ())), seconds={}, release_sha256=None)[
        "bound"
    ]
    assert lost > 0
    assert bound is not None
    assert bound["gap"] == (None if gap is None else pytest.approx(gap))


def test_models_that_others_imply_are_told_by_their_places() -> None:
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "k-anonymity", "k": 4, "attributes": ["age", "sex"]}]
    account = make_account(made_run(privacy=privacy), seconds={}, release_sha256=None)
    assert account["implied"] == [{"constraint": 0, "by": 1}]
