"""Turn the texts of a table into leaf numbers, under the hierarchies of its policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.arrays import Bools, Ints
from kveil.errors import DataError
from kveil.files import Source, check_columns
from kveil.kernels.grouping.groups import group_rows
from kveil.policy.attributes import STAR, MaxWidth, Ranges
from kveil.policy.builders import build_lines
from kveil.policy.components import Component, components
from kveil.policy.model import Policy
from kveil.policy.numbers import EXACT, parse_number
from kveil.policy.privacy import sensitive_of
from kveil.table.columns import Coded, code_columns, stars_in
from kveil.table.order import ranks_of_others, ranks_of_sets, sorted_rows
from kveil.table.persons import Persons, check_conflicts, check_constant, find_persons
from kveil.table.sensitive import Sensitive, encode_sensitive, row_pairs, unknown_values
from kveil.table.tree import Scale, Tree, build_tree, round_outward
from kveil.words import count


@dataclass(frozen=True)
class Table:
    """A table as integers: for every quasi-identifier its tree, for every row its leaf in it.

    A row is a record, or a person where the policy names individuals. ``leaves`` has a row a quasi-identifier
    (policy order) and a column a row of the table; loss counts from it. ``low`` and ``high`` are the span of a
    person's leaves, the same array as ``leaves`` where no person's records disagree. ``sensitive`` has the
    attributes that models count, ``others`` the codes of columns beside the quasi-identifiers that dependencies name,
    ``ties`` gives ranks of all that is released beside what models count.
    """

    policy: Policy
    names: tuple[str, ...]
    trees: tuple[Tree | Scale, ...]
    leaves: Ints
    low: Ints
    high: Ints
    sensitive: dict[str, Sensitive] = field(default_factory=dict)
    persons: Persons | None = None
    others: dict[str, Ints] = field(default_factory=dict)
    ties: Callable[[], list[Ints]] | None = None

    @property
    def records(self) -> int:
        """The number of rows: records, or persons."""
        return int(self.leaves.shape[1])

    @property
    def whole_rows(self) -> bool:
        """Whether a row suppressed in one component is gone from all: dropped, or a person starred as a whole."""
        return self.policy.suppression.show == "drop" or self.persons is not None

    @property
    def stars_take_part(self) -> bool:
        """Whether a row of stars is kept: a person whose items are shown is."""
        return self.persons is not None and bool(self.policy.with_role("sensitive"))

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The independent constraint subsets of the policy."""
        return components(self.policy)

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """Return where quasi-identifiers stand in ``names``."""
        return [self.names.index(name) for name in names]

    @cached_property
    def canonical(self) -> NDArray[np.int64]:
        """The rows in canonical order: by leaf numbers in policy order, sensitive values, then what else is released.

        A person's leaves are the span of all of their records'.
        """
        keys: list[Ints] = list(self.low)
        if self.low is not self.high:
            keys = [key for pair in zip(self.low, self.high, strict=True) for key in pair]
        keys += [ranks_of_sets(sensitive, self.records) for sensitive in self.sensitive.values()]
        return sorted_rows([*keys, *(self.ties() if self.ties is not None else ())])

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct tuples of leaves and how many rows have each."""
        same = self.low is self.high
        member, first = group_rows(self.low if same else np.concatenate([self.low, self.high]))
        if len(first) == self.records:
            member = np.arange(self.records, dtype=np.int32)
            return Distinct(self.low, self.high, member, np.ones(self.records, dtype=np.int64))
        weights = np.bincount(member, minlength=len(first))
        low = np.ascontiguousarray(self.low[:, first])
        return Distinct(low, low if same else np.ascontiguousarray(self.high[:, first]), member, weights)

    def as_rows(self, policy: Policy) -> Table:
        """Return the same rows as if each were a record, under a policy that differs in nothing encoding looks at."""
        other = replace(self, policy=policy, persons=None)
        other.__dict__.update(distinct=self.distinct, components=self.components)
        return other

    def showing(self, sensitive: dict[str, Sensitive]) -> Table:
        """Return the same rows with other sensitive values, as models count them once items are generalized."""
        other = replace(self, sensitive=sensitive)
        other.__dict__.update(distinct=self.distinct, components=self.components)
        return other

    def pairs(
        self, name: str, member: Ints, tuples: int, kept: Bools | None = None
    ) -> tuple[Ints, Ints, NDArray[np.int64]]:
        """Return how often each tuple has each value of a sensitive attribute: tuple, code, count."""
        return row_pairs(self.sensitive[name], member, tuples, kept)


@dataclass(frozen=True)
class Distinct:
    """Distinct tuples with their weights; ``member`` gives every row's tuple."""

    low: Ints
    high: Ints
    member: Ints
    weights: NDArray[np.int64]


