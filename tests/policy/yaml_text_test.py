"""Parts of a policy that kveil writes mean, read again, what they were."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kveil.policy.hierarchy import parse_hierarchy
from kveil.policy.yaml_text import WIDTH, comment, flow_text, hierarchy_csv, hierarchy_file_name, scalar, tree_mapping
from strategies import examples

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@given(TEXTS)
@examples(100)
def test_a_text_in_quotes_is_read_as_it_was(text: str) -> None:
    written = scalar(text)
    if written.startswith('"'):
        assert yaml.safe_load(written) == text
    else:  # kveil reads what stands without quotes as a text, whatever YAML makes of it
        assert written == text
        assert not set(text) & set("'\"#:{}[],&*!|>%@`\n")


def test_lists_and_mappings_stand_on_one_line() -> None:
    value = {"tree": {"*": ["a b", "c, d", 3]}}
    assert flow_text(value) == '{tree: {"*": [a b, "c, d", 3]}}'


@given(st.lists(st.text("abcdefghij", min_size=1, max_size=30), min_size=1, max_size=40))
@examples(30)
def test_a_comment_has_all_words_in_lines_that_can_be_read(words: list[str]) -> None:
    lines = comment(" ".join(words), indent="  ")
    assert all(line.startswith("  # ") and len(line) <= WIDTH for line in lines)
    assert [word for line in lines for word in line[4:].split()] == words


def test_names_of_hierarchy_files_are_different_whatever_their_case() -> None:
    taken: set[str] = set()
    names = [hierarchy_file_name("visits", column, taken) for column in ("Zip code", "zip.code", "ZIP-CODE", "%")]
    assert names[0] == "visits.Zip-code.hierarchy.csv"
    assert len({name.lower() for name in names}) == 4
    assert all(name.endswith(".hierarchy.csv") and Path(name).name == name for name in names)
    assert names[3] == "visits.column.hierarchy.csv"


@pytest.mark.parametrize("label", ["plain", "with;semicolon", 'with "quotes"', "with\nline", "with,comma"])
def test_a_written_hierarchy_file_is_read_as_it_was(label: str) -> None:
    lines = ((label, "above", "*"), ("other", "above", "*"))
    assert parse_hierarchy(hierarchy_csv(lines), "file").lines == lines


def test_lines_become_the_mapping_that_a_tree_is_written_as() -> None:
    lines = (("a", "x", "*"), ("b", "x", "*"), ("c", "*"))
    assert tree_mapping(lines) == {"*": {"x": ["a", "b"], "c": []}}
    cities = (("02138", "Cambridge", "*"), ("02115", "Boston", "*"))
    assert tree_mapping(cities) == {"*": {"Cambridge": ["02138"], "Boston": ["02115"]}}
