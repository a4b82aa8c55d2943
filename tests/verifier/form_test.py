"""One way of writing the same cells: every other way is found."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier import form
from kveil.verifier.form import Form, below_text, check_form
from kveil.verifier.rows import release_rows

TEXT = """
kveil: 1
data: {missing: ["", "?"]}
attributes:
  n: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 99]%s}}}
  i: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10]}}}
privacy: [{model: k-anonymity, k: 1}]
"""
PEOPLE = """
kveil: 1
attributes:
  who: {role: individual}
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {X: [x2, x1], Y: [y1]}}}}
privacy: [{model: k-anonymity, k: 1}, {model: p-sensitive, sensitive: s, p: 1}]
release: {shape: %s}
"""


def form_of(text: str, **columns: object) -> Form:
    policy = Policy.parse(text, "policy.yaml", Path())
    release = table_of(pl.DataFrame(columns), policy)
    return check_form(release, release_rows(release, policy), policy, None)


@pytest.mark.parametrize(
    ("spans", "intervals", "more", "sentence"),
    [
        (["1-2", "3", "*"], ["0-9", "10-19", "*"], "", None),
        (["1-2", ""], ["", "0-9"], "", None),
        (["1-2", "?"], ["0-9", "0-9"], "", "n writes missing in 1 cell otherwise than by ''"),
        (["1-2.0"], ["0-9"], "", "n writes spans in another way than `low-high` in 1 cell"),
        (["03"], ["0-9"], "", "n writes spans in another way"),
        (["5-10", "7"], ["0-9", "0-9"], ", round: 5", None),
        (["5-11", "7"], ["0-9", "0-9"], ", round: 5", "n shows bounds that are no multiples of 5 in 1 cell"),
        (
            ["10-99", "0-9.5"],
            ["0-9"] * 2,
            ", bounds: midpoints",
            "no multiples of 5 and no ends of the domain in",
        ),
        (["1", "1"], ["0-9", "[10,20)"], "", "i writes intervals of whole numbers and of others side by side"),
    ],
)
def test_cells_of_quasi_identifiers_are_written_in_one_way(
    spans: list[str], intervals: list[str], more: str, sentence: str | None
) -> None:
    findings = form_of(TEXT % more, n=spans, i=intervals).findings
    assert (findings == []) if sentence is None else any(sentence in finding for finding in findings)


@pytest.mark.parametrize(
    ("items", "odd"),
    [("x2|x1", 0), ("x1|x2", 1), ("x2|x2", 1), ("x1|y1", 0), ("y1|x1", 1), ("", 0), ("x1|", 1), ("*", 0)],
)
def test_sets_have_each_item_once_in_the_order_of_the_hierarchy(items: str, odd: int) -> None:
    for sets in ([items], pl.Series([[item for item in items.split("|") if item or len(items) > 1]])):
        findings = form_of(PEOPLE % "sets", a=["u"], s=sets).findings
        assert len(findings) == odd, (items, sets)


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_sets_are_looked_at_in_pieces_as_all_at_once(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "SETS_AT_ONCE", at_once)
    sets = ["x2|x1", "x1|x2", "", "y1", "y1", "x2|x2", "x1|y1"]
    (finding,) = form_of(PEOPLE % "sets", a=["u"] * len(sets), s=sets).findings
    assert "shows 2 sets in another form" in finding


@pytest.mark.parametrize(
    ("numbers", "items", "sentence"),
    [
        (["1", "1", "2"], ["x2", "x1", "y1"], None),
        (["1", "2", "1"], ["x2", "y1", "x1"], "individual does not number the people"),
        (["2", "2", "1"], ["x2", "x1", "y1"], "individual does not number the people"),
        (["1", "1", "2"], ["x1", "x2", "y1"], "the rows of 1 person are in another form"),
        (["1", "1", "2"], ["x1", "x1", "y1"], "the rows of 1 person are in another form"),
    ],
)
def test_long_releases_number_persons_and_sort_their_rows(
    numbers: list[str], items: list[str], sentence: str | None
) -> None:
    findings = form_of(PEOPLE % "long", individual=numbers, a=["u"] * 3, s=items).findings
    assert (findings == []) if sentence is None else any(sentence in finding for finding in findings)


def test_numbers_and_times_may_hold_more_than_their_texts_show() -> None:
    assert below_text(pl.Series([0.0, -0.0, 1.5, None, float("nan")])).to_list() == [False, True, False, False, False]
    moment = pl.Series([datetime(2020, 1, 1)]).cast(pl.Datetime("ns")).to_physical()
    times = pl.concat([moment, moment + 1, moment + 1000]).cast(pl.Datetime("ns"))
    assert below_text(times).to_list() == [False, True, False]
    assert below_text(pl.Series(["-0", "0"])).to_list() == [False, False]
    policy = PEOPLE.replace("privacy:", "  w: {role: insensitive}\nprivacy:") % "sets"
    found = form_of(policy, a=["u", "u"], s=["x1", "x1"], w=[0.0, -0.0])
    assert (found.findings, len(found.warnings)) == ([], 1)
