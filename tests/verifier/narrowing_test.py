"""Which values lie in which shown spans: beside looking at every pair, and without looking at every pair."""

from __future__ import annotations

from random import Random
from time import process_time

import pytest

from kveil.verifier import narrowing
from kveil.verifier.narrowing import NOW, WAS, _ways_into_spans


@pytest.mark.parametrize("seed", range(30))
def test_values_lie_in_the_spans_that_cover_them(seed: int) -> None:
    chance = Random(seed)
    values = [str(number) for number in chance.sample(range(60), 12)] + ["", "?"]
    labels = ["*", "", "?", *chance.sample(values[:-2], 2)]
    labels += [f"{low}-{low + chance.randint(1, 30)}" for low in chance.sample(range(40), 6)]
    found = _ways_into_spans(values, labels, ("", "?"))
    assert found is not None

    def lies(value: str, label: str) -> bool:
        if label == "*" or value == label:
            return True
        if value in ("", "?") or label in ("", "?") or "-" not in label:
            return False
        low, high = map(int, label.split("-"))
        return low <= int(value) <= high

    expected = {(value, label) for value in values for label in labels if lies(value, label)}
    rows = found.select(WAS, NOW).rows()
    assert len(rows) == len(set(rows))
    assert set(rows) == expected


def test_spans_of_many_values_are_found_without_looking_at_every_pair() -> None:
    values, labels = [str(i) for i in range(20_000)], [f"{low}-{low + 40}" for low in range(0, 20_000, 4)]
    begun = process_time()
    found = _ways_into_spans(values, labels, ("",))
    assert process_time() - begun < 10  # a hundred million pairs take longer; this takes a fifth of a second
    assert found is not None
    assert found.height == 41 * len(labels) - sum(max(low + 40 - 19_999, 0) for low in range(0, 20_000, 4))


def test_too_many_pairs_are_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowing, "MOST_PAIRS", 9)
    assert _ways_into_spans(["1", "2", "3"], ["1-3", "*", "2-3"], ("",)) is not None
    assert _ways_into_spans(["1", "2", "3"], ["1-3", "*", "1-2", "2-3"], ("",)) is None
