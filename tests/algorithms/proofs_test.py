"""What is proved without a search: who can never be kept, beside dropping rows by hand, that there is no release."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.component import components_of
from kveil.algorithms.proofs import count_never_kept, groups_at_limits, never_kept, tell_if_proved
from kveil.errors import Unmeetable
from kveil.table.table import Table

TREE = {"tree": {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"], "C": ["c1"]}}}
BOUND = {"role": QUASI, "hierarchy": TREE, "boundary": ["A", "B", "C"]}
DECADES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}}


@pytest.mark.parametrize("show", ["drop", "star"])
@pytest.mark.parametrize("seed", range(6))
def test_rows_of_groups_that_are_too_small_at_their_limits_can_never_be_kept(seed: int, show: str) -> None:
    chance = Random(seed)
    columns = {name: [chance.choice(["a1", "a2", "b1", "b2", "c1"]) for _ in range(12)] for name in "pq"}
    privacy = [{"model": "k-anonymity", "k": k, "attributes": [name]} for name, k in (("p", 4), ("q", 3))]
    own = coded(columns, {"p": BOUND, "q": BOUND}, privacy=privacy, suppression={"limit": 1, "show": show})
    rows = set(range(12))
    while True:
        sizes = {name: Counter(columns[name][row][0] for row in rows) for name in "pq"}
        few = {row for row in rows if sizes["p"][columns["p"][row][0]] < 4 or sizes["q"][columns["q"][row][0]] < 3}
        if not few:
            break
        rows -= few
        if not own.whole_rows:
            break
    assert set((~never_kept(own)).nonzero()[0].tolist()) == rows
    assert count_never_kept(own) == 12 - len(rows)


def test_groups_at_limits_are_those_of_equal_limits() -> None:
    own = coded({"p": ["a1", "a2", "b1", "a1"]}, {"p": BOUND})
    (component,) = components_of(own)
    group = groups_at_limits(component).group[own.distinct.member].tolist()
    assert group[0] == group[1] == group[3] != group[2]


def test_what_only_a_part_of_a_group_breaks_is_not_certain() -> None:
    columns = {"p": ["a1", "a1", "b1", "b1"], "ill": ["x", "x", "x", "y"]}
    model = {"model": "alpha-k", "sensitive": "ill", "alpha": 0.5, "k": 1}
    own = coded(columns, {"p": BOUND, "ill": "sensitive"}, privacy=[model])
    assert never_kept(own).tolist() == [False] * 4
    assert never_kept(own, certain=False).tolist() == [True, True, False, False]


def four(times: int = 1, *, k: int | None = None, boundary: Any = None) -> Table:
    """Return four ages and illnesses, so many times; with k, or with t-closeness of the illness."""
    columns = {"age": ["10", "11", "40", "70"] * times, "ill": ["flu", "flu", "cough", "cough"] * times}
    ages = DECADES if boundary is None else {**DECADES, "boundary": boundary}
    model = {"model": "t-closeness", "sensitive": "ill", "t": 0.1} if k is None else {"model": "k-anonymity", "k": k}
    return coded(columns, {"age": ages, "ill": "sensitive"}, privacy=[model], suppression={"limit": 0})


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (four(k=2, boundary={"level": 1}), "No release can: 2 records can never be kept, whatever is shown."),
        (four(k=4), "No release can: whatever is shown, some group is too small, or shows nothing."),
        (four(), "No release can: everything that could be shown was tried."),
        (four(3), "That none was found does not prove that there is none."),
    ],
)
def test_an_error_says_whether_it_is_proved_that_no_release_exists(own: Table, told: str) -> None:
    found = tell_if_proved(Unmeetable("x finds none.", lost=3), own)
    assert (str(found), found.lost) == (f"x finds none. {told}", 3)
    assert found.proved == told.startswith("No release can")
