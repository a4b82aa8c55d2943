"""Which of several valid releases the search goes on from: who is left out cannot be searched any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adult_data import attributes_of, complete_rows, needs_adult
from kveil.algorithms.least_loss import least_loss as starting
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from small_people import POLICIES, loss, people, policy_of
from support import make_policy


def table_of(privacy: str, more: str = "suppression: {limit: 0.2}") -> Table:
    return encode(from_frame(people(60)), policy_of(POLICIES[privacy], more))


def leaving_out(table: Table, *rows: int) -> Solution:
    """Return a solution that leaves out some rows, and shows what another one does."""
    start = run(find("mondrian"), table, {})
    suppressed = np.zeros((1, table.rows), dtype=bool)
    suppressed[0, list(rows)] = True
    return Solution(shown=start.shown, suppressed=suppressed, reasons={}, details={})


def test_of_starts_that_leave_out_the_same_the_lowest_is_searched() -> None:
    table = table_of("k")
    found = [(0.1, leaving_out(table, 1)), (0.2, leaving_out(table)), (0.3, leaving_out(table, 1)),
             (0.4, leaving_out(table, 2)), (0.5, leaving_out(table, 3))]  # fmt: skip
    assert [one for one, _ in starting._worth_a_search(table, found)] == [0.1, 0.2, 0.4]


@pytest.mark.parametrize(("privacy", "more"), [("diverse", ""), ("k", 'dependencies: ["city -> sex"]')])
def test_one_start_is_searched_where_values_or_rules_have_a_say(privacy: str, more: str) -> None:
    table = table_of(privacy)
    table = table.changed(policy=policy_of(POLICIES[privacy], f"suppression: {{limit: 0.2}}\n{more}"))
    found = [(0.1, leaving_out(table, 1)), (0.2, leaving_out(table))]
    assert starting._worth_a_search(table, found) == found[:1]


def test_of_starts_that_end_nearly_as_low_the_one_that_leaves_out_the_fewest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of("k")
    found = [(0.1, leaving_out(table, 1, 2)), (0.11, leaving_out(table, 1)), (0.12, leaving_out(table))]
    ends = {2: 0.09, 1: 0.0904, 0: 0.0906}

    def unchanged(_: Any, solution: Solution, *__: Any) -> Solution:
        return solution

    monkeypatch.setattr(starting, "refine", unchanged)
    monkeypatch.setattr(starting, "settle_unless_dearer", unchanged)
    monkeypatch.setattr(starting, "released_loss", lambda _, solution: ends[int(solution.suppressed.sum())])
    assert starting._descended(table, found)[0] == 0.0904
    ends[1] = 0.2
    assert starting._descended(table, found)[0] == 0.09
    ends |= {2: 0.0999, 1: 0.1003, 0: 0.1}
    assert starting._descended(table, found)[0] == 0.1  # none that loses more than a start did


@needs_adult
@pytest.mark.parametrize("measured", ["il", "ncp"])
def test_boundaries_leave_out_no_more_than_they_ask_for_where_that_gains_little(measured: str) -> None:
    attributes = {name: dict(own) for name, own in attributes_of().items()}
    attributes["age"] |= {"boundary": {"level": 2}}
    attributes["native-country"] |= {"boundary": {"level": 1}}
    policy = make_policy(attributes, k=10, suppression={"limit": 1}, loss=measured)
    table = encode(from_frame(complete_rows()[:2_000]), policy)
    least, forced = run(find("least-loss"), table, {}), run(find("greedy-cka"), table, {})
    refined = run(find("mondrian"), table, {"refine": "normal"})
    assert loss(table, least) <= 1.01 * loss(table, refined)
    assert least.suppressed_anywhere.sum() >= forced.suppressed_anywhere.sum()  # exactly these can never be kept
