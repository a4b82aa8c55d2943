"""Small random trees as plain lists, for kernels that are given nodes laid end to end."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass
class ListTree:
    """Nodes numbered from the root (0) down, in the order in which they are met; a leaf has itself as its only leaf."""

    parent: list[int]
    first: list[int]
    last: list[int]
    depth: list[int]
    leaf_nodes: list[int]

    @property
    def nodes(self) -> int:
        return len(self.parent)

    @property
    def leaves(self) -> int:
        return len(self.leaf_nodes)

    def way(self, node: int) -> list[int]:
        """Return a node and all above it."""
        found = [node]
        while found[-1] != 0:
            found.append(self.parent[found[-1]])
        return found

    def cover(self, one: int, other: int) -> int | None:
        """Return the lowest node above both, either of them included."""
        above = set(self.way(other))
        return next(node for node in self.way(one) if node in above)

    def allowed(self, base: int, limit: int) -> list[int]:
        """Return what may be shown from a lowest to a highest node."""
        way = self.way(base)
        return way[: way.index(limit) + 1]

    def is_star(self, node: int) -> bool:
        return node == 0

    def share(self, node: int) -> float:
        """Return what showing a node loses: its leaves less one over all leaves less one."""
        return (self.last[node] - self.first[node]) / max(self.leaves - 1, 1)

    def children(self, node: int) -> list[int]:
        return [child for child in range(1, self.nodes) if self.parent[child] == node]


@dataclass
class ListSpans(ListTree):
    """Spans of the numbers from 0 on, none wider than may be: numbers, spans by where they begin and end, and `*`."""

    @property
    def leaves(self) -> int:
        return len(self.leaf_nodes)

    def way(self, node: int) -> list[int]:
        found = [node]
        while self.parent[found[-1]] != found[-1]:
            found.append(self.parent[found[-1]])
        return found

    def find(self, low: int, high: int) -> int | None:
        ends = list(zip(self.first[:-1], self.last[:-1], strict=True))
        return ends.index((low, high)) if (low, high) in ends else None

    def cover(self, one: int, other: int) -> int | None:
        """Return the narrowest span over both, None where that is too wide; the first where both have the same ends."""
        for node, inner in ((one, other), (other, one)):
            if self.first[node] <= self.first[inner] and self.last[inner] <= self.last[node]:
                return node
        return self.find(min(self.first[one], self.first[other]), max(self.last[one], self.last[other]))

    def allowed(self, base: int, limit: int) -> list[int]:
        first, last = self.first[base], self.last[base]
        return [node for node in range(self.nodes) if self.first[node] <= first and last <= self.last[node]]

    def is_star(self, node: int) -> bool:
        return node == self.nodes - 1


def random_spans(chance: Random) -> ListSpans:
    """Return spans of some numbers, up to a width or all of them."""
    numbers = chance.randint(2, 9)
    widest = chance.choice([numbers, numbers, chance.randint(1, numbers)])
    ends = [(low, low) for low in range(numbers)]
    ends += [(low, high) for low in range(numbers) for high in range(low + 1, numbers) if high - low <= widest]
    halves = []
    for size in (2**level for level in range(5)):
        halves += [(low, min(low + size, numbers) - 1) for low in range(0, numbers, size)]
    parent = []
    for i, (low, high) in enumerate(ends):
        wider = [half for half in halves if half[0] <= low and high <= half[1] and half != (low, high)]
        parent.append(ends.index(wider[0]) if wider and wider[0] in ends else i)
    star = len(ends)
    first, last = [low for low, _ in ends], [high for _, high in ends]
    spans = ListSpans([*parent, star], [*first, 0], [*last, numbers - 1], [], list(range(numbers)))
    spans.depth = [len(spans.way(node)) - 1 for node in range(spans.nodes)]
    return spans


def random_tree(chance: Random, most_depth: int = 3, most_children: int = 3) -> ListTree:
    """Return a tree with two leaves or more; some nodes have a single child."""
    tree = ListTree([0], [0], [0], [0], [])

    def grow(node: int, depth: int, fewest: int) -> None:
        tree.first[node] = len(tree.leaf_nodes)
        if depth == most_depth or (fewest == 1 and chance.random() < 0.3):
            tree.leaf_nodes.append(node)
        else:
            for _ in range(chance.randint(fewest, most_children)):
                child = len(tree.parent)
                tree.parent.append(node)
                tree.depth.append(depth + 1)
                tree.first.append(0)
                tree.last.append(0)
                grow(child, depth + 1, 1)
        tree.last[node] = len(tree.leaf_nodes) - 1

    grow(0, 0, 2)
    return tree
