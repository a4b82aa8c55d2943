"""Compiled loops that join sets of items: the finest set that two groups of people can both show."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.items.search_layout import ItemTree, NodeSets
from kveil.kernels.jit import inner

NODE, BEGIN, END, OTHER_BEGIN, OTHER_END = 0, 1, 2, 3, 4  # columns of the stack: a node, and what lies below it


@inner
def copy_set(sets: NodeSets, source: int, into: int) -> None:
    """Copy a set."""
    a, b = sets.start[source], sets.start[into]
    sets.length[into] = sets.length[source]
    for i in range(sets.length[source]):
        sets.node[b + i] = sets.node[a + i]
        sets.weight[b + i] = sets.weight[a + i]


@inner
def run_weight(sets: NodeSets, begin: int, end: int) -> int:
    """Return how many items a run of nodes stands for."""
    total = 0
    for i in range(begin, end):
        total += sets.weight[i]
    return total


@inner
def run_cost(tree: ItemTree, sets: NodeSets, begin: int, end: int, price: int) -> int:
    """Return what a run of nodes costs."""
    total = 0
    for i in range(begin, end):
        total += sets.weight[i] * tree.cost[price, sets.node[i]]
    return total


@inner
def fold_least(tree: ItemTree, sets: NodeSets, node: int, base: int, top: int, price: int, stack: Longs) -> int:
    """Take the child off the stack whose items lose least when they show the node; return how many items these are."""
    best = -1
    least = 0
    items = 0
    for s in range(base, top):
        a, b, c, d = stack[s, BEGIN], stack[s, END], stack[s, OTHER_BEGIN], stack[s, OTHER_END]
        weight = run_weight(sets, a, b) + run_weight(sets, c, d)
        lost = weight * tree.cost[price, node] - run_cost(tree, sets, a, b, price) - run_cost(tree, sets, c, d, price)
        if best < 0 or lost <= least:  # of equals the first in leaf order, which is the last here
            best, least, items = s, lost, weight
    for s in range(best, top - 1):
        for column in range(5):
            stack[s, column] = stack[s + 1, column]
    return items


@inner
def join_sets(tree: ItemTree, sets: NodeSets, one: int, other: int, into: int, price: int, stack: Longs) -> int:
    """Write the finest set that whoever shows one of two sets can show instead; return what it costs.

    Below a node that both show something under, children of both go on; what only one of the two has shows the node. If
    the other has nothing that could show it, it gives up the child whose items lose least. ``into`` is neither of them.
    """
    node, weight = sets.node, sets.weight
    at = sets.start[into]
    total = 0
    stack[0, NODE] = -1  # above all roots
    stack[0, BEGIN], stack[0, END] = sets.start[one], sets.start[one] + sets.length[one]
    stack[0, OTHER_BEGIN], stack[0, OTHER_END] = sets.start[other], sets.start[other] + sets.length[other]
    top = 1
    while top > 0:
        top -= 1
        v, a, b, c, d = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4]
        same = b - a == d - c
        i = 0
        while same and i < b - a:
            same = node[a + i] == node[c + i]
            i += 1
        if same:
            for i in range(b - a):
                node[at], weight[at] = node[a + i], weight[a + i] + weight[c + i]
                total += weight[at] * tree.cost[price, node[at]]
                at += 1
            continue
        base = top
        step = 0 if v < 0 else np.int64(tree.depth[v] + 1)
        held = 0
        mine = yours = False
        # From behind, so that what is put on the stack comes off in leaf order.
        while b > a or d > c:
            left = right = -1
            if b > a and node[b - 1] != v:
                left = int(tree.way[tree.way_start[tree.first[node[b - 1]]] + step])
            if d > c and node[d - 1] != v:
                right = int(tree.way[tree.way_start[tree.first[node[d - 1]]] + step])
            child = max(left, right)
            end, other_end = b, d
            while b > a and node[b - 1] >= child and (left == child):
                b -= 1
            while d > c and node[d - 1] >= child and (right == child):
                d -= 1
            if child >= 0 and left == right:
                stack[top, 0], stack[top, 1], stack[top, 2] = child, b, end
                stack[top, 3], stack[top, 4] = d, other_end
                top += 1
            else:
                mine, yours = mine or b < end, yours or d < other_end
                held += run_weight(sets, b, end) + run_weight(sets, d, other_end)
        if mine != yours and top > base:
            held += fold_least(tree, sets, v, base, top, price, stack)
            top -= 1
        if held > 0:
            node[at], weight[at] = v, held
            total += held * tree.cost[price, v]
            at += 1
    sets.length[into] = at - sets.start[into]
    return total