def encode(source: Source, policy: Policy) -> Table:
    """Return a source as integers; every value must be known to its hierarchy."""
    check_columns(source.frame.columns, policy.attributes, source.name)
    for name, attribute in policy.attributes.items():
        if attribute.role in {"sensitive", "insensitive"}:
            _no_stars(source, policy, name)
    names = tuple(policy.quasi_identifiers)
    leaves = np.empty((len(names), source.rows), dtype=np.int32)
    trees: list[Tree | Scale] = []
    for position, (name, coded) in enumerate(zip(names, code_columns(source, policy, names), strict=True)):
        tree, column = encode_column(coded, policy, name, source.name)
        trees.append(tree)
        leaves[position] = column
    persons = find_persons(source, policy)
    counted = _counted(policy, persons is not None)
    sensitive = {
        name: encode_sensitive(coded, policy, name, persons, source.name)
        for name, coded in zip(counted, code_columns(source, policy, counted), strict=True)
    }
    ties = partial(ranks_of_others, source, policy, counted, persons)
    if persons is None:
        others = _others(source, policy, None)
        return Table(policy, names, tuple(trees), leaves, leaves, leaves, sensitive, None, others, ties)
    check_constant(source, policy, persons)
    low, high = persons.lowest(leaves), persons.highest(leaves)
    if policy.individual.conflicts == "error":
        check_conflicts(persons, names, low, high, source.name)
    first = np.ascontiguousarray(leaves[:, persons.first])
    if np.array_equal(low, high):
        low = high = first
    else:
        _within_boundaries(policy, names, trees, leaves, persons, low, high, source.name)
    others = _others(source, policy, persons)
    return Table(policy, names, tuple(trees), first, low, high, sensitive, persons, others, ties)


def _others(source: Source, policy: Policy, persons: Persons | None) -> dict[str, Ints]:
    """Return the columns that dependencies name and that are released as they are, as codes in the order of texts.

    A person's sensitive attribute is the set of its items, which is what a release shows.
    """
    named = {name for rule in policy.dependencies for name in rule.left + rule.right}
    names = [name for name in policy.released if name in named and name not in policy.quasi_identifiers]
    found = {}
    for name, coded in zip(names, code_columns(source, policy, names), strict=True):
        place = {text: i for i, text in enumerate(sorted(coded.texts))}
        rank = np.array([*(place[text] for text in coded.texts), len(place)], dtype=np.int32)  # missing comes last
        codes = rank[coded.codes]
        if persons is not None and policy.attributes[name].role == "sensitive":
            codes = persons.set_codes(codes, len(place))
        elif persons is not None:
            codes = codes[persons.first]
        found[name] = codes
    return found


