"""Hierarchy files, and every value's way up however a policy writes its hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import PolicyError
from kveil.policy.attributes import Attribute, Mask
from kveil.policy.hierarchy import WaysUp, marked_nodes, parse_hierarchy, read_hierarchy_file

FILE = "Oslo;Norway;*\nRome;Italy;*\n"


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace(";", ","),
        FILE.replace("\n", "\r\n"),
        "Oslo;Norway;*;;\n\nRome;Italy;Italy;*\n",
        'Oslo,"Norway",*\n"Rome","Italy","*"\n',
    ],
)
def test_a_file_is_read_however_it_is_written(text: str) -> None:
    found = parse_hierarchy(text, "cities.csv")
    assert found.lines == (("Oslo", "Norway", "*"), ("Rome", "Italy", "*"))
    assert (found.root, found.built) == ("*", False)


def test_a_separator_inside_of_quotes_is_none() -> None:
    assert parse_hierarchy('"a;b",x,*\n', "file").lines == (("a;b", "x", "*"),)


def test_what_is_wrong_with_a_file_is_told_by_its_name_and_line(tmp_path: Path) -> None:
    path = tmp_path / "cities.csv"
    with pytest.raises(PolicyError, match=r"cities\.csv cannot be read"):
        read_hierarchy_file(path)
    path.write_bytes(b"Oslo;*\nM\xfcnchen;*\n")
    with pytest.raises(PolicyError, match=r"cities\.csv: line 2 is not UTF-8"):
        read_hierarchy_file(path)
    path.write_text('Oslo;"No', encoding="utf-8")
    with pytest.raises(PolicyError, match="a quote is opened"):
        read_hierarchy_file(path)
    path.write_text("\ufeff" + FILE, encoding="utf-8")
    assert read_hierarchy_file(path).lines[0] == ("Oslo", "Norway", "*")


def test_ways_up_of_a_fixed_hierarchy_know_its_leaves_alone_and_missing_under_the_root() -> None:
    ways = WaysUp(None, parse_hierarchy(FILE + "?;*\n", "file"), frozenset({"?", ""}), iter(()))
    assert ways.leaves == ("Oslo", "Rome")
    assert ways.of("Rome") == ("Rome", "Italy", "*")
    assert ways.of("") == ("", "*")
    assert ways.of("Paris") == ("Paris",)


def test_ways_up_of_a_builder_are_made_for_each_value_and_ask_for_values_only_where_they_are_needed() -> None:
    def values() -> object:
        raise AssertionError("nobody needs them")
        yield

    ways = WaysUp(Mask(keep=(2, 1)), None, frozenset({""}), values())  # type: ignore[arg-type]
    assert ways.root == "*"
    assert ways.of("abcd") == ("abcd", "ab**", "a***", "*")
    assert ways.of("") == ("", "*")


def test_marked_intervals_are_marked_in_both_ways_of_writing_them() -> None:
    spec = {"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}
    one = Attribute(role="quasi-identifier", hierarchy=spec, boundary=["0-49", "60-69"])  # type: ignore[arg-type]
    other = Attribute(role="quasi-identifier", hierarchy=spec, boundary=["[0,50)", "[60,70)"])  # type: ignore[arg-type]
    assert set(marked_nodes(one)) == set(marked_nodes(other)) >= {"0-49", "[0,50)", "60-69", "[60,70)"}
    plain = Attribute(role="quasi-identifier", boundary=["x"])  # type: ignore[arg-type]
    assert marked_nodes(plain) == ("x",)
    assert marked_nodes(Attribute(role="quasi-identifier")) == ()
