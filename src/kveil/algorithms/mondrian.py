"""Mondrian: LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity" (2006), strict.

As seed 002 uses it, with any model as the condition of a split. Departures, each in docs/decisions: children that
do not hold alone stay together as one rest part instead of forbidding the split; missing numbers are a child of
their own; a component's parts satisfy all of its models by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kveil.algorithms.boundaries import is_bounded, least_size, mam
from kveil.errors import Unmeetable, count
from kveil.kernels.groups import group_rows
from kveil.kernels.mondrian import Trees, split
from kveil.models.counts import AtLeastK, Groups, Pairs, Weights
from kveil.models.distributions import AlphaShare, Close, DistinctValues
from kveil.models.loops import needs_of, values_of
from kveil.models.standing import group_model, sensitive_pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.constraints import Component, implied, most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.policy.model import Dates
from kveil.policy.numbers import parse_number
from kveil.table.encode import Table
from kveil.table.solution import Shown, Solution, all_stars
from kveil.table.tree import Bools, Floats, Ints, Scale, Tree


class MondrianOptions(PolicyPart):
    """Options of Mondrian.

    choose: `widest` splits the attribute with the widest normalized range first, as in the paper; `gain` the one
    whose split lowers the loss most.
    """

    choose: Literal["widest", "gain"] = "widest"


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

    def __init__(self, table: Table, component: Component, pairs: dict[str, Pairs], weights: Weights) -> None:
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

    def good(self, group: Ints, groups: int, weights: Weights) -> Bools:
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


def mondrian(table: Table, options: MondrianOptions, rng: np.random.Generator) -> Solution:
    """Split top-down while every part satisfies every model; a part shows the LCA of its values.

    Records that no release can keep (their group of equal limits fails) are suppressed, from the most frequent
    value where leaving out a few is enough. Cost: O(tuples · attributes) a level of the recursion.
    """
    return solve_divided(table, Divided, options.choose == "gain", "mondrian")


def solve_divided(table: Table, kind: type[Divided], by_gain: bool, name: str) -> Solution:
    """Return a solution by one way of dividing components into parts, or raise where too much would be lost."""
    allowed = most_suppressed(table.policy, table.records)
    kept = np.ones(table.records, dtype=bool)
    trimmed = _trim(table, allowed)
    kept[trimmed] = False
    reasons = {"one of too many with the same sensitive value": trimmed} if len(trimmed) else {}
    starred = np.zeros(table.records, dtype=bool)
    while True:
        found, hidden = split_kept(table, kept, by_gain, kind)
        lost = int((found.suppressed_anywhere | hidden).sum())
        if lost > allowed:
            raise _unmeetable(table, name, lost, allowed)
        starred |= hidden
        if not hidden.any() or not table.whole_rows:
            break
        kept &= ~hidden  # dropping rows shrinks the groups of other components: split again without them
    if starred.any():
        reasons["nothing but * would be left to show"] = np.flatnonzero(starred).astype(np.int32)
    suppressed = found.suppressed | hidden
    alike = None if suppressed.any() else found.alike
    return Solution(found.shown, suppressed, {**found.reasons, **reasons}, found.details, alike=alike)


def split_kept(table: Table, kept: Bools, by_gain: bool, kind: type[Divided] | None = None) -> tuple[Solution, Bools]:
    """Return a solution over the kept rows, and the rows that would show nothing but stars."""
    distinct = table.distinct
    member = distinct.member
    everyone = bool(kept.all())
    weights = distinct.weights if everyone else np.bincount(member[kept], minlength=len(distinct.weights))
    pairs = sensitive_pairs(table, None if everyone else kept)
    parts_of = [(kind or Divided)(table, part, pairs, weights) for part in table.components]
    found = _split_all(parts_of, weights > 0, by_gain)
    suppressed = np.zeros((len(parts_of), table.records), dtype=bool)
    shown: list[Shown | None] = [None] * len(table.names)
    reasons = {}
    number = 0
    for c, (part, parts) in enumerate(zip(parts_of, found, strict=True)):
        for position, column in zip(part.positions, part.shown(parts, member), strict=True):
            shown[position] = column
        suppressed[c] = (parts.part < 0)[member] | ~kept
        number += parts.low.shape[1]
        gone = np.flatnonzero(suppressed[c] & kept).astype(np.int32)
        if len(gone):
            reasons[part.why] = gone
    columns = tuple(column for column in shown if column is not None)
    alike = found[0].part[member] if len(found) == 1 and not suppressed.any() else None
    solution = Solution(columns, suppressed, reasons, {"parts": number}, alike=alike)
    if table.stars_take_part:
        return solution, np.zeros(table.records, dtype=bool)
    return solution, all_stars(table, columns) & ~solution.suppressed_anywhere


def _split_all(components: list[Divided], alive: Bools, by_gain: bool) -> list[Parts]:
    """Return the parts of every component; rows that no part can hold are in none.

    Rows of stars that other parts fail without are set apart, and everything is split again without them.
    """
    parked = [np.zeros(len(alive), dtype=bool) for _ in components]
    while True:
        found = _split_without(components, alive, parked, by_gain)
        star = [
            part.in_the_way(parts) & ~parked[c] for c, (part, parts) in enumerate(zip(components, found, strict=True))
        ]
        if not any(rows.any() for rows in star):
            return found
        parked = [before | rows for before, rows in zip(parked, star, strict=True)]


def _split_without(components: list[Divided], everyone: Bools, parked: list[Bools], by_gain: bool) -> list[Parts]:
    """Split every component's tuples but those set apart; the latter become a part that shows stars."""
    table = components[0].table
    alive = [everyone for _ in components]
    may_split = [True for _ in components]
    changed = True
    while changed:
        changed = False
        for c, part in enumerate(components):
            out, may_split[c] = part.outside(alive[c] & ~parked[c])
            if out.any():
                changed = table.whole_rows and len(components) > 1
                for other in range(len(components)) if table.whole_rows else [c]:
                    alive[other] = alive[other] & ~out
    found = []
    for c, part in enumerate(components):
        inside = alive[c] & ~parked[c]
        parts = part.partition(inside, by_gain) if may_split[c] else part.unsplit(inside)
        if len(components) == 1 and not table.stars_take_part:
            part.dissolve(parts)
        found.append(part.park(parts, alive[c] & parked[c]))
    return found


