"""Components of few rows: every release is tried, cheapest choices first, as far as a number of steps goes.

Neighbourhoods move a few rows at a time, and integer programs know of sizes alone. Where a table has a handful of rows,
all choices can be looked at under any models, spans of numbers included: a release is found wherever there is one, and
it loses least.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from kveil.algorithms.component import SearchComponent
from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.least_loss.layout import TooLarge, whole_numbers
from kveil.algorithms.stars import group_of_stars_is_lost
from kveil.arrays import Bools, Ints
from kveil.models.groups import Groups, Pairs
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree

MOST_ROWS_TRIED = 10
MOST_ROW_OPTIONS = 400  # of one row
MOST_STEPS = 60_000


class Label(NamedTuple):
    """What a row may show of one attribute: the same for equal keys; the leaves that it covers, and what it costs."""

    key: Hashable
    low: int
    high: int
    cost: int
    is_star: bool


class Option(NamedTuple):
    """What a row may show of all attributes of a component."""

    cost: int
    labels: tuple[Label, ...]
    is_star: bool


class TriedRows(NamedTuple):
    """What came of trying: the columns that lose least, None for none, and whether all was tried."""

    columns: list[Shown] | None
    complete: bool


def keeps_rules(table: Table) -> bool:
    """Tell whether every functional rule of a policy is one within a component, which is kept in what is tried."""
    parts = [set(component.attributes) for component in table.components]
    rules = [rule for rule in table.policy.dependencies if not rule.multivalued]
    return all(any({*rule.left, *rule.right} <= part for part in parts) for rule in rules)


def try_everything(
    component: SearchComponent,
    rows: Ints,
    costs: NodeCosts,
    shown: Sequence[Shown | None],
    below: int | None,
    *,
    may_be_star: Bools | None = None,
) -> TriedRows:
    """Return what some rows of a component show at least cost, if that is below a cost.

    ``rows`` are those that take part; what others show is taken from ``shown``, or is their own value where there is
    none. Rows of nothing but stars are allowed where they are a group of their own, as the released texts are read, and
    of the table's rows only for those that ``may_be_star``, all where left out.
    """
    if not 0 < len(rows) <= MOST_ROWS_TRIED or not component.positions or component.table.times is not None:
        return TriedRows(None, complete=False)
    each = [_labels(component, costs, rows, a) for a in range(len(component.positions))]
    stars = np.full(len(rows), not group_of_stars_is_lost(component.table))
    stars &= True if may_be_star is None else may_be_star[rows]
    options = []
    for i in range(len(rows)):
        if np.prod([len(own[i]) for own in each]) > MOST_ROW_OPTIONS:
            return TriedRows(None, complete=False)
        found = [
            Option(sum(label.cost for label in way), way, all(label.is_star for label in way))
            for way in product(*(own[i] for own in each))
        ]
        options.append(sorted((o for o in found if not o.is_star or stars[i]), key=lambda o: o.cost))
    options = _shared(component, options)
    search = _EveryChoice(component, rows, options, below)
    if not all(options):
        return TriedRows(None, complete=True)
    search.step(0, 0)
    complete = search.steps <= MOST_STEPS
    if search.best is None:
        return TriedRows(None, complete)
    return TriedRows(_columns(component, rows, search.best, shown), complete)


def everything_fails(component: SearchComponent) -> bool:
    """Tell whether all that a component of few rows can show was tried, nobody left out, and nothing holds.

    Items that may be generalized are not part of what is tried, so that nothing is told then.
    """
    table = component.table
    if table.rows > MOST_ROWS_TRIED or table.policy.generalized:
        return False
    try:
        costs = whole_numbers(table)
    except TooLarge:
        return False
    everyone = np.arange(table.rows, dtype=np.int32)
    found = try_everything(component, everyone, costs, [None] * len(table.names), None)
    return found.complete and found.columns is None


@dataclass
class _EveryChoice:
    """A search through all choices of options, row after row."""

    component: SearchComponent
    rows: Ints
    options: list[list[Option]]
    below: int | None
    _: KW_ONLY
    steps: int = 0
    best: list[Option] | None = None
    known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        component, table = self.component, self.component.table
        place = np.full(table.rows, -1, dtype=np.int32)
        place[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        self.pairs = {
            name: Pairs(*table.pairs(name, place, len(self.rows), kept=place >= 0), table.sensitive[name].known)
            for name in component.sensitive
        }
        least = [own[0].cost for own in self.options if own]
        self.rest = [sum(least[i:]) for i in range(len(least) + 1)]
        numbers: dict[Hashable, int] = {}
        self.classes = [
            [_classes(component, option, numbers) for option in own] for own in self.options
        ]  # of each row's options: a number per constraint
        self.sizes = [0] * len(numbers)
        self.lacking = [0] * len(component.constraints)
        self.chosen: list[Option] = []
        self.rules = [
            [[component.names.index(name) for name in side] for side in (rule.left, rule.right)]
            for rule in table.policy.dependencies
            if not rule.multivalued and {*rule.left, *rule.right} <= set(component.names)
        ]

    def step(self, row: int, spent: int) -> None:
        """Choose what a row shows, cheapest first, and go on with the next one."""
        if row == len(self.rows):
            if self._holds():
                self.below, self.best = spent, list(self.chosen)
            return
        left = len(self.rows) - row - 1
        for option, classes in zip(self.options[row], self.classes[row], strict=True):
            if self.below is not None and spent + option.cost + self.rest[row + 1] >= self.below:
                break
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            self._enter(classes)
            if max(self.lacking) <= left:
                self.chosen.append(option)
                self.step(row + 1, spent + option.cost)
                self.chosen.pop()
            self._leave(classes)

    def _enter(self, classes: tuple[int, ...]) -> None:
        """Let a row into its class under every constraint; keep how many rows classes lack in all."""
        sizes, lacking, fewest = self.sizes, self.lacking, self.component.fewest
        for c, own in enumerate(classes):
            size = sizes[own]
            sizes[own] = size + 1
            if size < fewest[c]:
                lacking[c] += -1 if size else fewest[c] - 1

    def _leave(self, classes: tuple[int, ...]) -> None:
        """Take a row out of its classes again."""
        sizes, lacking, fewest = self.sizes, self.lacking, self.component.fewest
        for c, own in enumerate(classes):
            size = sizes[own] - 1
            sizes[own] = size
            if size < fewest[c]:
                lacking[c] -= -1 if size else fewest[c] - 1

    def _holds(self) -> bool:
        """Tell whether every class satisfies its model, rows of stars do so by themselves, and rules hold."""
        for left, right in self.rules:
            sides = {tuple(tuple(o.labels[a].key for a in side) for side in (left, right)) for o in self.chosen}
            if len(sides) > len({key for key, _ in sides}):
                return False
        stars = sum(1 << i for i, option in enumerate(self.chosen) if option.is_star)
        for c, constraint in enumerate(self.component.constraints):
            classes: dict[Hashable, int] = defaultdict(int)
            for i, option in enumerate(self.chosen):
                classes[tuple(option.labels[a].key for a in constraint.over)] |= 1 << i
            if stars and not self.component.table.stars_take_part:
                classes[None] = stars
            if not all(self._good(c, members) for members in classes.values()):
                return False
        return True

    def _good(self, constraint: int, members: int) -> bool:
        """Tell whether a class, a set of rows as bits, satisfies a model beside all others."""
        if (constraint, members) not in self.known:
            part = np.array([0 if members >> i & 1 else 1 for i in range(len(self.rows))], dtype=np.int32)
            groups = Groups(part, int(part.max()) + 1, np.ones(len(part), dtype=np.int64), self.pairs)
            self.known[constraint, members] = bool(self.component.models[constraint].good(groups)[0])
        return self.known[constraint, members]


def _classes(component: SearchComponent, option: Option, numbers: dict[Hashable, int]) -> tuple[int, ...]:
    """Return the number of the class that an option is of under each constraint; new classes are numbered on."""
    keys = [(c, *(option.labels[a].key for a in constraint.over)) for c, constraint in enumerate(component.constraints)]
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def _shared(component: SearchComponent, options: list[list[Option]]) -> list[list[Option]]:
    """Return the options without those that too few rows could share under some constraint, until there are none."""
    fewest = component.fewest
    numbers: dict[Hashable, int] = {}
    classes = {option: _classes(component, option, numbers) for own in options for option in own}
    while True:
        counts = Counter(one for own in options for one in {one for option in own for one in classes[option]})
        left = [
            [
                option
                for option in own
                if all(counts[one] >= least for one, least in zip(classes[option], fewest, strict=True))
            ]
            for own in options
        ]
        if left == options:
            return options
        options = left


def _labels(component: SearchComponent, costs: NodeCosts, rows: Ints, attribute: int) -> list[list[Label]]:
    """Return everything that each row may show of an attribute, within its limits."""
    table, position = component.table, component.positions[attribute]
    tree = table.trees[position]
    spans = list(zip(table.low[position][rows].tolist(), table.high[position][rows].tolist(), strict=True))
    if isinstance(tree, Scale):
        return _spans(component, costs, spans, attribute)
    found = []
    for low, high in spans:
        own, end = (int(node[0]) for node in tree.ends(np.array([low]), np.array([high])))
        found.append(
            [
                Label(node, int(tree.first[node]), int(tree.last[node]), cost, bool(tree.is_star[node]))
                for node in tree.way_up(own, end)
                for cost in (int(costs.nodes[position][node]),)
            ]
        )
    return found


def _spans(
    component: SearchComponent, costs: NodeCosts, spans: list[tuple[int, int]], attribute: int
) -> list[list[Label]]:
    """Return the spans between any two numbers of the rows that each row may show; equal texts are one label."""
    position = component.positions[attribute]
    scale = component.table.trees[position]
    assert isinstance(scale, Scale)
    widest = component.table.policy.attributes[component.names[attribute]].widest
    ends = sorted({end for span in spans for end in span})
    found = []
    for low, high in spans:
        labels: dict[str, Label] = {}
        for bottom in (end for end in ends if end <= low):
            for top in (end for end in ends if end >= high):
                text, loss = scale.shown(bottom, top)
                star = scale.missing is not None and bottom < top == scale.missing
                if widest is not None and scale.shows_more(bottom, top, widest):
                    continue
                labels.setdefault(text, Label(text, bottom, top, round(loss * costs.whole[position]), star))
        found.append(list(labels.values()))
    return found


def _columns(
    component: SearchComponent, rows: Ints, chosen: list[Option], shown: Sequence[Shown | None]
) -> list[Shown]:
    """Return the columns of a component with what some rows show."""
    found = []
    for a, position in enumerate(component.positions):
        tree, old = component.table.trees[position], shown[position]
        low, high = component.table.low[position].copy(), component.table.high[position].copy()
        low[rows] = [option.labels[a].low for option in chosen]
        high[rows] = [option.labels[a].high for option in chosen]
        if isinstance(tree, Tree):
            nodes = tree.lca(low, high).astype(np.int32) if old is None else old.codes.copy()
            nodes[rows] = [option.labels[a].key for option in chosen]
            found.append(Shown.nodes(tree, nodes))
        else:
            found.append(Shown.spans(tree, low, high))
    return found
