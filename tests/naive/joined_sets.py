"""Sets of nodes that people can show together, the slow way, with dictionaries and recursion."""

from __future__ import annotations

from naive.trees import ListTree

Weighted = dict[int, int]  # shown nodes, and how many items each stands for


def joined(tree: ListTree, costs: list[int], one: Weighted, other: Weighted) -> Weighted:
    """Return the finest set that whoever shows one of two sets can show instead."""
    return _below(tree, costs, 0, one, other)


def _below(tree: ListTree, costs: list[int], node: int, one: Weighted, other: Weighted) -> Weighted:
    if one.keys() == other.keys():
        return {shown: one[shown] + other[shown] for shown in one}
    common: dict[int, tuple[Weighted, Weighted]] = {}
    held, mine, yours = 0, node in one, node in other
    held += one.get(node, 0) + other.get(node, 0)
    for child in tree.children(node):
        left, right = ({n: w for n, w in own.items() if child in tree.way(n)} for own in (one, other))
        if left and right:
            common[child] = left, right
        else:
            mine, yours = mine or bool(left), yours or bool(right)
            held += sum(left.values()) + sum(right.values())
    if mine != yours and common:
        # The side with nothing to show the node by gives up the child whose items lose least.
        def lost(child: int) -> int:
            return sum(w * (costs[node] - costs[n]) for own in common[child] for n, w in own.items())

        given = min(common, key=lambda child: (lost(child), child))
        held += sum(w for own in common.pop(given) for w in own.values())
    found = {node: held} if held else {}
    for child, (left, right) in common.items():
        found |= _below(tree, costs, child, left, right)
    return found


def can_show(tree: ListTree, items: list[int], nodes: set[int]) -> bool:
    """Tell whether somebody with these leaf nodes can show exactly these nodes, each item the lowest above it."""
    lowest = [next((node for node in tree.way(item) if node in nodes), None) for item in items]
    return None not in lowest and set(lowest) == nodes


def cost_of(tree: ListTree, costs: list[int], items: list[int], nodes: set[int]) -> int:
    """Return what somebody's items cost as a set of nodes."""
    return sum(costs[next(node for node in tree.way(item) if node in nodes)] for item in items)
