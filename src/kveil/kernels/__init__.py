"""4 LOOPS: Numba; arrays in, arrays out, no kveil imports."""

from __future__ import annotations


def find_cache() -> None:
    """Give Numba a folder of this run's own where neither the package's nor the user's can be written to.

    Without any it refuses to compile; compiled code of a folder that others can write to must not be loaded.
    """
    import atexit
    import os
    import shutil
    import tempfile
    from pathlib import Path

    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    places = [Path(__file__).parent, home if home.exists() else home.parent]
    if "NUMBA_CACHE_DIR" not in os.environ and not any(os.access(place, os.W_OK) for place in places):
        folder = tempfile.mkdtemp(prefix="kveil-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = folder


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
    from kveil.kernels.partition import refine_nothing

    rows = np.zeros((2, 3), dtype=np.int32)
    group_rows(rows)
    sample_of_groups(rows, 1)
    split_nothing()
    refine_nothing()
    return 27


find_cache()
