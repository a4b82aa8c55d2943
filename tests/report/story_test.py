"""What a report tells: figures of columns, hierarchies and groups, beside counting by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.attacker.attacks import Attacks
from kveil.attacker.play import play
from kveil.frames import from_frame
from kveil.report.story import MOST_BARS, MOST_NODES, NOBODY, ColumnBefore, Story, tell_owner, tell_public
from support import QUASI, columns_of, make_policy


@cache
def some() -> kveil.Result:
    return kveil.anonymize(pl.DataFrame(columns_of()), make_policy())


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


def shown(attribute: object, labels: list[str], **others: object) -> Story:
    """The public's story of a release that shows these labels."""
    policy = make_policy({"q": attribute, "s": "sensitive"}, algorithm="mondrian", **others)  # type: ignore[arg-type]
    return tell_public(policy, some().receipt, from_frame(pl.DataFrame({"q": labels, "s": ["x"] * len(labels)})))


def test_the_most_frequent_labels_are_drawn_in_their_natural_order() -> None:
    labels = [f"{age}-{age + 9}" for age in (100, 20, 3)] * 2 + ["*", "", "b"]
    assert shown(QUASI, labels).columns[0].after == [
        ("3-12", 2),
        ("20-29", 2),
        ("100-109", 2),
        ("(empty)", 1),
        ("b", 1),
        ("* (anything)", 1),
    ]


def test_labels_beyond_those_that_are_drawn_are_one_bar() -> None:
    labels = [f"{i}" for i in range(MOST_BARS + 3)] + ["16", "15"]
    column = shown(QUASI, labels).columns[0]
    assert len(column.after) == MOST_BARS + 1
    assert column.after[-1] == ("3 others", 3)
    assert ("16", 2) in column.after  # a frequent one is no other
    assert column.labels == MOST_BARS + 3
    assert column.before is None


@pytest.mark.parametrize(
    ("sizes", "bars"),
    [
        ([1, 1, 2, 3, 4], [("1", 2), ("2", 2), ("3–4", 7)]),
        ([5, 9, 10], [("5–9", 14), ("10–19", 10)]),
        ([20, 50], [("20–49", 20), ("50–99", 50)]),
    ],
)
def test_groups_are_counted_by_size(sizes: list[int], bars: list[tuple[str, int]]) -> None:
    labels = [f"v{i}" for i, size in enumerate(sizes) for _ in range(size)]
    groups = shown(QUASI, [*labels, "*", "*"]).groups  # stars are no group
    assert groups.bars == bars
    assert (groups.groups, groups.smallest, groups.largest) == (len(sizes), min(sizes), max(sizes))


def test_a_release_of_stars_alone_or_of_nothing_has_no_groups() -> None:
    assert shown(QUASI, ["*", "*"]).groups.bars == []
    assert shown(QUASI, []).groups.bars == []


def owners(attribute: dict[str, object], was: list[str], labels: list[str]) -> ColumnBefore:
    """What the owner is told of a column that was so, and is shown so."""
    policy = make_policy({"q": {"role": QUASI, **attribute}}, algorithm="mondrian")
    loss = {**some().account, "loss_by_attribute": {"q": {"ncp": 0.5}}}
    sides = (from_frame(pl.DataFrame({"q": column})) for column in (labels, was))
    story = tell_owner(policy, loss, *sides, {"limit": 1}, Attacks("", "records", 1, 1, ()))  # type: ignore[arg-type]
    assert story.owner is not None
    assert story.owner.reasons == {"limit": 1}
    before = story.columns[0].before
    assert before is not None
    return before


TREE: dict[str, object] = {"hierarchy": {"tree": {"any": {"b": ["b1", "b2"], "a": ["a1"], "c": ["c1"]}}}}


def test_nodes_are_those_that_cells_stand_at_and_those_above() -> None:
    nodes = owners(TREE, ["a1", "b1", "b2", "b2"], ["any", "b", "b", "b2"]).nodes
    assert [(node.label, node.depth, node.cells, node.below) for node in nodes] == [
        ("any", 0, 1, 4),
        ("b", 1, 2, 3),
        ("b2", 2, 1, 1),
    ]


def test_of_too_many_nodes_those_near_the_root_are_kept() -> None:
    leaves = [f"x{i:02}" for i in range(MOST_NODES + 4)]
    nodes = owners({"hierarchy": {"tree": {"any": leaves}}}, leaves, [*leaves, "x48"]).nodes
    assert len(nodes) == MOST_NODES + 1
    assert nodes[0].label == "any"
    assert nodes[-1].label == "5 more nodes"
    assert "x48" in [node.label for node in nodes]  # the fullest


def test_an_original_of_many_values_is_drawn_at_a_level_that_is_few() -> None:
    ages = [str(age) for age in range(40)]
    intervals: dict[str, object] = {"hierarchy": {"intervals": {"from": 0, "to": 39, "widths": [10, 20]}}}
    before = owners(intervals, ages, ages)
    assert (before.level, before.values) == ("1 step up its hierarchy", 40)
    assert before.bars == [("0-9", 10), ("10-19", 10), ("20-29", 10), ("30-39", 10)]
    few = owners(intervals, ages[:10], ages[:10])
    assert (few.level, few.bars) == ("", [(age, 1) for age in ages[:10]])


def test_numbers_under_ranges_are_drawn_in_ten_equal_parts() -> None:
    ranges: dict[str, object] = {"hierarchy": {"ranges": {"within": [0, 100]}}}
    before = owners(ranges, [*map(str, range(21)), ""], [*map(str, range(21)), ""])
    assert before.level == "in equal parts"
    assert before.bars[0] == ("0-2", 2)
    assert ("18-20", 3) in before.bars  # the last part has its upper end
    assert ("(empty)", 1) in before.bars
    assert sum(number for _, number in before.bars) == 22
    assert before.nodes == []


def test_the_share_left_out_is_of_people_where_there_are() -> None:
    story = shown(QUASI, ["x"])
    assert story.share == pytest.approx(1 / 9)
    assert (story.noun, story.public) == ("records", True)
    assert replace(story, counts=NOBODY).share == 0.0
