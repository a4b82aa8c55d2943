"""What other packages bring along: algorithms and measures, known by the names of their entry points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kveil.platforms import show_unused

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ALGORITHM_GROUP = "kveil.algorithms"
MEASURE_GROUP = "kveil.measures"


def entry_points_of(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without importing what they name."""
    from importlib.metadata import entry_points  # takes a moment that most runs need not spend

    return {point.name: point for point in entry_points(group=group)}


def load_plugged(point: EntryPoint) -> Any:
    """Return what an entry point names; its package may import what the command line hides from Numba."""
    show_unused()
    return point.load()


def package_of(point: EntryPoint) -> str:
    """Return the package that brings an entry point along."""
    return "an unknown package" if point.dist is None else f"the package {point.dist.name}"
