"""How many threads the loops may use."""

from __future__ import annotations

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


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
