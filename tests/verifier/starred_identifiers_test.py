"""Identifiers that another tool keeps as stars are left aside; any other cell keeps them in."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.flow.steps.inputs import table_of
from kveil.verifier.starred_identifiers import shows_stars_alone, without_starred_identifiers

POLICY = kveil.Policy(
    attributes={"who": {"role": "identifier"}, "q": {"role": "quasi-identifier"}},  # type: ignore[dict-item]
    privacy=[{"model": "k-anonymity", "k": 1}],  # type: ignore[list-item]
)


@pytest.mark.parametrize(
    ("cells", "alone"), [(["*", "*"], True), (["*", "Ann"], False), (["*", None], False), (["*", ""], False)]
)
def test_only_stars_are_left_aside(cells: list[str | None], alone: bool) -> None:
    release = table_of(pl.DataFrame({"who": cells, "q": ["*", "*"]}), POLICY)
    left, hints = without_starred_identifiers(release, POLICY)
    assert shows_stars_alone(release, "who") == alone
    assert left.columns == (["q"] if alone else ["who", "q"])
    assert len(hints) == alone
    assert not shows_stars_alone(left, "absent")
