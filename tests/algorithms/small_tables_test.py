"""Programs of small tables: what they are made for, and what they are not."""

from __future__ import annotations

import polars as pl
import pytest

from kveil.algorithms.component import components_of
from kveil.algorithms.small_tables import MOST_PROGRAM_ROWS, program_of_component, sizes_allow_none
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.table.encode import encode
from kveil.table.table import Table
from places import ROOT

SETS = """
kveil: 1
attributes:
  name: {role: individual}
  illness: {role: sensitive, hierarchy: {tree: {"*": [flu, cough]}}}
privacy: [{model: k-km-anonymity, sensitive: illness, k: 2, m: 1}]
"""
CITIES = """
kveil: 1
attributes:
  city: {role: quasi-identifier}
  sex: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [city], k: 2}
  - {model: k-anonymity, attributes: [city, sex], k: 2}
"""


def table_of(text: str, frame: dict[str, list[str]]) -> Table:
    return encode(from_frame(pl.DataFrame(frame)), Policy.parse(text, "policy.yaml", ROOT))


def test_sets_of_items_have_no_program() -> None:
    table = table_of(SETS, {"name": ["a", "b", "c"], "illness": ["flu", "cough", "flu"]})
    assert all(program_of_component(component, []) is None for component in components_of(table))
    assert not any(map(sizes_allow_none, components_of(table)))


@pytest.mark.parametrize(("cities", "none"), [(["Oslo", "Rome", "Pisa"], True), (["Oslo", "Oslo", "Oslo"], False)])
def test_a_table_in_which_everybody_would_have_to_be_hidden_cannot_be_released(cities: list[str], none: bool) -> None:
    table = table_of(CITIES, {"city": cities, "sex": ["f", "m", "f"]})
    assert [sizes_allow_none(component) for component in components_of(table)] == [none]


def test_a_large_table_has_no_program() -> None:
    rows = MOST_PROGRAM_ROWS + 1
    table = table_of(CITIES, {"city": ["Oslo"] * rows, "sex": ["f"] * rows})
    (component,) = components_of(table)
    assert program_of_component(component, [tree.ncp.astype("int64") for tree in component.trees]) is None
