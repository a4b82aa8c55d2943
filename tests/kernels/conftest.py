"""Kernels also run without being compiled (NUMBA_DISABLE_JIT=1): hashes then wrap around in NumPy, which warns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _words_wrap_around() -> Iterator[None]:
    with np.errstate(over="ignore"):
        yield
