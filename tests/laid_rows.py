"""Rows that show nodes under overlapping constraints, laid out as the loops of the search read them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random

import numpy as np

from kveil.algorithms.least_loss.span_nodes import SpanNodes, span_nodes
from kveil.arrays import Ints
from kveil.kernels.least_loss import overlaps
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.models.layout import DISTINCT, Models, Needs, SensitiveCodes, no_models
from kveil.policy.attributes import Ranges
from kveil.table.scale import Scale
from naive.overlap_tries import Chance, ClassKey, OverlapTries
from naive.shown_rows import Row, ShownCase, random_case
from naive.trees import ListSpans


def nodes_of(spans: ListSpans) -> SpanNodes:
    """Return the nodes that the search makes of the same numbers, up to the same width."""
    numbers = tuple(Decimal(number) for number in range(spans.leaves))
    scale = Scale(numbers, Ranges(within=(Decimal(0), Decimal(spans.leaves))), None, "")
    widest = max(last - first for first, last in zip(spans.first[:-1], spans.last[:-1], strict=True))
    return span_nodes(scale, Decimal(widest), 1000)


def laid_out(case: ShownCase) -> tuple[overlaps.NodeColumns, overlaps.Constraints, Models]:
    """Return a case's trees, constraints and models as the loops read them."""
    sizes = [tree.nodes for tree in case.trees]
    at = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    columns = [
        [tree.first, tree.last, tree.parent, tree.depth, [int(tree.is_star(node)) for node in range(tree.nodes)]]
        for tree in case.trees
    ]
    ints = np.concatenate([np.array(own, dtype=np.int32) for own in columns], axis=1)
    tables, span_at = [np.zeros(1, dtype=np.int32)], np.full(len(at), -1)
    for a, tree in enumerate(case.trees):
        if isinstance(tree, ListSpans):
            span_at[a] = sum(map(len, tables))
            tables.append(nodes_of(tree).table)
    costs = np.concatenate(case.costs).astype(np.int64)
    trees = overlaps.NodeColumns(at, ints, costs, case.whole, np.concatenate(tables), span_at)
    widest = max(len(over) for over, _, _ in case.constraints)
    order = np.zeros((len(case.constraints), len(case.base), 1 + widest), dtype=np.int32)
    for c, (over, _, _) in enumerate(case.constraints):
        leaves = [[case.trees[a].first[row[a]] for a in over] for row in case.base]
        for place, row in enumerate(sorted(range(len(leaves)), key=lambda i: (leaves[i], i))):
            order[c, place, : 1 + len(over)] = [row, *leaves[row]]
    counted = [least for _, _, least in case.constraints if least]
    constraints = overlaps.Constraints(
        np.cumsum([0, *(len(over) for over, _, _ in case.constraints)]).astype(np.int64),
        np.array([a for over, _, _ in case.constraints for a in over], dtype=np.int32),
        np.array([k for _, k, _ in case.constraints], dtype=np.int64),
        np.cumsum([0, *(int(least > 0) for _, _, least in case.constraints)]).astype(np.int64),
        order,
    )
    if not counted:
        return trees, constraints, no_models()
    known = max(case.values) + 1
    ones, rows = np.ones(len(counted), dtype=np.int64), len(case.base)
    needs = Needs(
        np.full(len(counted), DISTINCT, dtype=np.int32), np.zeros(len(counted), dtype=np.int32), ones,
        np.array(counted, dtype=np.int64), ones, np.zeros(len(counted)),
    )  # fmt: skip
    values = SensitiveCodes(
        np.arange(rows + 1, dtype=np.int64)[None, :], np.array(case.values, dtype=np.int32),
        np.ones(rows, dtype=np.int64), np.array([known], dtype=np.int32), np.zeros((1, known + 1)),
        np.full((1, known + 1, 1), -1, dtype=np.int32), np.zeros((1, 1)), np.zeros((1, 1)),
    )  # fmt: skip
    room = np.zeros((1, known + 1), dtype=np.int64)
    zero = np.zeros(1, dtype=np.int32)
    return (
        trees,
        constraints,
        Models(needs, values, room, room.astype(np.int32), zero, np.zeros(2), np.zeros(2, np.int32)),
    )


def state_of(
    case: ShownCase, trees: overlaps.NodeColumns, constraints: overlaps.Constraints, seed: int
) -> overlaps.ShownRows:
    nodes = [own if shown is None else shown for shown, own in zip(case.shown, case.limit, strict=True)]
    out = np.array([shown is None for shown in case.shown], dtype=np.int32)
    base, limit, shown = (np.array(own, dtype=np.int32) for own in (case.base, case.limit, nodes))
    return overlaps.new_overlap_state(base, limit, shown, out, trees, constraints, seed)


