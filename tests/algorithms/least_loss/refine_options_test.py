"""How much refining is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.algorithms.least_loss.refine_options import BEST, NORMAL, RefineOptions, heat_of, tries_in_groups
from kveil.errors import PolicyError


@pytest.mark.parametrize(
    ("asked", "default", "tries"),
    [
        (None, "off", 0.0),
        (None, "normal", NORMAL),
        ("best", "off", BEST),
        ("off", "best", 0.0),
        (False, "best", 0.0),  # `off` is false in YAML
        ("2.5", "off", 2.5),
        (0, "best", 0.0),
    ],
)
def test_efforts_are_tries_per_row(asked: Any, default: str, tries: float) -> None:
    assert RefineOptions(refine=asked).tries_per_row(default) == tries


@pytest.mark.parametrize("values", [{"refine": "hard"}, {"refine": -1}, {"refine_seconds": 0}, {"refine_seconds": "x"}])
def test_other_efforts_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="refine"):
        RefineOptions(**values)


def test_heat_is_for_many_tries() -> None:
    assert heat_of(tries_in_groups(NORMAL, large=False)) == heat_of(tries_in_groups(NORMAL, large=True)) == 0
    assert heat_of(tries_in_groups(BEST, large=False)) == heat_of(tries_in_groups(BEST, large=True)) == 1
    assert 0 < heat_of(5.0) < heat_of(8.0) < 1
