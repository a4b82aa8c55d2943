"""A table solved part by part is one solution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.algorithms.splitting.cutting import TableParts
from kveil.engines.part_solutions import in_one_part, join_solutions, solve_parts, with_share
from kveil.errors import Unmeetable
from kveil.policy.components import most_suppressed
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tuples import some_rows

AGES = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}}


def table(rows: int = 12, limit: float = 0.5) -> Table:
    return coded({"age": [str(i) for i in range(rows)]}, {"age": AGES}, k=2, limit=limit)


def one_span(part: Table) -> Solution:
    """Everybody of a part shows one span; the first is left out where one may be."""
    numbers = [int(part.trees[0].numbers[leaf]) for leaf in part.leaves[0]]
    gone = [0] if most_suppressed(part.policy, part.records) else []
    solution = shown_as(part, {"age": [f"{min(numbers)}-{max(numbers)}"] * part.rows}, [gone])
    return Solution(solution.shown, solution.suppressed, {"first": np.array(gone, dtype=np.int32)} if gone else {})


def test_parts_are_joined_with_their_labels_and_reasons() -> None:
    own = table(6)
    parts = TableParts([np.array([0, 1], dtype=np.int32), np.array([3, 4, 5], dtype=np.int32)], np.array([2]), "rare")
    joined = join_solutions(own, parts, [one_span(some_rows(own, rows)) for rows in parts.rows])
    assert [texts_of(joined.shown[0])[row] for row in (0, 1, 3, 4, 5)] == ["0-1", "0-1", "3-5", "3-5", "3-5"]
    assert joined.suppressed_anywhere.tolist() == [True, False, True, True, False, False]
    assert {reason: rows.tolist() for reason, rows in joined.reasons.items()} == {"rare": [2], "first": [0, 3]}
    assert joined.details == {"divided": {"parts": 2, "largest": 3}}


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_every_part_is_solved_by_itself_within_its_share(limit: float) -> None:
    own = table(12, limit)
    seen: list[int] = []

    def solve(part: Table) -> Solution:
        seen.append(part.records)
        return one_span(part)

    solution = solve_parts(own, 4, "k-member", solve)
    assert sum(seen) == 12
    assert max(seen) <= 4
    assert int(solution.suppressed_anywhere.sum()) <= most_suppressed(own.policy, 12)
    seen.clear()
    solve_parts(own, 12, "k-member", solve)
    assert seen == [12]  # a table that is small enough is solved whole


def test_shares_of_what_remains_are_exact() -> None:
    part = with_share(table(4), 7, 12)
    assert part.policy.suppression.limit == Fraction(2, 4)
    assert most_suppressed(part.policy, 4) == 2


def test_an_error_of_a_part_says_so() -> None:
    told = in_one_part(Unmeetable("no.", 3), 2)
    assert str(told).startswith("no. This is about one of 2 parts")
    assert told.lost == 3

    def solve(part: Table) -> Solution:
        raise Unmeetable("no.")

    with pytest.raises(Unmeetable, match="This is about one of"):
        solve_parts(table(), 4, "k-member", solve)
