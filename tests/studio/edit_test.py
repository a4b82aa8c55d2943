"""Clicks change the few characters they are about: content right, comments kept, other lines untouched.

`make test` tries 600 random edits; KVEIL_SLOW=1, as in `make studio-slow`, tries 10,000.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from kveil.datasets import hospital
from kveil.errors import PolicyError
from kveil.studio.edit import REMOVED, Change, content, content_after, edit_text
from kveil.studio.project import Project
from kveil.studio.yaml_places import LOADER, comments
from kveil.studio.yaml_values import quote_text, scalar_as_quoted

HERE = Path(__file__).parent
EDITS = 10_000 if os.environ.get("KVEIL_SLOW") == "1" else 600
PARTS = 4
STEPS = 3  # edits of one policy, one after the other
ROLES = ["identifier", "individual", "quasi-identifier", "sensitive", "insensitive"]
CORNERS = """\
# first line
kveil: 1   # version
data:      # where
    path: 'my table.csv'  # quoted
    missing: ["", '?',   # two
              NA]
attributes:
    # above a
    a:     # beside a
        role: quasi-identifier   # inside a
        # between
        hierarchy:
            tree:   # a tree
                "*":
                    North: [x, "y: 1"]   # leaves
                    South:
                    - z
                    - '#1'
        boundary: [North,
                   South]  # limits
    b: {role: quasi-identifier,   # flow over lines
        hierarchy: {intervals: {from: 0, to: 100, widths: [5, 10]}}, # steps
        weight: 2}
    "c c": {role: identifier}

    d:
        role: sensitive
# at the margin
privacy:
# above the first
- model: k-anonymity   # k
  attributes: [a, b]
  # inside
  k: 5
- {model: l-diversity, sensitive: d, l: 3}   # l

suppression: {limit: 0.05}
note_block: |   # kept
   some text # no comment
   more

seed: 0
# the end"""


def _shipped() -> list[str]:
    """Return every policy in the package, the tests and the documentation."""
    root = HERE.parents[1]
    files = [*hospital().glob("*.yaml"), *sorted((root / "tests").rglob("*.yaml"))]
    texts = [file.read_text(encoding="utf-8") for file in files]
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        texts += [block.split("```")[0] for block in page.read_text(encoding="utf-8").split("```yaml\n")[1:]]
    whole = [text for text in texts if "kveil: 1" in text and "attributes" in text]
    return [*whole, CORNERS, CORNERS.replace("\n", "\r\n")]


POLICIES = _shipped()


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, deeper in inner:
        yield (*above, step)
        yield from _paths(deeper, (*above, step))


def _value(rng: random.Random) -> Any:
    texts = [
        "plain",
        "two words",
        "a: b",
        "#not",
        "02138",
        "",
        "it's",
        'say "x"',
        "NO",
        "*",
        "ä ö",
        "- x",
        "a,b",
        "line\nend",
    ]
    kinds = [
        lambda: rng.choice(texts),
        lambda: rng.randrange(100),
        lambda: [rng.choice(texts) for _ in range(rng.randrange(4))],
        lambda: {"role": rng.choice(ROLES)},
        lambda: {"mask": {"keep": [4, 3]}},
        lambda: {"tree": {"*": {"A: 1": ["x", "y"], "B": []}}},
        lambda: {"level": 2},
    ]
    return rng.choice(kinds)()


def _change(rng: random.Random, said: dict[str, Any]) -> Change:
    """Return a change as the page makes them: a role, a mark, a promise, a setting, or anything at all."""
    names = list(said.get("attributes") or {"a": None})
    kind = rng.randrange(8)
    if kind == 0:
        return Change(("attributes", rng.choice(names), "role"), rng.choice(ROLES))
    if kind == 1:
        marks = [f"node {rng.randrange(9)}" for _ in range(rng.randrange(1, 4))]
        return Change(("attributes", rng.choice(names), "boundary"), marks)
    if kind == 2:
        return Change(("suppression", "limit"), round(rng.random(), 2))
    if kind == 3:
        promises = list(said.get("privacy") or [])
        rng.shuffle(promises)
        return Change(
            ("privacy",), [*promises[: rng.randrange(1, 4)], {"model": "k-anonymity", "k": rng.randrange(2, 20)}]
        )
    if kind == 4:
        return Change(("attributes", rng.choice([*names, "new one"]), "weight"), rng.randrange(1, 9))
    paths = list(_paths(said))
    path = rng.choice(paths)
    if kind == 5 and len(path) > 1:
        return Change(path, REMOVED)
    if kind == 6 and isinstance(path[-1], str):
        return Change((*path[:-1], f"key {rng.randrange(9)}"), _value(rng))
    return Change(path, _value(rng))


