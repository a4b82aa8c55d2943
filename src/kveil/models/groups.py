"""What models are asked about: groups of tuples, their sizes and their histograms of sensitive values.

And the model that needs sizes alone, k-anonymity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.kernels.grouping.members import Members, members_by_group


@dataclass(frozen=True)
class Pairs:
    """How often each tuple has each value of one sensitive attribute.

    Codes below ``known`` are values; ``known`` itself is missing. A person with several values counts once for
    each.
    """

    tuples: Ints
    codes: Ints
    counts: Longs
    known: int

    def moved(self, to: Ints) -> Pairs:
        """Return the pairs after tuples were merged: ``to`` gives every tuple's new number."""
        key, first = group_rows(np.array([to[self.tuples], self.codes]))
        counts = add_up(key, self.counts, len(first))
        return Pairs(to[self.tuples[first]], self.codes[first], counts, self.known)

    @cached_property
    def _by_tuple(self) -> Members:
        """The pairs of each tuple."""
        return members_by_group(self.tuples)

    def of(self, tuples: Ints | Longs) -> tuple[Ints, Longs]:
        """Return the codes and counts of some tuples, one tuple after another. O(pairs of those tuples)."""
        order, starts = self._by_tuple
        begin, end = starts[np.minimum(tuples, len(starts) - 1)], starts[np.minimum(tuples + 1, len(starts) - 1)]
        number = end - begin
        at = np.repeat(begin - (np.cumsum(number) - number), number) + np.arange(int(number.sum()))
        return self.codes[order[at]], self.counts[order[at]]


@dataclass(frozen=True)
class Histogram:
    """The counts of sensitive values in groups, sorted by group, then by value."""

    group: Ints
    code: Ints
    count: Longs
    known: int

    @cached_property
    def is_known(self) -> Bools:
        """Which entries are of values, not of missing."""
        return self.code < self.known


@dataclass(frozen=True)
class Groups:
    """Tuples in groups; ``weights`` is 0 for a tuple that is out."""

    group: Ints
    number: int
    weights: Longs
    pairs: Mapping[str, Pairs]

    @cached_property
    def sizes(self) -> Longs:
        """The members of each group."""
        return add_up(self.group, self.weights, self.number)

    def histogram(self, sensitive: str) -> Histogram:
        """Count the values of a sensitive attribute in each group."""
        pairs = self.pairs[sensitive]
        alive = self.weights[pairs.tuples] > 0
        if alive.all():
            tuples, codes, counts = pairs.tuples, pairs.codes, pairs.counts
        else:
            tuples, codes, counts = pairs.tuples[alive], pairs.codes[alive], pairs.counts[alive]
        key = self.group[tuples].astype(np.int64) * (pairs.known + 1) + codes
        if self.number * (pairs.known + 1) <= max(4 * len(key), 1 << 20):
            total = np.bincount(key, weights=counts, minlength=0)
            keys = np.flatnonzero(total)
            total = total[keys]
        else:
            keys, inverse = np.unique(key, return_inverse=True)
            total = np.bincount(inverse.reshape(-1), weights=counts, minlength=len(keys))
        group, code = np.divmod(keys, pairs.known + 1)
        return Histogram(group.astype(np.int32), code.astype(np.int32), total.astype(np.int64), pairs.known)


def one_group(tuples: Ints | Longs, weights: Longs, pairs: Mapping[str, Pairs]) -> Groups:
    """Return some tuples as one group, without a look at the others."""
    found = {}
    for name, own in pairs.items():
        codes, counts = own.of(tuples)
        found[name] = Pairs(np.zeros(len(codes), dtype=np.int32), codes, counts, own.known)
    total = np.array([int(weights[tuples].sum())], dtype=np.int64)
    return Groups(np.zeros(1, dtype=np.int32), 1, total, found)


class GroupModel(Protocol):
    """A requirement on every group of equal released values.

    ``monotone``: merging two groups that satisfy it gives one that does, so generalizing further never breaks
    it. ``unique_subset``: the union of two satisfying sets of records satisfies it, so that the maximal
    anonymous subset is unique. ``local``: a group's own members decide, nobody else. ``sensitive`` is the
    attribute it counts, None where sizes are enough.
    """

    monotone: ClassVar[bool]
    unique_subset: ClassVar[bool]
    local: ClassVar[bool]

    @property
    def sensitive(self) -> str | None:
        """The sensitive attribute the model counts."""
        ...

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a group that satisfies the model can have.

        ``most_values`` is how many values one member has at most, ``some_missing`` whether one may have none.
        """
        ...

    def good(self, groups: Groups) -> Bools:
        """Tell for each group whether it satisfies the model; empty groups do."""
        ...


@dataclass(frozen=True)
class AtLeastK:
    """k-anonymity (Sweeney 2002): every group has at least k members."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = True
    local: ClassVar[bool] = True
    k: int
    sensitive: str | None = None

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return k."""
        return self.k

    def good(self, groups: Groups) -> Bools:
        """Tell for each group whether it has no member or at least k."""
        return np.asarray((groups.sizes == 0) | (groups.sizes >= self.k))
