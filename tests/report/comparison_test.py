"""A comparison: the best is the first that the verifier accepts."""

from __future__ import annotations

from kveil.report.comparison import Comparison, ComparisonEntry

REFUSED: ComparisonEntry = {"algorithm": "datafly", "solved": True, "seconds": 1.0, "holds": False}
ACCEPTED: ComparisonEntry = {"algorithm": "mondrian", "solved": True, "seconds": 2.0, "holds": True}
WORSE: ComparisonEntry = {"algorithm": "k-member", "solved": True, "seconds": 2.0, "holds": True}
UNSOLVED: ComparisonEntry = {"algorithm": "incognito", "solved": False, "seconds": 0.0, "reason": "too many levels"}


def test_a_release_that_was_refused_is_not_the_best_however_little_it_loses() -> None:
    assert Comparison("ncp", 9, "record", [REFUSED, ACCEPTED, WORSE, UNSOLVED]).best == "mondrian"
    assert Comparison("ncp", 9, "record", [REFUSED, UNSOLVED]).best is None
    assert Comparison("ncp", 9, "record", []).best is None


def test_as_json_it_names_what_rows_are() -> None:
    content = Comparison("il", 7, "person", [ACCEPTED], queries="counts").as_json()
    assert content["individuals"] == 7
    assert "records" not in content
    assert (content["best"], content["loss"], content["queries"]) == ("mondrian", "il", "counts")
    assert content["algorithms"] == [ACCEPTED]
