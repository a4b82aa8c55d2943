"""Sensitive values: their order, who has which, and their ways up a tree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coded_tables import coded
from kveil.errors import DataError
from kveil.table.columns import Coded
from kveil.table.sensitive import Sensitive, ShownItems, as_a_whole, row_pairs, sensitive_among

TREE = {"tree": {"*": {"X": ["x2", "x1"], "Y": ["y1"]}}}
P = {"model": "p-sensitive", "sensitive": "s", "p": 1}


def sensitive(values: list[str | None], hierarchy: object = None, who: list[str] | None = None) -> Sensitive:
    own = {"role": "sensitive", **({} if hierarchy is None else {"hierarchy": hierarchy})}
    attributes: dict[str, object] = {"a": "quasi-identifier", "s": own}
    columns: dict[str, list] = {"a": ["u"] * len(values), "s": values}
    if who is not None:
        attributes["who"], columns["who"] = "individual", who
    return coded(columns, attributes, privacy=[P]).sensitive["s"]


@pytest.mark.parametrize(
    ("values", "hierarchy", "order"),
    [
        (["10", "9", "1e1"], None, ("9", "10", "1e1")),
        (["10", "9", "x"], None, ("10", "9", "x")),
        (["y1", "x1", "x2"], TREE, ("x2", "x1", "y1")),
        (["1", "20", "3"], {"mask": {"keep": [1]}}, ("1", "3", "20")),
    ],
)
def test_values_stand_by_size_else_as_leaves_else_by_text(values: list, hierarchy: object, order: tuple) -> None:
    assert sensitive([*values, values[0]], hierarchy).values == order


def test_missing_is_the_code_after_the_last_and_a_persons_only_where_there_is_nothing_else() -> None:
    own = sensitive(["b", "", "a", None], who=["p", "p", "q", "r"])
    pairs = set(zip(own.row.tolist(), own.code.tolist(), strict=True))
    assert own.values == ("a", "b")
    assert pairs == {(0, 1), (1, 0), (2, 2)}
    assert own.some_missing
    assert own.most_per_row == 1
    several = sensitive(["b", "a", "b"], who=["p", "p", "p"])
    assert (several.most_per_row, several.some_missing) == (2, False)


def test_what_is_not_released_has_no_say_in_the_order() -> None:
    own = sensitive(["10", "9", "x"])
    assert own.as_shown({"10", "9"}) == ["9", "10"]
    assert own.as_shown({"10", "9", "x"}) == ["10", "9", "x"]
    assert as_a_whole(own).as_shown({"10", "9"}) == ["10", "9"]
    assert as_a_whole(own).as_released({"10", "9"}) == ["9", "10"]
    assert own.order(np.array([True, True, False, False])).tolist() == [1, 0]
    assert own.order(np.array([True, True, True, False])).tolist() == [0, 1, 2]


def ways_of(own: Sensitive, present: list[bool]) -> list[float]:
    """The distances between all pairs of present codes, over the edges of their ways."""
    ways, weight = own.ways(np.array(present))
    found = []
    for i, here in enumerate(present):
        for j in range(i):
            if here and present[j]:
                one, other = set(ways[i][ways[i] >= 0].tolist()), set(ways[j][ways[j] >= 0].tolist())
                found.append(float(sum(weight[node] for node in one ^ other)))
    return found


def test_ways_up_give_the_height_of_the_lowest_common_ancestor() -> None:
    own = sensitive(["x1", "x2", "y1", ""], TREE)
    assert own.values == ("x2", "x1", "y1")
    # x1 and x2 meet half way up, everything else at the root.
    assert ways_of(own, [True] * 4) == pytest.approx([0.5, 1.0, 1.0, 1.0, 1.0, 1.0])
    shown = ShownItems("s", ("X", "y1"), own.row[:0], own.code[:0], None, nodes_in=own.tree)
    assert ways_of(shown, [True, True, False]) == pytest.approx([1.0])


def test_a_tree_that_is_built_is_built_over_what_is_present() -> None:
    own = sensitive(["11", "12", "21"], {"mask": {"keep": [1]}})
    ways, weight = own.ways(np.array([True, True, False, False]))
    assert (ways[2] == -1).all()
    assert weight[ways[0][0]] > 0


@pytest.mark.parametrize("times", [None, [1, 2, 3, 4]])
def test_pairs_are_counted_per_tuple(times: list[int] | None) -> None:
    own = sensitive(["a", "b", "a", "b"])
    member, kept = np.array([0, 0, 1, 1], dtype=np.int32), np.array([True, True, True, False])
    weights = [1] * 4 if times is None else times
    for chosen in (None, kept):
        expected: Counter[tuple[int, int]] = Counter()
        for row, code in enumerate(own.code.tolist()):
            if chosen is None or chosen[row]:
                expected[int(member[row]), code] += weights[row]
        found = row_pairs(own, member, 2, kept=chosen, times=None if times is None else np.array(times))
        assert {(t, c): n for t, c, n in zip(*(part.tolist() for part in found), strict=True)} == expected
    many = row_pairs(own, member, 10**8, kept=None, times=None if times is None else np.array(times))
    few = row_pairs(own, member, 2, kept=None, times=None if times is None else np.array(times))
    assert [part.tolist() for part in many] == [part.tolist() for part in few]


def test_a_value_that_was_not_there_before_is_an_error() -> None:
    whole = sensitive(["a", "b"])
    column = Coded(["b"], np.array([0, -1], dtype=np.int32))
    assert sensitive_among(column, whole, None, "here").code.tolist() == [1, 2]
    with pytest.raises(DataError, match="here changed while kveil read it"):
        sensitive_among(Coded(["c"], np.array([0])), whole, None, "here")


def test_values_that_a_hierarchy_does_not_know_are_told_with_what_to_do() -> None:
    ages = {"intervals": {"from": 0, "to": 9, "widths": [5]}}
    for values, remedy in ((["3", "12"], "raise `to`"), (["3", "-1"], "lower `from`"), (["3", "x"], "correct them")):
        with pytest.raises(DataError, match=f"takes numbers from 0 to 9, so {remedy}"):
            sensitive(values, ages)
    with pytest.raises(DataError, match='write `decimal: ","`'):
        sensitive(["1,5"], ages)
    with pytest.raises(DataError, match=r"does not know 5 values \('a', 'b' and 'c' and 2 more\) in 5 records"):
        sensitive(list("edcba"), TREE)
