"""Sets of what persons have: each item once, in the order of its hierarchy, typed as the input."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from coded_tables import coded, shown_as
from kveil.errors import DataError
from kveil.frames import from_frame
from kveil.table.sets import shown_sets

TREE = {"tree": {"*": {"X": ["x2", "x1"], "Y": ["y1"]}}}
KL = {"model": "kl-diversity", "sensitive": "s", "k": 1, "l": 1}


def sets(
    items: list, gone: list[int], shown: dict[str, str] | None = None, hierarchy: object = None, **others: object
) -> pl.Series:
    """Persons p, q and r have two items each; show those of some tree as other nodes of it."""
    own = {"role": "sensitive", **({} if hierarchy is None else {"hierarchy": hierarchy})}
    columns = {"who": list("ppqqrr"), "a": ["u"] * 6, "s": items}
    table = coded(columns, {"who": "individual", "a": "quasi-identifier", "s": own}, limit=1, **others)
    extra = {}
    if shown is not None:
        sensitive = table.sensitive["s"]
        names = [sensitive.values[code] for code in sensitive.code.tolist()]
        nodes = [sensitive.tree.node_of[shown.get(name, name)] for name in names]
        extra = {"items": {"s": np.array(nodes, dtype=np.int32)}}
    solution = shown_as(table, {"a": ["u"] * 3}, [gone], **extra)
    return shown_sets(from_frame(pl.DataFrame(columns)), table, solution, np.arange(3))["s"]


def test_items_stand_once_in_the_order_of_the_hierarchy() -> None:
    assert sets(["x1", "x2", "y1", "y1", "", "x1"], [], hierarchy=TREE).to_list() == [["x2", "x1"], ["y1"], ["x1"]]
    assert sets(["10", "9", "1", "1", "", None], []).to_list() == [["9", "10"], ["1"], []]


def test_values_keep_their_type_unless_somebody_shows_stars() -> None:
    whole = sets([10, 9, 1, 1, 3, None], [])
    assert whole.dtype == pl.List(pl.Int64)
    assert whole.to_list() == [[9, 10], [1], [3]]
    starred = sets([10, 9, 1, 1, 3, None], [1])
    assert starred.to_list() == [["9", "10"], ["*"], ["3"]]


def test_generalized_items_show_their_nodes_once() -> None:
    model = {"privacy": [{"model": "k-anonymity", "k": 1}, KL]}
    items = ["x1", "x2", "y1", "x1", "x1", "y1"]
    assert sets(items, [], {"x1": "X", "x2": "X"}, TREE, **model).to_list() == [["X"], ["X", "y1"], ["X", "y1"]]
    assert sets(items, [0], {}, TREE, **model).to_list() == [["*"], ["x1", "y1"], ["x1", "y1"]]


def test_the_order_does_not_depend_on_those_left_out() -> None:
    # Without r's text the others are numbers, and stand by size.
    assert sets(["10", "9", "2", "10", "text", "text"], [2]).to_list()[:2] == [["9", "10"], ["2", "10"]]
    assert sets(["10", "9", "2", "10", "text", "text"], []).to_list()[:2] == [["10", "9"], ["10", "2"]]


def test_a_bar_inside_of_an_item_is_refused_where_sets_are_joined_by_it() -> None:
    with pytest.raises(DataError, match=r"has `\|` in 1 value"):
        sets(["a|b", "c", "c", "c", "c", "c"], [])
    assert sets(["a|b", "c", "c", "c", "c", "c"], [], release={"shape": "long"}).to_list()[0] == ["a|b", "c"]
