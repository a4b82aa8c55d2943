"""Spans reach from the smallest to the largest released value that shows them."""

from __future__ import annotations

import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.table.spans import draw_around_released

ATTRIBUTES = {"n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}}, "t": QUASI}
COLUMNS = {"n": ["1", "4", "5", "9", ""], "t": ["x"] * 5}


@pytest.mark.parametrize(
    ("labels", "gone", "drawn"),
    [
        (["1-9", "1-9", "1-9", "1-9", "*"], [0], [None, "4-9", "4-9", "4-9", "*"]),
        (["1-9", "1-9", "1-9", "1-9", "*"], [], ["1-9", "1-9", "1-9", "1-9", "*"]),
        (["1-5", "1-5", "1-5", "9", ""], [0, 1], [None, None, "5", "9", ""]),
        (["1-4", "1-4", "5", "9", ""], [4], ["1-4", "1-4", "5", "9", None]),
    ],
)
def test_a_bound_is_never_the_value_of_somebody_left_out(
    labels: list[str], gone: list[int], drawn: list[str | None]
) -> None:
    table = coded(COLUMNS, ATTRIBUTES, limit=1)
    shown = draw_around_released(table, shown_as(table, {"n": labels, "t": ["x"] * 5}, [gone])).shown[0]
    for text, expected in zip(texts_of(shown), drawn, strict=True):
        assert expected is None or text == expected
    scale = table.trees[0]
    for code, text in enumerate(shown.labels):
        if code in shown.codes:
            assert shown.ncp[code] == pytest.approx(scale.loss_of_text(text))


@pytest.mark.parametrize(("rules", "shown"), [([], "4-9"), (["t -> n"], "1-9")])
def test_a_span_that_would_become_another_one_stays_where_rules_are_declared(rules: list[str], shown: str) -> None:
    columns = {"n": ["1", "4", "9", "4", "9"], "t": ["x"] * 5}
    labels = ["1-9", "1-9", "1-9", "4-9", "4-9"]
    table = coded(columns, ATTRIBUTES, limit=1, dependencies=rules)
    drawn = draw_around_released(table, shown_as(table, {"n": labels, "t": ["x"] * 5}, [[0]])).shown[0]
    assert texts_of(drawn)[1:] == [shown, shown, "4-9", "4-9"]
