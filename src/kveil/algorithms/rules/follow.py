"""Right sides that follow their left side: how refining keeps functional rules by itself.

For a rule with one attribute on the left, let every node of the left tree stand for the lowest node of the right one
over all rows below it. Whoever shows the left node shows that one: the rule holds whatever the groups are, and the
right side's cost is a part of the left node's. So the search needs no more than other costs. It shows less than could
be shown where groups with the same left node could do with a lower right side; the caller compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.declared_rules import DeclaredRule
from kveil.arrays import Ints, Longs
from kveil.table.group_spans import group_spans
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class Follower:
    """An attribute (by position) that shows, for every node that its left side shows, one node."""

    right: int
    left: int
    node: Ints


def followers_of(table: Table, positions: Sequence[int], rules: Sequence[DeclaredRule]) -> list[Follower]:
    """Return the attributes among some that can follow another, each after the one it follows.

    Rules with one tree on the left and a tree on the right; not where the right side would climb beyond a boundary, or
    where following would go round in a circle.
    """
    found: dict[int, Follower] = {}
    for rule in rules:
        left = rule.left[0] if len(rule.left) == 1 else -1
        if left not in positions or rule.right not in positions or rule.right in found:
            continue
        above = left
        while above in found:
            above = found[above].left
        node = None if above == rule.right else _follows(table, left, rule.right)
        if node is not None:
            found[rule.right] = Follower(rule.right, left, node)
    ordered: list[Follower] = []
    waiting = list(found.values())
    while waiting:
        rights = {follower.right for follower in waiting}
        ready = [follower for follower in waiting if follower.left not in rights]
        ordered += ready
        waiting = [follower for follower in waiting if follower.left in rights]
    return ordered


def _base(table: Table, position: int, tree: Tree) -> Ints:
    return tree.lca(table.low[position], table.high[position])


def _follows(table: Table, left: int, right: int) -> Ints | None:
    """Return the node of the right tree for every node of the left one; None where a boundary forbids it."""
    one, other = table.trees[left], table.trees[right]
    if not isinstance(one, Tree) or not isinstance(other, Tree):
        return None
    at, node = _base(table, left, one), _base(table, right, other)
    low, high = group_spans(at, len(one.labels), other.first[node], other.last[node])
    limit = other.depth[other.limit_of[table.low[right]]]
    deepest = np.zeros(len(one.labels), dtype=limit.dtype)  # a right side may not climb above this depth
    np.maximum.at(deepest, at, limit)
    for child in range(len(one.labels) - 1, 0, -1):
        up = one.parent[child]
        low[up], high[up] = min(low[up], low[child]), max(high[up], high[child])
        deepest[up] = max(deepest[up], deepest[child])
    empty = high < 0
    low[empty], high[empty] = 0, 0
    follows = other.lca(low, high)
    may_show = np.zeros(len(one.labels), dtype=bool)
    may_show[one.limit_of[table.low[left]]] = True
    for child in range(1, len(one.labels)):
        may_show[child] |= may_show[one.parent[child]]
    return None if (~empty & may_show & (other.depth[follows] < deepest)).any() else follows


def follow_costs(costs: NodeCosts, followers: Sequence[Follower]) -> NodeCosts:
    """Return costs by which a search that only chooses left sides also weighs what follows from its choice.

    What a node of a left side makes its right side show is added to that node's cost, and the right side, which has no
    choice, costs nothing. Last followers first, so that the costs along a chain of rules end up at its beginning.
    """
    nodes = dict(costs.nodes)
    for follower in reversed(followers):
        nodes[follower.left] = nodes[follower.left] + nodes[follower.right][follower.node]
        nodes[follower.right] = np.zeros_like(nodes[follower.right])
    return costs._replace(nodes=nodes)


def show_followers(shown: Longs | Ints, positions: Sequence[int], followers: Sequence[Follower]) -> None:
    """Let followers show what belongs to what their left sides show (rows × attributes, in place)."""
    for follower in followers:
        shown[:, positions.index(follower.right)] = follower.node[shown[:, positions.index(follower.left)]]
