"""4 LOOPS: Numba; arrays in, arrays out, no kveil imports."""

from __future__ import annotations

import sys
from typing import Any, cast


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

    # Numba looks for the BLAS of SciPy, which no loop here calls: hidden from it, that saves a quarter of a second.
    modules = cast(dict[str, Any], sys.modules)
    hide = "scipy" not in modules
    if hide:
        modules["scipy"] = None
    try:
        group_rows(np.zeros((1, 1), dtype=np.int32))
    finally:
        if hide:
            del modules["scipy"]


def compiled_before() -> bool:
    """Tell whether every module of loops has been compiled on this machine, as far as the package's cache tells."""
    from pathlib import Path

    here = Path(__file__).parent
    for source in here.glob("*_loops.py"):
        found = (here / "__pycache__").glob(f"{source.stem}.*.nbi")
        if not any(index.stat().st_mtime >= source.stat().st_mtime for index in found):
            return False
    return True


def compile_all() -> int:
    """Compile every kernel for the types it is called with; return how many there are."""
    import numpy as np

    from kveil.kernels.bound import bound_nothing
    from kveil.kernels.cells import choose_cells
    from kveil.kernels.clusters import cluster_nothing
    from kveil.kernels.combinations import combine_nothing
    from kveil.kernels.diverse import cluster_no_values
    from kveil.kernels.groups import add_up, group_rows, sample_of_groups
    from kveil.kernels.kmsd import repair_nothing
    from kveil.kernels.mondrian import split_nothing
    from kveil.kernels.neighbours import search_nothing
    from kveil.kernels.offers import price_groups
    from kveil.kernels.partition import refine_nothing

    rows = np.zeros((2, 3), dtype=np.int32)
    ones = np.ones(1)
    price_groups(rows[:1], np.ones(3, dtype=np.int64), [rows[0, :1]], [ones], [ones], False)
    group_rows(rows)
    sample_of_groups(rows, 1)
    add_up(rows[0], np.ones(3, dtype=np.int64), 1)
    split_nothing()
    cluster_nothing()
    cluster_no_values()
    choose_cells(np.zeros(1, dtype=np.int64), rows[0][:0], np.zeros(0, dtype=np.int64), rows[0], 1)
    repair_nothing()
    refine_nothing()
    search_nothing()
    bound_nothing()
    combine_nothing()
    return sum(_loops_in(module) for name, module in sys.modules.items() if name.startswith("kveil.kernels."))


def _loops_in(module: Any) -> int:
    """Return how many compiled functions a module defines."""
    own = (found for found in vars(module).values() if getattr(found, "__module__", None) == module.__name__)
    return sum(hasattr(found, "nopython_signatures") for found in own)


find_cache()
