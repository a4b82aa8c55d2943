"""How many threads the loops may use."""

from __future__ import annotations

import os


def threads() -> int:
    """Return how many blocks of work are done at a time."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    return max(int(given) if given.isdigit() else os.cpu_count() or 1, 1)
