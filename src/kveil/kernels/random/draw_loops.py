"""The compiled generator of random numbers; importing this module imports Numba.

It is splitmix64: a counter that goes on by a constant, mixed by two more.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Words
from kveil.kernels.jit import inner

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX, SECOND_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inner
def draw(random: Words, below: int) -> int:
    """Return a number from 0 to below − 1, and move the generator's state on."""
    random[0] += STEP
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * FIRST_MIX
    z = (z ^ (z >> np.uint64(27))) * SECOND_MIX
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(33)) % np.uint64(below))
