"""Clusters that satisfy models over sensitive values, inside boundaries.

EnhancedPKClustering: Truta, Campan, Meyer, "Generating microdata with p-sensitive k-anonymity property" (2007);
inside boundaries as seed 004 proposes, and for the other models by the same idea: diversity first, then size, then
the rest. See docs/algorithms/pk-clustering.md for our reading.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.clustering.k_member import Found, Space, clusters_of
from kveil.algorithms.splitting.mondrian import solve_divided
from kveil.algorithms.splitting.parts import Divided, Parts
from kveil.arrays import Bools, Ints, Longs
from kveil.errors import Unmeetable
from kveil.kernels.clustering.diverse import cluster_diverse
from kveil.kernels.clustering.greedy import Items
from kveil.kernels.splitting.mondrian import Values
from kveil.models.distributions import AlphaShare, Close, FrequencyL
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.models.packed import needs_of, values_of
from kveil.policy.fields import PolicyPart
from kveil.table.order import sorted_rows
from kveil.table.solution import Solution
from kveil.table.table import Table

TRIES = 20  # of clusters that a row is tried in where its sensitive values have to be counted


class PkClusteringOptions(PolicyPart):
    """pk-clustering has no options."""


def pk_clustering(table: Table, options: PkClusteringOptions, rng: np.random.Generator) -> Solution:
    """Cluster every component inside its boundaries so that each cluster satisfies every model of it.

    Groups of equal limits that cannot satisfy a model are suppressed. Where clusters would cost more records than
    the limit allows, the table is divided top-down instead, which may need fewer. Cost: a search in a tree of the
    tuples for every row.
    """
    by_row = table.changed(rows_apart=True)  # equal rows may go to different clusters
    try:
        found = solve_divided(by_row, Clustered, False, "pk-clustering")
        divided = "clusters"
    except Unmeetable:
        found = solve_divided(by_row, Divided, False, "pk-clustering")
        divided = "splits"
    gone = int(found.suppressed_anywhere.sum())
    details = {"parts": found.details["parts"], "found_by": divided, "boundaries": {"out": gone}}
    return replace(found, details=details)


class Clustered(Divided):
    """A component whose parts are clusters; its tuples are rows."""

    @property
    def why(self) -> str:
        """Why rows are suppressed that no cluster can hold."""
        policy = self.table.policy
        names = dict.fromkeys(model.model for model in policy.privacy)
        return f"its group within the boundaries cannot satisfy {' and '.join(names)}"

    @property
    def space(self) -> Space:
        """What cells cost in the component's attributes."""
        return Space(self.table, self.positions)

    def partition(self, alive: Bools, by_gain: bool) -> Parts:
        """Cluster the rows that are in, MAM group by MAM group."""
        space = self.space
        self.look_at(alive)
        k = max((model.k for model in self.models if hasattr(model, "k")), default=1)
        if all(isinstance(model, AtLeastK) for model in self.models):
            found, _ = clusters_of(space, self.mam.group, alive, k, None)
        else:
            found = self._diverse(space, alive, k)
        return Parts(found.label, found.low, found.high)

    def _diverse(self, space: Space, alive: Bools, k: int) -> Found:
        rows, items, groups = self._items(alive)
        label = np.full(len(alive), -1, dtype=np.int32)
        if not len(rows):
            nothing = np.zeros((len(self.positions), 0), dtype=np.int32)
            return Found(label, nothing, nothing, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        first = rows[items.start[:-1]]
        trees_used = {str(m.sensitive) for m in self.models if isinstance(m, Close) and m.distance == "hierarchical"}
        everyone = values_of(self.table, self.pairs, self.sensitive, np.where(alive, self.weights, 0), trees_used)
        needs = needs_of(self.models, self.sensitive)
        needs = needs._replace(k=np.ones_like(needs.k))  # sizes are asked for apart
        more_is_safe = all(model.unique_subset for model in self.models)
        made = cluster_diverse(space.costs, items, needs, _of_items(everyone, first), groups, k, more_is_safe)
        label[rows] = made.label
        of_cluster = self.mam.group[rows[items.start[groups[:-1]]]][made.group]
        low, high = np.ascontiguousarray(made.low.T), np.ascontiguousarray(made.high.T)
        found = Found(label, low, high, made.size.copy(), of_cluster)
        _Rest(self, space, found).place(rows[made.label < 0])
        return found

    def _items(self, alive: Bools) -> tuple[Ints, Items, Longs]:
        """Return the rows by group and in canonical order, runs of equal ones as tuples, and where groups start."""
        table = self.table
        rank = np.empty(table.records, dtype=np.int64)
        rank[table.canonical] = np.arange(table.records)
        spans = [key for pair in zip(self.low, self.high, strict=True) for key in pair]
        keys: list[Ints | Longs] = [self.mam.group, *spans]
        order = sorted_rows([*keys, rank])
        rows = order[alive[order]].astype(np.int32)
        same = np.ones(max(len(rows) - 1, 0), dtype=bool)
        for key in keys:
            same &= key[rows[1:]] == key[rows[:-1]]
        for name in self.sensitive:
            pairs = self.pairs[name]
            single = len(pairs.tuples) == int(alive.sum()) and len(np.unique(pairs.tuples)) == len(pairs.tuples)
            code = np.full(table.records, -1, dtype=np.int32)
            code[pairs.tuples] = pairs.codes
            same &= code[rows[1:]] == code[rows[:-1]] if single else False
        new = np.append(0, np.flatnonzero(~same) + 1) if len(rows) else np.zeros(0, dtype=np.int64)
        first = rows[new]
        low = np.ascontiguousarray(self.low[:, first].T)
        high = np.ascontiguousarray(self.high[:, first].T)
        of_item = self.mam.group[first]
        groups = np.flatnonzero(np.append(True, of_item[1:] != of_item[:-1])) if len(first) else new
        items = Items(low, high, np.append(new, len(rows)).astype(np.int64))
        return rows, items, np.append(groups, len(first)).astype(np.int64)

    def look_at(self, alive: Bools) -> None:
        """Remember who is in: the reference of t-closeness is their distribution."""
        inside = np.where(alive, self.weights, 0)
        everyone = Groups(np.zeros(len(alive), dtype=np.int32), 1, inside, self.pairs)
        self.judges = [_fixed(model, everyone) for model in self.models]
        self.sorted = {name: np.argsort(pairs.tuples, kind="stable") for name, pairs in self.pairs.items()}
        self.starts = {
            name: np.append(0, np.cumsum(np.bincount(pairs.tuples, minlength=len(alive))))
            for name, pairs in self.pairs.items()
        }

    def codes(self, name: str, rows: Ints) -> Ints:
        """Return the sensitive values of some rows, one after another."""
        starts, pairs = self.starts[name], self.pairs[name]
        number = starts[rows + 1] - starts[rows]
        at = np.repeat(starts[rows] - np.append(0, np.cumsum(number)[:-1]), number) + np.arange(int(number.sum()))
        return np.asarray(pairs.codes[self.sorted[name][at]])

    def holds(self, rows: Ints) -> bool:
        """Tell whether rows satisfy every model by themselves; for t-closeness against all that are in."""
        pairs = {}
        for name, own in self.pairs.items():
            codes = self.codes(name, rows)
            one = np.ones(len(codes), dtype=np.int64)
            pairs[name] = Pairs(np.zeros(len(codes), dtype=np.int32), codes, one, own.known)
        group = Groups(np.zeros(1, dtype=np.int32), 1, np.array([len(rows)], dtype=np.int64), pairs)
        return all(bool(model.good(group)[0]) for model in self.judges)

    def dissolve(self, parts: Parts) -> None:
        """Give the rows of clusters that would show nothing but `*` to others of their MAM group."""
        space = self.space
        star = space.is_star(parts.low, parts.high)
        if not star.any():
            return
        inside = parts.part >= 0
        self.look_at(inside)
        group = np.full(parts.low.shape[1], -1, dtype=np.int32)
        group[parts.part[inside]] = self.mam.group[inside]
        size = np.bincount(parts.part[inside], minlength=parts.low.shape[1])
        found = Found(parts.part, parts.low, parts.high, size, group)
        rest = _Rest(self, space, found)
        canonical = self.table.canonical
        waiting = [int(row) for row in canonical if inside[row] and star[parts.part[row]]]
        while waiting:
            waiting = [row for row in waiting if not rest.join(row, shown=True)]
            equal: dict[tuple[int, ...], list[int]] = {}
            for row in waiting:
                equal.setdefault((*self.low[:, row].tolist(), *self.high[:, row].tolist()), []).append(row)
            fresh = [rows for rows in equal.values() if rest.start(rows)]
            waiting = [row for row in waiting if not any(row in rows for rows in fresh)]
            if not fresh:
                break
        parts.part[:] = found.label
        parts.low, parts.high = found.low, found.high


class _Rest:
    """Finds places for rows that are in no cluster yet, or in one that shows nothing."""

    def __init__(self, component: Clustered, space: Space, found: Found) -> None:
        self.component = component
        self.space = space
        self.found = found
        self.more_is_safe = all(model.unique_subset for model in component.models)
        self.shares = [model for model in component.models if isinstance(model, (AlphaShare, FrequencyL))]
        self.shares_decide = all(m.unique_subset or isinstance(m, (AlphaShare, FrequencyL)) for m in component.models)

    def place(self, rows: Ints) -> None:
        """Let every row join the cluster whose loss grows least and that goes on satisfying every model.

        Rows that none takes stay together and take in the clusters nearest to them until they hold; all of their MAM
        group does, at the latest.
        """
        group = self.component.mam.group
        stuck: dict[int, list[int]] = {}
        for row in rows.tolist():
            if not self.join(row):
                stuck.setdefault(int(group[row]), []).append(row)
        for of_group, mine in stuck.items():
            self._gather(of_group, mine)

    def join(self, row: int, shown: bool = False) -> bool:
        """Let a row join a cluster of its MAM group; where ``shown``, one that shows something then still."""
        space, found = self.space, self.found
        here = self.component.mam.group[row]
        open_to = np.flatnonzero((found.group == here) & (found.size > 0))
        low = np.minimum(found.low[:, open_to], space.low[:, row : row + 1])
        high = np.maximum(found.high[:, open_to], space.high[:, row : row + 1])
        size = found.size[open_to]
        growth = space.price(low, high) * (size + 1) - space.price(found.low[:, open_to], found.high[:, open_to]) * size
        possible = ~space.is_star(low, high) if shown else np.ones(len(open_to), dtype=bool)
        for model in self.shares:
            possible &= self._share_stays(model, row, open_to)
        order = np.flatnonzero(possible)[np.argsort(growth[possible], kind="stable")]
        for at in order[:TRIES].tolist():
            chosen = int(open_to[at])
            if self.shares_decide or self.component.holds(np.append(np.flatnonzero(found.label == chosen), row)):
                self._move(np.array([row]), chosen, low[:, at], high[:, at])
                return True
        return False

    def _share_stays(self, model: AlphaShare | FrequencyL, row: int, clusters: Ints) -> Bools:
        """Tell in which clusters a row's values keep a share that is small enough."""
        part, found = self.component, self.found
        pairs = part.pairs[model.sensitive]
        share = model.alpha if isinstance(model, AlphaShare) else 1 / model.l
        fine = np.ones(len(clusters), dtype=bool)
        for code in part.codes(model.sensitive, np.array([row])).tolist():
            if code < pairs.known or isinstance(model, AlphaShare):
                label = found.label[pairs.tuples[pairs.codes == code]]
                have = np.bincount(label[label >= 0], minlength=len(found.size))[clusters]
                fine &= (have + 1) * share.denominator <= (found.size[clusters] + 1) * share.numerator
        return fine

    def start(self, rows: list[int]) -> bool:
        """Make a cluster of equal rows if they show something and hold by themselves."""
        low, high = self.space.low[:, rows[0]], self.space.high[:, rows[0]]
        if self.space.is_star(low[:, None], high[:, None])[0] or not self.component.holds(np.array(rows)):
            return False
        self._move(np.array(rows), self._new(rows[0]), low, high)
        return True

    def _new(self, row: int) -> int:
        found = self.found
        found.low = np.column_stack([found.low, self.space.low[:, row]])
        found.high = np.column_stack([found.high, self.space.high[:, row]])
        found.size = np.append(found.size, 0)
        found.group = np.append(found.group, self.component.mam.group[row])
        return len(found.size) - 1

    def _move(self, rows: Ints, to: int, low: Ints, high: Ints) -> None:
        found = self.found
        old = found.label[rows]
        np.subtract.at(found.size, old[old >= 0], 1)
        found.label[rows] = to
        found.size[to] += len(rows)
        found.low[:, to], found.high[:, to] = low, high

    def _gather(self, group: int, rows: list[int]) -> None:
        space, found = self.space, self.found
        mine = np.array(rows)
        low, high = space.low[:, mine].min(axis=1), space.high[:, mine].max(axis=1)
        to = self._new(rows[0])
        self._move(mine, to, low, high)
        while not self.component.holds(np.flatnonzero(found.label == to)):
            others = np.flatnonzero((found.group == group) & (found.size > 0))
            others = others[others != to]
            wider = np.minimum(found.low[:, others], low[:, None]), np.maximum(found.high[:, others], high[:, None])
            size = found.size[others]
            before = space.price(found.low[:, others], found.high[:, others]) * size
            nearest = int(np.argmin(space.price(*wider) * (size + found.size[to]) - before))
            low, high = wider[0][:, nearest], wider[1][:, nearest]
            self._move(np.flatnonzero(found.label == others[nearest]), to, low, high)


def _fixed(model: GroupModel, everyone: Groups) -> GroupModel:
    """Return a model that compares with the distribution of everyone, whatever groups it is asked about."""
    if not isinstance(model, Close):
        return model
    histogram = everyone.histogram(model.sensitive)
    tally = np.bincount(histogram.code, weights=histogram.count, minlength=histogram.known + 1)
    return replace(model, reference=tally / max(tally.sum(), 1))


def _of_items(values: Values, first: Ints) -> Values:
    """Return the sensitive values of rows as those of items: each has those of its first row."""
    starts, codes = [], []
    offset = 0
    for s in range(values.start.shape[0]):
        begin, end = values.start[s, first], values.start[s, first + 1]
        number = end - begin
        at = np.repeat(begin - np.append(0, np.cumsum(number)[:-1]), number) + np.arange(int(number.sum()))
        starts.append(offset + np.append(0, np.cumsum(number)))
        codes.append(values.code[at])
        offset += int(number.sum())
    code = np.concatenate(codes)
    return values._replace(start=np.array(starts, dtype=np.int64), code=code, times=np.ones(len(code), dtype=np.int64))
