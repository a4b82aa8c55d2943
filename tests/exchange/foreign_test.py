"""What another tool asks for, as a policy of kveil's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import PolicyError
from kveil.exchange.foreign import ForeignColumn, ForeignPolicy, as_tree, check_models, foreign_policy_text
from kveil.policy.model import Policy

LINES = (("a", "x", "*"), ("b", "x", "*"))


def test_lines_end_under_a_star_whatever_they_ended_with() -> None:
    assert as_tree([["a", "x"], ["b", "x", "*"], ["", "none"], [], ["*"]], "h.csv") == LINES
    assert as_tree([["a", "a", "x"], ["b", "", "x"]], "h.csv") == LINES  # repeated and empty labels are no steps


def test_lines_that_are_no_tree_are_told_with_the_remedy() -> None:
    with pytest.raises(PolicyError, match="correct it in the other tool"):
        as_tree([["a", "x", "p"], ["b", "x", "q"]], "h.csv")


def test_the_text_is_a_policy_that_says_the_same() -> None:
    columns = (
        ForeignColumn("who: id", "identifier"),
        ForeignColumn("q", "quasi-identifier", lines=LINES, boundary=("x",), weight="2"),
        ForeignColumn("zip", "quasi-identifier", hierarchy={"mask": {"keep": [2]}}),
        ForeignColumn("s", "sensitive"),
    )
    foreign = ForeignPolicy(
        "ARX",
        "clinic.deid",
        columns,
        ({"model": "k-anonymity", "k": 3},),
        "0.1",
        show="star",
        separator="\t",
        missing=("?", 'a"b'),
        left_out=("x.",),
    )
    text, files = foreign_policy_text(foreign, "t.csv", "clinic")
    policy = Policy.parse(text, "policy.yaml", Path(), files)
    assert [attribute.role for attribute in policy.attributes.values()] == [column.role for column in columns]
    lines = policy.fixed_lines("q")
    assert lines is not None
    assert lines.lines == LINES
    assert policy.data.separator == "\t"
    assert policy.data.missing == ("?", 'a"b')
    assert (float(policy.suppression.limit), policy.suppression.show) == (0.1, "star")
    assert float(policy.attributes["q"].weight) == 2
    assert "# NOT CARRIED OVER: x." in text


def test_a_policy_that_promises_nothing_is_refused_with_the_reason() -> None:
    with pytest.raises(PolicyError, match=r"no privacy model that kveil knows \(why it went\)"):
        check_models([], ["why it went."], "clinic.deid")
    check_models([{"model": "k-anonymity", "k": 2}], [], "clinic.deid")
