"""Algorithms of other packages: loaded by name, and told from ours where they fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kveil.algorithms.algorithm import Algorithm, Search
from kveil.errors import KveilError, PolicyError
from kveil.policy.entry_points import ALGORITHM_GROUP, entry_points_of, load_plugged, package_of
from kveil.policy.keys import ALGORITHM_NAMES
from kveil.stopping import OutOfTime
from kveil.table.solution import Solution
from kveil.table.table import Table

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def plugged_algorithm(name: str) -> Algorithm | None:
    """Return the algorithm of another package, None where no package brings one of this name."""
    point = entry_points_of(ALGORITHM_GROUP).get(name)
    return None if point is None else load_algorithm(point)


def plugged_algorithms() -> list[Algorithm]:
    """Return the algorithms of all other packages, by name."""
    return [load_algorithm(point) for _, point in sorted(entry_points_of(ALGORITHM_GROUP).items())]


def load_algorithm(point: EntryPoint) -> Algorithm:
    """Return the algorithm that an entry point names; raise PolicyError where it is none that kveil can run."""
    package = package_of(point)
    if point.name in ALGORITHM_NAMES:
        raise PolicyError(
            f"{package} brings an algorithm called {point.name}, which kveil has itself; uninstall the package, or ask "
            "its authors for another name."
        )
    try:
        algorithm = load_plugged(point)
    except Exception as error:
        raise PolicyError(
            f"the algorithm {point.name} of {package} cannot be loaded ({type(error).__name__}); update the package or "
            "uninstall it."
        ) from None
    if not isinstance(algorithm, Algorithm) or algorithm.name != point.name:
        raise PolicyError(
            f"{package} names {point.name} as an algorithm, but what it names is no kveil.plugins.Algorithm of that "
            "name; update the package or uninstall it."
        )
    return replace(algorithm, package=package, search=lambda: guard_search(algorithm, package))


def guard_search(algorithm: Algorithm, package: str) -> Search:
    """Return the search of another package's algorithm; where it breaks, the package is named."""
    search = algorithm.search()

    def solve(table: Table, options: object, rng: np.random.Generator) -> Solution:
        try:
            return search.solve(table, options, rng)
        except (KveilError, OutOfTime):
            raise
        except Exception as error:
            raise PolicyError(
                f"the algorithm {algorithm.name} of {package} failed ({type(error).__name__}); tell its authors, and "
                "use another algorithm meanwhile."
            ) from error

    return replace(search, solve=solve)
