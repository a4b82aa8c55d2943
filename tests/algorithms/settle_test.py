"""Settling: whatever rows show, what is left after it satisfies every model when its texts are counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import kveil
from kveil.algorithms.settle import STARS_ARE_NO_GROUP, settle
from kveil.algorithms.stars import NOTHING_LEFT
from kveil.algorithms.suppression import LEFT_BEHIND
from kveil.errors import Unmeetable
from kveil.files import Source
from kveil.frames import from_frame
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from two_components import ATTRIBUTES, PARTS, broken, random_case


def table_of(frame: pl.DataFrame, document: dict[str, Any]) -> tuple[Source, Table]:
    text = yaml.safe_dump({"kveil": 1, **document, "release": {"order": "keep"}}, sort_keys=False)
    policy = kveil.Policy.parse(text, "p.yaml", Path())
    source = from_frame(frame)
    return source, encode(source, policy)


def showing(table: Table, steps: Sequence[Sequence[int]], suppressed: Any = None) -> Solution:
    """Return what rows show that climb so many steps from their leaves, per attribute and row."""
    shown = []
    for tree, leaves, up in zip(table.trees, table.leaves, steps, strict=True):
        assert isinstance(tree, Tree)
        nodes = tree.leaf_nodes[leaves].copy()
        for row, number in enumerate(up):
            for _ in range(number):
                nodes[row] = tree.parent[nodes[row]]
        shown.append(Shown.nodes(tree, nodes.astype(np.int32)))
    nobody = np.zeros((len(table.components), table.rows), dtype=bool)
    return Solution(tuple(shown), nobody if suppressed is None else suppressed)


def rows_of(source: Source, table: Table, solution: Solution) -> list[dict[str, str]]:
    return decode(source, table, solution).frame(source).to_dicts()


def test_random_rows_hold_once_they_are_settled() -> None:
    solved = refused = touched = 0
    for seed in range(150):
        frame, document = random_case(seed)
        document["suppression"]["limit"] = 0.9
        source, table = table_of(frame, document)
        chance = Random(seed)
        # Most climb to the root or near it, so that groups form and rows of stars are among them.
        steps = [[chance.choice([1, 1, 2, 2, 2, 0][: 6 - (seed % 3)]) for _ in range(table.rows)] for _ in table.trees]
        before = showing(table, steps)
        try:
            after = settle(table, before, "somebody")
        except Unmeetable:
            refused += 1
            continue
        solved += 1
        touched += bool(after.suppressed.any())
        assert broken(rows_of(source, table, after), document, frame.height) == [], seed
        told = np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *after.reasons.values()]))
        assert told.tolist() == np.flatnonzero(after.suppressed_anywhere).tolist()
    assert min(solved, refused, touched) >= 10, (solved, refused, touched)


MODELS = [{"model": "k-anonymity", "k": 2, "attributes": list(part)} for part in PARTS]


def small(limit: float, show: str, columns: dict[str, list[str]], **changed: Any) -> tuple[Source, Table]:
    document = {"attributes": {**ATTRIBUTES, **changed}, "privacy": MODELS}
    return table_of(pl.DataFrame(columns), {**document, "suppression": {"limit": limit, "show": show}})


FOUR = {
    "a": ["a1", "a1", "a2", "a2"],
    "b": ["x", "x", "y", "y"],
    "c": ["1", "1", "2", "2"],
    "e": ["m", "m", "n", "n"],
    "d": ["flu", "gout", "flu", "acne"],
}


def test_what_holds_already_is_returned_as_it_is() -> None:
    _, table = small(0, "drop", FOUR)
    solution = showing(table, [[0] * 4] * 4)
    assert settle(table, solution, "somebody") is solution


def test_one_that_is_left_behind_goes_too_and_the_reasons_say_so() -> None:
    # The third is suppressed over a and b, and dropped whole; the fourth is alone then, everywhere.
    _, table = small(0.5, "drop", FOUR)
    suppressed = np.zeros((2, 4), dtype=bool)
    suppressed[0, 2] = True
    settled = settle(table, showing(table, [[0] * 4] * 4, suppressed), "somebody")
    assert settled.suppressed_anywhere.tolist() == [False, False, True, True]
    assert settled.reasons[LEFT_BEHIND].tolist() == [3]
    with pytest.raises(Unmeetable, match="somebody") as error:
        settle(small(0.25, "drop", FOUR)[1], showing(table, [[0] * 4] * 4, suppressed), "somebody")
    assert error.value.lost == 2


def test_a_row_that_shows_nothing_anywhere_is_suppressed_and_stars_alone_are_no_group() -> None:
    _, table = small(1, "star", {name: values * 2 for name, values in FOUR.items()})
    # The first shows nothing at all; the third nothing over a and b, where it is the only one.
    steps = [[up if row == 0 or (row == 2 and a < 2) else 0 for row in range(8)] for a, up in enumerate([2, 1, 2, 1])]
    settled = settle(table, showing(table, steps), "somebody")
    assert settled.suppressed.tolist() == [[row in (0, 2) for row in range(8)], [row == 0 for row in range(8)]]
    assert {reason: rows.tolist() for reason, rows in settled.reasons.items()} == {
        NOTHING_LEFT: [0],
        STARS_ARE_NO_GROUP: [2],
    }


OPEN = {"role": "insensitive"}  # a column whose cells nobody stars


def test_suppressed_rows_join_a_group_of_stars_where_nobody_can_tell_them_apart() -> None:
    columns = {name: values * 2 for name, values in FOUR.items()}
    steps = [[up if row in (2, 3) and a < 2 else 0 for row in range(8)] for a, up in enumerate([2, 1, 2, 1])]
    suppressed = np.zeros((2, 8), dtype=bool)
    suppressed[0, 0] = True  # shown as stars over a and b, as the other two are
    source, table = small(1, "star", columns, d=OPEN)
    settled = settle(table, showing(table, steps, suppressed), "somebody")
    assert not settled.suppressed.any()
    assert [row["a"] + row["b"] for row in rows_of(source, table, settled)][:4] == ["**", "a1x", "**", "**"]
    # A sensitive cell that is starred beside them tells them apart.
    _, table = small(1, "star", columns)
    assert settle(table, showing(table, steps, suppressed), "somebody").suppressed.tolist() == suppressed.tolist()


def test_where_nobody_would_be_protected_over_some_attributes_that_is_told() -> None:
    suppressed = np.zeros((2, 4), dtype=bool)
    suppressed[0, [0, 2]] = True  # the other two are alone over a and b then
    steps = [[0] * 4] * 4
    _, bounded = small(1, "star", FOUR, d=OPEN, a={**ATTRIBUTES["a"], "boundary": {"level": 1}})
    with pytest.raises(Unmeetable, match="somebody cannot meet the policy: over a, b no record has a group"):
        settle(bounded, showing(bounded, steps, suppressed), "somebody")
    # Without the boundary the four of them are one group of stars.
    _, table = small(1, "star", FOUR, d=OPEN)
    assert not settle(table, showing(table, steps, suppressed), "somebody").suppressed.any()
