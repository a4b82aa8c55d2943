"""Where values and comments of a YAML text stand."""

from __future__ import annotations

import pytest
import yaml

from kveil.studio.yaml_places import LOADER, Spans, comments, notes_above

TEXT = """\
# first
a: 1  # behind a
b: {x: [1, 2], y: 'no # comment'}  # behind b

# of c,
#  in two lines
c:
  - one
  - two # behind two

d: |  # behind the sign
  # no comment
  text
e: "#"
"""


def nodes(text: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    root = yaml.compose(text, Loader=LOADER)
    assert isinstance(root, yaml.MappingNode)
    return {key.value: (key, value) for key, value in root.value}


def test_comments_are_found_and_nothing_inside_of_values() -> None:
    told = ["# first", "# behind a", "# behind b", "# of c,", "#  in two lines", "# behind two", "# behind the sign"]
    assert comments(TEXT) == told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a", "1"),
        ("b", "{x: [1, 2], y: 'no # comment'}"),
        ("c", "- one\n  - two"),
        ("d", "|  # behind the sign\n  # no comment\n  text"),
        ("e", '"#"'),
    ],
)
def test_a_value_ends_with_its_last_sign(key: str, value: str) -> None:
    node = nodes(TEXT)[key][1]
    assert TEXT[node.start_mark.index : Spans(TEXT).end(node)] == value


def test_commas_dashes_and_lines_are_found() -> None:
    text = "a: [x , # why\n  y]\r\nb:\n  - p\n"
    spans, found = Spans(text), nodes(text)
    first, second = found["a"][1].value
    comma = spans.comma(spans.end(first))
    assert comma is not None
    assert text[comma] == ","
    assert spans.comma(spans.end(second)) is None
    assert text[spans.dash(found["b"][1].value[0])] == "-"
    at = text.index("y]")
    assert text[spans.line_start(at) : spans.line_end(at)] == "  y]"


def test_a_comment_directly_above_a_key_is_its_note() -> None:
    notes = notes_above(TEXT, [key for key, _ in nodes(TEXT).values()])
    assert {key: note.words for key, note in notes.items()} == {"a": "first", "c": "of c, in two lines"}
    assert TEXT[notes["c"].start : notes["c"].end] == "# of c,\n#  in two lines\n"
