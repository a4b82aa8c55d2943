"""A policy's fractions, with denominators so small that products with counts fit 64 bits; comparisons stay exact.

A policy's number may have any number of digits, and count · denominator then leaves 64 bits. But a share of counts is a
fraction with a small denominator itself: it is at most x exactly where it is at most the largest fraction with a small
denominator that is at most x.
"""

from __future__ import annotations

from fractions import Fraction

MOST_COUNT = 2**31 - 1  # of records in a group; the product of two such numbers fits 62 bits


def _neighbours(number: Fraction) -> tuple[Fraction, Fraction]:
    """Return the largest fraction not above a number and the smallest not below, denominators up to `MOST_COUNT`.

    They are the last convergent of its continued fraction that fits, and the last semiconvergent beyond that.
    """
    if number.denominator <= MOST_COUNT:
        return number, number
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = number.numerator, number.denominator
    while True:
        a = n // d
        if q0 + a * q1 > MOST_COUNT:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (MOST_COUNT - q0) // q1
    one, other = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
    return min(one, other), max(one, other)


def at_most(number: Fraction) -> Fraction:
    """Return a fraction that a share of counts is at most exactly where it is at most ``number``, which is below 1."""
    return _neighbours(number)[0]


def below(number: Fraction) -> Fraction:
    """Return a fraction that a ratio of counts is below exactly where it is below ``number``.

    Above 1 the ratio is turned over, so that the numerator, too, stays as small as a count: the one count is more than
    so large a share of the other.
    """
    return at_least(number) if number > 1 else _neighbours(number)[1]


def at_least(number: Fraction) -> Fraction:
    """Return a number of which a share is at most one part exactly where it is at most one part of ``number``."""
    share = at_most(1 / number)
    return 1 / share if share else Fraction(MOST_COUNT + 1)
