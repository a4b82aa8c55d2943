"""How many threads the loops may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

CGROUP = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
MANY_ROWS = 50_000  # for a pass over rows: below, starting one takes longer than what it does

Item = TypeVar("Item")
Made = TypeVar("Made")


def threads() -> int:
    """Return how many blocks of work are done at a time: as many as there are cores that this process may use.

    NUMBA_NUM_THREADS decides where it is set; else the cores that the process may run on, and no more than its
    container's share of them. What a search finds does not depend on it.
    """
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdigit():
        return max(int(given), 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min([cores, *_shares()]), 1)


def each_in_threads(make: Callable[[Item], Made], items: Sequence[Item], rows: int) -> list[Made]:
    """Return what is made of each item, in their order: in threads where an item is a pass over many rows."""
    at_once = min(threads(), len(items))
    if at_once < 2 or rows < MANY_ROWS:
        return [make(item) for item in items]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(make, items))


def _shares() -> list[int]:
    """Return the limits that Linux sets for this process's control group and those above it, in whole cores."""
    try:
        own = OWN_CGROUP.read_text().rpartition("0::/")[2].strip()
    except OSError:
        own = ""
    found = []
    for folder in {CGROUP, *((CGROUP / own, *(CGROUP / own).parents) if own else ())}:
        try:
            quota, period = (folder / "cpu.max").read_text().split()
            found.append(-(-int(quota) // int(period)))
        except (OSError, ValueError):  # no such file, or `max`
            continue
    return found
