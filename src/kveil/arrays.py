"""The array types that rooms share, by what their elements are."""

from __future__ import annotations

import numpy as np

# Polars asks for it whenever it is given an array. NumPy would load it at that moment, and where two threads ask at
# once, one of them may run into an endless recursion.
import numpy.ma
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]  # codes: leaves, nodes, groups
Longs = NDArray[np.int64]  # counts, weights, rows, costs
Words = NDArray[np.uint64]  # bits: hashes, packed sets
