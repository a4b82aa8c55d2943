"""What the check remembers between two clicks never changes its answer."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.datasets import hospital
from kveil.policy.keys import Data
from kveil.studio.policy_questions import PolicyDesk
from kveil.studio.tables import TableAt

HOSPITAL = hospital()
TEXT = (HOSPITAL / "policy.yaml").read_text()
TIMES = {"seconds", "seconds_of_limits"}


def _answers(desk: PolicyDesk, text: str) -> dict[str, Any]:
    given = {"text": text, "name": "policy.yaml", "folder": str(HOSPITAL), "opened": 0}
    both = desk.on_never_kept(**given) | desk.on_limits(**given)
    return {key: value for key, value in both.items() if key not in TIMES}


@pytest.mark.parametrize(
    ("change", "encodes"),
    [
        (("zip.csv}", "zip.csv, boundary: [New England]}"), False),
        (("zip.csv}", "zip.csv, boundary: {level: 1}}"), False),
        (("[month, year, decade]}}", "[month, year, decade]}, boundary: {level: 0}}"), False),
        (("[5, 10, 20, 40]}}}", "[5, 10, 20, 40]}}, boundary: [40-79]}"), False),
        (("limit: 0.05", "limit: 0"), False),
        (("k: 10}", "k: 60}"), True),
        (("[month, year, decade]", "[year, decade]"), True),
        (("city: {role: identifier}", "city: {role: quasi-identifier}"), True),
        (('missing: [""]', 'missing: ["", "F"]'), True),
    ],
)
def test_a_table_that_is_not_encoded_again_gives_the_same_answer(change: tuple[str, str], encodes: bool) -> None:
    assert change[0] in TEXT
    changed = TEXT.replace(*change)
    if "city: {role: q" in changed:
        changed = changed.replace("[birth, sex, zip]", "[birth, sex, zip, city]")
    desk = PolicyDesk()
    first = _answers(desk, TEXT)
    assert desk.encoded is not None
    before = desk.encoded[2]
    there = _answers(desk, changed)
    assert (desk.encoded[2] is not before) == encodes
    assert there == _answers(PolicyDesk(), changed)
    assert encodes or there != first
    assert _answers(desk, TEXT) == first


def test_the_numbers_of_columns_are_those_of_their_values() -> None:
    desk = PolicyDesk()
    for missing in (("",), ("", "F")):
        at = TableAt(Data(path="patients.csv", missing=missing), HOSPITAL)
        table = desk.on_table(at)
        assert table["rows"] == 2000
        for column in table["columns"]:
            values = desk.on_values(at, column["name"], 0, "")
            assert values["of"] == column["values"]
            shown = sum(number for _, number in values["values"])
            assert shown + column["missing"] == 2000 or values["of"] > len(values["values"])
