"""The compiled loops that look for spans of numbers among the nodes of `overlaps`; importing this imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.kernels.jit import inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import NodeColumns, ShownRows
from kveil.kernels.random.draw_loops import draw


@inner
def span_over(trees: NodeColumns, a: int, low: int, high: int) -> int:
    """Return the narrowest span from a leaf to another, or further, -1 where none may be shown."""
    low, high = np.int64(low), np.int64(high)
    if low == high:
        return low  # single numbers stand first
    at = trees.span_at[a]
    if high == trees.spans[at + field.SPAN_MISSING]:
        return np.int64(trees.spans[at + field.SPAN_STAR])
    table = at + field.SPAN_TABLE
    leaves = np.int64(trees.spans[at + field.SPAN_LEAVES])
    begin = table + 2 * leaves + 2 * np.int64(trees.spans[table + low])
    node = np.int64(trees.spans[begin]) + trees.spans[table + leaves + high] - trees.spans[begin + 1]
    return node if node < trees.spans[begin + 2] else np.int64(-1)


@inner
def span_over_both(trees: NodeColumns, a: int, node: int, other: int) -> int:
    """Return the narrowest span over two spans, -1 where none may be shown; one of them where that covers both."""
    one, two = trees.at[a] + np.int64(node), trees.at[a] + np.int64(other)
    low, high = trees.ints[field.FIRST, one], trees.ints[field.LAST, one]
    first, last = trees.ints[field.FIRST, two], trees.ints[field.LAST, two]
    if low <= first and last <= high:
        return np.int64(node)
    if first <= low and high <= last:
        return np.int64(other)
    return span_over(trees, a, min(low, first), max(high, last))


@inner
def narrower_span(state: ShownRows, trees: NodeColumns, row: int, a: int) -> int:
    """Draw a span between what a row is and what it shows; as it is shown where that is none of the table."""
    shown, base = trees.at[a] + state.nodes[row, a], trees.at[a] + state.base[row, a]
    low, high = np.int64(trees.ints[field.FIRST, base]), np.int64(trees.ints[field.LAST, base])
    below, above = low - trees.ints[field.FIRST, shown], trees.ints[field.LAST, shown] - high
    if below > 0:
        low -= draw(state.random, below + 1)
    if above > 0:
        high += draw(state.random, above + 1)
    node = span_over(trees, a, low, high)
    return node if node >= 0 else np.int64(state.nodes[row, a])


@inner
def cut_span(state: ShownRows, trees: NodeColumns, row: int, a: int, below: bool) -> int:
    """Return what a row shows of an attribute without what lies below its own number, or above it; -1 for none."""
    shown, base = trees.at[a] + state.nodes[row, a], trees.at[a] + state.base[row, a]
    low = trees.ints[field.FIRST, base if below else shown]
    return span_over(trees, a, low, trees.ints[field.LAST, shown if below else base])
