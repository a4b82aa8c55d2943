"""Starts where constraints overlap: numbers climb by halves, and groups of the widest constraint climb together.

Classfly+ knows trees alone. Spans of numbers are halved for it, again and again, which makes a tree; what it then shows
is read as spans. Where one constraint is over all attributes of its component, it is solved by itself first, as groups.
Rows of a group are then one thing to Classfly+, which raises groups until the other constraints hold, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kveil.algorithms.classfly.classfly import ClassflyOptions, classfly_complete
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.layout import whole_numbers
from kveil.algorithms.least_loss.search_groups import group_search_of
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
    together = None if valid is None else grouped_table(climbed, valid)
    if together is None:
        return
    try:
        solution = replace(classfly_complete(together, BY_GAIN, rng), alike=None)
        yield "groups of one constraint", settle(table, with_spans(table, climbed, solution), NAME)
    except Unmeetable:
        return


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


def grouped_table(table: Table, valid: Solution) -> Table | None:
    """Return a table in which rows are as wide as their groups under constraints over all attributes of a component.

    As far as sizes go: groups look at nobody's values. None where no component has such a constraint beside others.
    """
    order = table.canonical.astype(np.int32)
    costs = whole_numbers(table)
    low, high = table.low.copy(), table.high.copy()
    found = False
    for component in components_of(table):
        public = component.sizes_only()  # who is left out later must not follow from what anybody has
        whole = [own for own in public.constraints if len(own.over) == len(component.positions)]
        if component.over_everything or not whole:
            continue
        part = RefinedComponent(replace(public, constraints=whole), valid, order)
        watch = Watch(Stop(within=current()), silent, float(costs.scale * table.records))
        groups = group_search_of(part, costs, watch, valid, ())
        if groups is None:
            continue
        groups.start_over()
        groups.run(GROUP_TRIES)
        found = True
        for position, shown in zip(component.positions, groups.shown(valid), strict=True):
            tree = table.trees[position]
            assert isinstance(tree, Tree)
            low[position, part.rows] = tree.first[shown.codes[part.rows]]
            high[position, part.rows] = tree.last[shown.codes[part.rows]]
    return replace(table, low=low, high=high) if found else None
