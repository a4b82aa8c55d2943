"""Suppressed rows publish no sensitive value, and nobody else hides one."""

from __future__ import annotations

import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.verifier.rows import release_rows
from kveil.verifier.starred_values import check_hidden_values
from kveil.verifier.stars import Stars, Suppressed
from small_people import policy_of

COLUMNS = ["age", "city", "sex", "illness"]
ONE = "[{model: p-sensitive, sensitive: illness, p: 1}]"
TWO = (
    "[{model: k-anonymity, attributes: [age], k: 1}, "
    "{model: p-sensitive, attributes: [city, sex], sensitive: illness, p: 1}]"
)
BOTH = (
    "[{model: p-sensitive, attributes: [age], sensitive: illness, p: 1}, "
    "{model: p-sensitive, attributes: [city, sex], sensitive: illness, p: 1}]"
)


def judged(models: str, rows: list[str], gone: list[list[int]], more: str = "") -> tuple[list[str], list[bool]]:
    policy = policy_of(models, f"suppression: {{limit: 1, show: star}}\n{more}")
    release = table_of(pl.DataFrame([row.split() for row in rows], schema=COLUMNS, orient="row"), policy)
    found = release_rows(release, policy)
    suppressed = Suppressed(
        Stars.of(found, policy).parts, tuple(pl.Series([i in own for i in range(len(rows))]) for own in gone)
    )
    hidden = check_hidden_values(policy, release, found, suppressed)
    return list(hidden.findings), hidden.rows["illness"].to_list()


def test_a_suppressed_row_hides_its_value() -> None:
    assert judged(ONE, ["3 Oslo f flu", "* * * *"], [[1]]) == ([], [False, True])
    findings, _ = judged(ONE, ["3 Oslo f flu", "* * * gout"], [[1]])
    assert findings == ["illness shows the value of 1 record suppressed and shown as `*`; show `*` there, too."]


def test_nobody_else_shows_a_star() -> None:
    findings, _ = judged(ONE, ["3 Oslo f *", "4 Oslo f *"], [[]])
    assert findings == ["illness shows `*` for 2 records not suppressed."]
    assert judged(ONE, ["3 Oslo f *"], [[]], 'data: {missing: ["", "*"]}')[0] == []


@pytest.mark.parametrize(("gone", "hides"), [([[0], []], False), ([[], [0]], True)])
def test_a_value_is_hidden_where_a_model_of_the_component_protects_it(gone: list[list[int]], hides: bool) -> None:
    _, hidden = judged(TWO, ["* * * *"], gone)
    assert hidden == [hides]


def test_components_that_protect_the_same_suppress_together() -> None:
    assert judged(BOTH, ["* * * *"], [[0], [0]])[0] == []
    findings, _ = judged(BOTH, ["* Oslo f *"], [[0], []])
    assert findings == [
        "1 record suppressed in one component, but not in another one that protects the same sensitive attribute."
    ]
