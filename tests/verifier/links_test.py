"""Releases of which it is known who each row is."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.flow.steps.inputs import table_of
from kveil.verifier.distances import GROUP
from kveil.verifier.links import PERSON, KnownPeople, LinkedRelease
from kveil.verifier.rows import ITEM
from small_people import policy_of

POLICY = policy_of("[{model: k-anonymity, k: 1}]", "suppression: {limit: 1, show: star}")
FRAME = pl.DataFrame(
    {
        "age": ["0-9", "0-9", "*", "10-19"],
        "city": ["North", "South", "*", "North"],
        "sex": ["f", "f", "*", "f"],
        "illness": ["flu", "", "*", "gout"],
    }
)


def linked() -> LinkedRelease:
    return LinkedRelease("first", POLICY, table_of(FRAME, POLICY), pl.Series([11, 12, 13, 14]))


def test_a_row_of_stars_shows_nobody() -> None:
    assert linked().shown[PERSON].to_list() == [11, 12, 14]


def test_people_are_in_groups_of_equal_texts() -> None:
    one = linked()
    of = dict(one.group_of(["age", "sex"]).iter_rows())
    assert set(of) == {11, 12, 14}
    assert of[11] == of[12] != of[14]
    shown = {row[GROUP]: row for row in one.groups(["age", "sex"]).iter_rows(named=True)}
    assert (shown[of[14]]["age"], shown[of[14]]["sex"]) == ("10-19", "f")
    assert set(dict(one.group_of([]).iter_rows()).values()) == {0}  # over nothing all are one group
    assert one.groups([]).height == 1


def test_a_hidden_or_missing_value_is_none() -> None:
    items = linked().items("illness")
    assert items is not None
    assert dict(items.select(PERSON, ITEM).iter_rows()) == {11: "flu", 12: None, 14: "gout"}
    assert linked().items("weight") is None


def test_what_has_another_role_is_a_text_all_the_same() -> None:
    one = linked()
    assert one.texts(["illness"])["illness"].to_list() == ["flu", "", "*", "gout"]
    of = dict(one.group_of(["age", "illness"]).iter_rows())
    assert of[11] != of[12]


def test_known_values_are_read_in_the_order_of_the_lines() -> None:
    table = table_of(pl.DataFrame({"age": ["1", "2"], "city": ["Oslo", None]}), POLICY)
    known = KnownPeople(pl.Series([7, 8]), table, np.array([1, 0]))
    texts = known.texts(POLICY, ["city"])
    assert texts is not None
    assert texts["city"].to_list() == ["", "Oslo"]
    assert known.texts(POLICY, ["city", "sex"]) is None
