"""Spans of leaves that groups of rows, or of nodes, cover."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints


def group_spans(group: Ints, groups: int, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the lowest and the highest leaf of every group; ``low`` and ``high`` are those of its members.

    A group without members ends at -1, before it begins.
    """
    lowest = np.full(groups, np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full(groups, -1, dtype=np.int32)
    np.minimum.at(lowest, group, low)
    np.maximum.at(highest, group, high)
    return lowest, highest
