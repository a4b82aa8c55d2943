"""Compile the loops ahead, and say whether that has been done before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kveil.kernels.caching import cache_folders


def compiled_before() -> bool:
    """Tell whether all that Python calls has been compiled on this machine, as far as the folders of caches tell."""
    for source in Path(__file__).parent.rglob("*_loops.py"):
        if "@door" not in source.read_text(encoding="utf-8"):
            continue  # only other loops call it, and it is part of what is kept of those
        made = source.stat().st_mtime
        kept = (index for folder in cache_folders(source) for index in folder.glob(f"{source.stem}.*.nbi"))
        if not any(index.stat().st_mtime >= made for index in kept):
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
