"""Attributes of a policy: what their hierarchies and boundaries may be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from kveil.errors import PolicyError
from kveil.policy.attributes import (
    Attribute,
    Dates,
    HierarchyFile,
    Intervals,
    Level,
    Marked,
    Mask,
    MaxWidth,
    Ranges,
    Tree,
)

QUASI = "quasi-identifier"
AGES = {"intervals": {"from": 0, "to": 99, "widths": [10]}}
RANGES = {"ranges": {"within": [0, 99]}}


@pytest.mark.parametrize(
    ("written", "kind", "key", "value"),
    [
        ("ages.csv", HierarchyFile, "path", "ages.csv"),
        (AGES, Intervals, "widths", tuple(AGES["intervals"]["widths"])),
        ({"mask": {"keep": [4, 3]}}, Mask, "keep", (4, 3)),
        ({"dates": ["month", "year"]}, Dates, "levels", ("month", "year")),
        (RANGES, Ranges, "within", tuple(RANGES["ranges"]["within"])),
    ],
)
def test_a_hierarchy_is_what_its_one_key_says(written: Any, kind: type, key: str, value: Any) -> None:
    found = Attribute(role=QUASI, hierarchy=written).hierarchy
    assert type(found) is kind
    assert getattr(found, key) == value


def test_a_tree_has_a_path_per_leaf() -> None:
    found = Attribute(role=QUASI, hierarchy={"tree": {"*": ["a", "b"]}}).hierarchy
    assert isinstance(found, Tree)
    assert [tuple(path) for path in found.paths()] == [("a", "*"), ("b", "*")]


@pytest.mark.parametrize(
    ("written", "kind", "key", "value"),
    [
        (["a", "b"], Marked, "nodes", ("a", "b")),
        ({"level": 1}, Level, "level", 1),
        ({"max_width": 5}, MaxWidth, "max_width", 5),
    ],
)
def test_a_boundary_is_a_list_a_level_or_a_width(written: Any, kind: type, key: str, value: Any) -> None:
    hierarchy: Any = RANGES if kind is MaxWidth else None
    found = Attribute(role=QUASI, hierarchy=hierarchy, boundary=written).boundary
    assert type(found) is kind
    assert getattr(found, key) == value


@pytest.mark.parametrize(
    ("hierarchy", "sentence"),
    [
        ("", "not an empty text"),
        ({"mask": {"keep": [4]}, "dates": ["year"]}, "exactly one of"),
        ({"nonsense": 1}, "exactly one of"),
        ({"mask": [4]}, "has `mask` without a mapping of its settings"),
        ({"mask": {"keep": [3, 3]}}, "the numbers must fall"),
        ({"mask": {"keep": [2, -1]}}, "not be negative"),
        ({"dates": ["year", "month"]}, "the units must grow"),
        ({"intervals": {"from": 9, "to": 9, "widths": [1]}}, "must have `from` below `to`"),
        ({"intervals": {"from": 0, "to": 9, "widths": [0]}}, "widths must be more than 0"),
        ({"intervals": {"from": 0, "to": 99, "widths": [10, 15]}}, "must be a multiple of the one before"),
        ({"intervals": {"from": 0, "to": 9, "widths": [10], "open": "both"}}, "is open at both ends"),
        ({"ranges": {"within": [9, 0]}}, "must lie `within`"),
        ({"ranges": {"within": [0, 9], "round": 0}}, "it must be more than 0"),
        ({"ranges": {"within": ["-1e999", "1e999"]}}, "more than 100 characters"),
        ({"ranges": {"within": [0, 9], "round": "1e-150"}}, "more than 100 characters"),
        ({"tree": {"a": [], "b": []}}, "one top key, the root"),
        ({"tree": {"*": {"a": None}}}, "has 'a' without a list of leaves"),
        ({"tree": {"*": [["a"]]}}, "holds more than leaves"),
    ],
)
def test_a_hierarchy_that_cannot_be_is_refused(hierarchy: Any, sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Attribute(role=QUASI, hierarchy=hierarchy)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"role": "identifier", "hierarchy": AGES}, "role identifier is never generalized"),
        ({"role": "sensitive", "hierarchy": RANGES}, "which only quasi-identifiers may have"),
        ({"role": "sensitive", "boundary": ["a"]}, "has a boundary, but only quasi-identifiers"),
        ({"role": "insensitive", "weight": 2}, "has a weight, but only quasi-identifiers"),
        ({"role": QUASI, "boundary": {"max_width": 5}}, "which goes with `ranges`"),
        ({"role": QUASI, "hierarchy": RANGES, "boundary": {"level": 1}}, "which has no nodes to mark"),
        ({"role": QUASI, "boundary": "a"}, "must be a list of nodes, as in [a]"),
        ({"role": QUASI, "boundary": {"levels": 1}}, "must be a list of nodes, {level: n} or {max_width: w}"),
        ({"role": QUASI, "weight": 0}, "must be more than 0"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Attribute(**values)
    assert sentence in str(caught.value)


def test_a_tree_has_its_leaves_in_the_order_written() -> None:
    tree = Tree(tree={"*": {"B": ["b2", "b1"], "A": {"deep": [1, 2]}, "leaf": []}})
    assert tree.paths() == [
        ("b2", "B", "*"),
        ("b1", "B", "*"),
        ("1", "deep", "A", "*"),
        ("2", "deep", "A", "*"),
        ("leaf", "*"),
    ]


@pytest.mark.parametrize(
    ("open_ends", "below", "above"),
    [(None, False, False), ("below", True, False), ("above", False, True), ("both", True, True)],
)
def test_intervals_are_open_where_they_say_so(open_ends: Any, below: bool, above: bool) -> None:
    spec = Intervals(from_=Decimal(0), to=Decimal(99), widths=(Decimal(10),), open=open_ends)
    assert (spec.open_below, spec.open_above) == (below, above)


@pytest.mark.parametrize(
    ("ranges", "grid"),
    [
        ({"within": [0, 120]}, None),
        ({"within": [0, 120], "round": 5}, "5"),
        ({"within": [0, 120], "bounds": "midpoints"}, "10"),
        ({"within": [0, 120], "bounds": "midpoints", "round": 3}, "3"),
    ],
)
def test_bounds_at_midpoints_lie_on_a_grid_that_the_policy_alone_gives(
    ranges: dict[str, Any], grid: str | None
) -> None:
    spec = Attribute(role=QUASI, hierarchy={"ranges": ranges}).hierarchy
    assert isinstance(spec, Ranges)
    assert spec.grid == (None if grid is None else Decimal(grid))
