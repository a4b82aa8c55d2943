"""Released columns that tell what a quasi-identifier hides."""

from __future__ import annotations

from kveil.report.warn.followers import following_columns
from laid_evidence import evidence
from support import QUASI, make_policy

POLICY = make_policy({"city": QUASI, "zip": "insensitive", "ward": "insensitive"}, k=4)
CITIES = ["Oslo", "Oslo", "Rome", "Rome"] * 10
ORIGINAL = {"city": CITIES, "zip": ["1", "1", "2", "2"] * 10, "ward": ["a", "b"] * 20}


def told(**columns: list[str]) -> list[str]:
    return following_columns(evidence(POLICY, ORIGINAL, {**ORIGINAL, **columns}))


def test_a_column_that_gives_a_hidden_one_back_is_told_where_groups_fall_below_k() -> None:
    few = {name: cells[:6] for name, cells in ORIGINAL.items()}
    (warning,) = following_columns(evidence(POLICY, few, {**few, "city": ["*"] * 6}))
    assert warning.startswith(
        "zip gives city back, or nearly so, and is released as in the table: whoever sees it knows city of 6 of 6 "
        "records."
    )
    assert "2 records of 6 fall below k 4" in warning  # the two of Rome


def test_nothing_is_said_of_groups_that_stay_large_or_of_columns_that_hide_nothing() -> None:
    assert told(city=["*"] * 40) == []  # 20 of each zip: nobody falls below k
    assert told() == []


def test_nothing_is_said_where_no_model_has_a_size_or_nothing_else_is_released() -> None:
    alone = make_policy({"city": QUASI}, k=4)
    assert following_columns(evidence(alone, {"city": CITIES[:6]}, {"city": ["*"] * 6})) == []
    one = make_policy({"city": QUASI, "zip": "insensitive"}, k=1)
    few = {name: ORIGINAL[name][:6] for name in ("city", "zip")}
    assert following_columns(evidence(one, few, {**few, "city": ["*"] * 6})) == []
