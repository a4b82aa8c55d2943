"""Records of a part grouped by what they have below a node, the slow way, with sets instead of hashes."""

from __future__ import annotations

from naive.trees import ListTree

Items = list[int]  # leaves of a record, sorted


def children_of(tree: ListTree, shown: dict[int, int], items: Items, node: int) -> list[int]:
    """Return the child above each of a record's items that shows the node; ``shown`` is what each leaf shows."""
    found = []
    for leaf in items:
        if shown[leaf] == node:
            way = tree.way(tree.leaf_nodes[leaf])
            found.append(way[way.index(node) - 1])
    return found


def regrouped(
    tree: ListTree, costs: list[int], shown: dict[int, int], records: list[Items], node: int, child: int | None, k: int
) -> tuple[int, list[list[int]]] | None:
    """Return what opening a node gains, or taking a child out of it, and the groups of records that do; None if none.

    Groups below k are left over; what is left over is filled up to k with records of groups that have more than k,
    those of least gain first; where that is not enough, the group that gains least is left over too.
    """
    below = [children_of(tree, shown, own, node) for own in records]
    if child is None:
        gain = [sum(costs[node] - costs[c] for c in own) for own in below]
        kind: list[tuple[int, ...]] = [tuple(sorted(set(own))) for own in below]
        order = sorted(range(len(records)), key=lambda p: p)
        keys = list(dict.fromkeys(kind[p] for p in order))
    else:
        gain = [(costs[node] - costs[child]) * own.count(child) for own in below]
        kind = [() if child not in own else (0,) if set(own) == {child} else (1,) for own in below]
        keys = [(0,), (1,)]
    groups = [[p for p in range(len(records)) if kind[p] == key] for key in keys]
    # Of groups that gain the same, the one goes whose record has the first children in leaf order.
    first = [tuple(sorted(set(below[own[0 if child is None else -1]]))) if own else () for own in groups]
    return merge_small(groups, gain, first, k)


def merge_small(
    groups: list[list[int]], gain: list[int], first: list[tuple[int, ...]], k: int
) -> tuple[int, list[list[int]]] | None:
    """Return the groups that stand and what they gain, None for none; all others of the records are left over.

    ``first`` is what groups are told apart by that gain the same.
    """
    standing = {g: list(own) for g, own in enumerate(groups) if len(own) >= k}
    left = len(gain) - sum(map(len, standing.values()))
    if not standing:
        return None
    total = sum(gain[p] for own in standing.values() for p in own)
    if left == 0 or left >= k:
        return total, list(standing.values())
    if sum(len(own) - k for own in standing.values()) >= k - left:
        home = {p: g for g, own in standing.items() for p in own}
        for value, p in sorted((gain[p], p) for own in standing.values() if len(own) > k for p in own):
            if left == k:
                break
            if len(standing[home[p]]) > k:
                standing[home[p]].remove(p)
                total -= value
                left += 1
        return total, list(standing.values())
    won = {g: sum(gain[p] for p in own) for g, own in standing.items()}
    least = min(standing, key=lambda g: (won[g], first[g]))
    if left + len(standing.pop(least)) == len(gain):
        return None
    return total - won[least], list(standing.values())
