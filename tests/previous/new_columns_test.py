"""What a new release shows beside what its search looks at, as far as earlier promises are about it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.errors import DataError
from kveil.files import Source
from kveil.previous.demands import Demand, value_name
from kveil.previous.new_columns import NewColumns
from kveil.table.encode import encode
from support import QUASI, make_policy

FRAME = pl.DataFrame({"q": ["a", "a", "b"], "r": ["x", "y", "x"], "s": ["flu", "gout", "flu"]})


def test_rows_are_apart_where_a_known_column_is_shown_as_it_is() -> None:
    policy = make_policy({"q": QUASI, "r": "insensitive", "s": "sensitive"}, algorithm="mondrian")
    before = make_policy({"r": QUASI, "s": "sensitive"}, algorithm="mondrian")
    demands = [Demand(policy.privacy[0], policy), Demand(before.privacy[0], before, (0,))]
    source = Source("t", FRAME, "frame")
    beside = NewColumns.of(source, encode(source, policy), demands)
    looks = np.array([4, 4, 4])
    assert beside.apart(0, looks).tolist() == [4, 4, 4]
    apart = beside.apart(1, looks).tolist()
    assert apart[0] == apart[2] != apart[1]
    assert beside.values == {}


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_values_that_only_an_earlier_promise_counts_are_encoded_for_it(role: str) -> None:
    policy = make_policy({"q": QUASI, "r": "insensitive", "s": role}, algorithm="mondrian")
    diverse = {"model": "l-diversity", "sensitive": "s", "l": 2}
    before = make_policy({"q": QUASI, "s": "sensitive"}, privacy=[diverse], algorithm="mondrian")
    source = Source("t", FRAME, "frame")
    beside = NewColumns.of(source, encode(source, policy), [Demand(before.privacy[0], before, (0,))])
    values = beside.values[value_name(0)]
    assert [values.values[code] for code in values.code.tolist()] == ["flu", "gout", "flu"]


def test_values_that_an_earlier_hierarchy_does_not_know_are_refused_without_showing_them() -> None:
    close = {"model": "t-closeness", "sensitive": "s", "t": 0.5, "distance": "hierarchical"}
    tree = {"tree": {"*": ["flu", "cold"]}}
    before = make_policy({"q": QUASI, "s": {"role": "sensitive", "hierarchy": tree}}, privacy=[close])
    policy = make_policy({"q": QUASI, "r": "insensitive", "s": "sensitive"}, algorithm="mondrian")
    source = Source("t", FRAME, "frame")
    with pytest.raises(DataError, match="--weaker") as told:
        NewColumns.of(source, encode(source, policy), [Demand(before.privacy[0], before, (0,))])
    assert "gout" not in str(told.value)
