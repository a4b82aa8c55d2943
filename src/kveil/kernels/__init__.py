"""4 LOOPS: Numba; arrays in, arrays out, no kveil imports."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
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
            modules.pop("scipy", None)


def compiled_before() -> bool:
    """Tell whether every module of loops has been compiled on this machine, as far as the package's cache tells."""
    from pathlib import Path

    here = Path(__file__).parent
    for source in here.glob("*_loops.py"):
        found = (here / "__pycache__").glob(f"{source.stem}.*.nbi")
        if not any(index.stat().st_mtime >= source.stat().st_mtime for index in found):
            return False
    return True


# What compiles each module of loops, those that take longest first, so that processes can share them out.
COMPILERS = (
    "neighbours:search_nothing",
    "overlaps:search_nothing",
    "clusters:cluster_nothing",
    "partition:refine_nothing",
    "mondrian:split_nothing",
    "diverse:cluster_no_values",
    "bound:bound_nothing",
    "kmsd:repair_nothing",
    "combinations:combine_nothing",
    "groups:group_nothing",
    "cells:choose_nothing",
    "offers:price_nothing",
)


def compile_all(processes: int = 1) -> int:
    """Compile every kernel for the types it is called with; return how many there are.

    Several processes share the work through the cache on disk, from which this one then loads.
    """
    import subprocess

    if processes > 1:
        script = "import sys; from kveil.kernels import compile_some; compile_some(sys.argv[1:])"
        turns = [COMPILERS[turn::processes] for turn in range(processes)]
        running = [subprocess.Popen([sys.executable, "-c", script, *turn]) for turn in turns]
        for process in running:
            process.wait()
    compile_some(COMPILERS)
    return sum(_loops_in(module) for name, module in sys.modules.items() if name.startswith("kveil.kernels."))


def compile_some(names: Iterable[str]) -> None:
    """Run compilers by their names."""
    for name in names:
        module, function = name.split(":")
        getattr(import_module(f"kveil.kernels.{module}"), function)()


def _loops_in(module: Any) -> int:
    """Return how many compiled functions a module defines."""
    own = (found for found in vars(module).values() if getattr(found, "__module__", None) == module.__name__)
    return sum(hasattr(found, "nopython_signatures") for found in own)


find_cache()
