"""Turn the texts of a table into leaf numbers, under the hierarchies of its policy."""

from __future__ import annotations

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
        weights = np.bincount(member, minlength=len(first))
        return Distinct(np.ascontiguousarray(self.leaves[:, first]), member, weights)


@dataclass(frozen=True)
class Distinct:
    """Distinct tuples with their weights; ``member`` gives every record's tuple."""

    tuples: Ints
    member: Ints
    weights: NDArray[np.int64]


def read_column(source: Source, policy: Policy, name: str) -> pl.Series:
    """Return a column as texts with null for missing; a literal `*` is an error."""
    try:
        texts = source.texts(name)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    texts = texts.to_frame(name).select(
        pl.when(pl.col(name).is_in(list(policy.data.missing))).then(None).otherwise(pl.col(name)).alias(name)
    )[name]
    stars = int((texts == STAR).sum())
    if stars:
        raise DataError(
            f"{source.name}: {name} is `*` in {count(stars, 'record')}, which is what a release shows for anything; "
            "if it means missing, list it under data.missing, after another text."
        )
    return texts


def encode(source: Source, policy: Policy) -> Table:
    """Return a source as integers; every value must be known to its hierarchy."""
    check_columns(source.frame.columns, policy.attributes, source.name)
    for name, attribute in policy.attributes.items():
        if attribute.role in {"sensitive", "insensitive"}:
            _no_stars(source, policy, name)
    names = tuple(policy.quasi_identifiers)
    leaves = np.empty((len(names), source.rows), dtype=np.int32)
    trees: list[Tree | Scale] = []
    for position, name in enumerate(names):
        tree, column = encode_column(read_column(source, policy, name), policy, name, source.name)
        trees.append(tree)
        leaves[position] = column
    return Table(policy, names, tuple(trees), leaves)


def _no_stars(source: Source, policy: Policy, name: str) -> None:
    if source.frame[name].dtype in (pl.String, pl.Categorical, pl.Enum):
        read_column(source, policy, name)


def encode_column(texts: pl.Series, policy: Policy, name: str, where: str) -> tuple[Tree | Scale, Ints]:
    """Return an attribute's tree and every record's leaf in it."""
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    absent = texts.null_count()
    missing = policy.data.missing[0] if absent else None
    if isinstance(spec, Ranges):
        return _encode_numbers(texts, spec, policy, name, where)
    fixed = fixed_lines(policy, name)
    if fixed is None:
        values = texts.drop_nulls().unique().to_list()
        fixed, unknown = build_lines(spec, values, f"{where}: attributes.{name}")
        if unknown:
            raise _unknown(texts, unknown, name, where)
    tree = build_tree(fixed.lines, fixed.root, attribute, missing, policy.data.missing)
    known = [tree.labels[node] for node in tree.leaf_nodes]
    if tree.missing is not None:
        known.pop(tree.missing)
    codes = texts.cast(pl.Enum(known), strict=False)
    if codes.null_count() != absent:
        strangers = texts.filter(codes.is_null() & texts.is_not_null()).unique().to_list()
        raise _unknown(texts, strangers, name, where)
    physical = codes.to_physical()
    if absent:
        assert tree.missing is not None
        physical = physical.cast(pl.Int64).fill_null(tree.missing)
    return tree, physical.cast(pl.Int32).to_numpy()


def _unknown(texts: pl.Series, unknown: list[str], name: str, where: str) -> DataError:
    records = int(texts.is_in(unknown).sum())
    shown = [repr(value if len(value) <= 40 else value[:37] + "...") for value in sorted(unknown)[:3]]
    more = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
    return DataError(
        f"{where}: the hierarchy of {name} does not know {count(len(unknown), 'value')} "
        f"({listing(shown)}{more}) in {count(records, 'record')}; add them to the hierarchy, or list texts that "
        "mean missing under data.missing."
    )


def _encode_numbers(texts: pl.Series, spec: Ranges, policy: Policy, name: str, where: str) -> tuple[Scale, Ints]:
    low, high = spec.within
    numbers = {text: parse_number(text) for text in texts.drop_nulls().unique().to_list()}
    unknown = [text for text, number in numbers.items() if number is None or not low <= number <= high]
    if unknown:
        raise _unknown(texts, unknown, name, where)
    ordered = tuple(sorted({number for number in numbers.values() if number is not None}))
    rank = {number: position for position, number in enumerate(ordered)}
    missing = len(ordered) if texts.null_count() else None
    keys = list(numbers)
    codes = pl.Series([rank[number] for number in numbers.values() if number is not None], dtype=pl.Int32)
    physical = texts.cast(pl.Enum(keys)).to_physical().cast(pl.Int32)
    column = np.full(len(texts), -1 if missing is None else missing, dtype=np.int32)
    present = texts.is_not_null().to_numpy()
    column[present] = codes.to_numpy()[physical.drop_nulls().to_numpy()] if keys else 0
    return Scale(ordered, spec, missing, policy.data.missing[0]), column
