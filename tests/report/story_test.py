"""What a report tells: figures of columns, hierarchies and groups, beside counting by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import kveil
from kveil.attacker.play import play
from kveil.frames import from_frame
from kveil.report.story import tell_owner
from support import make_policy


def test_people_are_drawn_beside_people(tmp_path: Path) -> None:
    attributes = {"who": {"role": "individual"}, "sex": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    policy = make_policy(attributes, k=2)
    rows = [(f"p{i}", "F" if i < 2 else "M", f"d{visit}") for i in range(6) for visit in range(9 if i < 2 else 2)]
    frame = pl.DataFrame(rows, schema=["who", "sex", "ill"], orient="row")
    result = kveil.anonymize(frame, policy)
    attacks = play(policy, from_frame(frame), from_frame(result.data), result.owner.rows)
    story = tell_owner(policy, result.account, from_frame(result.data), from_frame(frame), {}, attacks)
    before = story.columns[0].before
    assert before is not None
    assert before.bars == [("F", 2), ("M", 4)]  # not 18 and 8 records
