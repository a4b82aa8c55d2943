"""What is shown, and who is suppressed: classes, spans, stars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coded_tables import QUASI, coded, texts_of
from kveil.table.scale import Scale
from kveil.table.solution import Classes, Shown, Solution
from kveil.table.tree import Tree

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}}
NUMBERS = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}}


def table() -> tuple[Tree, Scale]:
    made = coded({"t": ["a", "b", "c"], "n": ["1", "4", "9"]}, {"t": TREE, "n": NUMBERS})
    tree, scale = made.trees
    assert isinstance(tree, Tree)
    assert isinstance(scale, Scale)
    return tree, scale


def test_parts_show_what_covers_their_leaves() -> None:
    tree, scale = table()
    low, high = np.array([0, 0], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    part = np.array([0, 1, -1, 0], dtype=np.int32)
    assert texts_of(Shown.covering(tree, low, high, part))[:2] == ["N", "*"]
    spans = Shown.covering(scale, low, high, part)
    assert [texts_of(spans)[row] for row in (0, 1, 3)] == ["1-4", "1-9", "1-4"]
    nothing = np.zeros(0, dtype=np.int32)
    assert len(Shown.covering(scale, nothing, nothing, np.array([-1, -1])).codes) == 2


def test_spans_with_one_text_have_one_code() -> None:
    _, scale = table()
    shown = Shown.spans(scale, np.array([0, 1, 0]), np.array([1, 1, 1]))
    assert texts_of(shown) == ["1-4", "4", "1-4"]
    assert shown.ncp.tolist() == pytest.approx([scale.loss_of_text(text) for text in shown.labels])
    assert len(set(shown.labels)) == len(shown.labels)


def test_labels_that_become_the_same_become_one_code() -> None:
    _, scale = table()
    shown = Shown.spans(scale, np.array([0, 1, 0]), np.array([1, 2, 2]))
    again = shown.relabelled(["x", "x", "y"], shown.ncp, shown.il)
    assert texts_of(again) == ["x", "y", "x"] if shown.labels[1] == "1-9" else texts_of(again)[0] == "x"
    assert len({code for code, text in zip(again.codes.tolist(), texts_of(again), strict=True) if text == "x"}) == 1


def test_rows_become_stars_and_the_others_stay() -> None:
    tree, scale = table()
    rows = np.array([True, False, False])
    for shown in (Shown.nodes(tree, tree.leaf_nodes), Shown.spans(scale, np.arange(3), np.arange(3))):
        starred = shown.starred(rows)
        assert texts_of(starred) == ["*", *texts_of(shown)[1:]]
        assert starred.ncp[starred.codes[0]] == 1.0
        assert starred.is_star[starred.codes].tolist() == rows.tolist()


def solution(alike: list[int] | None) -> Solution:
    tree, _ = table()
    shown = Shown.nodes(tree, np.zeros(4, dtype=np.int32))
    gone = np.array([[False, True, False, True], [False, False, False, True]])
    reasons = {"rare": np.array([1, 3], dtype=np.int32)}
    return Solution((shown,), gone, reasons, alike=None if alike is None else np.array(alike, dtype=np.int32))


@pytest.mark.parametrize("alike", [None, [0, 1, 0, 1], [2, 5, 2, 5]])
def test_classes_have_a_record_each_and_all_of_them(alike: list[int] | None) -> None:
    classes = solution(alike).classes
    assert classes.sizes.sum() == 4
    assert len(classes.sizes) == (4 if alike is None else 2)
    first = np.arange(4)[classes.first]
    assert classes.of_record[first].tolist() == list(range(len(first)))
    assert (classes.sizes > 0).all()
    if alike is not None:
        assert [classes.of_record.tolist().index(c) for c in range(2)] == first.tolist()


def test_classes_are_counted_by_code_without_those_left_out() -> None:
    classes = Classes(np.array([0, 1, 0, 2]), np.array([0, 1, 3]), np.array([2, 1, 1]))
    codes = np.array([1, 0, 1], dtype=np.int32)
    assert classes.tally(codes, 2, np.zeros(3, dtype=bool)).tolist() == [1, 3]
    assert classes.tally(codes, 2, np.array([True, False, False])).tolist() == [1, 1]
    assert classes.weighed(np.array([10, 20, 30, 40])).sizes.tolist() == [40, 20, 40]


def test_a_solution_of_tuples_is_spread_over_their_rows() -> None:
    of_row = np.array([3, 0, 0, 1], dtype=np.int32)
    own, spread = solution([0, 1, 0, 1]), solution([0, 1, 0, 1]).spread(of_row)
    assert spread.suppressed.tolist() == own.suppressed[:, of_row].tolist()
    assert spread.suppressed_anywhere.tolist() == [True, False, False, True]
    assert spread.reasons["rare"].tolist() == [0, 3]
    assert spread.alike is not None
    assert spread.alike.tolist() == [1, 0, 0, 1]


def test_columns_of_some_rows_become_one_in_which_equal_texts_have_equal_codes() -> None:
    tree, scale = table()
    nodes = [np.array(codes, dtype=np.int32) for codes in ([1, 2], [0])]
    rows = [np.array([3, 0], dtype=np.int32), np.array([1], dtype=np.int32)]
    joined = Shown.joined([Shown.nodes(tree, own) for own in nodes], rows, 4)
    assert (joined.labels, joined.codes.tolist()) == (tree.labels, [2, 0, 0, 1])
    spans = [((0, 1), (1, 2)), ((0, 1), (2, 2)), ((0, 0), (2, 2))]  # 1-4 and 4-9; 1-4 and 9; 1 and 9
    columns = [Shown.spans(scale, np.array([a, b]), np.array([c, d])) for (a, c), (b, d) in spans]
    rows = [np.arange(6), np.array([2, 3]), np.array([5, 3])]
    columns[0] = replace(columns[0], codes=np.array([0, 1, 1, 1, 0, 0], dtype=np.int32))
    joined = Shown.joined(columns, rows, 6)
    assert texts_of(joined) == ["1-4", "4-9", "1-4", "9", "1-4", "1"]
    assert len(set(joined.labels)) == len(joined.labels) == 4
    for column in columns:
        for code, label in enumerate(column.labels):
            at = joined.labels.index(label)
            assert (joined.ncp[at], joined.is_star[at]) == (column.ncp[code], column.is_star[code])
