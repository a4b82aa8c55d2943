"""Names that other packages bring along."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from kveil.policy.entry_points import ALGORITHM_GROUP, entry_points_of, package_of


def test_entry_points_are_known_by_name_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "a_package_that_is_not_there:solve", ALGORITHM_GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == ALGORITHM_GROUP else [])
    assert entry_points_of(ALGORITHM_GROUP) == {"mine": point}
    assert entry_points_of("kveil.measures") == {}


def test_the_package_of_an_entry_point_is_named_where_it_is_known() -> None:
    point = EntryPoint("mine", "a:b", ALGORITHM_GROUP)
    assert package_of(point) == "an unknown package"
    known = SimpleNamespace(dist=SimpleNamespace(name="some-algorithms"))
    assert package_of(known) == "the package some-algorithms"  # type: ignore[arg-type]
