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

    def cover(self, one: int, other: int) -> int:
        """Return the lowest node above both, either of them included."""
        above = set(self.way(other))
        return next(node for node in self.way(one) if node in above)

    def share(self, node: int) -> float:
        """Return what showing a node loses: its leaves less one over all leaves less one."""
        return (self.last[node] - self.first[node]) / max(self.leaves - 1, 1)

    def children(self, node: int) -> list[int]:
        return [child for child in range(1, self.nodes) if self.parent[child] == node]


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
