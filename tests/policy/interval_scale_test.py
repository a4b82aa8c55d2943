"""The intervals of one attribute."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil import Intervals
from kveil.errors import PolicyError
from kveil.policy.attributes import STAR
from kveil.policy.interval_scale import IntervalScale
from kveil.policy.lines import collapse
from kveil.policy.numbers import parse_number


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


@given(
    start=st.integers(-30, 30),
    length=st.integers(20, 90),
    narrowest=st.integers(1, 4),
    ends=st.sampled_from([None, "below", "above", "both"]),
    values=st.lists(
        st.one_of(st.integers(-200, 200).map(str), st.sampled_from(["007", "+5", "5.0", "-0", "1e1", "٣", "5.5", ""])),
        min_size=1,
    ),
)
def test_a_whole_number_lies_below_the_interval_of_every_width_that_holds_it(
    start: int, length: int, narrowest: int, ends: str | None, values: list[str]
) -> None:
    spec = {"from": start, "to": start + length, "widths": [narrowest, 2 * narrowest, 4 * narrowest]}
    scale = IntervalScale(Intervals(**spec, **({} if ends is None else {"open": ends})), real=False)  # type: ignore[arg-type]
    for value in values:
        number = parse_number(value)
        if number is None or not scale.holds(number):
            assert scale.line(value) is None
            continue
        labels = [scale.label(*scale.bounds(number, width)) for width in scale.spec.widths]
        own = [value if label == str(int(number)) else label for label in labels]  # one number alone is itself
        assert scale.line(value) == collapse([value, *own, STAR])
