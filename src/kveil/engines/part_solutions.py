"""A table solved part by part: the parts' solutions joined into one of the whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from kveil.algorithms.settle import settle
from kveil.algorithms.splitting.cutting import TableParts, cut
from kveil.arrays import Bools, Ints
from kveil.errors import Unmeetable
from kveil.policy.components import most_suppressed
from kveil.policy.model import Policy
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tuples import pairs_of_rows, some_rows
from kveil.words import count


def solve_parts(table: Table, most: int, name: str, solve: Callable[[Table], Solution]) -> Solution:
    """Return the solution of a table that is cut into parts of at most so many records, each solved by itself.

    What the cuts leave out counts against the suppression limit; every part may leave out its share of what remains.
    """
    parts = cut(table, most, name)
    if len(parts.rows) == 1 and not len(parts.left_out):
        return solve(table)
    remaining = most_suppressed(table.policy, table.records) - int(table.weights[parts.left_out].sum())
    inside = sum(int(table.weights[rows].sum()) for rows in parts.rows)
    solutions = []
    for rows in parts.rows:
        try:
            solutions.append(solve(with_share(some_rows(table, rows), remaining, inside)))
        except Unmeetable as error:
            raise in_one_part(error, len(parts.rows)) from None
    return settle(table, join_solutions(table, parts, solutions), name)


def with_share(part: Table, remaining: int, inside: int) -> Table:
    """Return a part that may leave out its share of the records that remain to be left out, of all inside parts."""
    return part.changed(policy=_with_limit(part.policy, Fraction(remaining * part.records // inside, part.records)))


def in_one_part(error: Unmeetable, parts: int) -> Unmeetable:
    """Return an error about a part as one about a table that was cut into so many."""
    return Unmeetable(
        f"{error} This is about one of {count(parts, 'part')} that divide cuts the table into: a larger number, or "
        "none, leaves it more to choose from.",
        lost=error.lost,
    )


def _with_limit(policy: Policy, limit: Fraction) -> Policy:
    """Return a policy with another suppression limit, which is exact."""
    return policy.model_copy(update={"suppression": policy.suppression.model_copy(update={"limit": limit})})


def join_solutions(table: Table, parts: TableParts, solutions: Sequence[Solution]) -> Solution:
    """Return one solution of all parts of a table."""
    suppressed = np.ones((len(table.components), table.rows), dtype=bool)
    reasons: dict[str, list[Ints]] = {parts.why: [parts.left_out]} if len(parts.left_out) else {}
    for rows, solution in zip(parts.rows, solutions, strict=True):
        suppressed[:, rows] = solution.suppressed
        for reason, who in solution.reasons.items():
            reasons.setdefault(reason, []).append(rows[who])
    largest = max(int(table.weights[rows].sum()) for rows in parts.rows)
    return Solution(
        tuple(
            Shown.joined(columns, parts.rows, table.rows) for columns in zip(*(s.shown for s in solutions), strict=True)
        ),
        suppressed,
        {reason: np.sort(np.concatenate(who)).astype(np.int32) for reason, who in reasons.items()},
        {"divided": {"parts": len(parts.rows), "largest": largest}},
        items=_items(table, parts, solutions),
        alike=_alike(table, parts, solutions, suppressed),
    )


def _items(table: Table, parts: TableParts, solutions: Sequence[Solution]) -> dict[str, Ints]:
    """Return the shown nodes of all pairs of a person and an item; of people whom no part holds, the roots."""
    items = {}
    for name in solutions[0].items:
        own = table.sensitive[name]
        nodes = np.zeros(len(own.row), dtype=np.int32)
        for rows, solution in zip(parts.rows, solutions, strict=True):
            nodes[pairs_of_rows(own, rows)[1]] = solution.items[name]
        items[name] = nodes
    return items


def _alike(table: Table, parts: TableParts, solutions: Sequence[Solution], suppressed: Bools) -> Ints | None:
    """Return the classes of all parts, numbered one after another, where every part knows its own."""
    known = [solution.alike for solution in solutions if solution.alike is not None]
    if len(known) < len(solutions) or suppressed.any():
        return None
    alike = np.zeros(table.rows, dtype=np.int32)
    begin = 0
    for rows, own in zip(parts.rows, known, strict=True):
        alike[rows] = own + begin
        begin += int(own.max(initial=-1)) + 1
    return alike
