"""Sentences that carry figures are sentences still."""

from __future__ import annotations

from kveil.progress import Compared, silent


def test_a_sentence_with_figures_is_a_text() -> None:
    told = Compared("mondrian: loss 3 %", {"loss": 0.03})
    assert told == "mondrian: loss 3 %"
    assert told.figures == {"loss": 0.03}
    assert silent(told) is None
