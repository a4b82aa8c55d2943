"""Components of small tables as integer programs: what they lose at least, and a release where there is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kveil.algorithms.component import SearchComponent
from kveil.algorithms.program import Program, ProgramTree, SizeConstraint, kinds_of, program_of
from kveil.arrays import Ints, Longs
from kveil.policy.components import most_suppressed
from kveil.stopping import current
from kveil.table.solution import Shown
from kveil.table.tree import Tree

MOST_PROGRAM_ROWS = 500  # of a table that may be solved as a program
MOST_PROGRAM_OPTIONS = 400  # what all rows together may show
MOST_PROGRAM_NODES = 100  # of HiGHS's tree


def program_of_component(component: SearchComponent, costs: Sequence[Longs]) -> tuple[Program, Ints] | None:
    """Return the program of a component by the sizes of its classes, and every row's kind; None if it is too large.

    ``costs`` are what every node of its attributes' trees costs per row.
    """
    table = component.table
    if not 0 < table.rows <= MOST_PROGRAM_ROWS or not component.positions or not component.trees_only:
        return None
    hides = not table.stars_take_part
    columns, trees, whole = [], [], 0
    for position, cost in zip(component.positions, costs, strict=True):
        tree = table.trees[position]
        assert isinstance(tree, Tree)
        low = table.low[position]
        columns.append(tree.ends(low, table.high[position]))
        trees.append(ProgramTree(tree.parent, cost, 0 if hides and tree.is_star[0] else -1))
        whole += int(cost[0])
    base, limit = (np.ascontiguousarray(np.array([own[end] for own in columns]).T) for end in range(2))
    records = np.ones(table.rows, dtype=np.int64) if table.times is None else table.times
    outside = np.minimum(records, most_suppressed(table.policy, table.records))
    kinds, kind = kinds_of(base, limit, records, outside, trees, whole)
    program = program_of(kinds, _sizes(component), MOST_PROGRAM_OPTIONS)
    return None if program is None else (program, kind)


def _sizes(component: SearchComponent) -> list[SizeConstraint]:
    """Return how many rows at least classes must have, by their attributes."""
    most: dict[tuple[int, ...], int] = {}
    for constraint, fewest in zip(component.constraints, component.fewest, strict=True):
        over = tuple(sorted(constraint.over))
        most[over] = max(most.get(over, 1), fewest)
    return [SizeConstraint(over, k) for over, k in most.items()]


def least_cost(component: SearchComponent, costs: Sequence[Longs], seconds: float | None) -> int:
    """Return what the rows of a small component cost at least in all, 0 where that is not known."""
    made = program_of_component(component, costs)
    if made is None:
        return 0
    most_outside = most_suppressed(component.table.policy, component.table.records)
    return made[0].solve(most_outside, MOST_PROGRAM_NODES, seconds=seconds).at_least


def sizes_allow_none(component: SearchComponent) -> bool:
    """Tell whether it is proved that the classes of a small component are never all large enough."""
    if not component.trees_only:
        return False
    table = component.table
    costs = [1 + tree.height.astype(np.int64) for tree in component.trees if isinstance(tree, Tree)]  # any will do
    made = program_of_component(component, costs)
    return (
        made is not None
        and made[0]
        .solve(most_suppressed(table.policy, table.records), MOST_PROGRAM_NODES, seconds=current().left)
        .impossible
    )


def show_at_least_cost(component: SearchComponent, costs: Sequence[Longs]) -> list[Shown] | None:
    """Return what the rows of a small component show where sizes decide and nobody is left out; None if unknown."""
    table = component.table
    made = program_of_component(component, costs) if component.counts_only and table.times is None else None
    if made is None:
        return None
    program, kind = made
    division = program.solve(0, MOST_PROGRAM_NODES, seconds=current().left).best
    if division is None:
        return None
    nodes = np.zeros((table.rows, len(component.positions)), dtype=np.int32)
    for rows, vector in division.shared_out(table.canonical, kind):
        nodes[rows] = vector
    trees = [tree for tree in component.trees if isinstance(tree, Tree)]
    return [Shown.nodes(tree, np.ascontiguousarray(nodes[:, a])) for a, tree in enumerate(trees)]