def _trim(table: Table, allowed: int) -> Ints:
    """Return rows to suppress so that the whole table satisfies models that forbid too frequent values.

    Of the most frequent value of the failing model, the last in canonical order first; empty where the table holds
    or where leaving out so many is not allowed. Only for a table without boundaries, of one value a row.
    """
    nothing = np.zeros(0, dtype=np.int32)
    bounded = any(is_bounded(table, position) for position in range(len(table.trees)))
    if not allowed or bounded or table.persons is not None or not table.sensitive:
        return nothing
    models = [group_model(model, table) for model in table.policy.privacy]
    tally = {name: np.bincount(s.code, minlength=s.known + 1) for name, s in table.sensitive.items()}
    waiting: dict[tuple[str, int], list[int]] = {}  # rows of a value that are still in, in canonical order
    gone: list[int] = []
    out = np.zeros(table.records, dtype=bool)
    while len(gone) <= allowed:
        failing = [model for model in models if not model.good(_as_one(table, tally, table.records - len(gone)))[0]]
        if not failing:
            return np.array(sorted(gone), dtype=np.int32)
        frequent = next((m for m in failing if not isinstance(m, (AtLeastK, DistinctValues, Close))), None)
        if frequent is None or frequent.sensitive is None:
            return nothing
        name, known = frequent.sensitive, table.sensitive[frequent.sensitive].known
        # Only (α,k) takes missing for a value.
        counts = tally[name] if isinstance(frequent, AlphaShare) else tally[name][:known]
        if not counts.any():
            return nothing
        value = int(np.argmax(counts))
        if (name, value) not in waiting:
            order = canonical_order(table)
            waiting[name, value] = order[table.sensitive[name].code[order] == value].tolist()
        row = waiting[name, value].pop()
        while out[row]:
            row = waiting[name, value].pop()
        out[row] = True
        gone.append(row)
        for other, sensitive in table.sensitive.items():
            tally[other][sensitive.code[row]] -= 1
    return nothing


def _as_one(table: Table, tally: dict[str, Weights], rows: int) -> Groups:
    """Return a whole table as one group, by its counts alone."""
    pairs = {}
    for name, counts in tally.items():
        codes = np.flatnonzero(counts).astype(np.int32)
        pairs[name] = Pairs(np.zeros(len(codes), dtype=np.int32), codes, counts[codes], table.sensitive[name].known)
    return Groups(np.zeros(1, dtype=np.int32), 1, np.array([rows], dtype=np.int64), pairs)


def canonical_order(table: Table) -> Ints:
    """Return the rows by their leaf numbers in policy order, then by sensitive values."""
    keys = [s.code for s in reversed(list(table.sensitive.values())) if len(s.code) == table.records]
    return np.asarray(np.lexsort((*keys, *reversed(list(table.leaves)))), dtype=np.int32)


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


def _unmeetable(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    noun = "record" if table.persons is None else "individual"
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, noun)} of {table.records:,} would have to be suppressed and "
        f"the limit allows {allowed:,}; raise suppression.limit, ask for less, or move boundaries up."
    )
