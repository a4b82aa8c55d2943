"""Models that need a group's histogram of sensitive values.

A missing sensitive value counts in a group's size, never as a value of its own for l and p; for (α,k) and
t-closeness it is a value like any other. All of them survive the merging of groups that satisfy them (for
t-closeness while the reference stands still), which is what `monotone` says. Counts are compared as whole numbers of
64 bits; `shares` sees to it that a policy's fractions fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from kveil.arrays import Bools
from kveil.kernels.models.layout import TOLERANCE
from kveil.models import shares
from kveil.models.groups import Groups, Histogram
from kveil.policy.privacy import AlphaK, LDiversity, PrivacyModel, PSensitive, TCloseness

CELLS_AT_ONCE = 4_000_000  # of a table of groups and values, eight bytes each


class SensitiveValues(Protocol):
    """What a distance needs to know of a sensitive attribute's values, given which of them are in use at all."""

    def order(self, present: Bools) -> NDArray[np.int32]:
        """Return the codes that are present, in the order of `ordered` distances."""
        ...

    def ways(self, present: Bools) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the nodes of every code from its leaf up, -1 past the root, and the weight of each node's edge up."""
        ...


@dataclass(frozen=True)
class DistinctValues:
    """Distinct l-diversity (Machanavajjhala et al. 2006) and p-sensitivity (Truta and Vinay 2006)."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = True
    local: ClassVar[bool] = True
    sensitive: str
    least: int

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: together they have that many values."""
        return -(-self.least // most_values)

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no member or at least that many different values."""
        histogram = groups.histogram(self.sensitive)
        values = np.bincount(histogram.group[histogram.is_known], minlength=groups.number)
        return np.asarray((groups.sizes == 0) | (values >= self.least))


@dataclass(frozen=True)
class EntropyL:
    """Entropy l-diversity: the entropy of a group's known values is at least log l."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = False
    local: ClassVar[bool] = True
    sensitive: str
    l: float  # noqa: E741

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: entropy log l takes at least l values."""
        return -(-ceil(self.l - TOLERANCE) // most_values)

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no member or enough entropy: log n − (Σ c log c) / n."""
        histogram = groups.histogram(self.sensitive)
        known = histogram.is_known
        group, count = histogram.group[known], histogram.count[known]
        total = np.bincount(group, weights=count, minlength=groups.number)
        inner = np.bincount(group, weights=count * np.log(count), minlength=groups.number)
        safe = np.maximum(total, 1)
        entropy = np.log(safe) - inner / safe
        return np.asarray((groups.sizes == 0) | (entropy >= np.log(self.l) - TOLERANCE))


@dataclass(frozen=True)
class RecursiveCL:
    """Recursive (c,l)-diversity: r₁ < c (r_l + … + r_m), counts sorted downward."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = False
    local: ClassVar[bool] = True
    sensitive: str
    l: int  # noqa: E741
    c: Fraction

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: the tail from the l-th value on is not empty."""
        return -(-self.l // most_values)

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no member or a first value outweighed by the tail."""
        histogram = groups.histogram(self.sensitive)
        known = histogram.is_known
        group, count = histogram.group[known], histogram.count[known]
        order = np.lexsort((-count, group))
        group, count = group[order], count[order]
        start = np.searchsorted(group, np.arange(groups.number))
        rank = np.arange(len(group)) - start[group]
        first = np.bincount(group, weights=np.where(rank == 0, count, 0), minlength=groups.number)
        tail = np.bincount(group, weights=np.where(rank >= self.l - 1, count, 0), minlength=groups.number)
        holds = first.astype(np.int64) * self.c.denominator < tail.astype(np.int64) * self.c.numerator
        return np.asarray((groups.sizes == 0) | holds)


def _largest(histogram: Histogram, number: int, *, known_only: bool) -> NDArray[np.int64]:
    keep = histogram.is_known if known_only else slice(None)
    most = np.zeros(number, dtype=np.int64)
    np.maximum.at(most, histogram.group[keep], histogram.count[keep])
    return most


@dataclass(frozen=True)
class FrequencyL:
    """Frequency l-diversity: no value above n / l."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = False
    local: ClassVar[bool] = True
    sensitive: str
    l: Fraction  # noqa: E741

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: l, unless one without a value is in no value's share."""
        return 1 if some_missing else ceil(self.l)

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no value that is too frequent."""
        most = _largest(groups.histogram(self.sensitive), groups.number, known_only=True)
        return np.asarray(most * self.l.numerator <= groups.sizes * self.l.denominator)


@dataclass(frozen=True)
class AlphaShare:
    """(α,k)-anonymity (Wong et al. 2006): at least k members and no value above α n."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = False
    local: ClassVar[bool] = True
    sensitive: str
    alpha: Fraction
    k: int

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: in a smaller group one member is a share above α."""
        return max(self.k, ceil(1 / self.alpha))

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no member, or k and no value with too large a share."""
        most = _largest(groups.histogram(self.sensitive), groups.number, known_only=False)
        share = most * self.alpha.denominator <= groups.sizes * self.alpha.numerator
        return np.asarray((groups.sizes == 0) | (share & (groups.sizes >= self.k)))


@dataclass(frozen=True)
class Close:
    """t-closeness (Li, Li, Venkatasubramanian 2007): a group's distribution is within t of the whole's."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = False
    local: ClassVar[bool] = False
    sensitive: str
    t: float
    distance: str
    values: SensitiveValues
    reference: NDArray[np.float64] | None = None  # shares of the whole, where it is not that of the groups at hand

    def least_members(self, *, most_values: int = 1, some_missing: bool = False) -> int:
        """Return how few members a good group can have: one, since a single member may be all there is."""
        return 1

    def good(self, groups: Groups) -> Bools:
        """Tell which groups have no member or lie within t of all that are in."""
        return np.asarray((groups.sizes == 0) | (self.distances(groups) <= self.t + TOLERANCE))

    def against(self, groups: Groups) -> Close:
        """Return the model with the distribution of all members of some groups as its reference, for good."""
        return replace(self, reference=self._shares(groups.histogram(self.sensitive)))

    @staticmethod
    def _shares(histogram: Histogram) -> NDArray[np.float64]:
        tally = np.bincount(histogram.code, weights=histogram.count, minlength=histogram.known + 1)
        return np.asarray(tally / max(tally.sum(), 1))

    def distances(self, groups: Groups) -> NDArray[np.float64]:
        """Return each group's distance to the distribution of all groups together."""
        histogram = groups.histogram(self.sensitive)
        whole = self._shares(histogram) if self.reference is None else self.reference
        total = np.maximum(np.bincount(histogram.group, weights=histogram.count, minlength=groups.number), 1)
        share = histogram.count / total[histogram.group]
        return self.distances_to(histogram.group, histogram.code, share, whole, groups.number)

    def distances_to(
        self,
        group: NDArray[np.int32],
        code: NDArray[np.int32],
        share: NDArray[np.float64],
        whole: NDArray[np.float64],
        number: int,
    ) -> NDArray[np.float64]:
        """Return distances of sparse distributions (entries sorted by group, then code) to a whole."""
        if self.distance == "equal":
            # Where a group has nothing, |p − q| is q: start from all of them and correct the others.
            gain = np.abs(share - whole[code]) - whole[code]
            return np.asarray(0.5 * (whole.sum() + np.bincount(group, weights=gain, minlength=number)))
        present = whole > 0
        if self.distance == "ordered":
            return _ordered(self.values.order(present), group, code, share, whole, number)
        return _hierarchical(self.values.ways(present), group, code, share, whole, number)


def _ordered(
    present: NDArray[np.int32],
    group: NDArray[np.int32],
    code: NDArray[np.int32],
    share: NDArray[np.float64],
    whole: NDArray[np.float64],
    number: int,
) -> NDArray[np.float64]:
    """Return Σ |P − Q| of the cumulated shares over the values there are, over their number less one."""
    rank = np.full(len(whole), -1)
    rank[present] = np.arange(len(present))
    cumulated = np.cumsum(whole[present])
    found = np.zeros(number)
    rows = max(1, CELLS_AT_ONCE // max(len(present), 1))
    for begin in range(0, number, rows):
        low, high = np.searchsorted(group, (begin, min(begin + rows, number)))
        table = np.zeros((min(begin + rows, number) - begin, len(present)))
        table[group[low:high] - begin, rank[code[low:high]]] = share[low:high]
        found[begin : begin + rows] = np.abs(np.cumsum(table, axis=1) - cumulated).sum(axis=1)
    return found / max(len(present) - 1, 1)


def _hierarchical(
    ways: tuple[NDArray[np.int32], NDArray[np.float64]],
    group: NDArray[np.int32],
    code: NDArray[np.int32],
    share: NDArray[np.float64],
    whole: NDArray[np.float64],
    number: int,
) -> NDArray[np.float64]:
    """Return the earth mover's distance over the tree: Σ over edges of their weight × what must cross them.

    Height of the LCA over height of the tree is a tree metric whose edge above a node weighs
    (height above − height of the node) / (2 · height of the tree). ``ways`` are the ancestors per value, and the
    weights of the edges above nodes.
    """
    ancestors, weight = ways
    nodes = len(weight)
    reference = np.zeros(nodes)
    parts_group, parts_node, parts_share = [], [], []
    for node in ancestors.T:
        has = node >= 0
        reference += np.bincount(node[has], weights=whole[: len(node)][has], minlength=nodes)
        entry = node[code]
        keep = entry >= 0
        parts_group.append(group[keep])
        parts_node.append(entry[keep])
        parts_share.append(share[keep])
    all_group, all_node = np.concatenate(parts_group).astype(np.int64), np.concatenate(parts_node)
    key, inverse = np.unique(all_group * nodes + all_node, return_inverse=True)
    mass = np.bincount(inverse.reshape(-1), weights=np.concatenate(parts_share), minlength=len(key))
    of_group, of_node = np.divmod(key, nodes)
    gain = weight[of_node] * (np.abs(mass - reference[of_node]) - reference[of_node])
    return np.asarray((weight @ reference) + np.bincount(of_group, weights=gain, minlength=number))


def as_fraction(number: object) -> Fraction:
    """Return a policy's decimal as a fraction."""
    return Fraction(str(number))


def distribution_model(model: PrivacyModel, values: SensitiveValues) -> DistributionModel:
    """Return the search-time check of a policy's model over sensitive values."""
    if isinstance(model, LDiversity):
        if model.variant == "distinct":
            return DistinctValues(model.sensitive, int(model.l))
        if model.variant == "entropy":
            return EntropyL(model.sensitive, float(model.l))
        if model.variant == "recursive":
            return RecursiveCL(model.sensitive, int(model.l), shares.below(as_fraction(model.c)))
        return FrequencyL(model.sensitive, shares.at_least(as_fraction(model.l)))
    if isinstance(model, PSensitive):
        return DistinctValues(model.sensitive, model.p)
    if isinstance(model, AlphaK):
        return AlphaShare(model.sensitive, shares.at_most(as_fraction(model.alpha)), model.k)
    if isinstance(model, TCloseness):
        return Close(model.sensitive, float(model.t), model.distance, values)
    raise TypeError(f"no search-time check for {model.model}")


DistributionModel = DistinctValues | EntropyL | RecursiveCL | FrequencyL | AlphaShare | Close
