"""Expressions that take blanks off, and nothing else, are known by their syntax."""

from __future__ import annotations

import ast

import polars as pl
import pytest

from kveil.exchange.script_strips import StripNotes, Strips, is_cell_by_cell, strips_only


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("d['a'].str.strip()", True),
        ("d['a'].astype(str).str.strip()", True),
        ("d.applymap(lambda x: x.strip() if isinstance(x, str) else x)", True),
        ("d.map(str.strip)", True),
        ("d['a'].str.strip().str.lower()", False),
        ("d['a'].str.strip('.')", False),
        ("round(d['a'])", False),
        ("d['a'].astype(int)", None),
        ("d['b']", None),
    ],
)
def test_an_expression_strips_strips_and_more_or_does_nothing(text: str, only: bool | None) -> None:
    assert strips_only(ast.parse(text, mode="eval").body) is only


def test_columns_are_noted_and_lose_their_blanks() -> None:
    strip, lower = (ast.parse(f"d.a.str.{name}()", mode="eval").body for name in ("strip", "lower"))
    notes = StripNotes()
    notes.note([" a "], strip)
    notes.note(["b"], lower)
    strips = notes.strips(leading=False)
    assert strips == Strips(frozenset(["a"]), changed=("b",))
    frame = pl.DataFrame({" a": [" x ", None], "b": [" y ", ""], "n": [1, 2]})
    assert strips.of(frame).to_dict(as_series=False) == {" a": ["x", None], "b": [" y ", ""], "n": [1, 2]}
    assert Strips(leading=True).of(frame)["b"].to_list() == ["y ", ""]
    notes.note(None, strip)
    assert notes.strips(leading=False).of(frame)["b"].to_list() == ["y", ""]


def test_calls_for_every_cell_are_known() -> None:
    calls = ("d.applymap(f)", "d.map(f)", "d.rename(columns=f)", "d")
    assert [is_cell_by_cell(ast.parse(text, mode="eval").body) for text in calls] == [True, True, False, False]
