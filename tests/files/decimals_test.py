"""Decimal commas: held with a point, written as they came."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from kveil.errors import DataError
from kveil.files.decimals import numbers_with_commas, with_commas, with_likely_points, with_points
from kveil.files.source import Source


def source(texts: list[Any], **others: Any) -> Source:
    return Source("t", pl.DataFrame({"n": texts, "x": texts}), "csv", separator=";", **others)


def test_columns_of_numbers_with_commas_are_found() -> None:
    frame = pl.DataFrame({"a": ["1,5", "2", ""], "b": ["1,5", "x", ""], "c": ["1", "2", "3"], "d": ["1.5", "2", "?"]})
    assert numbers_with_commas(frame) == ["a"]
    assert numbers_with_commas(frame.with_columns(a=pl.Series(["1,5", "2", "?"]))) == []
    assert numbers_with_commas(frame.with_columns(a=pl.Series(["1,5", "2", "?"])), missing=["?"]) == ["a"]


def test_a_table_without_a_policy_gets_points_where_cells_may_have_commas() -> None:
    held = with_likely_points(source(["1,5", "2", None]))
    assert held.frame["n"].to_list() == ["1.5", "2", None]
    assert held.commas == {"n", "x"}
    here = pl.DataFrame({"n": ["1,5", "2"]})
    assert with_likely_points(Source("t", here, "csv", separator=",", quoted=True)).frame["n"].to_list() == ["1.5", "2"]
    assert with_likely_points(Source("t", here, "csv", separator=",", quoted=False)).frame is here  # none can be there


def test_numbers_get_points_value_by_value_and_commas_again() -> None:
    held = with_points(source(["1,5", " -2,25 ", "3", "?", "a,b", None]), ["n"], ("?",))
    assert held.frame["n"].to_list() == ["1.5", " -2.25 ", "3", "?", "a,b", None]
    assert held.frame["x"].to_list()[0] == "1,5"
    assert held.commas == {"n"}
    written = with_commas(held.frame.with_columns(s=pl.Series([["1.5"]] * 6)), ["n", "s", "gone"])
    assert written["n"].to_list() == ["1,5", " -2,25 ", "3", "?", "a,b", None]
    assert written["s"].to_list()[0] == ["1,5"]


@pytest.mark.parametrize(
    ("texts", "others", "decimal"),
    [
        (["1.5", "2"], {}, None),  # there are none
        (["1,5", "2"], {}, "."),  # the owner says that they are no decimals
        (["1,5", "2"], {"quoted": False}, None),  # cut at commas, cells cannot hold one
    ],
)
def test_other_tables_stay_as_they_are(texts: list[str], others: dict[str, Any], decimal: Any) -> None:
    own = Source("t", pl.DataFrame({"n": texts}), "csv", separator="," if others else ";", **others)
    assert with_points(own, ["n"], ("",), decimal=decimal) is own


def test_both_signs_in_one_column_are_an_error() -> None:
    with pytest.raises(DataError, match="a decimal comma in some rows and a point in others"):
        with_points(source(["1,5", "2.5"]), ["n"], ("",))


def test_items_of_sets_get_points_one_by_one_and_commas_again() -> None:
    cells = ["1,5|20|?", "?", "", None, "[1,2)|3,25", "2,5", "a|b,c"]
    held = with_points(source(cells), ["n"], ("?", "9,9"), sets=["n"])
    assert held.frame["n"].to_list() == ["1.5|20|?", "?", "", None, "[1,2)|3.25", "2.5", "a|b,c"]
    assert (held.commas, held.comma_sets) == ({"n"}, {"n"})
    assert with_commas(held.frame, held.commas, sets=held.comma_sets)["n"].to_list() == cells
    whole = with_points(source(["1,5|2,5", "3,5"]), ["n"], ("",))  # a text that has a `|` where nothing is a set
    assert whole.frame["n"].to_list() == ["1,5|2,5", "3.5"]
    assert with_commas(whole.frame, whole.commas, sets=whole.comma_sets)["n"].to_list() == ["1,5|2,5", "3,5"]


def test_lists_of_typed_files_get_points_item_by_item() -> None:
    lists = [["1,5", "2"], [], None, ["?"], ["9,9"]]
    own = Source("t", pl.DataFrame({"n": pl.Series(lists, dtype=pl.List(pl.String))}), "parquet")
    held = with_points(own, ["n"], ("?", "9,9"))
    assert held.frame["n"].to_list() == [["1.5", "2"], [], None, ["?"], ["9,9"]]
    assert with_commas(held.frame, held.commas)["n"].to_list() == lists
    with pytest.raises(DataError, match="a decimal comma in some rows and a point in others"):
        with_points(Source("t", pl.DataFrame({"n": [["1,5"], ["2.5", "3"]]}), "parquet"), ["n"], ("",))
