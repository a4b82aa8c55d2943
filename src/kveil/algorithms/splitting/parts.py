"""A component of a table divided into parts, each of which holds every model: what Mondrian and others split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kveil.algorithms.full_domain.judge import group_model
from kveil.algorithms.limits import least_size, mam
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.groups import group_rows
from kveil.kernels.splitting.mondrian import Trees, split
from kveil.models.distributions import Close
from kveil.models.groups import Groups, Pairs
from kveil.models.packed import needs_of, values_of
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.attributes import Dates
from kveil.policy.components import Component, implied
from kveil.policy.numbers import parse_number
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree


def _numbers(table: Table, position: int) -> Floats | None:
    """Return every leaf's number where an attribute is cut like a line, None where it is split like a tree."""
    tree = table.trees[position]
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(tree, Scale):
        numbers = np.array([float(number) for number in tree.numbers])
    elif spec is not None and spec.form in {"intervals", "dates"}:
        texts = [tree.labels[node] for node in tree.leaf_nodes.tolist()]
        if tree.missing is not None:
            texts.pop(tree.missing)
        if isinstance(spec, Dates):
            days = np.array([text[:10] for text in texts], dtype="datetime64[D]")
            numbers = days.astype(np.int64).astype(np.float64)
        else:
            numbers = np.array([float(parse_number(text) or 0) for text in texts])
    else:
        return None
    return np.append(numbers, np.nan) if tree.missing is not None else numbers


def _extent(table: Table, position: int, numbers: Floats) -> float:
    tree = table.trees[position]
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(tree, Scale):
        extent = float(tree.width)
    elif spec is not None and spec.form == "intervals":
        extent = float(spec.to - spec.from_)
    else:
        extent = float(np.nanmax(numbers) - np.nanmin(numbers)) if np.isfinite(numbers).any() else 0.0
    return extent or 1.0


def _children(tree: Tree) -> tuple[Ints, Ints]:
    """Return the nodes sorted by parent, and how many children every node has."""
    child = np.argsort(tree.parent[1:], kind="stable").astype(np.int32) + 1
    return child.astype(np.int32), np.bincount(tree.parent[1:], minlength=len(tree.labels)).astype(np.int32)


def _trees(table: Table, positions: list[int]) -> Trees:
    """Lay the trees of some attributes end to end, for the kernel."""
    parts: dict[str, list[Any]] = {name: [] for name in ("parent", "first", "last", "leaf_node", "child", "cost")}
    numeric, extents, importance, missing, numbers, fans = [], [], [], [], [], []
    node_offset, leaf_offset = [0], [0]
    for position in positions:
        tree = table.trees[position]
        found = _numbers(table, position)
        numeric.append(found is not None)
        leaves = tree.leaves
        numbers.append(np.zeros(leaves) if found is None else found)
        extents.append(1.0 if found is None else _extent(table, position, found))
        importance.append(float(table.policy.attributes[table.names[position]].weight))
        missing.append(-1 if tree.missing is None or found is None else tree.missing)
        if isinstance(tree, Tree):
            child, fan = _children(tree)
            cost = tree.il if table.policy.loss == "il" else tree.ncp
            for name, array in (
                ("parent", tree.parent), ("first", tree.first), ("last", tree.last),
                ("leaf_node", tree.leaf_nodes), ("child", child), ("cost", cost),
            ):  # fmt: skip
                parts[name].append(array)
            fans.append(fan)
            node_offset.append(node_offset[-1] + len(tree.labels))
        else:
            parts["leaf_node"].append(np.zeros(leaves, dtype=np.int32))
            node_offset.append(node_offset[-1])
        leaf_offset.append(leaf_offset[-1] + leaves)

    def laid(arrays: list[Any], dtype: type) -> Any:
        return np.concatenate(arrays).astype(dtype) if arrays else np.zeros(0, dtype=dtype)

    return Trees(
        numeric=np.array(numeric),
        node_offset=np.array(node_offset, dtype=np.int64),
        leaf_offset=np.array(leaf_offset, dtype=np.int64),
        parent=laid(parts["parent"], np.int32),
        first=laid(parts["first"], np.int32),
        last=laid(parts["last"], np.int32),
        leaf_node=laid(parts["leaf_node"], np.int32),
        child_start=np.concatenate([[0], np.cumsum(laid(fans, np.int64))]).astype(np.int64),
        child=laid(parts["child"], np.int32),
        cost=laid(parts["cost"], np.float64),
        number=laid(numbers, np.float64),
        extent=np.array(extents, dtype=np.float64),
        importance=np.array(importance, dtype=np.float64),
        missing=np.array(missing, dtype=np.int32),
    )


def limit_groups(table: Table, positions: list[int]) -> tuple[Ints, int]:
    """Group the distinct tuples that share all their maximum allowed values in some attributes (MAM groups)."""
    limits = [
        tree.limit_of[table.distinct.low[p]]
        for p in positions
        if isinstance(tree := table.trees[p], Tree) and tree.limit_of.any()
    ]
    if not limits:
        return np.zeros(len(table.distinct.weights), dtype=np.int32), 1
    group, first = group_rows(np.array(limits, dtype=np.int32))
    return group, len(first)


