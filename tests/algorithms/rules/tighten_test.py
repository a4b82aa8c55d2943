"""Left sides are limited where right sides could never meet."""

from __future__ import annotations

import numpy as np

from coded_tables import QUASI, coded
from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.rules.tighten import tighten_limits
from kveil.table.table import Table

LEFT = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c", "d"]}}}}
RIGHT = {"tree": {"*": {"P": ["p", "q"], "R": ["r"]}}}
COLUMNS = {"left": list("abcd"), "right": ["p", "q", "r", "r"], "w": ["1", "1", "2", "3"]}


def tight(boundary: object = None, rule: str = "left -> right") -> tuple[Table, Table | None]:
    right = {"role": QUASI, "hierarchy": RIGHT, **({} if boundary is None else {"boundary": boundary})}
    table = coded(COLUMNS, {"left": LEFT, "right": right, "w": "insensitive"}, dependencies=[rule])
    return table, tighten_limits(table, rules_of(table, multivalued=False))


def limits(table: Table) -> set[str]:
    tree = table.trees[0]
    return {tree.labels[node] for node in np.unique(tree.limit_of).tolist()}


def test_values_whose_right_sides_can_never_be_one_are_kept_apart() -> None:
    table, found = tight(["P", "R"])
    assert found is not None
    assert limits(found) == {"N", "S"}
    assert limits(table) == {"*"}
    assert tighten_limits(table, rules_of(table, multivalued=False)) is found  # the same however often it is asked for


def test_a_right_side_that_is_released_as_it_is_never_meets_another() -> None:
    _, found = tight(rule="left -> w")
    assert found is not None
    assert limits(found) == {"N", "c", "d"}


def test_there_is_nothing_to_tighten_where_right_sides_may_meet_at_the_root() -> None:
    assert tight()[1] is None
    assert tight(["P", "R"], "left, w -> right")[1] is None  # two attributes on the left
