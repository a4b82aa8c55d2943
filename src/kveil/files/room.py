"""How much memory there is for what a file unpacks to: by the machine, the container and the limits of the process."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

from kveil.errors import FileError

CONTAINER = Path("/sys/fs/cgroup")  # where Linux tells a container its limits
HELD_TIMES = 4  # what stands in memory of a text while it is read: its bytes, a copy, and its cells, which take most
GB = 1e9


def free_memory() -> int | None:
    """Return how many bytes of memory a run may take without pushing others out; None where nobody says."""
    every = (_left_to_the_machine(), _left_to_the_container(), _left_to_the_process())
    return min((memory for memory in every if memory is not None), default=None)


def _left_to_the_machine() -> int | None:
    told = re.search(r"MemAvailable:\s+(\d+) kB", _told(Path("/proc/meminfo")))
    if told is not None:
        return int(told[1]) * 1024
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _left_to_the_container() -> int | None:
    """Return what the limit of a container leaves, by either kind of Linux's control groups."""
    names = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
    for pair in names:
        most, now = (_told(CONTAINER / name).strip() for name in pair)
        if most.isdigit() and now.isdigit():
            return max(int(most) - int(now), 0)
    return None


def _left_to_the_process() -> int | None:
    """Return what the limit of the address space leaves, as `ulimit -v` and some schedulers set it."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    taken = re.search(r"VmSize:\s+(\d+) kB", _told(Path("/proc/self/status")))
    if most == resource.RLIM_INFINITY or taken is None:
        return None
    return max(most - int(taken[1]) * 1024, 0)


def _told(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


class UnpackedBytes:
    """UnpackedBytes for what a file unpacks to: a share of the memory that is free as it is opened.

    What is counted is what came out, never what a header says of it.
    """

    def __init__(self, name: str, *, times: int = HELD_TIMES) -> None:
        free = free_memory()
        self._name, self._most, self._taken = name, None if free is None else free // times, 0

    def take(self, size: int) -> None:
        """Count bytes that have come out; raise FileError where they are too many."""
        self._taken += size
        if self._most is not None and self._taken > self._most:
            raise FileError(
                f"{self._name} unpacks to more than {max(self._most / GB, 0.001):,.3g} GB, more than the free memory "
                "can hold while it is read; unpack it and convert it to Parquet, which engine stream reads piece by "
                "piece, or use a machine with more memory."
            )

    @property
    def most(self) -> int | None:
        """How many bytes may still come out; None where nobody says how much memory there is."""
        return None if self._most is None else self._most - self._taken


def check_declared(name: str, rows: int, width: float, *, instead: str) -> None:
    """Raise FileError where rows of so many bytes, as a file declares them, cannot be held in the free memory.

    Few bytes may stand for many rows: a value that repeats is written once. ``instead`` is what else to do.
    """
    free = free_memory()
    if free is not None and rows * width > free:
        raise FileError(
            f"{name} has {rows:,} rows, which take {rows * width / GB:,.3g} GB of memory or more, and "
            f"{free / GB:,.3g} GB are free; {instead}."
        )
