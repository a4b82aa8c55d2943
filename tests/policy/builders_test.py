"""Hierarchies that a policy describes: the way up of values, and what labels they can have at all."""

from __future__ import annotations

from kveil.policy import builders
from kveil.policy.attributes import Attribute, Hierarchy
from label_reader import is_true


def spec_of(written: object) -> Hierarchy:
    spec = Attribute.read({"role": "quasi-identifier", "hierarchy": written}, "here").hierarchy
    assert spec is not None
    return spec


def test_leaves_stand_in_their_natural_order_and_what_is_not_known_is_told() -> None:
    built, unknown = builders.build_lines(
        spec_of({"intervals": {"from": 0, "to": 20, "widths": [10]}}), ["12", "5", "x"], "n"
    )
    assert [line[0] for line in built.lines] == ["5", "12"]
    assert unknown == ["x"]


def test_labels_of_dates_hold_for_their_dates() -> None:
    built, unknown = builders.build_lines(
        spec_of({"dates": ["month", "year"]}), ["2016-04-02", "2016-12-31 23:59"], "d"
    )
    assert not unknown
    assert all(is_true(label, line[0]) for line in built.lines for label in line[1:])


def test_a_label_that_no_value_could_give_is_known_to_be_none() -> None:
    of_dates = builders.label_test(spec_of({"dates": ["month", "year"]}), None)
    assert of_dates("2016-04")
    assert not of_dates("2016-13")
    of_numbers = builders.label_test(spec_of({"intervals": {"from": 0, "to": 20, "widths": [10]}}), None)
    assert of_numbers("0-9")
    assert not of_numbers("1-9")
    assert builders.label_test(spec_of({"mask": {"keep": [2]}}), None)("anything")


def test_numbers_with_a_fraction_make_intervals_half_open() -> None:
    assert builders.is_real(["1", "2.5"])
    assert not builders.is_real(["1", "2.0"])
    assert builders.is_real(["[0,10)"])
