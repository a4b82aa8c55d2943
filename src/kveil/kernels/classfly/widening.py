"""Price groups that would show more together with others. Numba is imported when the first is priced, not before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.threads import threads

GROUPS_WORTH_A_THREAD = 50_000  # to be priced: below, starting one takes longer than what it does


def price_groups(
    nodes: Ints, sizes: Longs, covering: list[Ints], more: list[Floats], own: list[Floats], hides: bool
) -> Floats:
    """Return what it costs that groups show the node that covers theirs; ``nodes`` is attribute × group.

    Per attribute and node: ``covering`` the node shown then, ``more`` its cost for every member, ``own`` once. Where
    it ``hides``, to show nothing but roots costs infinitely much, and so do groups without members.
    O(groups · attributes).
    """
    from kveil.kernels.classfly.widening_loops import price

    offset = np.concatenate([[0], np.cumsum([len(c) for c in covering])]).astype(np.int64)
    laid = np.concatenate(covering).astype(np.int32), np.concatenate(more), np.concatenate(own)
    prices, nodes = np.empty(len(sizes)), np.ascontiguousarray(nodes)

    def price_block(begin: int, end: int) -> None:
        price(nodes, sizes, *laid, offset, hides, prices, begin, end)

    several = min(threads(), len(sizes) // GROUPS_WORTH_A_THREAD)
    if several < 2:
        price_block(0, len(sizes))
        return prices
    ends = [len(sizes) * i // several for i in range(several + 1)]
    with ThreadPoolExecutor(several) as pool:
        list(pool.map(price_block, ends, ends[1:]))
    return prices


def price_nothing() -> None:
    """Price one group, which compiles the loop for the types it is called with."""
    none, ones = np.zeros((1, 1), dtype=np.int32), np.ones(1)
    price_groups(none, np.ones(1, dtype=np.int64), [none[0]], [ones], [ones], False)
