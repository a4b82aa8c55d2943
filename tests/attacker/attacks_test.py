"""Attacks as plain data."""

from __future__ import annotations

import json

from kveil.attacker.attacks import Attacks, FileJoin, Linking
from kveil.attacker.rate import Rate

RATE = Rate(0.5, (0.1, 0.9), 1.0, 1, 2)


def test_an_attack_is_plain_data_with_its_rates() -> None:
    link = Linking(attack="prosecutor", attributes=("a",), before=RATE, after=RATE, promised=True)
    told = json.loads(json.dumps(link.as_json()))
    assert told["attributes"] == ["a"]
    assert told["before"]["rate"] == 0.5
    assert told["promised"] is True
    whole = Attacks("assumed", "records", 4, 3, (link,)).as_json()
    assert whole["attacks"] == [link.as_json()]
    assert (whole["original"], whole["released"]) == (4, 3)


def test_a_join_says_how_many_were_drawn_only_where_not_all_were() -> None:
    kept = {"rows": 3, "matched": {}, "judged_by": None, "before": None, "after": None}
    assert "drawn" not in FileJoin(attack="file", attributes=(), **kept).as_json()
    assert FileJoin(attack="file", attributes=(), drawn=2, **kept).as_json()["drawn"] == 2
