"""Hierarchies that are built over values."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest

from kveil import Intervals
from kveil.errors import PolicyError
from kveil.policy.builders import LONGEST_NAME, IntervalScale, balanced_lines


def labels_of(counts: dict[str, int], least: int) -> set[str]:
    return {label for line in balanced_lines(counts.items(), 2, least=least) for label in line[1:-1]}


def test_runs_are_named_by_their_first_and_last_frequent_value() -> None:
    counts = {"Ankle": 5, "Arm": 1, "Back": 5, "Knee": 5, "Neck": 5, "Wrist": 5}
    assert labels_of(counts, 2) == {"Ankle … Knee", "Ankle … Back", "run 3", "Neck … Wrist"}


def test_a_value_in_which_a_rare_one_can_be_read_names_no_run() -> None:
    counts = {"Cardiology": 9, "Plastic": 1, "Surgery": 9, "Surgery-Plastic": 9, "Urology": 9, "Virology": 9}
    assert any("Surgery-Plastic" in label for label in labels_of(counts, 1))
    assert not any("Plastic" in label for label in labels_of(counts, 2))
    # A rare value that is a part of a word cannot be read there.
    assert any("Surgery-Plastics" in label for label in labels_of({**counts, "Surgery-Plastics": 9}, 2))


def test_a_very_long_value_names_no_run() -> None:
    counts = {letter * (LONGEST_NAME + 1): 9 for letter in "abcdef"}
    assert all(label.startswith("run ") for label in labels_of(counts, 2))


def scale(ends: str, *, real: bool = False) -> IntervalScale:
    spec = {"from": 0, "to": 112, "widths": [5, 10, 20], "open": ends}
    return IntervalScale(Intervals(**spec), real=real)  # type: ignore[arg-type]


@pytest.mark.parametrize("real", [False, True])
def test_numbers_beyond_an_open_end_are_in_the_outermost_interval_of_every_width(real: bool) -> None:
    both = scale("both", real=real)
    assert both.line("-7") == ("-7", "<5", "<10", "<20", "*")
    assert both.line("3") == ("3", "<5", "<10", "<20", "*")
    assert both.line("112") == ("112", ">=110", ">=100", "*")  # two widths begin at 110: one node
    assert both.line("1000000") == ("1000000", ">=110", ">=100", "*")
    assert scale("above", real=real).line("-7") is None
    assert scale("below", real=real).line("113") is None
    assert both.line("7") == (("7", "[5,10)", "<10", "<20", "*") if real else ("7", "5-9", "<10", "<20", "*"))


@pytest.mark.parametrize("ends", ["below", "above", "both"])
@pytest.mark.parametrize("real", [False, True])
def test_an_open_interval_counts_as_wide_as_others_of_its_width_and_less_than_what_is_above(
    ends: str, real: bool
) -> None:
    here = scale(ends, real=real)
    for value in ("3", "57", "111"):
        line = here.line(value)
        assert line is not None
        shares = [here.share(*bounds) for label in line[1:-1] if (bounds := here.interval_of(label)) is not None]
        assert len(shares) == len(line) - 2
        assert all(0 < below < above <= 1 for below, above in pairwise(shares))
    outer, inner = here.interval_of(">=110" if here.spec.open_above else "<5"), here.bounds(Decimal(57), Decimal(5))
    assert outer is not None
    assert here.share(*outer) == here.share(*inner)


def test_one_interval_that_is_open_at_both_ends_is_refused() -> None:
    with pytest.raises(PolicyError, match="one interval of 20, which is anything; leave that width out"):
        Intervals(**{"from": 0, "to": 19, "widths": [5, 20], "open": "both"})  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="open"):
        Intervals(**{"from": 0, "to": 19, "widths": [5], "open": "left"})  # type: ignore[arg-type]
