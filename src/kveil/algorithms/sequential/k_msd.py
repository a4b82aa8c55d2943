"""K-MSD and K-MSD-AG: one attribute after another is made k-anonymous inside the groups of those done before.

Huang et al. 2014. Where the paper is silent: records are first parted by their maximum allowed values, so that every
repair stays inside its boundaries and only records that no release can keep are suppressed; ties are broken as
docs/algorithms/k-msd.md says.
"""

from __future__ import annotations

import numpy as np

from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.judge import PolicyJudge
from kveil.algorithms.limits import limit_groups
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.sequential.k_msd import RunNodes, repair
from kveil.policy.components import largest_k, most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.stopping import check_deadline
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

PART = 20_000  # tuples that are looked at first, where all of them are many
MOST_KEPT_CELLS = 50_000_000  # of groups that are kept to begin with when sets of columns grow


class KmsdOptions(PolicyPart):
    """K-MSD and K-MSD-AG have no options."""


# ---------------------------------------------------------------------------------------------- IMKAS


def largest_anonymous_columns(columns: Ints, weights: Longs, k: int, *, within: Ints | None = None) -> list[int]:
    """Return a largest set of columns whose groups all have weight k (IMKAS; Huang et al. 2014, definition 6).

    Level-wise: a subset of an anonymous set is anonymous, so a set is looked at only if all its subsets one smaller
    are. Of equally large ones the one with most groups, then the first in the order of columns. ``within`` is a
    grouping that comes before all columns. O(tuples) per set that is looked at, a fraction of it where a part of the
    groups already shows that it fails.
    """
    base = np.zeros(columns.shape[1], dtype=np.int32) if within is None else within
    parts = [_part(column) for column in columns]
    level: dict[tuple[int, ...], int] = {(): 0}
    grouped: dict[tuple[int, ...], Ints] = {(): base}
    while True:
        found: dict[tuple[int, ...], int] = {}
        kept: dict[tuple[int, ...], Ints] = {}
        for own in level:
            check_deadline()
            for more in range(own[-1] + 1 if own else 0, len(columns)):
                wider = (*own, more)
                if any(wider[:i] + wider[i + 1 :] not in level for i in range(len(wider))):
                    continue
                looked_at = min((parts[a] for a in wider), key=len)
                if len(looked_at) < columns.shape[1]:
                    chosen = np.array([base[looked_at], *(columns[a][looked_at] for a in wider)])
                    group, first = group_rows(chosen)
                    if (np.bincount(group, weights=weights[looked_at], minlength=len(first)) < k).any():
                        continue
                before = grouped.get(own)
                if before is None:
                    group, first = group_rows(np.array([base, *(columns[a] for a in wider)]))
                else:
                    group, first = group_rows(np.array([before, columns[more]]))
                if (np.bincount(group, weights=weights, minlength=len(first)) >= k).all():
                    found[wider] = len(first)
                    if (len(kept) + 1) * columns.shape[1] < MOST_KEPT_CELLS:
                        kept[wider] = group
        if not found:
            return list(max(level.items(), key=lambda item: (item[1], [-a for a in item[0]]))[0])
        level, grouped = found, kept


def _part(column: Ints) -> Ints:
    """Return all the tuples of some values of a column, a small part of many tuples."""
    if len(column) <= PART:
        return np.arange(len(column), dtype=np.int32)
    tally = np.bincount(column)
    order = np.argsort(tally, kind="stable")
    order = order[tally[order] > 0]
    few = order[: max(int(np.searchsorted(np.cumsum(tally[order]), PART)), 1)]
    chosen = np.zeros(len(tally), dtype=bool)
    chosen[few] = True
    return np.flatnonzero(chosen[column]).astype(np.int32)


# ---------------------------------------------------------------------------------------------- K-MSD


