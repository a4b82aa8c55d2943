"""What other packages bring along: algorithms and measures, known by the names of their entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

ALGORITHMS = "kveil.algorithms"
MEASURES = "kveil.measures"


def plugged(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without importing anything."""
    return {point.name: point for point in entry_points(group=group)}


def package_of(point: EntryPoint) -> str:
    """Return the package that brings an entry point along."""
    return "an unknown package" if point.dist is None else f"the package {point.dist.name}"
