"""The compiled loop behind `offers`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Floats, Ints, Longs


@njit(cache=True, nogil=True)
def price(nodes: Ints, sizes: Longs, covering: Ints, more: Floats, own: Floats, offset: Longs, hides: bool) -> Floats:
    """Return the price of every group; see `offers.price_groups`."""
    found = np.zeros(len(sizes))
    for g in range(len(sizes)):
        total = 0.0
        roots = True
        for a in range(nodes.shape[0]):
            at = offset[a] + nodes[a, g]
            total += more[at] * sizes[g] + own[at]
            roots = roots and covering[at] == 0
        found[g] = np.inf if hides and roots else total
    return found
