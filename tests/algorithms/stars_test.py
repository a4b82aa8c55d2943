"""Rows of stars: who shows nothing else, what that means, and where such rows may go."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import yaml

import kveil
from kveil.algorithms.component import components_of
from kveil.algorithms.stars import (
    can_show_stars,
    count_as_suppressed,
    give_away,
    group_of_stars_is_lost,
    star_cells,
    star_nodes,
    star_spans,
    without_part,
)
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree


def table_of(*, persons: bool = False, several: bool = False) -> Table:
    tree = {"tree": {"*": {"A": ["a1", "a2"], "B": ["b1"]}}}
    sets = [["q"], ["r"]] if several else [["q", "r"]]
    document = {
        "kveil": 1,
        "attributes": {
            **({"pid": {"role": "individual"}} if persons else {}),
            "q": {"role": "quasi-identifier", "hierarchy": tree},
            "r": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 9]}}},
            "s": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2, "attributes": names} for names in sets],
    }
    frame = pl.DataFrame({"q": ["a1", "a2", "b1"], "r": ["1", "2", ""], "s": ["x", "y", "z"]})
    if persons:
        frame = frame.with_columns(pl.Series("pid", ["1", "2", "3"]))
    return encode(from_frame(frame), kveil.Policy.parse(yaml.safe_dump(document, sort_keys=False), "p.yaml", Path()))


def test_a_group_shows_stars_where_every_attribute_does() -> None:
    (component,) = components_of(table_of())
    tree, scale = component.trees
    assert isinstance(tree, Tree)
    missing = scale.missing
    assert missing == 2
    low = np.array([[0, 0, 0, 0], [0, 0, missing, 0]], dtype=np.int32)
    high = np.array([[2, 1, 2, 2], [missing, missing, missing, 1]], dtype=np.int32)
    # The root and numbers beside missing; A and those; the root and missing alone; the root and numbers alone.
    assert star_spans(component.trees, low, high).tolist() == [True, False, False, False]
    assert can_show_stars(component.trees)
    assert star_nodes([tree, tree], np.array([[0, 0, 1], [0, 1, 0]], dtype=np.int32)).tolist() == [True, False, False]
    shown = [
        Shown.covering(own, low[a], high[a], np.arange(4, dtype=np.int32)) for a, own in enumerate(component.trees)
    ]
    assert star_cells(shown, 4).tolist() == [True, False, False, False]


def test_stars_take_no_part_and_count_as_suppressed_unless_a_persons_items_are_shown() -> None:
    star = np.array([True, False, True])
    records, people = table_of(), table_of(persons=True)
    assert without_part(records, star).tolist() == count_as_suppressed(records, star).tolist() == star.tolist()
    assert not without_part(people, star).any()
    assert not count_as_suppressed(people, star).any()
    assert group_of_stars_is_lost(records)
    assert not group_of_stars_is_lost(table_of(several=True))  # they may show something in the other component
    assert not group_of_stars_is_lost(people)


def test_rows_are_given_away_until_nobody_can_join_and_no_group_can_be_made() -> None:
    groups: list[set[int]] = [{100}]

    def join(row: int) -> bool:
        near = next((group for group in groups if any(abs(row - other) <= 10 for other in group)), None)
        if near is not None:
            near.add(row)
        return near is not None

    def start(rows: list[int]) -> set[int]:
        twos = {row for row in rows if row < 50} if not any(200 in group for group in groups) else set()
        if twos:
            groups.append(twos | {200})
        return twos

    # 95 joins at once, then 40 and 41 make a group, which 50 can join; 300 finds no place.
    assert give_away([95, 50, 40, 41, 300], join, start) == [300]
    assert groups == [{100, 95}, {40, 41, 50, 200}]