def _naive(said: Any, change: Change) -> Any:
    """The slow twin: what a policy says after a change, by walking down and writing it in."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        return [plain(inner) for inner in value] if isinstance(value, list) else str(value)

    def changed(here: Any, path: tuple[Any, ...]) -> Any:
        if not path:
            return REMOVED if change.value is REMOVED else plain(change.value)
        step, *rest = path
        if isinstance(here, list):
            inner = changed(here[step], tuple(rest))
            return [*here[:step], *([] if inner is REMOVED else [inner]), *here[step + 1 :]]
        here = here if isinstance(here, dict) else {}
        if change.value is REMOVED and step not in here:
            return here
        inner = changed(here.get(step), tuple(rest))
        gone = inner is REMOVED or (change.value is REMOVED and rest and inner in ({}, []))
        return {key: value for key, value in here.items() if key != step} if gone else here | {step: inner}

    return changed(said, change.path)


def _last_line(node: yaml.Node) -> int:
    """The line that a value ends on, without what a reader of blocks takes for its end: the start of what follows."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return (
            _last_line(last) if isinstance(node, yaml.SequenceNode) else max(last[0].end_mark.line, _last_line(last[1]))
        )
    return int(node.end_mark.line) - (node.end_mark.column == 0 and node.end_mark.line > node.start_mark.line)


@dataclass(frozen=True)
class _Place:
    """Where a change is about to happen: the value, its key, what holds them, all as the reader sees them."""

    holder: yaml.Node
    start: yaml.Mark | None  # of the key, or of the entry; None where it is not there yet
    value: yaml.Node | None


def _place(text: str, path: tuple[Any, ...]) -> _Place:
    node: yaml.Node = yaml.compose(text, Loader=LOADER)
    place = _Place(node, None, None)
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == step), None)
            if pair is None:
                return _Place(node, None, None)
            place = _Place(node, pair[0].start_mark, pair[1])
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            place = _Place(node, node.value[step].start_mark, node.value[step])
        else:
            return place  # a text that becomes a mapping: all of it changes
        assert place.value is not None
        node = place.value
    return place


def _removed(text: str, change: Change) -> tuple[Any, ...]:
    """Return the path that really goes: a mapping that loses its only key goes with it."""
    path = change.path
    while change.value is REMOVED and len(path) > 1:
        above: Any = content(text)
        for step in path[:-1]:
            above = above[step]
        if len(above) > 1:
            break
        path = path[:-1]
    return path


def _inside(text: str, change: Change) -> list[str]:
    """Return the lines of the value a change is about: comments that end them may go with it, others may not."""
    place = _place(text, _removed(text, change))
    if place.value is None or (isinstance(place.value, yaml.ScalarNode) and place.value.style not in ("|", ">")):
        return []
    assert place.start is not None
    return [line.rstrip() for line in text[place.start.index : place.value.end_mark.index].splitlines()]


def _concerned(text: str, change: Change) -> tuple[int, int]:
    """Return the lines that a change may touch, from the first to behind the last; new ones may stand among them."""
    place = _place(text, _removed(text, change))
    holder = (int(place.holder.start_mark.line), _last_line(place.holder) + 1)
    if isinstance(place.holder, yaml.CollectionNode) and place.holder.flow_style and change.value is REMOVED:
        return holder  # commas before and behind it
    if place.start is None or place.value is None:  # a new key comes behind the last one
        return (holder[0] if place.holder.flow_style else holder[1], holder[1])  # type: ignore[attr-defined]
    line = text.splitlines()[place.start.line]
    if change.value is REMOVED and line[: place.start.column].strip(" -"):
        return holder
    if change.value is REMOVED and "-" in line[: place.start.column]:
        return holder  # the first key of an entry: the next one comes onto its line
    return int(place.start.line), _last_line(place.value) + 1


def _only_lines_concerned(before: str, after: str, change: Change) -> None:
    """Every other line is there as before, in its order."""
    first, end = _concerned(before, change)
    old, new = before.splitlines(), after.splitlines()
    head, tail = old[:first], old[end:]
    assert len(head) + len(tail) <= len(new), change
    assert new[:first] == head, change
    assert new[len(new) - len(tail) :] == tail, change