@dataclass
class Parts:
    """The parts of one component: every tuple's part (-1: suppressed), and the span each part shows."""

    part: Ints
    low: Ints  # attribute of the component × part
    high: Ints
    split: bool = True  # each part holds alone; where not, parts hold together with others of equal values


class Divided:
    """One component of a table, to be divided into parts on its own columns."""

    def __init__(self, table: Table, component: Component, pairs: dict[str, Pairs], weights: Longs) -> None:
        policy = table.policy
        skip = implied(policy)
        self.table = table
        self.positions = table.positions(component.attributes)
        self.models = [group_model(policy.privacy[i], table) for i in component.models if i not in skip]
        self.over = [
            [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])]
            for i in component.models
            if i not in skip
        ]
        self.sensitive = sorted({model.sensitive for model in self.models if model.sensitive is not None})
        self.pairs = {name: pairs[name] for name in self.sensitive}
        self.low = np.ascontiguousarray(table.distinct.low[self.positions])
        same = table.distinct.low is table.distinct.high
        self.high = self.low if same else np.ascontiguousarray(table.distinct.high[self.positions])
        self.weights = weights
        self.mam = mam(table, self.positions, self.low, self.high, weights, least_size(table, component))

    @property
    def why(self) -> str:
        """Why rows are suppressed that no part can hold."""
        return f"too rare over {', '.join(self.table.names[p] for p in self.positions)} within its boundaries"

    def dissolve(self, parts: Parts) -> None:
        """Give the tuples of parts that would show nothing but stars to others."""
        _dissolve(self, parts)

    def good(self, group: Ints, groups: int, weights: Longs) -> Bools:
        """Tell which groups of tuples satisfy every model by themselves."""
        counted = Groups(group, groups, weights, self.pairs)
        found = np.ones(groups, dtype=bool)
        for model in self.models:
            found &= model.good(counted)
        return found

    def start(self) -> tuple[Ints, int]:
        """Group the tuples that share all their maximum allowed values (MAM groups)."""
        return self.mam.group, self.mam.number

    def outside(self, alive: Bools) -> tuple[Bools, bool]:
        """Return the tuples whose MAM group can never hold, and whether the others may be split.

        Dropping some moves the reference of t-closeness, so until none fails. Where a model is over fewer
        attributes than the component, groups that fail alone may hold together; then exactly those outside the
        maximal anonymous subset are out, and what is left stays at its limits, where it holds.
        """
        group, groups = self.start()
        kept = alive.copy()
        while True:
            bad = ~self.good(group, groups, np.where(kept, self.weights, 0))[group] & kept & (self.weights > 0)
            if not bad.any():
                return alive & ~kept, True
            if any(len(over) < len(self.positions) for over in self.over):
                parts = self.unsplit(alive)
                star = self.stars(parts)[np.maximum(parts.part, 0)]
                requirements = []
                for model, over in zip(self.models, self.over, strict=True):
                    shown = [self._limits(a) for a in over]
                    of_tuple, first = group_rows(np.array(shown, dtype=np.int32))
                    requirements.append(Requirement(model, of_tuple, len(first), ~star if star.any() else None))
                inside = maximal_anonymous_subset(requirements, np.where(alive, self.weights, 0), self.pairs, alive)
                return alive & ~inside, False
            kept &= ~bad

    def _limits(self, attribute: int) -> Ints:
        tree = self.table.trees[self.positions[attribute]]
        if isinstance(tree, Tree):
            return np.asarray(tree.limit_of[self.low[attribute]])
        return Shown.spans(tree, self.mam.low[attribute], self.mam.high[attribute]).codes[self.mam.group]

    def unsplit(self, alive: Bools) -> Parts:
        """Show every tuple at its limits."""
        part = np.where(alive, self.mam.group, -1).astype(np.int32)
        return Parts(part, self.mam.low.copy(), self.mam.high.copy(), split=False)

    def partition(self, alive: Bools, by_gain: bool) -> Parts:
        """Split the tuples that are in, MAM group by MAM group."""
        group, groups = self.start()
        chosen = np.flatnonzero(alive)
        part = np.full(len(alive), -1, dtype=np.int32)
        if not len(chosen):
            empty = np.zeros((len(self.positions), 0), dtype=np.int32)
            return Parts(part, empty, empty)
        order = chosen[np.argsort(group[chosen], kind="stable")].astype(np.int32)
        sizes = np.bincount(group[chosen], minlength=groups)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        alive_weights = np.where(alive, self.weights, 0)
        trees_used = {str(m.sensitive) for m in self.models if isinstance(m, Close) and m.distance == "hierarchical"}
        found = split(
            self.low,
            self.high,
            self.weights,
            _trees(self.table, self.positions),
            needs_of(self.models, self.sensitive),
            values_of(self.table, self.pairs, self.sensitive, alive_weights, trees_used),
            order,
            starts,
            by_gain,
        )
        parts = len(found.ends) - 1
        part[found.order] = np.repeat(np.arange(parts, dtype=np.int32), np.diff(found.ends))
        return Parts(part, found.low, found.high)

    def stars(self, parts: Parts) -> Bools:
        """Return the parts that show nothing but stars and so take no part in any model."""
        found = np.full(parts.low.shape[1], not self.table.stars_take_part)
        for a, position in enumerate(self.positions):
            tree = self.table.trees[position]
            if isinstance(tree, Tree):
                found &= tree.is_star[tree.lca(parts.low[a], parts.high[a])]
            else:
                found &= (parts.high[a] == tree.missing) & (parts.low[a] != parts.high[a])
        return found

    def in_the_way(self, parts: Parts) -> Bools:
        """Return the tuples of stars without which other parts fail.

        Only where a model compares parts with all that take part, as t-closeness does: parts were split against a
        whole in which the rows of stars were still counted.
        """
        nothing = np.zeros(len(parts.part), dtype=bool)
        if not parts.split or all(model.local for model in self.models):
            return nothing
        star = self.stars(parts)
        if not star.any():
            return nothing
        of_tuple = np.maximum(parts.part, 0)
        counted = np.where((parts.part >= 0) & ~star[of_tuple], self.weights, 0)
        holds = self.good(of_tuple, len(star), counted).all()
        return nothing if holds else star[of_tuple] & (parts.part >= 0)

    def park(self, parts: Parts, parked: Bools) -> Parts:
        """Add tuples that show nothing but stars as a part of their own."""
        if not parked.any():
            return parts
        part = np.where(parked, parts.low.shape[1], parts.part).astype(np.int32)
        leaves = [self.table.trees[position].leaves for position in self.positions]
        low = np.column_stack([parts.low, np.zeros(len(leaves), dtype=np.int32)])
        high = np.column_stack([parts.high, np.array(leaves, dtype=np.int32) - 1])
        return Parts(part, low, high, parts.split)

    def shown(self, parts: Parts, member: Ints) -> list[Shown]:
        """Return what every row shows in the component's attributes; suppressed rows show anything."""
        part = parts.part[member]
        trees = (self.table.trees[position] for position in self.positions)
        return [Shown.covering(tree, parts.low[a], parts.high[a], part) for a, tree in enumerate(trees)]


