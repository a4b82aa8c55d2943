"""Profiles of columns that a test writes down; no test."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from kveil.suggestion.profile import Profile, profile


def column(values: Iterable[object], name: str = "x", missing: Iterable[str] = ("",)) -> Profile:
    """Return the profile of a column with these values, as texts."""
    return profile(name, pl.Series([str(value) for value in values], dtype=pl.String), frozenset(missing))