def _within_boundaries(
    policy: Policy,
    names: tuple[str, ...],
    trees: list[Tree | Scale],
    leaves: Ints,
    persons: Persons,
    low: Ints,
    high: Ints,
    where: str,
) -> None:
    """Raise DataError where what covers all of a person's values lies beyond the boundary of one of them."""
    of_record = persons.of_record
    for position, (name, tree) in enumerate(zip(names, trees, strict=True)):
        boundary = policy.attributes[name].boundary
        if isinstance(tree, Tree):
            limit = tree.limit_of[leaves[position]]
            outside = (tree.first[limit] > low[position][of_record]) | (tree.last[limit] < high[position][of_record])
            beyond = len(np.unique(of_record[outside]))
        else:
            beyond = (
                0 if not isinstance(boundary, MaxWidth) else _too_wide(tree, boundary, low[position], high[position])
            )
        if beyond:
            raise DataError(
                f"{where}: the records of {count(beyond, 'individual')} disagree on {name} so far that only a "
                "value beyond its boundary covers them; correct them, or move the boundary up."
            )


def _too_wide(scale: Scale, boundary: MaxWidth, low: Ints, high: Ints) -> int:
    """Return how many spans of a scale show more than a largest width; numbers beside missing show anything."""
    spans, number = np.unique(np.array([low, high])[:, low != high], axis=1, return_counts=True)
    found = 0
    for first, last, times in zip(*spans.tolist(), number.tolist(), strict=True):
        if last == scale.missing:
            found += times
            continue
        bottom, top = round_outward(scale.numbers[first], scale.numbers[last], scale.spec)
        found += times * (EXACT.subtract(top, bottom) > boundary.max_width)
    return found


def _counted(policy: Policy, persons: bool) -> list[str]:
    """Return the sensitive attributes that are encoded: those models count, those with a hierarchy, all of persons."""
    used = {name for model in policy.privacy for name in sensitive_of(model)}
    return [
        name
        for name in policy.with_role("sensitive")
        if persons or name in used or policy.attributes[name].hierarchy is not None
    ]


def _no_stars(source: Source, policy: Policy, name: str) -> None:
    if source.frame[name].dtype in (pl.String, pl.Categorical, pl.Enum) and STAR not in policy.data.missing:
        stars = int((source.texts(name) == STAR).sum())
        if stars:
            raise stars_in(source, name, stars)


def encode_column(column: Coded, policy: Policy, name: str, where: str) -> tuple[Tree | Scale, Ints]:
    """Return an attribute's tree and every record's leaf in it."""
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    absent = bool((column.codes < 0).any())
    if isinstance(spec, Ranges):
        return _encode_numbers(column, spec, policy, name, where, absent)
    fixed = policy.fixed_lines(name)
    if fixed is None:
        fixed, unknown = build_lines(spec, column.texts, f"{where}: attributes.{name}")
        if unknown:
            raise unknown_values(column, unknown, name, where)
    missing = policy.data.missing[0] if absent else None
    tree = build_tree(fixed.lines, fixed.root, attribute, missing, policy.data.missing)
    leaf_of = {tree.labels[node]: leaf for leaf, node in enumerate(tree.leaf_nodes.tolist()) if leaf != tree.missing}
    unknown = [text for text in column.texts if text not in leaf_of]
    if unknown:
        raise unknown_values(column, unknown, name, where)
    leaves = [leaf_of[text] for text in column.texts]
    leaves.append(-1 if tree.missing is None else tree.missing)
    return tree, np.array(leaves, dtype=np.int32)[column.codes]


def _encode_numbers(
    column: Coded, spec: Ranges, policy: Policy, name: str, where: str, absent: bool
) -> tuple[Scale, Ints]:
    low, high = spec.within
    numbers = [parse_number(text) for text in column.texts]
    unknown = [t for t, n in zip(column.texts, numbers, strict=True) if n is None or not low <= n <= high]
    if unknown:
        raise unknown_values(column, unknown, name, where)
    ordered = tuple(sorted({number for number in numbers if number is not None}))
    rank = {number: position for position, number in enumerate(ordered)}
    missing = len(ordered) if absent else None
    leaves = [rank[number] for number in numbers if number is not None]
    leaves.append(-1 if missing is None else missing)
    return Scale(ordered, spec, missing, policy.data.missing[0]), np.array(leaves, dtype=np.int32)[column.codes]
