"""Fractions of any length compare with counts as they are, and products fit 64 bits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.models import shares
from kveil.models.distributions import FrequencyL, distribution_model
from kveil.models.groups import Groups, Pairs
from kveil.models.of_policy import group_model
from kveil.models.packed import needs_of
from kveil.policy.privacy import AlphaK, KLDiversity, LDiversity
from strategies import examples

COUNTS = st.integers(0, shares.MOST_COUNT)
THIRD = Decimal("0.3333333333333333")
LONG = Decimal("0.33333333333333333333333333333333")


@given(st.fractions(0, 1), COUNTS, st.integers(1, shares.MOST_COUNT))
@examples(300)
def test_a_share_is_at_most_a_fraction_exactly_where_it_is_at_most_the_one_that_fits(
    number: Fraction, count: int, size: int
) -> None:
    number = number + Fraction(1, 10**25 + 7) if number < 1 else number
    fits = shares.at_most(number)
    assert max(fits.numerator, fits.denominator) <= shares.MOST_COUNT
    for share in (Fraction(count, size), Fraction(int(number * size), size), fits):
        assert (share <= fits) == (share <= number)


@given(st.one_of(st.fractions(0, 10**30), st.fractions(0, 3)), COUNTS, st.integers(1, shares.MOST_COUNT))
@examples(300)
def test_a_ratio_is_below_a_fraction_exactly_where_it_is_below_the_one_that_fits(
    number: Fraction, first: int, tail: int
) -> None:
    number += Fraction(1, 10**25 + 7)
    fits = shares.below(number)
    assert fits.denominator <= shares.MOST_COUNT
    assert fits.numerator <= shares.MOST_COUNT + 1
    near = min(int(number * tail), shares.MOST_COUNT)
    for ratio in (Fraction(first, tail), Fraction(near, tail), Fraction(min(near + 1, shares.MOST_COUNT), tail)):
        assert (ratio < fits) == (ratio < number)


@given(st.fractions(1, 10**12), st.integers(1, shares.MOST_COUNT), st.integers(1, shares.MOST_COUNT))
@examples(300)
def test_one_part_of_l_is_kept_exactly(number: Fraction, count: int, size: int) -> None:
    number += Fraction(1, 10**25 + 7)
    fits = shares.at_least(number)
    near = max(int(size / number), 1)
    for most in (count, near, near + 1):
        assert (most * fits.numerator <= size * fits.denominator) == (most * number <= size)


def groups_of(counts: list[list[int]]) -> Groups:
    """Return groups with so many records of each value."""
    tuples = [(group, code, count) for group, own in enumerate(counts) for code, count in enumerate(own) if count]
    group, code, count = (np.array(column) for column in zip(*tuples, strict=True))
    number = np.arange(len(tuples), dtype=np.int32)
    pairs = Pairs(number, code.astype(np.int32), count.astype(np.int64), max(len(own) for own in counts))
    return Groups(group.astype(np.int32), len(counts), count.astype(np.int64), {"s": pairs})


@pytest.mark.parametrize("alpha", [THIRD, LONG])
def test_alpha_of_many_digits_is_exact_on_groups_of_thousands(alpha: Decimal) -> None:
    model = distribution_model(AlphaK(sensitive="s", alpha=alpha, k=1), None)  # type: ignore[arg-type]
    groups = groups_of([[1000, 0, 0, 0], [300, 300, 300, 100], [334, 333, 333, 0], [333, 333, 333, 1]])
    assert model.good(groups).tolist() == [False, True, False, True]
    needs = needs_of([model], ["s"])
    assert int(needs.denominator[0]) * 2**31 < 2**63
    assert 1000 * int(needs.denominator[0]) > 1000 * int(needs.numerator[0])


def test_l_and_c_of_many_digits_are_exact_on_groups_of_thousands() -> None:
    l_of = Decimal("3.00000000000000000001")
    frequency = distribution_model(LDiversity(sensitive="s", l=l_of, variant="frequency"), None)  # type: ignore[arg-type]
    groups = groups_of([[1000, 1000, 1000, 0], [999, 1000, 999, 2000], [999, 999, 999, 3]])
    assert frequency.good(groups).tolist() == [False, False, True]
    recursive = LDiversity(sensitive="s", l=2, c=Decimal("0.50000000000000000001"), variant="recursive")
    model = distribution_model(recursive, None)  # type: ignore[arg-type]
    assert model.good(groups_of([[1000, 1000, 1000], [1001, 1000, 1000], [1000, 999, 999]])).tolist() == [
        True, False, False,
    ]  # fmt: skip


def test_a_large_c_of_many_digits_is_exact_on_groups_of_thousands() -> None:
    c = Decimal("1000000.3183098861837907")
    model = distribution_model(LDiversity(sensitive="s", l=2, c=c, variant="recursive"), None)  # type: ignore[arg-type]
    groups = groups_of([[5000, 4000, 3000], [5000, 0, 0], [1_000_001, 1, 0], [1_000_000, 1, 0]])
    assert model.good(groups).tolist() == [True, False, False, True]
    needs = needs_of([model], ["s"])
    largest = max(int(needs.numerator[0]), int(needs.denominator[0]))
    assert largest * shares.MOST_COUNT < 2**63


def test_fingerprints_of_people_are_limited_by_the_fraction_that_fits() -> None:
    model = KLDiversity(sensitive="s", k=1, l=Decimal("3.00000000000000000001"))
    limited = group_model(model, None)  # type: ignore[arg-type]
    assert isinstance(limited, FrequencyL)
    assert max(limited.l.numerator, limited.l.denominator) <= shares.MOST_COUNT
