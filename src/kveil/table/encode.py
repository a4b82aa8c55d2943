"""Turn the texts of a table into leaf numbers, under the hierarchies of its policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.errors import DataError, count, listing
from kveil.files import Source, check_columns
from kveil.kernels.groups import group_rows
from kveil.policy.constraints import Component, components
from kveil.policy.hierarchy import build_lines, fixed_lines
from kveil.policy.model import STAR, Policy, Ranges
from kveil.policy.numbers import parse_number
from kveil.table.tree import Ints, Scale, Tree, build_tree


@dataclass(frozen=True)
class Table:
    """A table as integers: for every quasi-identifier its tree, for every record its leaf in it.

    ``leaves`` has a row a quasi-identifier (policy order) and a column a record.
    """

    policy: Policy
    names: tuple[str, ...]
    trees: tuple[Tree | Scale, ...]
    leaves: Ints

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.leaves.shape[1])

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The independent constraint subsets of the policy."""
        return components(self.policy)

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """Return where quasi-identifiers stand in ``names``."""
        return [self.names.index(name) for name in names]

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct tuples of leaves and how many records have each."""
        member, first = group_rows(self.leaves)
        if len(first) == self.records:
            return Distinct(self.leaves, np.arange(self.records, dtype=np.int32), np.ones(self.records, dtype=np.int64))
        weights = np.bincount(member, minlength=len(first))
        return Distinct(np.ascontiguousarray(self.leaves[:, first]), member, weights)


@dataclass(frozen=True)
class Distinct:
    """Distinct tuples with their weights; ``member`` gives every record's tuple."""

    tuples: Ints
    member: Ints
    weights: NDArray[np.int64]


@dataclass(frozen=True)
class Coded:
    """A column as its distinct texts and every record's position among them; -1 is missing."""

    texts: list[str]
    codes: Ints

    def count(self, chosen: set[str]) -> int:
        """Return how many records have one of the chosen texts."""
        tally = np.bincount(self.codes + 1, minlength=len(self.texts) + 1)[1:]
        return int(sum(tally[i] for i, text in enumerate(self.texts) if text in chosen))


def code_columns(source: Source, policy: Policy, names: Sequence[str]) -> Iterator[Coded]:
    """Return columns as distinct texts and codes, missing apart; a literal `*` is an error.

    One pass over the records, all columns at once; everything else works on the distinct texts.
    """
    try:
        texts = pl.DataFrame([source.texts(name) for name in names])
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    columns = texts.select(pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in names)
    for name in names:
        coded = _code(columns[name], set(policy.data.missing))
        if STAR in coded.texts:
            raise _stars(source, name, coded.count({STAR}))
        yield coded


def _code(column: pl.Series, missing: set[str]) -> Coded:
    present = column.unique().drop_nulls()
    numbers = present.to_physical().cast(pl.Int64).to_numpy()
    position = np.full(int(numbers.max(initial=-1)) + 2, -1, dtype=np.int32)  # the last place is for null
    kept: list[str] = []
    for text, number in zip(present.cast(pl.String).to_list(), numbers.tolist(), strict=True):
        if text not in missing:
            position[number] = len(kept)
            kept.append(text)
    physical = column.to_physical()
    if physical.null_count():
        physical = physical.cast(pl.Int64).fill_null(-1)
    return Coded(kept, position[physical.to_numpy()])


def _stars(source: Source, name: str, records: int) -> DataError:
    return DataError(
        f"{source.name}: {name} is `*` in {count(records, 'record')}, which is what a release shows for anything; "
        "if it means missing, list it under data.missing, after another text."
    )


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
    return Table(policy, names, tuple(trees), leaves)


def _no_stars(source: Source, policy: Policy, name: str) -> None:
    if source.frame[name].dtype in (pl.String, pl.Categorical, pl.Enum) and STAR not in policy.data.missing:
        stars = int((source.texts(name) == STAR).sum())
        if stars:
            raise _stars(source, name, stars)


def encode_column(column: Coded, policy: Policy, name: str, where: str) -> tuple[Tree | Scale, Ints]:
    """Return an attribute's tree and every record's leaf in it."""
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    absent = bool((column.codes < 0).any())
    if isinstance(spec, Ranges):
        return _encode_numbers(column, spec, policy, name, where, absent)
    fixed = fixed_lines(policy, name)
    if fixed is None:
        fixed, unknown = build_lines(spec, column.texts, f"{where}: attributes.{name}")
        if unknown:
            raise _unknown(column, unknown, name, where)
    missing = policy.data.missing[0] if absent else None
    tree = build_tree(fixed.lines, fixed.root, attribute, missing, policy.data.missing)
    leaf_of = {tree.labels[node]: leaf for leaf, node in enumerate(tree.leaf_nodes.tolist()) if leaf != tree.missing}
    unknown = [text for text in column.texts if text not in leaf_of]
    if unknown:
        raise _unknown(column, unknown, name, where)
    leaves = [leaf_of[text] for text in column.texts]
    leaves.append(-1 if tree.missing is None else tree.missing)
    return tree, np.array(leaves, dtype=np.int32)[column.codes]


def _unknown(column: Coded, unknown: list[str], name: str, where: str) -> DataError:
    records = column.count(set(unknown))
    shown = [repr(value if len(value) <= 40 else value[:37] + "...") for value in sorted(unknown)[:3]]
    more = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
    return DataError(
        f"{where}: the hierarchy of {name} does not know {count(len(unknown), 'value')} "
        f"({listing(shown)}{more}) in {count(records, 'record')}; add them to the hierarchy, or list texts that "
        "mean missing under data.missing."
    )


def _encode_numbers(
    column: Coded, spec: Ranges, policy: Policy, name: str, where: str, absent: bool
) -> tuple[Scale, Ints]:
    low, high = spec.within
    numbers = [parse_number(text) for text in column.texts]
    unknown = [t for t, n in zip(column.texts, numbers, strict=True) if n is None or not low <= n <= high]
    if unknown:
        raise _unknown(column, unknown, name, where)
    ordered = tuple(sorted({number for number in numbers if number is not None}))
    rank = {number: position for position, number in enumerate(ordered)}
    missing = len(ordered) if absent else None
    leaves = [rank[number] for number in numbers if number is not None]
    leaves.append(-1 if missing is None else missing)
    return Scale(ordered, spec, missing, policy.data.missing[0]), np.array(leaves, dtype=np.int32)[column.codes]
