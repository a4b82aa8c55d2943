"""Compile the loops ahead, and say whether that has been done before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


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


def compiled_before() -> bool:
    """Tell whether every module of loops has been compiled on this machine, as far as the package's cache tells."""
    from pathlib import Path

    here = Path(__file__).parent
    for source in here.rglob("*_loops.py"):
        found = (source.parent / "__pycache__").glob(f"{source.stem}.*.nbi")
        if not any(index.stat().st_mtime >= source.stat().st_mtime for index in found):
            return False
    return True


def _least_loss() -> None:
    from kveil.kernels.least_loss.neighbours import search_nothing

    search_nothing()


def _overlaps() -> None:
    from kveil.kernels.least_loss.overlaps import search_nothing

    search_nothing()


def _greedy() -> None:
    from kveil.kernels.clustering.greedy import cluster_nothing

    cluster_nothing()


def _partition() -> None:
    from kveil.kernels.items.partition import refine_nothing

    refine_nothing()


def _mondrian() -> None:
    from kveil.kernels.splitting.mondrian import split_nothing

    split_nothing()


def _diverse() -> None:
    from kveil.kernels.clustering.diverse import cluster_no_values

    cluster_no_values()


def _bound() -> None:
    from kveil.kernels.bound.bound import bound_nothing

    bound_nothing()


def _k_msd() -> None:
    from kveil.kernels.sequential.k_msd import repair_nothing

    repair_nothing()


def _combinations() -> None:
    from kveil.kernels.items.combinations import combine_nothing

    combine_nothing()


def _groups() -> None:
    from kveil.kernels.grouping.groups import group_nothing

    group_nothing()


def _width_cells() -> None:
    from kveil.kernels.limits.width_cells import choose_nothing

    choose_nothing()


def _widening() -> None:
    from kveil.kernels.classfly.widening import price_nothing

    price_nothing()


# What compiles each family of loops, those that take longest first, so that processes can share them out.
COMPILERS: dict[str, Callable[[], None]] = {
    "least-loss": _least_loss,
    "overlaps": _overlaps,
    "greedy": _greedy,
    "partition": _partition,
    "mondrian": _mondrian,
    "diverse": _diverse,
    "bound": _bound,
    "k-msd": _k_msd,
    "combinations": _combinations,
    "groups": _groups,
    "width-cells": _width_cells,
    "widening": _widening,
}


def compile_all(processes: int = 1) -> int:
    """Compile every kernel for the types it is called with; return how many there are.

    Several processes share the work through the cache on disk, from which this one then loads.
    """
    import subprocess

    if processes > 1:
        script = "import sys; from kveil.kernels.compiling import compile_some; compile_some(sys.argv[1:])"
        names = list(COMPILERS)
        turns = [names[turn::processes] for turn in range(processes)]
        running = [subprocess.Popen([sys.executable, "-c", script, *turn]) for turn in turns]
        for process in running:
            process.wait()
    compile_some(COMPILERS)
    return sum(_loops_in(module) for name, module in sys.modules.items() if name.startswith("kveil.kernels."))


def compile_some(names: Iterable[str]) -> None:
    """Run compilers by their names in `COMPILERS`."""
    for name in names:
        COMPILERS[name]()


def _loops_in(module: Any) -> int:
    """Return how many compiled functions a module defines."""
    own = (found for found in vars(module).values() if getattr(found, "__module__", None) == module.__name__)
    return sum(hasattr(found, "nopython_signatures") for found in own)


find_cache()
