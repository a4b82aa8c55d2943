"""Promises as they are asked for, and weaker ones, each a little weaker than the one before."""

from __future__ import annotations

from kveil.studio.proposals import weaker_promises


def test_what_counts_values_falls_from_what_there_are() -> None:
    asked = {"model": "l-diversity", "sensitive": "d", "l": "5"}
    found = list(weaker_promises(asked, rows=100, values=3))
    assert found == [asked, {**asked, "l": 3}, {**asked, "l": 2}]
    assert list(weaker_promises(asked, rows=100, values=None)) == [asked]
    assert list(weaker_promises({"model": "p-sensitive", "p": 2}, rows=9, values=1)) == [
        {"model": "p-sensitive", "p": 2}
    ]


def test_shares_rise_below_one_and_groups_shrink_to_all_rows() -> None:
    asked = {"model": "alpha-k", "alpha": 0.85, "k": 50}
    assert list(weaker_promises(asked, rows=7, values=4)) == [
        asked,
        {"model": "alpha-k", "alpha": 0.85, "k": 7},
        {"model": "alpha-k", "alpha": "0.9", "k": 7},
        {"model": "alpha-k", "alpha": "0.95", "k": 7},
    ]
    assert list(weaker_promises({"model": "k-anonymity", "k": 9}, rows=7, values=None))[1] == {
        "model": "k-anonymity",
        "k": 7,
    }


def test_numbers_that_no_policy_has_are_left_as_they_are() -> None:
    for odd in ({"l": "9" * 400}, {"l": "x"}, {"k": -1}, {"p": None}, {}):
        assert list(weaker_promises(odd, rows=5, values=2)) == [odd]
