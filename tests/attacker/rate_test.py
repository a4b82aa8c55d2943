"""Success rates with their confidence intervals."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.attacker.rate import Z, rate_of, wilson


@pytest.mark.parametrize("targets", [1, 7, 1000])
@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5, 1.0])
def test_the_interval_has_the_rates_that_would_not_be_surprised(rate: float, targets: int) -> None:
    low, high = wilson(rate, targets)
    assert 0.0 <= low <= rate + 1e-12
    assert rate - 1e-12 <= high <= 1.0
    for end in (low, high):  # at both ends the rate lies Z standard deviations away
        if 1e-9 < end < 1.0 - 1e-9:
            assert abs(rate - end) == pytest.approx(Z * (end * (1 - end) / targets) ** 0.5)
    assert wilson(rate, 10 * targets)[1] - wilson(rate, 10 * targets)[0] < high - low


@pytest.mark.parametrize("targets", [1, 7, 300, 12345])
def test_never_and_always_are_ends_of_their_intervals(targets: int) -> None:
    assert wilson(0.0, targets)[0] == 0.0  # rounding left a little, which reads "under 0.01 %"
    assert wilson(1.0, targets)[1] == 1.0


def test_a_rate_is_the_mean_of_the_chances() -> None:
    rate = rate_of(np.array([1.0, 0.5, 0.0, 1.0]), most=np.array([1.0, 1.0, 0.5, 1.0]))
    assert (rate.rate, rate.worst, rate.certain, rate.targets, rate.at_most) == (0.625, 1.0, 2, 4, 0.875)
    assert rate.as_json()["at_most"] == 0.875
    assert "at_most" not in rate_of(np.array([0.5])).as_json()


def test_nobody_is_found_among_nobody() -> None:
    rate = rate_of(np.zeros(0))
    assert (rate.rate, rate.interval, rate.worst, rate.certain) == (0.0, (0.0, 1.0), 0.0, 0)
