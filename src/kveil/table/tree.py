"""A hierarchy as arrays.

Nodes are numbered in depth-first order, parents before children, and so are the leaves: the lowest common
ancestor of a set of leaves is that of its smallest and its largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.policy.attributes import STAR, Attribute, Intervals
from kveil.policy.builders import is_real
from kveil.policy.hierarchy import marked_nodes
from kveil.policy.interval_scale import IntervalScale
from kveil.policy.lines import Line
from kveil.policy.numbers import parse_number
from kveil.table.group_spans import group_spans


@dataclass(frozen=True)
class Tree:
    """One attribute's hierarchy; node 0 is the root and its own parent.

    ``first`` and ``last`` are the leaves under a node, ``height`` the most edges down to one of them,
    ``limit`` says that a value may not be generalized beyond this node.
    """

    labels: tuple[str, ...]
    parent: Ints
    depth: Ints
    height: Ints
    first: Ints
    last: Ints
    _: KW_ONLY
    leaf_nodes: Ints
    limit: Bools
    ncp: Floats
    missing: int | None  # the leaf that stands for missing, if the data has it
    moved_limits: Ints | None = None  # every leaf's limit, where it is not the first marked node above it

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Every label's node."""
        return {label: node for node, label in enumerate(self.labels)}

    def bounded(self, attribute: Attribute) -> Tree:
        """Return the same tree with the limits of an attribute that differs in its boundary alone."""
        is_leaf = np.zeros(len(self.labels), dtype=bool)
        is_leaf[self.leaf_nodes] = True
        return replace(self, limit=_limits(self.labels, self.parent, is_leaf, attribute), moved_limits=None)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf_nodes)

    @property
    def il(self) -> Floats:
        """The information loss of a cell that shows a node: height of its subtree over that of the tree."""
        return self.height / max(int(self.height[0]), 1)

    @cached_property
    def is_star(self) -> Bools:
        """Which node shows `*`: the root, where it is called so."""
        star = np.zeros(len(self.labels), dtype=bool)
        star[0] = self.labels[0] == STAR
        return star

    @cached_property
    def limit_of(self) -> Ints:
        """Every leaf's limit: the first marked node on its way up, the root if there is none."""
        return self.limit_of_node[self.leaf_nodes] if self.moved_limits is None else self.moved_limits

    @cached_property
    def limit_of_node(self) -> Ints:
        """Every node's limit: itself if it is marked, else the first marked node above it, else the root."""
        node = np.arange(len(self.labels), dtype=np.int32)
        while True:
            free = ~self.limit[node]
            if not free.any():
                return node
            node[free] = self.parent[node[free]]

    def one_step(self, shown: Ints) -> Ints | None:
        """Return the map node → node of one generalization step, None where nothing may still move.

        The deepest shown nodes that are not at their limit move to their parents.
        """
        free = shown[~self.limit[shown]]
        if not len(free):
            return None
        depth = self.depth[free]
        deepest = free[depth == depth.max()]
        step = np.arange(len(self.labels), dtype=np.int32)
        step[deepest] = self.parent[deepest]
        return step

    def way_up(self, node: int, limit: int) -> list[int]:
        """Return a node, the nodes above it, and the limit or the root, whichever comes first."""
        return way_up(self.parent, node, limit)

    def at_depth(self, nodes: Ints, depth: int | Ints) -> Ints:
        """Return, for nodes, the lowest ones that are above or equal and no deeper than a depth. O(height) passes."""
        found = nodes.copy()
        while (below := self.depth[found] > depth).any():
            found[below] = self.parent[found[below]]
        return found

    def covers(self, nodes: Ints, group: Ints, groups: int) -> Ints:
        """Return for every group the lowest node that is above or equal to all of its nodes."""
        low, high = group_spans(group, groups, self.first[nodes], self.last[nodes])
        depth = np.full(groups, len(self.labels), dtype=np.int32)
        np.minimum.at(depth, group, self.depth[nodes])
        return self.at_depth(self.lca(low, high), depth)  # in a chain of single children a higher one may be shown

    def ends(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Return the lowest and the highest node that may be shown of spans of leaves, for arrays of them."""
        base = self.lca(low, high)
        limit, other = self.limit_of[low], self.limit_of[high]
        return base, np.where(self.depth[other] > self.depth[limit], other, limit)

    def lca(self, low: Ints, high: Ints) -> Ints:
        """Return the lowest node over the leaves low and high, for arrays of them. O(height) passes.

        Where both are the same piece of memory, as in a table of records, these are the leaves' own nodes.
        """
        node = np.take(self.leaf_nodes, low)
        if low.shape == high.shape and low.strides == high.strides and low.ctypes.data == high.ctypes.data:
            return node
        while True:
            below = self.last[node] < high
            if not below.any():
                return node
            node[below] = self.parent[node[below]]


def way_up(parent: Ints, node: int, limit: int) -> list[int]:
    """Return a node, the nodes above it, and the limit or the root, whichever comes first; a root is its own parent."""
    way = [node]
    while way[-1] != limit and (above := int(parent[way[-1]])) != way[-1]:
        way.append(above)
    return way


def build_tree(
    lines: Sequence[Line],
    root: str,
    attribute: Attribute,
    missing: str | None,
    *,
    missing_texts: Sequence[str] = (),
) -> Tree:
    """Return the tree of an attribute's lines; ``missing`` is the text shown for missing where it occurs.

    Missing hangs directly under the root and comes last; a leaf of the hierarchy with one of the texts that
    mean missing is that leaf, wherever the hierarchy had put it. O(nodes).
    """
    children: dict[str, list[str]] = {root: []}
    listed = False
    known, means_missing = children.get, frozenset(missing_texts)
    for line in lines:
        child = line[0]
        if child in means_missing:
            listed = True
            continue
        siblings = known(line[1]) if len(line) > 1 else None
        if siblings is not None:  # as of most leaves
            siblings.append(child)
            continue
        for upper in line[1:]:
            if upper in children:  # and so is everything above it
                children[upper].append(child)
                break
            children[upper] = [child]
            child = upper
    labels: list[str] = []
    parent: list[int] = []
    stack: list[tuple[str, int]] = [(root, 0)]
    lone_root = len(lines) == 1 and len(lines[0]) == 1
    while stack:
        label, above = stack.pop()
        node = len(labels)
        labels.append(label)
        parent.append(above)
        below = children.get(label, ())
        if children.keys().isdisjoint(below):  # leaves alone, which most nodes are: no need to visit each
            labels.extend(below)
            parent.extend([node] * len(below))
        else:
            stack.extend([(child, node) for child in reversed(below)])
    missing_leaf: int | None = None
    if missing is not None or listed:
        missing_leaf = len(labels)
        labels.append(missing if missing is not None else missing_texts[0])
        parent.append(0)
    return _arrays(labels, parent, attribute, missing_leaf, lone_root=lone_root)


def _arrays(
    labels: list[str],
    above: list[int],
    attribute: Attribute,
    missing_node: int | None,
    *,
    lone_root: bool,
) -> Tree:
    nodes = len(labels)
    parent = np.array(above, dtype=np.int32)
    depth = depths_of(parent)
    is_leaf = np.ones(nodes, dtype=bool)
    is_leaf[parent[1:]] = False
    is_leaf[0] = lone_root and nodes == 1
    leaf_nodes = np.flatnonzero(is_leaf).astype(np.int32)
    height = heights_of(parent, depth)
    first = np.full(nodes, len(leaf_nodes), dtype=np.int32)
    last = np.full(nodes, -1, dtype=np.int32)
    first[leaf_nodes] = last[leaf_nodes] = np.arange(len(leaf_nodes), dtype=np.int32)
    for level in range(int(depth.max()), 0, -1):
        here = np.flatnonzero(depth == level)
        up = parent[here]
        np.minimum.at(first, up, first[here])
        np.maximum.at(last, up, last[here])
    missing_leaf = None if missing_node is None else int(first[missing_node])
    if isinstance(attribute.hierarchy, Intervals):
        leaves = [node for node in leaf_nodes.tolist() if node != missing_node]
        real = is_real(labels[node] for node in leaves)
        # Numbers of one narrowest interval lie in the same ones: one of those below a node stands for all of them.
        some = [labels[leaf] for leaf in dict(zip(parent[leaves].tolist(), leaves, strict=True)).values()]
        ncp, height = _interval_costs(attribute.hierarchy, labels, some, height, real=real)
    else:
        covered = last - first + 1
        ncp = np.where(covered > 1, covered / max(len(leaf_nodes), 1), 0.0)
    return Tree(
        labels=tuple(labels),
        parent=parent,
        depth=depth,
        height=height,
        first=first,
        last=last,
        leaf_nodes=leaf_nodes,
        limit=_limits(labels, parent, is_leaf, attribute),
        ncp=ncp,
        missing=missing_leaf,
    )


def depths_of(parent: Ints | Longs) -> Ints:
    """Return every node's edges up to a root, which is its own parent. O(height) passes."""
    depth = np.zeros(len(parent), dtype=np.int32)
    at: Ints | Longs = np.arange(len(parent), dtype=np.int32)
    while (rises := parent[at] != at).any():
        depth += rises
        at = parent[at]
    return depth


def heights_of(parent: Ints, depth: Ints) -> Ints:
    """Return every node's edges down to the farthest leaf below it. O(height) passes."""
    height = np.zeros(len(parent), dtype=np.int32)
    for level in range(int(depth.max(initial=0)), 0, -1):
        here = np.flatnonzero(depth == level)
        np.maximum.at(height, parent[here], height[here] + 1)
    return height


def _interval_costs(
    spec: Intervals, labels: list[str], texts: list[str], height: Ints, *, real: bool
) -> tuple[Floats, Ints]:
    """Return NCP by extent and heights by the scale itself, whichever of its numbers occur.

    ``texts`` are numbers of all intervals that are narrowest at some of them.
    """
    scale = IntervalScale(spec, real=real)
    node_of = {label: node for node, label in enumerate(labels)}
    ncp = np.zeros(len(labels))
    height = height.copy()
    levels = len(spec.widths)
    seen: set[tuple[int, Decimal]] = set()
    done: set[str] = set()
    for text in texts:
        number = parse_number(text)
        assert number is not None
        for level in range(levels):
            low, high = scale.bounds(number, spec.widths[level])
            if (level, low) in seen:  # and so are those around it
                break
            seen.add((level, low))
            label = scale.label(low, high)
            if label in done or label not in node_of:
                continue
            done.add(label)
            ncp[node_of[label]] = scale.share(low, high)
            height[node_of[label]] = scale.height(low, level)
    ncp[0] = 1.0
    height[0] = max(int(height[0]), scale.tallest)
    return ncp, height


def _limits(labels: Sequence[str], parent: Ints, is_leaf: Bools, attribute: Attribute) -> Bools:
    """Return which nodes are maximum allowed values: marked, at the policy's level, or the root."""
    limit = np.zeros(len(labels), dtype=bool)
    limit[0] = True
    boundary = attribute.boundary
    if boundary is None:
        return limit
    if boundary.form == "marked":
        marked = set(marked_nodes(attribute))
        limit |= np.array([label in marked for label in labels])
    elif boundary.form == "level":
        node = np.flatnonzero(is_leaf)
        for _ in range(boundary.level):
            if not len(node):  # every leaf is nearer to the root
                break
            node = np.unique(parent[node[node != 0]])
        limit[node] = True
    return limit
