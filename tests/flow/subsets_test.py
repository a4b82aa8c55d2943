"""Maximal anonymous subsets of records and of attributes, for tables as they stand."""

from __future__ import annotations

import polars as pl
import pytest

from kveil.errors import DataError, PolicyError
from kveil.flow.subsets import maximal_anonymous_attributes, maximal_anonymous_subset
from kveil.policy.privacy import KAnonymity

FRAME = pl.DataFrame({"a": list("xxxyy"), "b": ["1", "1", "2", None, None], "c": list("12345")})


def test_records_whose_values_are_too_rare_are_left_out_until_none_is() -> None:
    assert maximal_anonymous_subset(FRAME, [(["a", "b"], 2)]).tolist() == [0, 1, 3, 4]
    assert maximal_anonymous_subset(FRAME, [(["a", "b"], 2), (["a"], 3)]).tolist() == []
    assert maximal_anonymous_subset(FRAME, [KAnonymity(k=3, attributes=("a",))]).tolist() == [0, 1, 2]
    assert maximal_anonymous_subset(FRAME, []).tolist() == [0, 1, 2, 3, 4]


def test_a_largest_set_of_attributes_is_found() -> None:
    assert maximal_anonymous_attributes(FRAME, 2, ["a", "c"]) == ("a",)
    assert maximal_anonymous_attributes(FRAME.head(2), 2) == ("a", "b")
    assert maximal_anonymous_attributes(FRAME, 5, ["c"]) == ()
    assert maximal_anonymous_attributes(FRAME, 2, []) == ()


@pytest.mark.parametrize("constraint", [("a", 2), ([], 2), (["a"], 0)])
def test_what_is_no_constraint_is_refused(constraint: object) -> None:
    with pytest.raises(PolicyError, match="a constraint is a list of attributes"):
        maximal_anonymous_subset(FRAME, [constraint])


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match="no column 'aa'"):
        maximal_anonymous_subset(FRAME, [(["aa"], 2)])
    with pytest.raises(DataError, match="no column 'd'"):
        maximal_anonymous_attributes(FRAME, 2, ["d"])
    with pytest.raises(PolicyError, match="k is at least 1"):
        maximal_anonymous_attributes(FRAME, 0)
