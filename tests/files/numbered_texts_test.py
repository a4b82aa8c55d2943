"""Texts get numbers in the order in which they come first, whatever pieces a column comes in."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from kveil.files import number_texts
from strategies import examples

TEXTS = st.lists(st.sampled_from(["b", "a", "", "ü", None, "ab"]), max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=4))
@examples(60)
def test_numbers_are_those_of_looking_at_one_text_after_another(pieces: list[list[str | None]]) -> None:
    column = pl.concat([pl.Series(piece, dtype=pl.String) for piece in pieces])
    number, first = number_texts(column)
    texts = [text for piece in pieces for text in piece]
    different = list(dict.fromkeys(texts))
    assert number.tolist() == [different.index(text) for text in texts]
    assert first.tolist() == [texts.index(text) for text in different]