class _Build:
    """Tuples while one attribute after another is done."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.judge = PolicyJudge(table)
        self.trees = self.judge.trees
        self.k = largest_k(table.policy)
        self.state = Tuples.at_leaves(table)
        self.nodes = self.state.nodes
        self.weights = self.state.weights.copy()
        low = np.array([tree.first[self.nodes[a]] for a, tree in enumerate(self.trees)], dtype=np.int32)
        self.group, first = limit_groups(table, list(range(len(self.trees))), low)
        size = np.bincount(self.group, weights=self.weights, minlength=len(first))
        self.out = (size < self.k)[self.group]
        self.weights[self.out] = 0
        self.within = self.group
        self.done: list[int] = []

    @property
    def inside(self) -> Ints:
        """The tuples that can be kept at all."""
        return np.flatnonzero(~self.out).astype(np.int32)

    def start(self, attributes: list[int]) -> None:
        """Begin with a largest set of some attributes that is k-anonymous as it stands."""
        rows = self.inside
        columns = np.take(self.nodes[attributes], rows, axis=1)
        found = largest_anonymous_columns(columns, self.weights[rows], self.k, within=self.group[rows])
        for a in found:
            self.finish(attributes[a])

    def finish(self, attribute: int) -> None:
        """Count an attribute as done: groups are now those of equal values of it too."""
        self.done.append(attribute)
        self.group = group_rows(np.array([self.group, self.nodes[attribute]]))[0]

    def add_all(self, attributes: list[int]) -> None:
        """Add one attribute after another, the one with fewest violating values first."""
        waiting = [a for a in attributes if a not in self.done]
        while waiting:
            self.add_next(waiting)
            waiting = [a for a in waiting if a not in self.done]

    def add_next(self, waiting: list[int]) -> None:
        """Add the attribute with fewest (group, value) pairs below k, repaired; of equals the first."""
        check_deadline()
        pairs = [self._pairs(a) for a in waiting]
        fewest = min(range(len(waiting)), key=lambda i: int((pairs[i][2] < self.k).sum()))
        self._repair(waiting[fewest], *pairs[fewest])
        self.finish(waiting[fewest])

    def _pairs(self, attribute: int) -> tuple[Ints, Ints, Longs]:
        """Return every inside tuple's pair of group and value, the first tuple of each pair, and its weight."""
        rows = self.inside
        pair, first = group_rows(np.array([self.group[rows], self.nodes[attribute][rows]]))
        weight = np.bincount(pair, weights=self.weights[rows], minlength=len(first)).astype(np.int64)
        return pair, rows[first], weight

    def _repair(self, attribute: int, pair: Ints, first: Ints, weight: Longs) -> None:
        """Run minimal distance generalization inside every group that has a violating value."""
        group = self.group[first]
        bad = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
        bad[group[weight < self.k]] = True
        chosen = np.flatnonzero(bad[group])
        if not len(chosen):
            return
        node = self.nodes[attribute][first]
        chosen = chosen[np.argsort((group[chosen].astype(np.int64) << 32) | node[chosen])]
        starts = np.append(np.flatnonzero(np.diff(group[chosen], prepend=-1)), len(chosen)).astype(np.int64)
        shown = repair(_numbered(self.trees[attribute]), starts, node[chosen], weight[chosen], self.k)
        assert shown is not None, "a group below k cannot be repaired, and there is none"
        node = node.copy()
        node[chosen] = shown
        self.nodes[attribute][self.inside] = node[pair]

    def associate(self, left: tuple[int, ...], right: int) -> None:
        """Bring in an attribute by association: groups of equal left sides show what covers their right sides.

        Inside the boundaries of the right side; where these keep a group apart, the pass after the run decides.
        """
        tree = self.trees[right]
        rows = self.inside
        keys = [self.nodes[a][rows] for a in left]
        group, first = group_rows(np.array([*keys, tree.limit_of_node[self.nodes[right][rows]]]))
        node = self.nodes[right][rows]
        self.nodes[right][rows] = tree.covers(node, group, len(first))[group]
        self.finish(right)

    def solution(self, name: str, started: list[int]) -> Solution:
        """Return what the tuples show; beyond the suppression limit, raise Unmeetable."""
        table = self.table
        allowed = most_suppressed(table.policy, table.records)
        self.state.nodes = self.nodes
        standing = self.judge.standing(self.state, dead=self.out[None, :])
        lost = int(self.state.weights[standing.lost].sum())
        if lost > allowed:
            raise beyond_limit(table, name, lost, allowed)
        details = {
            "started_with": [table.names[a] for a in started],
            "order": [table.names[a] for a in self.done],
        }
        return self.judge.solution(self.state, standing, details)


def _numbered(tree: Tree) -> RunNodes:
    end = np.arange(len(tree.labels), dtype=np.int32)
    for node in range(len(tree.labels) - 1, 0, -1):
        end[tree.parent[node]] = max(end[tree.parent[node]], end[node])
    return RunNodes(tree.parent, tree.depth, end, tree.limit)


def kmsd(table: Table, options: KmsdOptions, rng: np.random.Generator) -> Solution:
    """Start from a largest set of attributes that is k-anonymous already; add the others, each repaired in its groups.

    Cost: O(tuples) for every pair of a step and an attribute that waits, and the repairs, close to linear.
    """
    build = _Build(table)
    everything = list(range(len(table.names)))
    build.start(everything)
    started = list(build.done)
    build.add_all(everything)
    return build.solution("k-msd", started)


def kmsd_ag(table: Table, options: KmsdOptions, rng: np.random.Generator) -> Solution:
    """Start from the left side that determines most; right sides follow by association, the others as in K-MSD."""
    build = _Build(table)
    quasi = len(table.names)
    rules = [
        (rule.left, rule.right)
        for rule in rules_of(table, multivalued=True)
        if rule.right < quasi and all(left < quasi for left in rule.left)
    ]
    everything = list(range(quasi))
    if rules:
        first = min(rules, key=lambda rule: (-_added(rule[0], rules), len(rule[0])))[0]
        if len(first) > 1:
            build.start(list(first))
        build.add_all(list(first))
    else:
        build.start(everything)
    started = list(build.done)
    while len(build.done) < quasi:
        ready = next((r for r in rules if r[1] not in build.done and set(r[0]) <= set(build.done)), None)
        if ready is not None:
            build.associate(*ready)
        else:
            build.add_next([a for a in everything if a not in build.done])
    return build.solution("k-msd-ag", started)


def _added(left: tuple[int, ...], rules: list[tuple[tuple[int, ...], int]]) -> int:
    """Return how many attributes the closure of a left side adds to it."""
    closure = set(left)
    while True:
        more = {right for own, right in rules if set(own) <= closure} - closure
        if not more:
            return len(closure) - len(left)
        closure |= more
