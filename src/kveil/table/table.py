"""A table as integers: what every algorithm works on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.policy.components import Component, components, components_suppressed_with
from kveil.policy.model import Policy
from kveil.table.order import ranks_of_sets, ranks_of_texts, sorted_rows
from kveil.table.persons import Persons
from kveil.table.scale import Scale
from kveil.table.sensitive import Sensitive, row_pairs
from kveil.table.tree import Tree
from kveil.words import row_noun

# What a table reckons once, and the fields it does so from.
RECKONED = {
    "components": frozenset[str](),
    "canonical": frozenset({"low", "high", "sensitive", "ties"}),
    "distinct": frozenset({"low", "high", "rows_apart", "times"}),
}


@dataclass(frozen=True)
class Table:
    """A table as integers: for every quasi-identifier its tree, for every row its leaf in it.

    A row is a record, or a person where the policy names individuals; with ``times`` it stands for so many of them that
    have everything in common that an algorithm looks at. ``leaves`` has a line per quasi-identifier
    (policy order) and in it a leaf per row of the table; loss counts from it. ``low`` and ``high`` are the span of a
    person's leaves, the same array as ``leaves`` where no person's records disagree. ``sensitive`` has the attributes
    that models count, ``others`` the codes of columns beside the quasi-identifiers that dependencies name, ``ties``
    the texts of all other columns that are released, per row; they break the last ties. ``fractions`` has, for
    quasi-identifiers in `intervals`, the rows with a value that is no whole number, if there are any. In a table with
    ``rows_apart``, equal rows are tuples of their own.
    """

    policy: Policy
    names: tuple[str, ...]
    trees: tuple[Tree | Scale, ...]
    leaves: Ints
    low: Ints
    high: Ints
    _: KW_ONLY
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)
    persons: Persons | None = None
    others: Mapping[str, Ints] = field(default_factory=dict)
    ties: tuple[pl.Series, ...] = ()
    fractions: Mapping[str, Bools] = field(default_factory=dict)
    rows_apart: bool = False
    times: Longs | None = None  # how many records each row stands for; None: each is one
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, key: Hashable, reckon: Callable[[], Any]) -> Any:
        """Return what somebody reckons about this very table, which is done the first time it is asked for."""
        if key not in self._known:
            self._known[key] = reckon()
        return self._known[key]

    def changed(self, **fields: Any) -> Table:
        """Return the same rows with some fields changed; what was reckoned before and does not depend on them stays.

        A changed policy must name the same attributes and models: components are taken over.
        """
        other = replace(self, **fields)
        for name, needed in RECKONED.items():
            if name in vars(self) and needed.isdisjoint(fields):
                object.__setattr__(other, name, vars(self)[name])
        return other

    @property
    def rows(self) -> int:
        """The number of rows, which is the length of every array by row."""
        return int(self.leaves.shape[1])

    @property
    def records(self) -> int:
        """The number of records, or persons, that the rows stand for."""
        return self.rows if self.times is None else int(self.times.sum())

    @property
    def weights(self) -> Longs:
        """How many records each row stands for."""
        return np.ones(self.rows, dtype=np.int64) if self.times is None else self.times

    def count(self, rows: Bools) -> int:
        """Return how many records some rows stand for."""
        return int(rows.sum() if self.times is None else self.times[rows].sum())

    def tally(self, codes: Ints, number: int, *, chosen: Bools | None = None) -> Longs:
        """Return how many records have each code, ``codes`` being one per row; of the chosen rows only, if given."""
        here = codes if chosen is None else codes[chosen]
        if self.times is None:
            return np.bincount(here, minlength=number)
        return add_up(here, self.times if chosen is None else self.times[chosen], number)

    @property
    def noun(self) -> str:
        """What a row is called: a record, or an individual."""
        return row_noun(people=self.persons is not None)

    @property
    def whole_rows(self) -> bool:
        """Whether a row suppressed in one component is gone from all: dropped, or starred as a whole."""
        if self.policy.suppression.show == "drop" or self.persons is not None:
            return True
        linked = all(len(together) == len(self.components) for together in components_suppressed_with(self.policy))
        return linked and len(self.components) > 1

    @property
    def stars_take_part(self) -> bool:
        """Whether a row of stars is kept: a person whose items are shown is."""
        return self.persons is not None and bool(self.policy.with_role("sensitive"))

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The independent constraint subsets of the policy."""
        return components(self.policy)

    @cached_property
    def component_of(self) -> dict[str, int]:
        """The number of every quasi-identifier's component."""
        return {name: c for c, component in enumerate(self.components) for name in component.attributes}

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """Return where quasi-identifiers stand in ``names``."""
        return [self.names.index(name) for name in names]

    @cached_property
    def canonical(self) -> Longs:
        """The rows in canonical order: by leaf numbers in policy order, sensitive values, then what else is released.

        A person's leaves are the span of all of their records'.
        """
        keys: list[Ints] = list(self.low)
        if self.low is not self.high:
            keys = [key for pair in zip(self.low, self.high, strict=True) for key in pair]
        keys += [ranks_of_sets(sensitive, self.rows) for sensitive in self.sensitive.values()]
        return sorted_rows([*keys, *self.tie_ranks()])

    def tie_ranks(self) -> list[Ints]:
        """Return ranks of what breaks the last ties, so that who goes where never depends on the input's order."""
        return [ranks_of_texts(texts) for texts in self.ties]

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct tuples of leaves and how many records have each."""
        same = self.low is self.high
        member, first = group_rows(self.low if same else np.concatenate([self.low, self.high]))
        if self.rows_apart or len(first) == self.rows:
            return Distinct(self.low, self.high, np.arange(self.rows, dtype=np.int32), self.weights)
        weights = self.tally(member, len(first))
        low = np.take(self.low, first, axis=1)
        return Distinct(low, low if same else np.take(self.high, first, axis=1), member, weights)

    def pairs(self, name: str, member: Ints, tuples: int, *, kept: Bools | None = None) -> tuple[Ints, Ints, Longs]:
        """Return how often each tuple has each value of a sensitive attribute: tuple, code, count."""
        return row_pairs(self.sensitive[name], member, tuples, kept=kept, times=self.times)


@dataclass(frozen=True)
class Distinct:
    """Distinct tuples with their weights; ``member`` gives every row's tuple."""

    low: Ints
    high: Ints
    member: Ints
    weights: Longs