def _dissolve(component: Divided, parts: Parts) -> None:
    """Give the tuples of parts that would show nothing but stars to the parts where that costs least.

    A row of stars counts as suppressed, so a wider neighbour is better than a part of its own. A part takes a tuple
    only if they share all maximum allowed values and it goes on satisfying every model and shows something still.
    Tuples in canonical order; ties to the first part.
    """
    trees = [component.table.trees[p] for p in component.positions]
    if not all(isinstance(tree, Tree) and tree.labels[0] == "*" for tree in trees) or parts.low.shape[1] < 2:
        return
    nodes = _nodes(trees, parts.low, parts.high)
    lost = (nodes == 0).all(axis=0)
    if not lost.any() or lost.all():
        return
    moving = np.flatnonzero(lost[np.maximum(parts.part, 0)] & (parts.part >= 0))
    moving = moving[np.lexsort(tuple(reversed(list(component.low[:, moving]))))]
    weight = np.bincount(parts.part[parts.part >= 0], component.weights[parts.part >= 0], parts.low.shape[1])
    group, _ = component.start()
    group_of = np.full(parts.low.shape[1], -1, dtype=np.int32)
    group_of[parts.part[parts.part >= 0]] = group[parts.part >= 0]
    table = component.table
    importance = [float(table.policy.attributes[table.names[p]].weight) for p in component.positions]
    for at in moving.tolist():
        low = np.minimum(parts.low, component.low[:, at : at + 1])
        high = np.maximum(parts.high, component.high[:, at : at + 1])
        wider = _nodes(trees, low, high)
        more = np.zeros(parts.low.shape[1])
        for a, tree in enumerate(trees):
            assert isinstance(tree, Tree)
            own = tree.il if table.policy.loss == "il" else tree.ncp
            more += importance[a] * (own[wider[a]] * (weight + component.weights[at]) - own[nodes[a]] * weight)
        more[lost | (wider == 0).all(axis=0) | (weight == 0) | (group_of != group[at])] = np.inf
        for target in np.argsort(more, kind="stable").tolist():
            if not np.isfinite(more[target]):
                break
            joined = (parts.part == target) | (np.arange(len(parts.part)) == at)
            if component.good(joined.astype(np.int32), 2, np.where(parts.part >= 0, component.weights, 0))[1]:
                parts.part[at] = target
                parts.low[:, target], parts.high[:, target] = low[:, target], high[:, target]
                nodes[:, target] = wider[:, target]
                weight[target] += component.weights[at]
                break


def _nodes(trees: list[Tree | Scale], low: Ints, high: Ints) -> Ints:
    return np.array([tree.lca(low[a], high[a]) for a, tree in enumerate(trees) if isinstance(tree, Tree)])
