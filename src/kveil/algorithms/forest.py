"""Trees laid end to end in flat arrays, as compiled loops read several of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.table.tree import Tree


@dataclass(frozen=True)
class ChildLists:
    """The children of every node: ``child`` are all nodes but the root, sorted by their parents.

    ``fan`` is how many children each node has, ``rank`` which of its parent's children it is, from 0 on.
    """

    child: Ints
    fan: Longs
    rank: Ints


def children_of(tree: Tree) -> ChildLists:
    """Return the children of every node of a tree, in leaf order. O(nodes)."""
    below, start = members_by_group(tree.parent[1:], len(tree.labels))
    child = below.astype(np.int32) + 1
    rank = np.zeros(len(tree.labels), dtype=np.int32)
    rank[child] = np.arange(len(child)) - start[tree.parent[child]]
    return ChildLists(child, np.diff(start), rank)


def starts_of(sizes: Sequence[int] | Longs) -> Longs:
    """Return where each of some runs starts when they are laid end to end, with the end as last entry."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def end_to_end(arrays: Sequence[Any], dtype: DTypeLike) -> Any:
    """Lay arrays end to end."""
    return np.concatenate(arrays).astype(dtype) if len(arrays) else np.zeros(0, dtype=dtype)
