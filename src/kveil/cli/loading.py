"""Loading compiled loops while the table is being read. Only the command line does it, whose process is its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kveil.policy.model import Policy


def load_in_background(policy: Policy) -> None:
    """Import Numba, and what the policy's algorithm needs, in a thread: reading a table leaves the interpreter free.

    The thread is no daemon: a process that ends early waits for it, since none may end under a running import.
    """
    threading.Thread(target=_load, args=(policy,)).start()


def _load(policy: Policy) -> None:
    import numpy as np

    from kveil.choose import candidates
    from kveil.errors import KveilError
    from kveil.kernels.grouping.groups import group_rows

    group_rows(np.zeros((1, 1), dtype=np.int32))
    try:
        algorithms = candidates(policy)
    except KveilError:  # the run itself says so
        return
    if len(algorithms) == 1:
        algorithms[0].load()
