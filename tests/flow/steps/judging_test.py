"""What is done with a release that the verifier refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.registry import find
from kveil.errors import NotVerified, PolicyError
from kveil.flow.steps import judging
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.judging import check_verdict
from kveil.verifier.release import lay_beside, verify_rows
from small_people import people, policy_of

POLICY = policy_of("[{model: k-anonymity, k: 5}]")


def test_a_release_that_holds_passes_and_another_is_a_defect_of_whoever_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = people(6)
    aligned = lay_beside(table_of(frame, POLICY), table_of(frame, POLICY), np.arange(6), POLICY)
    broken = verify_rows(table_of(frame, POLICY), aligned.rows, POLICY, aligned=aligned)
    own = find("mondrian")
    with pytest.raises(NotVerified, match="This is a defect of kveil"):
        check_verdict(broken, aligned, POLICY, own)
    with pytest.raises(NotVerified, match="mondrian of the package more made a release"):
        check_verdict(broken, aligned, POLICY, replace(own, package="the package more"))
    monkeypatch.setattr(judging, "telling_labels", lambda aligned, policy: broken.findings)
    with pytest.raises(PolicyError):  # labels that tell too much are the policy's
        check_verdict(broken, aligned, POLICY, own)
    check_verdict(replace(broken, findings=[]), aligned, POLICY, own)
    assert pl.Series(broken.findings).len() > 0
