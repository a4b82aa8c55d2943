"""Lines of a hierarchy: one tree, or a sentence that says why not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.errors import PolicyError
from kveil.policy.lines import Line, check_lines, collapse, in_preorder
from strategies import examples

TREE: tuple[Line, ...] = (("Oslo", "Norway", "*"), ("Rome", "Italy", "*"), ("Bergen", "Norway", "*"), ("Mars", "*"))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
@examples(40)
def test_a_label_beside_itself_stands_once(labels: list[str]) -> None:
    line = collapse(labels)
    assert all(one != other for one, other in pairwise(line))
    expected = "".join(labels)
    for label in "abc":
        while label * 2 in expected:
            expected = expected.replace(label * 2, label)
    assert "".join(line) == expected


def test_lines_of_one_tree_are_kept_each_leaf_once() -> None:
    assert check_lines([*TREE, TREE[0]], "cities") == TREE


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "it has no leaf"),
        ([("a", "x", "*"), ("a", "y", "*")], "the leaf 'a' is listed twice with different parents"),
        ([("a", "x", "*"), ("b", "x", "y", "*")], "the label 'x' has two parents, '*' and 'y'"),
        ([("a", "x", "*"), ("x", "*")], "the label 'x' is both a leaf and an inner node"),
        ([("a", "x", "*"), ("b", "x")], "a line ends at 'x', others go on from there"),
        ([("a", "*"), ("b", "all")], "it has two roots, '*' and 'all'"),
        ([("city", "country"), ("a", "*"), ("b", "*")], "take line 1 out"),
    ],
)
def test_lines_that_are_no_tree_are_refused(lines: list[Line], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check_lines(lines, "cities")
    assert str(caught.value).startswith("cities: ")
    assert sentence in str(caught.value)
    with pytest.raises(PolicyError) as silent:
        check_lines(lines, "cities", quoted=False)
    assert not lines or "(not shown)" in str(silent.value)
    assert not any(repr(label) in str(silent.value) for line in lines for label in line)


def test_labels_stand_parents_first_and_children_as_the_lines_name_them() -> None:
    assert in_preorder(TREE) == ["*", "Norway", "Oslo", "Bergen", "Italy", "Rome", "Mars"]
    assert in_preorder(()) == []
