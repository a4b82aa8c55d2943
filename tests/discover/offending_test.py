"""Where a dependency fails: how many left sides, and the largest of them."""

from __future__ import annotations

import polars as pl
import pytest

from kveil.discover.coded_columns import Columns
from kveil.discover.offending import SHOWN, VALUES, check_names, multiset_dependency, offending
from kveil.errors import DataError, PolicyError
from kveil.frames import from_frame
from kveil.policy.dependencies import parse_dependency

FRAME = pl.DataFrame({"zip": list("112223"), "city": list("aabcca"), "who": list("xyxyxy")})


def found(rule: str, frame: pl.DataFrame = FRAME) -> tuple[int, list[dict[str, object]]]:
    broken, groups = offending(Columns(frame), parse_dependency(rule), ["zip", "city", "who"])
    return broken, [group.as_json() for group in groups]


def test_a_left_side_with_several_right_sides_is_shown() -> None:
    assert found("zip -> city") == (
        1,
        [{"left": {"zip": "2"}, "right": [{"city": "b"}, {"city": "c"}], "right_sides": 2, "records": 3}],
    )
    assert found("zip, who -> city")[0] == 1
    assert found("zip, city -> zip") == (0, [])  # says nothing


def test_a_multivalued_rule_fails_where_a_pair_lacks() -> None:
    assert found("zip ->> city")[0] == 1  # of 2: b with y, c with x and y, but b with x lacks
    assert found("zip, who ->> city") == (0, [])  # there is no rest
    assert found("zip -> city", FRAME[:0]) == (0, [])


def test_the_largest_groups_are_shown_and_few_of_their_values() -> None:
    rows = [(f"g{g}", f"v{v:02}", "x") for g in range(SHOWN + 2) for v in range(2 + g)]
    broken, groups = found("zip -> city", pl.DataFrame(rows, schema=["zip", "city", "who"], orient="row"))
    assert broken == SHOWN + 2
    assert [group["left"] for group in groups] == [{"zip": f"g{g}"} for g in range(SHOWN + 1, 1, -1)]
    assert [len(group["right"]) for group in groups] == [VALUES] * 4 + [4]  # type: ignore[arg-type]


def test_pairs_that_occur_too_seldom_are_counted() -> None:
    told = multiset_dependency(FRAME, ["zip"], ["city"], 2)
    assert not told
    assert told.broken == 2
    assert {(place["zip"], place["city"], place["records"]) for place in told.groups} == {("2", "b", 1), ("3", "a", 1)}
    assert multiset_dependency(FRAME, ["zip"], ["city"], 1)
    with pytest.raises(PolicyError, match="lists of attributes"):
        multiset_dependency(FRAME, ["zip"], ["city"], 0)


def test_a_name_that_is_not_there_gets_a_hint() -> None:
    with pytest.raises(DataError, match="did you mean 'city'"):
        check_names(from_frame(FRAME), ["zip", "citty"])
    check_names(from_frame(FRAME), ["zip"])
