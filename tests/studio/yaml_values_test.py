"""Values as YAML writes them: read back they are the same, whatever they hold."""

from __future__ import annotations

import pytest
import yaml

from kveil.studio.yaml_values import flow, quote_text, scalar_as_quoted

SIGNS = ["", " ", "'", '"', "\\", "\t", "\u202e", "\x85", "\U0001f600", "\ud7ff", "é", "*", "%", "@", "`", "~", "?"]
TEXTS = ["plain", "two words", "yes", "1", "null", "a: b", "#x", "a #b", "- x", "[a]", "{a}", "&x", "!x", "x,y", "a\nb"]


@pytest.mark.parametrize("text", [*SIGNS, *TEXTS])
def test_a_text_comes_back(text: str) -> None:
    for written in (quote_text(text), scalar_as_quoted(text), scalar_as_quoted(text, style="'")):
        assert yaml.load(f"[{written}]", Loader=yaml.BaseLoader) == [text]
        assert written.isprintable()


def test_quotes_are_kept_where_they_were_and_left_out_where_none_are_needed() -> None:
    assert scalar_as_quoted("it's", style="'") == "'it''s'"
    assert scalar_as_quoted("plain") == "plain"
    assert scalar_as_quoted("plain", style='"') == '"plain"'
    assert scalar_as_quoted(None) == ""


def test_mappings_and_lists_stand_on_one_line() -> None:
    value = {"a b": ["x", {"y": "z: z"}], "c": {}, "d": []}
    assert "\n" not in flow(value)
    assert yaml.load(flow(value), Loader=yaml.BaseLoader) == value
