"""Trimmed descent: several constraints with overlapping attributes, as shown values per row and counts per projection.

A proposal gives some rows a cheaper value each. It is trimmed until every class of every constraint satisfies its
model: entrants of a class that would be new and too small are refused, leavers of one that would become too small are
brought back. What is left is applied, so that every step goes from valid to valid: the maximal-anonymous-subset
operator with what is shown already counted in. Neighbourhoods that were raised to a common value and descended again
are kept where the loss has not risen.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kveil.models.counts import AtLeastK, GroupModel, Groups, Pairs
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Bools, Ints, Tree

if TYPE_CHECKING:
    from kveil.algorithms.codes import Costs
    from kveil.algorithms.refine import Part, Watch

Longs = NDArray[np.int64]

MOST_VECTORS = 1_500  # level vectors of a set of attributes that are all proposed; more are drawn by chance
SWEEPS = 20  # over all proposals, at most
RAISES = 100  # neighbourhoods raised for each try a row that is asked for, fewer in small tables:
ROWS_A_RAISE = 30
MOST_RAISED = 3_000  # rows in a neighbourhood
FEW = 40  # proposals after a neighbourhood was raised


class _Classes:
    """The classes of one constraint: equal projections of what rows show, and how many rows each has."""

    def __init__(self, over: list[int], model: GroupModel, widths: Sequence[int], nodes: Ints) -> None:
        self.over = over
        self.model = model
        self.k = model.k if isinstance(model, AtLeastK) else 0
        self.radix = [widths[a] for a in over]
        self.keys = np.zeros(0, dtype=np.int64)
        self.ids = np.zeros(0, dtype=np.int64)
        self.count = np.zeros(0, dtype=np.int64)
        self.of = self.number(nodes)
        np.add.at(self.count, self.of, 1)

    @property
    def fits(self) -> bool:
        """Whether a projection can be told by one whole number."""
        product = 1
        for width in self.radix:
            product *= width
        return product < 2**62

    def number(self, nodes: Ints) -> Longs:
        """Return the classes of vectors, attribute × row; new ones are added, empty."""
        key = np.zeros(nodes.shape[1], dtype=np.int64)
        for a, width in zip(self.over, self.radix, strict=True):
            key = key * width + nodes[a]
        place = np.searchsorted(self.keys, key)
        known = place < len(self.keys)
        known[known] = self.keys[place[known]] == key[known]
        if not known.all():
            fresh = np.unique(key[~known])
            ids = len(self.count) + np.arange(len(fresh))
            self.count = np.concatenate([self.count, np.zeros(len(fresh), dtype=np.int64)])
            keys, all_ids = np.concatenate([self.keys, fresh]), np.concatenate([self.ids, ids])
            order = np.argsort(keys, kind="stable")
            self.keys, self.ids = keys[order], all_ids[order]
            place = np.searchsorted(self.keys, key)
        return self.ids[place]


class _Shown:
    """What the rows of a component show, with the classes of its constraints."""

    def __init__(self, part: Part, costs: Costs, solution: Solution) -> None:
        table = part.table
        self.part = part
        self.rows = part.rows
        low, high = part.leaves(part.rows)
        self.trees = [table.trees[p] for p in part.positions]
        self.nodes = np.array([solution.shown[p].codes[part.rows] for p in part.positions], dtype=np.int32)
        self.price: list[Longs] = []
        self.targets: list[list[Ints]] = []
        for a, (position, tree) in enumerate(zip(part.positions, self.trees, strict=True)):
            if isinstance(tree, Tree):
                self.price.append(costs.nodes[position])
                base = tree.leaf_nodes[low[a]] if low is high else tree.lca(low[a], high[a])
                self.targets.append(_levels(tree, base, tree.limit_of[low[a]]))
            else:  # spans stay as they are
                shown = solution.shown[position]
                self.price.append(np.rint(shown.ncp * costs.whole[position]).astype(np.int64))
                self.targets.append([self.nodes[a].copy()])
        widths = [len(price) for price in self.price]
        self.classes = [_Classes(o, m, widths, self.nodes) for o, m in zip(part.over, part.models, strict=True)]
        self.cost = sum(price[self.nodes[a]] for a, price in enumerate(self.price)) + np.zeros(len(self.rows), np.int64)
        self.least = sum(
            np.minimum.reduce([price[target] for target in self.targets[a]]) for a, price in enumerate(self.price)
        ) + np.zeros(len(self.rows), dtype=np.int64)
        self.pairs: dict[str, Pairs] = part.pairs(part.rows)
        self.journal: list[tuple[Ints, Ints]] | None = None

    @property
    def total(self) -> int:
        """What all rows cost together."""
        return int(self.cost.sum())

    def stars(self, nodes: Ints) -> Bools:
        """Return the vectors that show `*` everywhere and so are none to move to."""
        found = np.full(nodes.shape[1], self.part.hides)
        for a, tree in enumerate(self.trees):
            if isinstance(tree, Tree):
                found &= tree.is_star[nodes[a]]
            else:
                return np.zeros(nodes.shape[1], dtype=bool)
        return found

    def valid(self) -> bool:
        """Tell whether every class of every constraint satisfies its model."""
        for classes in self.classes:
            counted = Groups(
                classes.of.astype(np.int32), len(classes.count), np.ones(len(self.rows), dtype=np.int64), self.pairs
            )
            if not classes.model.good(counted).all():
                return False
        return True

    def propose(self, over: Sequence[int], levels: Sequence[int], among: Ints) -> bool:
        """Propose a level vector over some attributes to the rows it makes cheaper; tell whether any moved."""
        gain = np.zeros(len(among), dtype=np.int64)
        for a, level in zip(over, levels, strict=True):
            gain += self.price[a][self.nodes[a][among]] - self.price[a][self.targets[a][level][among]]
        chosen = among[gain > 0]
        if not len(chosen):
            return False
        return self.move(chosen, over, levels, gain[gain > 0])

    def move(self, rows: Ints, over: Sequence[int], levels: Sequence[int], gain: Longs) -> bool:
        """Give rows the values of a level vector, trimmed; tell whether any moved."""
        new = self.nodes[:, rows].copy()
        for a, level in zip(over, levels, strict=True):
            new[a] = self.targets[a][level][rows]
        moving = ~self.stars(new) & (new != self.nodes[:, rows]).any(axis=0)
        touched = [c for c in self.classes if set(c.over) & set(over)]
        into = [c.number(new) for c in touched]
        while moving.any():
            before = int(moving.sum())
            for classes, target in zip(touched, into, strict=True):
                moving &= ~self._refused(classes, rows, target, moving, gain)
            if int(moving.sum()) == before:
                break
        if not moving.any():
            return False
        self._apply(rows[moving], new[:, moving], touched, [target[moving] for target in into])
        return True

    def _refused(self, classes: _Classes, rows: Ints, target: Longs, moving: Bools, gain: Longs) -> Bools:
        """Return the rows that may not move, by one constraint."""
        refused = np.zeros(len(rows), dtype=bool)
        source = classes.of[rows]
        going = moving & (source != target)
        if not going.any():
            return refused
        if not classes.k:
            return self._refused_by_model(classes, rows, target, going)
        leave = np.bincount(source[going], minlength=len(classes.count))
        enter = np.bincount(target[going], minlength=len(classes.count))
        after = classes.count - leave + enter
        bad = (after > 0) & (after < classes.k)
        if not bad.any():
            return refused
        refused |= going & bad[target] & (classes.count[target] == 0)
        # A class that was there before takes back as many of its leavers as it lacks, those that gain least.
        leavers = np.flatnonzero(going & bad[source])
        if len(leavers):
            order = leavers[np.lexsort((leavers, gain[leavers], source[leavers]))]
            of = source[order]
            first = np.searchsorted(of, of)
            refused[order[np.arange(len(order)) - first < (classes.k - after)[of]]] = True
        return refused

    def _refused_by_model(self, classes: _Classes, rows: Ints, target: Longs, going: Bools) -> Bools:
        of = classes.of.copy()
        of[rows[going]] = target[going]
        counted = Groups(of.astype(np.int32), len(classes.count), np.ones(len(of), dtype=np.int64), self.pairs)
        bad = ~classes.model.good(counted)
        return np.asarray(going & (bad[target] | bad[classes.of[rows]]))

    def _apply(self, rows: Ints, new: Ints, touched: list[_Classes], into: list[Longs]) -> None:
        if self.journal is not None:
            self.journal.append((rows, self.nodes[:, rows].copy()))
        for classes, target in zip(touched, into, strict=True):
            np.subtract.at(classes.count, classes.of[rows], 1)
            np.add.at(classes.count, target, 1)
            classes.of[rows] = target
        self.nodes[:, rows] = new
        self.cost[rows] = sum(price[new[a]] for a, price in enumerate(self.price))

    def undo(self) -> None:
        """Take back everything since the journal was opened."""
        journal, self.journal = self.journal, None
        assert journal is not None
        for rows, old in reversed(journal):
            self._apply(rows, old, self.classes, [classes.number(old) for classes in self.classes])


def _levels(tree: Tree, base: Ints, limit: Ints) -> list[Ints]:
    """Return what every row shows at each level from its leaf up, never beyond its limit; equal levels once."""
    found: list[Ints] = []
    height = int(tree.depth.max(initial=0))
    for depth in range(height, -1, -1):
        node = base.copy()
        while (high := (tree.depth[node] > depth) & (node != limit)).any():
            node[high] = tree.parent[node[high]]
        if not found or not np.array_equal(found[-1], node):
            found.append(node)
    return found


class _Search:
    """The descent of one component."""

    def __init__(self, shown: _Shown, seed: int, watch: Watch) -> None:
        self.shown = shown
        self.watch = watch
        self.random = np.random.default_rng(np.random.SeedSequence([seed, shown.part.number]))
        everything = tuple(range(len(shown.trees)))
        sets = [everything, *(tuple(c.over) for c in shown.classes), *((a,) for a in everything)]
        self.sets = list(dict.fromkeys(sets))
        self.mean = [
            [float(shown.price[a][target].mean()) for target in targets] for a, targets in enumerate(shown.targets)
        ]

    def _vectors(self, over: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
        """Return level vectors of some attributes, all of them or as many by chance."""
        levels = [len(self.shown.targets[a]) for a in over]
        number = 1
        for own in levels:
            number *= own
        if number <= most:
            return list(itertools.product(*(range(own) for own in levels)))
        drawn = np.array([self.random.integers(0, own, most) for own in levels]).T
        return [tuple(vector) for vector in np.unique(drawn, axis=0).tolist()]

    def _price(self, over: tuple[int, ...], levels: tuple[int, ...]) -> float:
        return sum(self.mean[a][level] for a, level in zip(over, levels, strict=True))

    def _active(self) -> Ints:
        return np.flatnonzero(self.shown.cost > self.shown.least).astype(np.int32)

    def descend(self) -> None:
        """Propose everything, cheapest first, then in random order, until nothing moves."""
        proposals = [(over, v) for over in self.sets for v in self._vectors(over, MOST_VECTORS)]
        proposals.sort(key=lambda proposal: (self._price(*proposal), proposal))
        for _ in range(SWEEPS):
            moved = False
            active = self._active()
            for number, (over, levels) in enumerate(proposals):
                if self.watch.over() or not len(active):
                    return
                if self.shown.propose(over, levels, active):
                    moved = True
                if number % 64 == 0:
                    active = self._active()
                    self.watch.tell(self.shown.total)
            if not moved:
                return
            self.random.shuffle(proposals)

    def raise_and_descend(self) -> bool:
        """Raise the neighbourhood of a row to one value, descend again; keep that where the loss has not risen."""
        shown = self.shown
        active = self._active()
        if not len(active):
            return False
        before = shown.total
        seed = int(self.random.choice(active))
        over = self.sets[int(self.random.integers(len(self.sets)))]
        levels = [int(self.random.integers(len(shown.targets[a]))) for a in over]
        near = np.ones(len(shown.rows), dtype=bool)
        for a, level in zip(over, levels, strict=True):
            near &= shown.targets[a][level] == shown.targets[a][level][seed]
        raised = np.flatnonzero(near).astype(np.int32)
        if not 1 < len(raised) <= MOST_RAISED:
            return False
        shown.journal = []
        lost = np.zeros(len(raised), dtype=np.int64)
        for a, level in zip(over, levels, strict=True):
            lost += shown.price[a][shown.nodes[a][raised]] - shown.price[a][shown.targets[a][level][raised]]
        if not shown.move(raised, over, levels, lost):
            shown.journal = None
            return False
        for again in range(2):
            among = self._active()
            sets = [self.sets[i] for i in self.random.permutation(len(self.sets)).tolist()]
            moved = False
            for own in sets:
                vectors = self._vectors(own, FEW)
                vectors.sort(key=lambda v, own=own: (self._price(own, v), v))  # type: ignore[misc]
                for vector in vectors:
                    moved |= shown.propose(own, vector, among)
            if not moved or again:
                break
        if shown.total > before:
            shown.undo()
            return False
        shown.journal = None
        return True


def descend(part: Part, costs: Costs, watch: Watch, solution: Solution, tries_a_row: float) -> list[Shown]:
    """Return what every row of a component shows after descent, never at a higher loss than before."""
    same = [solution.shown[p] for p in part.positions]
    if not len(part.rows):
        return same
    shown = _Shown(part, costs, solution)
    if not all(classes.fits for classes in shown.classes) or not shown.valid():
        return same
    before = shown.total
    search = _Search(shown, part.table.policy.seed, watch)
    search.descend()
    raises = min(RAISES, len(part.rows) / ROWS_A_RAISE)
    for _ in range(round(raises * tries_a_row)):
        if watch.over():
            break
        watch.tries += 1
        watch.kept += search.raise_and_descend()
        watch.tell(shown.total)
    assert shown.total <= before
    found = []
    for a, position in enumerate(part.positions):
        old = solution.shown[position]
        codes = old.codes.copy()
        codes[part.rows] = shown.nodes[a]
        found.append(Shown(codes, old.labels, old.ncp, old.il, old.is_star))
    return found
