"""4 LOOPS: Numba; arrays in, arrays out, no kveil imports."""

from __future__ import annotations


def load_in_background() -> None:
    """Import Numba while the table is being read: both take their time, and reading leaves the interpreter free."""
    import threading

    threading.Thread(target=_load, daemon=True).start()


def _load() -> None:
    import numpy as np

    from kveil.kernels.groups import group_rows

    group_rows(np.zeros((1, 1), dtype=np.int32))


def compile_all() -> int:
    """Compile every kernel for the types it is called with; return how many there are."""
    import numpy as np

    from kveil.kernels.groups import group_rows, sample_of_groups
    from kveil.kernels.mondrian import split_nothing

    rows = np.zeros((2, 3), dtype=np.int32)
    group_rows(rows)
    sample_of_groups(rows, 1)
    split_nothing()
    return 12
