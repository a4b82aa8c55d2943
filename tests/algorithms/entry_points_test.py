"""Algorithms of other packages: told by name where they cannot be loaded, or fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kveil.algorithms.algorithm import Algorithm, DivideOptions, Search
from kveil.algorithms.entry_points import guard_search, load_algorithm, plugged_algorithm
from kveil.errors import DataError, PolicyError


def raising(error: Exception) -> Any:
    def solve(*_: object) -> None:
        raise error

    return solve


def algorithm(solve: Any = None, name: str = "mine") -> Algorithm:
    return Algorithm(name, lambda: Search(solve, DivideOptions), frozenset(), "", "")


def point(found: Any, name: str = "mine") -> Any:
    load = raising(found) if isinstance(found, Exception) else lambda: found
    return SimpleNamespace(name=name, load=load, dist=SimpleNamespace(name="more"))


def test_an_algorithm_is_loaded_with_the_package_it_comes_from() -> None:
    loaded = load_algorithm(point(algorithm(lambda *_: "found")))
    assert loaded.package == "the package more"
    assert loaded.search().solve(None, None, np.random.default_rng(0)) == "found"
    assert plugged_algorithm("there is none of this name") is None


@pytest.mark.parametrize(
    ("found", "name", "sentence"),
    [
        (algorithm(), "mondrian", "which kveil has itself"),
        (ImportError("secret"), "mine", "cannot be loaded (ImportError)"),
        ("no algorithm", "mine", "is no kveil.plugins.Algorithm of that name"),
        (algorithm(name="other"), "mine", "is no kveil.plugins.Algorithm of that name"),
    ],
)
def test_what_is_no_algorithm_is_refused_with_its_package(found: Any, name: str, sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_algorithm(point(found, name))
    assert sentence in str(caught.value)
    assert "the package more" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_search_that_breaks_is_told_by_its_package_and_an_answer_is_passed_on() -> None:
    search = guard_search(algorithm(raising(ZeroDivisionError("secret"))), "the package more")
    with pytest.raises(PolicyError, match=r"mine of the package more failed \(ZeroDivisionError\)") as caught:
        search.solve(None, None, np.random.default_rng(0))
    assert "secret" not in str(caught.value)
    told = guard_search(algorithm(raising(DataError("a sentence."))), "the package more")
    with pytest.raises(DataError, match="a sentence"):
        told.solve(None, None, np.random.default_rng(0))
