"""Sentences that carry figures are sentences still."""

from __future__ import annotations

import pickle

from kveil.progress import Compared, Stage, silent


def test_a_sentence_with_figures_is_a_text() -> None:
    told = Compared("mondrian: loss 3 %", {"loss": 0.03})
    assert told == "mondrian: loss 3 %"
    assert told.figures == {"loss": 0.03}
    assert silent(told) is None


def test_a_stage_is_a_sentence_that_knows_which_of_how_many_it_is() -> None:
    told = Stage.one_of("solving with mondrian", 2, 5)
    assert told == "solving with mondrian (2 of 5)"
    longer = told.longer(", slowly")
    assert longer == "solving with mondrian (2 of 5), slowly"
    assert (longer.number, longer.of, longer.loss) == (2, 5, None)


def test_a_stage_knows_its_loss() -> None:
    told = Stage.with_loss("refining: loss 9.250%", 0.0925)
    assert told == "refining: loss 9.250%"
    assert (told.number, told.of, told.loss) == (None, None, 0.0925)
    assert pickle.loads(pickle.dumps(told)).loss == 0.0925
