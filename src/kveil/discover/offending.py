"""Test dependencies on a table as it stands, and show where one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.discover.coded_columns import Columns
from kveil.discover.find import independent
from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.frames import from_frame
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.policy.dependencies import Dependency
from kveil.words import did_you_mean

SHOWN = 5  # offending groups that are shown
VALUES = 5  # right sides of a group that are shown


class GroupSides(TypedDict):
    """A group that breaks a rule, as plain data."""

    left: dict[str, str | None]
    right: list[dict[str, str | None]]
    right_sides: int
    records: int


@dataclass(frozen=True)
class OffendingGroup:
    """A group of equal left sides that breaks a rule: its left side, some of its right sides, and its size."""

    left: dict[str, str | None]
    right: list[dict[str, str | None]]
    rights: int
    records: int

    def as_json(self) -> GroupSides:
        """Return the group as plain data."""
        return {"left": self.left, "right": self.right, "right_sides": self.rights, "records": self.records}


def offending(columns: Columns, rule: Dependency, over: Sequence[str]) -> tuple[int, list[OffendingGroup]]:
    """Return how many left sides break a rule, and the largest of their groups."""
    texts = columns.texts
    number = {name: i for i, name in enumerate(columns.names)}
    left = [number[name] for name in rule.left]
    right = [number[name] for name in rule.right if name not in rule.left]
    rest = [number[name] for name in over if name not in rule.left + rule.right]
    if not right or not columns.rows or (rule.multivalued and not rest):
        return 0, []
    group, first = group_rows(columns.codes[left])
    if rule.multivalued:
        bad = np.zeros(len(first), dtype=bool)
        bad[group[~independent(columns.codes, left, right, rest)]] = True
    else:
        at = group_rows(np.array([group, *columns.codes[right]]))[1]
        bad = np.bincount(group[at], minlength=len(first)) > 1
    sizes = np.bincount(group, minlength=len(first))
    names = [columns.names[a] for a in right]
    groups = []
    for g in _largest(texts.select(rule.left), first, sizes, np.flatnonzero(bad)):
        seen = texts.select(names)[np.flatnonzero(group == g)].unique().sort(names)
        side = texts.select(rule.left).row(int(first[g]), named=True)
        groups.append(OffendingGroup(side, seen.head(VALUES).to_dicts(), seen.height, int(sizes[g])))
    return int(bad.sum()), groups


def _largest(lefts: pl.DataFrame, first: Ints, sizes: Longs, chosen: Longs) -> list[int]:
    """Return the few largest of some groups, equal ones in the order of their left sides."""
    if not len(chosen):
        return []
    keys = lefts.fill_null("")[first[chosen]].with_columns(pl.Series("\0size", -sizes[chosen]))
    order = keys.select(pl.arg_sort_by("\0size", *lefts.columns)).to_series().to_list()
    return [int(g) for g in chosen[order][:SHOWN]]


@dataclass(frozen=True)
class MultisetDependency:
    """Whether X →k Y holds; ``broken`` counts pairs of an X and a Y that occur too seldom, ``groups`` lists some."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    k: int
    broken: int
    groups: list[dict[str, str | int | None]]  # the texts of a pair by their columns, and its records

    @property
    def holds(self) -> bool:
        """Whether no pair occurs too seldom."""
        return self.broken == 0

    def __bool__(self) -> bool:
        return self.holds


def multiset_dependency(frame: Any, left: Sequence[str], right: Sequence[str], k: int) -> MultisetDependency:
    """Test the k-multiset dependency X →k Y (Huang et al. 2014): every Y seen with an X is seen k times with it.

    ``frame`` is a pandas, Polars or PyArrow table; missing is a value of its own. The answer is true where it holds,
    and says where it does not.
    """
    source = from_frame(frame)
    names = [*left, *(name for name in right if name not in left)]
    check_names(source, names)
    if isinstance(left, str) or isinstance(right, str) or k < 1 or not names:
        raise PolicyError('sides are lists of attributes and k is at least 1, as in (["zip"], ["city"], 5).')
    texts = pl.DataFrame({name: source.texts(name) for name in names})
    counted = texts.group_by(names).len("\0records").filter(pl.col("\0records") < k).sort("\0records", *names)
    places = counted.rename({"\0records": "records"}) if "records" not in names else counted
    return MultisetDependency(tuple(left), tuple(right), k, counted.height, places.head(100).to_dicts())


def check_names(source: Source, names: Sequence[str]) -> None:
    """Raise DataError where a table lacks one of the named columns."""
    for name in names:
        if name not in source.frame.columns:
            hint = did_you_mean(name, source.frame.columns)
            raise DataError(f"{source.name} has no column {name!r}{hint or '; check the name.'}")
