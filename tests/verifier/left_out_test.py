"""People who are left out and have the same value are warned of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.verifier.left_out import warnings_of_left_out
from kveil.verifier.release import lay_beside
from kveil.verifier.stars import Stars, Suppressed
from small_people import policy_of

DIVERSE = "[{model: k-anonymity, k: 2}, {model: p-sensitive, sensitive: illness, p: 2}]"
ROWS = {"age": list("123456"), "city": ["Oslo"] * 6, "sex": ["f"] * 6}


def warned(models: str, illnesses: list[str], released: list[int]) -> list[str]:
    policy = policy_of(models, "suppression: {limit: 1}")
    original = pl.DataFrame({**ROWS, "illness": illnesses})
    release = original[released]
    aligned = lay_beside(table_of(release, policy), table_of(original, policy), np.array(released), policy)
    parts = Stars.of(aligned.rows, policy).parts
    nobody = Suppressed(parts, tuple(pl.Series([False] * len(released)) for _ in parts))
    return warnings_of_left_out(policy, aligned, nobody)


@pytest.mark.parametrize(
    ("models", "illnesses", "released", "warns"),
    [
        (DIVERSE, ["flu"] * 4 + ["gout", "gout"], [0, 1, 2, 3], True),  # both have gout
        (DIVERSE, ["flu"] * 4 + ["gout", "cough"], [0, 1, 2, 3], False),
        (DIVERSE, ["flu"] * 6, [0, 1, 2, 3, 4, 5], False),  # nobody
        ("[{model: k-anonymity, k: 3}]", ["flu"] * 6, [0, 1, 2, 3, 4], False),  # sizes say nothing about values
        ("[{model: alpha-k, sensitive: illness, alpha: 0.5, k: 1}]", ["flu"] * 4 + ["gout"] * 2, [0, 1, 2], True),
    ],
)
def test_those_left_out_are_judged_as_one_group(
    models: str, illnesses: list[str], released: list[int], warns: bool
) -> None:
    found = warned(models, illnesses, released)
    assert bool(found) == warns
    if warns:
        assert found[0].startswith(f"{6 - len(released)} records left out, and as a group they break ")
        assert not any(illness in found[0] for illness in ("flu", "gout", "cough"))


def test_one_who_is_left_out_has_one_value() -> None:
    (warning,) = warned(DIVERSE, ["flu"] * 5 + ["gout"], [0, 1, 2, 3, 4])
    assert warning.startswith("1 record left out, and as a group it breaks p-sensitive")
