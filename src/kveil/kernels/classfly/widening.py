"""Price groups that would show more together with others. Numba is imported when the first is priced, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Floats, Ints, Longs


def price_groups(
    nodes: Ints, sizes: Longs, covering: list[Ints], more: list[Floats], own: list[Floats], hides: bool
) -> Floats:
    """Return what it costs that groups show the node that covers theirs; ``nodes`` is attribute × group.

    Per attribute and node: ``covering`` the node shown then, ``more`` its cost for every member, ``own`` once. Where
    it ``hides``, to show nothing but roots costs infinitely much. O(groups · attributes).
    """
    from kveil.kernels.classfly.widening_loops import price

    offset = np.concatenate([[0], np.cumsum([len(c) for c in covering])]).astype(np.int64)
    laid = np.concatenate(covering).astype(np.int32), np.concatenate(more), np.concatenate(own)
    prices = np.zeros(len(sizes))
    price(np.ascontiguousarray(nodes), sizes, *laid, offset, hides, prices)
    return prices


def price_nothing() -> None:
    """Price one group, which compiles the loop for the types it is called with."""
    none, ones = np.zeros((1, 1), dtype=np.int32), np.ones(1)
    price_groups(none, np.ones(1, dtype=np.int64), [none[0]], [ones], [ones], False)
