"""Compile the loops ahead, and say whether that has been done before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kveil.kernels.caching import cache_folders, writable_folder
from kveil.progress import Progress, silent

KERNELS = Path(__file__).parent


def _least_loss() -> None:
    from kveil.kernels.least_loss.neighbours import search_nothing

    search_nothing()


def _overlaps() -> None:
    from kveil.kernels.least_loss.overlaps import try_no_moves

    try_no_moves()


def _greedy() -> None:
    from kveil.kernels.clustering.greedy import cluster_nothing

    cluster_nothing()


def _partition() -> None:
    from kveil.kernels.items.partition import refine_nothing

    refine_nothing()


def _items() -> None:
    from kveil.kernels.items.search import search_no_sets

    search_no_sets()


def _mondrian() -> None:
    from kveil.kernels.splitting.mondrian import split_nothing

    split_nothing()


def _diverse() -> None:
    from kveil.kernels.clustering.diverse import cluster_no_values

    cluster_no_values()


def _bound() -> None:
    from kveil.kernels.bound.bound import bound_nothing
    from kveil.kernels.bound.grown import grow_nothing

    bound_nothing()
    grow_nothing()


def _k_msd() -> None:
    from kveil.kernels.sequential.k_msd import repair_nothing

    repair_nothing()


def _combinations() -> None:
    from kveil.kernels.items.combinations import combine_nothing

    combine_nothing()


def _groups() -> None:
    from kveil.kernels.grouping.equal_rows import group_nothing
    from kveil.kernels.grouping.members import group_no_members

    group_nothing()
    group_no_members()


def _width_cells() -> None:
    from kveil.kernels.limits.width_cells import choose_nothing

    choose_nothing()


def _widening() -> None:
    from kveil.kernels.classfly.widening import price_nothing

    price_nothing()


class LoopFamily(NamedTuple):
    """Loops that are compiled together.

    What calls each of them with nothing to do, which compiles it for the types it is called with; the modules of what
    Python calls; about how long it takes, in tenths of a second on a machine of 2024.
    """

    compile: Callable[[], None]
    loops: tuple[str, ...]
    effort: int


FAMILIES = {
    "overlaps": LoopFamily(
        _overlaps, ("least_loss.shown_loops", "least_loss.descent_loops", "least_loss.repair_loops"), 110
    ),
    "least-loss": LoopFamily(_least_loss, ("least_loss.neighbours_loops", "least_loss.start_loops"), 80),
    "partition": LoopFamily(_partition, ("items.partition_loops", "items.equal_sets_loops"), 35),
    "items": LoopFamily(_items, ("items.search_loops",), 30),
    "mondrian": LoopFamily(_mondrian, ("splitting.mondrian_loops",), 30),
    "diverse": LoopFamily(_diverse, ("clustering.diverse_loops",), 40),
    "greedy": LoopFamily(_greedy, ("clustering.greedy_loops",), 30),
    "bound": LoopFamily(_bound, ("bound.bound_loops", "bound.kept_loops", "bound.grown_loops"), 20),
    "k-msd": LoopFamily(_k_msd, ("sequential.k_msd_loops",), 9),
    "combinations": LoopFamily(_combinations, ("items.combinations_loops",), 13),
    "groups": LoopFamily(_groups, ("grouping.equal_rows_loops", "grouping.members_loops"), 8),
    "width-cells": LoopFamily(_width_cells, ("limits.width_cells_loops",), 5),
    "widening": LoopFamily(_widening, ("classfly.widening_loops",), 2),
}


def is_kept(source: Path) -> bool:
    """Tell whether compiled code of a module of loops is where Numba looks for it on this machine."""
    made = source.stat().st_mtime
    writable = writable_folder(source)
    folders = cache_folders(source) if writable is None else [writable]
    kept = (index for folder in folders for index in folder.glob(f"{source.stem}.*.nbi"))
    return any(index.stat().st_mtime >= made for index in kept)


def not_compiled(names: Iterable[str] = FAMILIES) -> list[str]:
    """Return the families, of those named, that have not been compiled on this machine."""
    sources = {name: [KERNELS.joinpath(*own.split(".")) for own in FAMILIES[name].loops] for name in names}
    return [name for name, own in sources.items() if not all(is_kept(source.with_suffix(".py")) for source in own)]


def compile_some(names: Iterable[str]) -> None:
    """Compile families, or load them where that has been done before."""
    for name in names:
        FAMILIES[name].compile()


def compile_apart(names: Sequence[str], processes: int, progress: Progress = silent) -> None:
    """Compile families in so many processes, which leave what they make in the cache on disk.

    Numba compiles one function at a time in a process, whatever its threads; families of one process share what they
    both call. A process that fails leaves the work to whoever needs it.
    """
    script = "import sys; from kveil.kernels.compiling import compile_some; compile_some(sys.argv[1:])"
    shares: list[list[str]] = [[] for _ in range(max(min(processes, len(names)), 1))]
    for name in sorted(names, key=lambda name: -FAMILIES[name].effort):  # the longest first, to who has least to do
        min(shares, key=lambda share: sum(FAMILIES[own].effort for own in share)).append(name)
    progress(f"compiling the loops of {', '.join(names)} (once for each version of kveil)")
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen([*command, *share], stderr=subprocess.DEVNULL) for share in shares]
    for process in running:
        process.wait()


def compile_all(processes: int = 1, progress: Progress = silent) -> int:
    """Compile every kernel for the types it is called with; return how many there are."""
    if processes > 1:
        compile_apart(not_compiled(), processes, progress)
    compile_some(FAMILIES)
    return sum(_loops_in(module) for name, module in sys.modules.items() if name.startswith("kveil.kernels."))


def _loops_in(module: Any) -> int:
    """Return how many compiled functions a module defines."""
    own = (each for each in vars(module).values() if getattr(each, "__module__", None) == module.__name__)
    return sum(hasattr(each, "nopython_signatures") for each in own)
