"""Rows of stars: which rows show nothing but `*`, what that means for them, and where they may go instead.

The rule stands here and nowhere else in the algorithms:

- a row that shows `*` in every quasi-identifier counts as suppressed (:func:`count_as_suppressed`), and takes no part
  in any model (:func:`without_part`);
- a row that shows `*` in every attribute of one component, but not of all, is in a group like any other, that of all
  such rows; where this group, by itself, does not satisfy every model of the component, its rows are suppressed there
  (:func:`kveil.algorithms.settle.settle`).

Neither holds for a person whose items are shown: that row still says something, so it is kept and takes part in
everything. Since a row of stars is as good as lost, an algorithm whose group would show nothing else rather gives its
rows to neighbours (:func:`give_away`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kveil.arrays import Bools, Ints
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree

NOTHING_LEFT = "nothing but * would be left to show"  # the reason that owners are told

# ------------------------------------------------------------------------------------------------ who shows stars


def star_nodes(trees: Sequence[Tree], nodes: Ints) -> Bools:
    """Tell which rows show `*` in every one of some trees; ``nodes`` has a row per tree and a column per row."""
    star = np.zeros(nodes.shape[1], dtype=bool)
    if can_show_stars(trees):
        rows = np.arange(nodes.shape[1])
        for column in nodes:  # fewer rows are looked at in every further column
            rows = rows[column[rows] == 0] if len(rows) < nodes.shape[1] else np.flatnonzero(column == 0)
        star[rows] = True
    return star


def star_cells(shown: Sequence[Shown], rows: int) -> Bools:
    """Tell which rows of a release show `*` in every one of some attributes."""
    star = np.ones(rows, dtype=bool)
    for column in shown:
        star &= column.is_star[column.codes]
    return star


def star_spans(trees: Sequence[Tree | Scale], low: Ints, high: Ints) -> Bools:
    """Tell which groups show nothing but `*`, given per attribute and group the span of leaves they cover.

    Of a scale of numbers only a span that mixes numbers and missing shows `*`.
    """
    star = np.zeros(low.shape[1], dtype=bool)
    left = np.arange(low.shape[1])
    for a, tree in enumerate(trees):  # fewer groups are looked at in every further attribute
        lowest, highest = low[a, left], high[a, left]
        if isinstance(tree, Tree):
            left = left[tree.is_star[tree.lca(lowest, highest)]]
        else:
            left = left[(highest == tree.missing) & (lowest != highest)] if tree.missing is not None else left[:0]
    star[left] = True
    return star


def can_show_stars(trees: Sequence[Tree | Scale]) -> bool:
    """Tell whether a row can show `*` in every one of some attributes."""
    return all(tree.is_star[0] if isinstance(tree, Tree) else tree.missing is not None for tree in trees)


# ------------------------------------------------------------------------------------------------ the rule


def without_part(table: Table, star: Bools) -> Bools:
    """Return, of the rows that show `*` in all attributes of a component, those that its models do not count.

    Where there are other components these rows may show something there, and are a group like any other here.
    """
    return count_as_suppressed(table, star) if len(table.components) == 1 else np.zeros_like(star)


def count_as_suppressed(table: Table, star: Bools) -> Bools:
    """Return, of the rows that show `*` in every quasi-identifier, those that count as suppressed."""
    return np.zeros_like(star) if table.stars_take_part else star


def nothing_left(table: Table, shown: Sequence[Shown], items: Mapping[str, Ints]) -> Bools:
    """Return the rows of a release that count as suppressed since they show nothing.

    ``items`` are the shown nodes of the pairs of a row and an item, where items are generalized: a person who shows
    `*` there too has nothing left.
    """
    star = star_cells(shown, table.rows)
    return star & no_items_left(table, items) if items else count_as_suppressed(table, star)


def no_items_left(table: Table, items: Mapping[str, Ints]) -> Bools:
    """Return the rows whose items, where they are generalized, are all shown as `*`."""
    none = np.ones(table.rows, dtype=bool)
    for name, sensitive in table.sensitive.items():
        if name in items and sensitive.tree is not None and sensitive.tree.is_star[0]:
            none[sensitive.row[items[name] != 0]] = False
        else:
            none[:] = False
    return none


def group_of_stars_is_lost(table: Table) -> bool:
    """Tell whether a group that shows nothing but `*` in its component is lost to the release.

    It is where there is no other component in which its rows could show something.
    """
    return len(table.components) == 1 and not table.stars_take_part


# ------------------------------------------------------------------------------------------------ giving them away


def give_away(waiting: Sequence[int], join: Callable[[int], bool], start: Callable[[list[int]], set[int]]) -> list[int]:
    """Give rows of stars to neighbours; return those that found no place.

    Row by row, in the order given: ``join`` lets one into a neighbouring group if it can. Of those left over ``start``
    makes groups of their own where it can and returns whom it placed; others may then join these.
    """
    left = list(waiting)
    while left:
        left = [row for row in left if not join(row)]
        placed = start(left)
        if not placed:
            break
        left = [row for row in left if row not in placed]
    return left
