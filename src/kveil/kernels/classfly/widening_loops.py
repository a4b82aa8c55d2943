"""The compiled loop behind `widening`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.jit import door


@door
def price(
    nodes: Ints, sizes: Longs, covering: Ints, more: Floats, own: Floats, offset: Longs, hides: bool, prices: Floats,
    begin: int, end: int,
) -> None:  # fmt: skip
    """Find the price of the groups begin..end; see `widening.price_groups`."""
    for g in range(begin, end):
        prices[g] = np.inf
        if sizes[g] == 0:
            continue
        total = 0.0
        roots = True
        for a in range(nodes.shape[0]):
            at = offset[a] + nodes[a, g]
            total += more[at] * sizes[g] + own[at]
            roots = roots and covering[at] == 0
        if not (hides and roots):
            prices[g] = total
