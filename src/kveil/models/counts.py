"""Models that need only how many members a group has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Weights = NDArray[np.int64]


class GroupModel(Protocol):
    """A requirement on every group of equal released values.

    ``monotone``: merging two groups that satisfy it gives one that does, so generalizing further never breaks
    it. ``unique_subset``: the union of two satisfying sets of records satisfies it, so that the maximal
    anonymous subset is unique.
    """

    monotone: ClassVar[bool]
    unique_subset: ClassVar[bool]

    def good(self, group: Ints, groups: int, weights: Weights) -> Bools:
        """Tell for each group whether it satisfies the model; empty groups do."""
        ...


@dataclass(frozen=True)
class AtLeastK:
    """k-anonymity (Sweeney 2002): every group has at least k members."""

    monotone: ClassVar[bool] = True
    unique_subset: ClassVar[bool] = True
    k: int

    def good(self, group: Ints, groups: int, weights: Weights) -> Bools:
        """Tell for each group whether it has no member or at least k."""
        members = np.bincount(group, weights=weights, minlength=groups)
        return np.asarray((members == 0) | (members >= self.k))