@dataclass
class BothTries:
    """Rows under overlapping constraints, laid out for the loops and as the slow twin of tries, at the same point."""

    case: ShownCase
    trees: overlaps.NodeColumns
    constraints: overlaps.Constraints
    models: Models
    state: overlaps.ShownRows
    work: overlaps.TryRoom
    twin: OverlapTries
    chance: Random

    @property
    def laid(self) -> tuple[overlaps.ShownRows, overlaps.NodeColumns, overlaps.Constraints, overlaps.TryRoom]:
        return self.state, self.trees, self.constraints, self.work

    def vector(self, shown: Row) -> Ints:
        return np.array(shown, dtype=np.int32)

    def wish(self, row: int) -> Row:
        """Draw something that a row may show."""
        return tuple(
            self.chance.choice([*self.twin.allowed(row, a), node]) for a, node in enumerate(self.twin.nodes[row])
        )

    def filled(self) -> list[ClassKey]:
        """Return the classes that have rows, in a fixed order."""
        return sorted(key for key, own in self.twin.classes.items() if own)

    def number(self, key: ClassKey) -> int:
        """Return the number that a class has in the loops."""
        return int(self.state.rows[key[0], field.OF, self.twin.classes[key][0]])

    def listed(self, c: int, g: int) -> list[int]:
        found, row = [], int(self.state.classes[c, field.HEAD, g])
        while row >= 0:
            found.append(row)
            row = int(self.state.rows[c, field.AFTER, row])
        return found

    def look(self, c: int, g: int) -> ClassKey:
        return c, tuple(self.state.projection[c, g, : len(self.case.constraints[c][0])].tolist())

    def check(self) -> None:
        """Compare what rows show and cost, classes in their order, what moved, what waits, and what is drawn next."""
        state, twin = self.state, self.twin
        assert [tuple(row) for row in state.nodes.tolist()] == twin.nodes
        assert state.out.astype(bool).tolist() == twin.out
        assert state.cost.tolist() == [twin.cost_of(row) for row in range(len(twin.nodes))]
        assert state.counts[field.TOTAL] == twin.total()
        found = {}
        for c in range(len(self.case.constraints)):
            for g in {int(g) for g in state.rows[c, field.OF] if g >= 0}:
                found[self.look(c, g)] = self.listed(c, g)
                assert state.classes[c, field.SIZE, g] == len(found[self.look(c, g)])
        assert found == {key: own for key, own in twin.classes.items() if own}
        steps = int(state.counts[field.JOURNAL])
        moved, before = self.work.journal[:, :steps], self.work.before[:steps].tolist()
        assert twin.journal == [
            (row, tuple(shown), bool(out))
            for row, out, shown in zip(moved[field.MOVED].tolist(), moved[field.WAS_OUT].tolist(), before, strict=True)
        ]
        waiting = self.work.queue[:, : state.counts[field.QUEUE]].T.tolist()
        assert twin.queue == [self.look(c, g) for c, g in waiting]
        assert state.random[0] == twin.chance.state


def both_tries(seed: int, *, diverse: bool = False, hides: bool = False) -> BothTries:
    """Return rows that show what covers them at one of a few vectors of depths; classes may be too small.

    Of every two seeds one has an attribute of numbers.
    """
    chance = Random(seed)
    case = random_case(chance, diverse=diverse, spans=seed % 2 == 1)
    offers = [[chance.randint(0, 3) for _ in case.trees] for _ in range(chance.randint(2, 4))]
    out = [shown is None for shown in case.shown]
    case.shown = [case.at_depths(row, chance.choice(offers)) for row in range(len(case.base))]
    nodes: list[Row] = [shown for shown in case.shown if shown is not None]
    trees, constraints, models = laid_out(case)
    anything = constraints._replace(k=np.ones_like(constraints.k))
    base, limit, shown = (np.array(own, dtype=np.int32) for own in (case.base, case.limit, nodes))
    state = overlaps.new_overlap_state(base, limit, shown, np.array(out, dtype=np.int32), trees, anything, seed)
    case.shown = [None if gone else row for gone, row in zip(out, nodes, strict=True)]
    work = overlaps.new_work(len(case.trees), constraints)
    return BothTries(
        case, trees, constraints, models, state, work, OverlapTries(case, nodes, out, Chance(seed), hides), chance
    )
