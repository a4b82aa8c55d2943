"""Starts where constraints overlap: numbers climb by halves, and groups of the widest constraint climb together.

Classfly+ knows trees alone. Spans of numbers are halved for it, again and again, which makes a tree; what it then shows
is read as spans. Where one constraint is over all attributes of its component, it is solved by itself first, as groups.
Rows of a group are then one thing to Classfly+, which raises groups until the other constraints hold, too. Elsewhere
that is done with the constraint that costs most by itself, and then with the next one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from operator import itemgetter

import numpy as np

from kveil.algorithms.classfly.classfly import ClassflyOptions, classfly_complete
from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.least_loss.layout import whole_numbers
from kveil.algorithms.least_loss.search_groups import GroupSearch, group_search_of
from kveil.algorithms.least_loss.state import RefinedComponent, Watch
from kveil.algorithms.settle import settle
from kveil.errors import Unmeetable
from kveil.policy.attributes import STAR
from kveil.progress import silent
from kveil.stopping import Stop, current
from kveil.table.group_spans import group_spans
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree, depths_of, heights_of

GROUP_TRIES = 8.0  # per row, for the constraint that is solved first
FEW_GROUP_TRIES = 0.7  # per row, for one that is not over all attributes, of which more than one are solved
GROUPED = ("groups of one constraint", "groups of two constraints")  # the starts: so many are solved one after another
MOST_K_OF_PARTS = 25  # k above which these are not solved: groups of one constraint then cost more than they gain
BY_GAIN = ClassflyOptions(choose="gain", join=True)
NAME = "classfly+complete"


def overlap_starts(table: Table, rng: np.random.Generator, valid: Solution | None) -> Iterator[tuple[str, Solution]]:
    """Yield starts of a table beside those of other algorithms, each with its name; ``valid`` is one of these.

    Raises OutOfTime.
    """
    climbed = halved_table(table)
    if climbed is not table:
        valid = None
        for options in (ClassflyOptions(), BY_GAIN):
            try:
                valid = settle(climbed, classfly_complete(climbed, options, rng), NAME)
                yield "halves of numbers", settle(table, with_spans(table, climbed, valid), NAME)
            except Unmeetable:
                continue
    for name, together in () if valid is None else grouped_tables(climbed, valid):
        try:
            solution = replace(classfly_complete(together, BY_GAIN, rng), alike=None)
            yield name, settle(table, with_spans(table, climbed, solution), NAME)
        except Unmeetable:
            continue


# ------------------------------------------------------------------------------------------------ halves of numbers


def halved_table(table: Table) -> Table:
    """Return a table with trees alone: numbers under halves of all of them, and halves of these, up to a width."""
    if all(isinstance(tree, Tree) for tree in table.trees):
        return table
    widest = (table.policy.attributes[name].widest for name in table.names)
    trees = [
        tree if isinstance(tree, Tree) else tree_of_halves(tree, most)
        for tree, most in zip(table.trees, widest, strict=True)
    ]
    return table.changed(trees=tuple(trees))


def tree_of_halves(scale: Scale, widest: Decimal | None) -> Tree:
    """Return the tree of halves of some numbers, missing beside them; limits are the widest that may be shown."""
    numbers = len(scale.numbers)
    ends: list[tuple[int, int]] = []
    parent: list[int] = []
    alone = scale.missing is None and widest is None
    if not alone or not numbers:
        ends.append((0, max(scale.leaves - 1, 0)))
        parent.append(0)
    waiting = [(0, numbers - 1, (numbers - 1).bit_length(), 0)] if numbers else []
    while waiting:
        low, high, level, above = waiting.pop()
        node = len(ends)
        ends.append((low, high))
        parent.append(above)
        while low < high and low + (1 << (level - 1)) > high:  # all of them lie in the first half
            level -= 1
        if low < high:
            middle = low + (1 << (level - 1))
            waiting += [(middle, high, level - 1, node), (low, middle - 1, level - 1, node)]
    if scale.missing is not None and numbers:
        ends.append((scale.missing, scale.missing))
        parent.append(0)
    return _tree_of(scale, widest, ends, parent, starred=not alone)


def _tree_of(
    scale: Scale, widest: Decimal | None, ends: list[tuple[int, int]], parent: list[int], *, starred: bool
) -> Tree:
    """Return the tree of spans and their parents, which come before them; with ``starred`` the first shows nothing."""
    nodes = len(ends)
    above = np.array(parent, dtype=np.int32)
    leaf = np.ones(nodes, dtype=bool)
    leaf[above[1:]] = False
    depth = depths_of(above)
    may = np.array([widest is None or not scale.shows_more(*own, widest) for own in ends])
    limit = may & ~may[above]
    limit[0] = True
    losses = np.array([scale.shown(*own)[1] for own in ends])
    labels = [f"{low} {high}" for low, high in ends]
    if starred:
        labels[0], losses[0] = STAR, 1.0
    first, last = np.array(ends, dtype=np.int32).T.copy()
    return Tree(
        tuple(labels),
        above,
        depth,
        heights_of(above, depth),
        first,
        last,
        leaf_nodes=np.flatnonzero(leaf).astype(np.int32),
        limit=limit,
        ncp=losses,
        missing=scale.missing,
    )


def with_spans(table: Table, climbed: Table, solution: Solution) -> Solution:
    """Return a solution of a table of halves as one of its numbers, each span as narrow as its rows allow."""
    columns = []
    for position, shown in enumerate(solution.shown):
        scale = table.trees[position]
        if not isinstance(scale, Scale):
            columns.append(shown)
            continue
        low, high = group_spans(shown.codes, len(shown.labels), table.low[position], table.high[position])
        columns.append(Shown.spans(scale, low[shown.codes], high[shown.codes]))
    return solution if climbed is table else replace(solution, shown=tuple(columns), alike=None)


# ------------------------------------------------------------------------------------------------ groups that climb


def grouped_tables(table: Table, valid: Solution) -> Iterator[tuple[str, Table]]:
    """Yield tables in which rows are as wide as their groups under some of the constraints, each with a name.

    The first has groups under what is over all attributes of a component. Where no component has such a constraint
    beside others, there is a table for the costliest constraint of each, then one for the next costliest, too: rows
    that are as wide as their groups are grouped again. As far as sizes go: groups look at nobody's values.
    """
    searches = [_whole_searches(component) for component in _overlapping(table)]
    if any(searches):
        yield GROUPED[0], _widened(table, valid, [search for found in searches for search in found], GROUP_TRIES)
        return
    parts = [_costliest_parts(table, valid, component) for component in _overlapping(table)]
    for turn, name in enumerate(GROUPED):
        own = [found[turn] for found in parts if len(found) > turn]
        if not own:
            return
        table = _widened(table, valid, own, FEW_GROUP_TRIES)
        yield name, table


def _overlapping(table: Table) -> list[SearchComponent]:
    """Return the components whose constraints overlap, as far as sizes go.

    Who is left out later must not follow from what anybody has.
    """
    return [component.sizes_only() for component in components_of(table) if not component.over_everything]


def _whole_searches(component: SearchComponent) -> list[SearchComponent]:
    """Return a component with the constraints over all of its attributes alone, if there are any."""
    whole = [own for own in component.constraints if len(own.over) == len(component.positions)]
    return [replace(component, constraints=whole)] if whole else []


def _costliest_parts(table: Table, valid: Solution, component: SearchComponent) -> list[SearchComponent]:
    """Return a component's constraints by themselves, those first whose rows lose most once split top-down."""
    parts = []
    for number, own in enumerate(component.constraints):
        part = replace(
            component,
            positions=own.positions,
            names=tuple(table.names[position] for position in own.positions),
            constraints=[replace(own, over=list(range(len(own.over))))],
        )
        groups = _groups_of(table, valid, part)
        if groups is not None:
            parts.append((-groups.grouping.cost, number, part))
    return [part for _, _, part in sorted(parts, key=itemgetter(0, 1)) if part.largest_k <= MOST_K_OF_PARTS]


def _groups_of(table: Table, valid: Solution, component: SearchComponent) -> GroupSearch | None:
    """Return the search of a component in groups, split top-down, None where a valid solution breaks its models."""
    costs = whole_numbers(table)
    part = RefinedComponent(replace(component, table=table), valid, table.canonical.astype(np.int32))
    watch = Watch(Stop(within=current()), silent, float(costs.scale * table.records))
    groups = group_search_of(part, costs, watch, valid, ())
    if groups is not None:
        groups.start_over()
    return groups


def _widened(table: Table, valid: Solution, components: list[SearchComponent], tries_per_row: float) -> Table:
    """Return a table in which rows are as wide as their groups."""
    low, high = table.low.copy(), table.high.copy()
    for component in components:
        groups = _groups_of(table, valid, component)
        if groups is None:
            continue
        groups.run(tries_per_row)
        rows = groups.refined.rows
        for position, shown in zip(component.positions, groups.shown(valid), strict=True):
            tree = table.trees[position]
            assert isinstance(tree, Tree)
            low[position, rows] = tree.first[shown.codes[rows]]
            high[position, rows] = tree.last[shown.codes[rows]]
    return replace(table, low=low, high=high)