@pytest.mark.parametrize("part", range(PARTS))
def test_random_edits_lose_no_comment_touch_their_lines_only_and_undo_gives_the_bytes_back(
    tmp_path: Path, part: int
) -> None:
    rng = random.Random(part)
    refused = 0
    for number in range(EDITS // PARTS // STEPS):
        first = POLICIES[(part * 7919 + number) % len(POLICIES)]
        file = tmp_path / "policy.yaml"
        file.write_bytes(first.encode())
        project = Project.opened(file)
        states = [file.read_bytes()]
        for _ in range(STEPS):
            text = project.text
            said = content(text)
            change = _change(rng, said)
            try:
                new = edit_text(text, [change])
            except PolicyError:
                refused += 1
                continue
            assert content(new.text) == _naive(said, change) == content_after(said, [change]), change
            gone = Counter(comments(text)) - Counter(comments(new.text))
            assert gone == Counter(new.lost)
            lines = _inside(text, change)
            for comment, times in gone.items():
                assert sum(line.endswith(comment) for line in lines) >= times, (change, comment)
            _only_lines_concerned(text, new.text, change)
            if new.text != text:
                project.take(new.text, "a click", lost=new.lost)
                assert file.read_bytes() == new.text.encode()
                states.append(file.read_bytes())
        _there_and_back(project, states)
    assert refused <= EDITS // PARTS // 100, "layouts that clicks cannot change"


def _there_and_back(project: Project, states: list[bytes]) -> None:
    """Undo every step, then make each again: the file has the bytes that it had there."""
    for state in reversed(states[:-1]):
        assert project.undo() == "a click"
        assert project.path.read_bytes() == state
    assert project.undo() is None
    for state in states[1:]:
        assert project.redo() == "a click"
        assert project.path.read_bytes() == state
    assert project.redo() is None


def test_a_scalar_is_read_back_as_it_was_whatever_it_holds() -> None:
    signs = [
        "~",
        "-",
        "*",
        "&x",
        "!t",
        "%",
        "@",
        "`",
        "|",
        "\t",
        "\u2028",
        "\x85",
        "\U0001f600",
        '"',
        "\\",
        "'",
        "[",
        "{",
        "}",
    ]
    for text in ["", " ", "a", "NO", "null", "1e3", "a: b", "a #b", "- a", "é", ",", "a,b", "x" * 300, "end ", *signs]:
        for shape in ("{{a: [{0}], {0}: b}}", "a:\n  {0}: b\n  c: {0}"):
            said = yaml.load(shape.format(scalar_as_quoted(text)), Loader=LOADER)
            assert text in json.dumps(said) or said, text
        assert yaml.load(f"[{scalar_as_quoted(text)}, {quote_text(text)}]", Loader=LOADER) == [text, text]


def test_a_mark_changes_only_its_list() -> None:
    text = "a:\n  # why\n  zip: {role: q, boundary: [A, B]}  # agreed\nb: 1\n"
    new = edit_text(text, [Change(("a", "zip", "boundary"), ["A", "B", "C: d"])]).text
    assert new == 'a:\n  # why\n  zip: {role: q, boundary: [A, B, "C: d"]}  # agreed\nb: 1\n'


def test_a_key_that_goes_leaves_the_comment_behind_it() -> None:
    new = edit_text("a: 1\nb: 2  # note\nc: 3\n", [Change(("b",), REMOVED)])
    assert new.text == "a: 1\n# note\nc: 3\n"
    assert new.lost == ()


def test_an_emptied_mapping_goes_with_its_last_key() -> None:
    assert (
        edit_text("a: 1\nrelease: {order: keep}\nc: 3\n", [Change(("release", "order"), REMOVED)]).text
        == "a: 1\nc: 3\n"
    )


def test_an_alias_is_refused_rather_than_changed_in_two_places() -> None:
    text = "a: &x {role: q, w: 1}\nb: *x\nc: {<<: *x, w: 2}\n"
    with pytest.raises(PolicyError, match="change it in the text"):
        edit_text(text, [Change(("b", "role"), "s")])
    assert edit_text(text, [Change(("c", "w"), 3)]).text == text.replace("w: 2", "w: 3")
    assert (
        edit_text(text, [Change(("c", "role"), "s")]).text
        == "a: &x {role: q, w: 1}\nb: *x\nc: {<<: *x, w: 2, role: s}\n"
    )


def test_two_hundred_roles_in_one_change_are_quick() -> None:
    from time import process_time

    text = "kveil: 1\nattributes:\n" + "".join(f"  # why {i}\n  c{i}: {{role: insensitive}}\n" for i in range(200))
    started = process_time()
    new = edit_text(text, [Change(("attributes", f"c{i}", "role"), "identifier") for i in range(200)])
    assert process_time() - started < 3
    assert new.text == text.replace("insensitive", "identifier")
