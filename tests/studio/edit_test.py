"""Clicks change the few characters they are about: content right, comments kept, other lines untouched."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kveil.datasets import hospital
from kveil.errors import PolicyError
from kveil.studio.edit import REMOVED, Change, content, edited, wished
from kveil.studio.spans import LOADER, comments
from kveil.studio.writing import quoted, scalar

HERE = Path(__file__).parent
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
    files = [*hospital().glob("*.yaml"), *sorted((root / "tests" / "golden").rglob("*.yaml"))]
    texts = [file.read_text(encoding="utf-8") for file in files]
    for page in sorted((root / "docs").glob("*.md")):
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


def _emptied(text: str, change: Change) -> tuple[Any, ...]:
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


def _inside(text: str, change: Change) -> Counter[str]:
    """Return the comments inside the value a change is about: they may go with it, others may not."""
    node: yaml.Node = yaml.compose(text, Loader=LOADER)
    start = 0
    for step in _emptied(text, change):
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == step), None)
            if pair is None:
                return Counter()
            start, node = pair[0].start_mark.index, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            start = node.start_mark.index
        else:
            return Counter()
    if isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        return Counter()
    lines = text[start : node.end_mark.index]
    return Counter("#" + line.split("#", 1)[1].rstrip() for line in lines.splitlines() if "#" in line)


@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_edits_lose_no_comment_and_undo_gives_the_bytes_back(part: int) -> None:
    rng = random.Random(part)
    refused = 0
    for _ in range(1000 // len(POLICIES) + 1):
        for first in POLICIES:
            text = first
            history = [text]
            for _ in range(2):
                said = content(text)
                change = _change(rng, said)
                try:
                    new = edited(text, [change])
                except PolicyError:
                    refused += 1
                    continue
                assert content(new.text) == wished(said, [change])
                gone = Counter(comments(text)) - Counter(comments(new.text))
                assert gone == Counter(new.lost)
                assert not gone - _inside(text, change), (change, gone)
                _only_lines_concerned(text, new.text, change)
                text = new.text
                history.append(text)
            assert history[0] == first
    assert refused <= 12, "a layout that clicks cannot change"


def _only_lines_concerned(before: str, after: str, change: Change) -> None:
    """Every line outside the key of the change is there as before, in its order."""
    if len(change.path) < 2 or change.path[0] != "attributes":
        return
    node = yaml.compose(before, Loader=LOADER)
    for step in change.path[:2]:
        if not isinstance(node, yaml.MappingNode):
            return
        pair = next(((k, v) for k, v in node.value if k.value == step), None)
        if pair is None:
            return
        key, node = pair
    first, last = key.start_mark.line, node.end_mark.line + (node.end_mark.column > 0)
    old, new = before.splitlines(), after.splitlines()
    assert new[:first] == old[:first]
    tail = old[max(last, first + 1) :]
    assert new[len(new) - len(tail) :] == tail


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
            said = yaml.load(shape.format(scalar(text)), Loader=LOADER)
            assert text in json.dumps(said) or said, text
        assert yaml.load(f"[{scalar(text)}, {quoted(text)}]", Loader=LOADER) == [text, text]


def test_a_mark_changes_only_its_list() -> None:
    text = "a:\n  # why\n  zip: {role: q, boundary: [A, B]}  # agreed\nb: 1\n"
    new = edited(text, [Change(("a", "zip", "boundary"), ["A", "B", "C: d"])]).text
    assert new == 'a:\n  # why\n  zip: {role: q, boundary: [A, B, "C: d"]}  # agreed\nb: 1\n'


def test_a_key_that_goes_leaves_the_comment_behind_it() -> None:
    new = edited("a: 1\nb: 2  # note\nc: 3\n", [Change(("b",), REMOVED)])
    assert new.text == "a: 1\n# note\nc: 3\n"
    assert new.lost == ()


def test_an_emptied_mapping_goes_with_its_last_key() -> None:
    assert (
        edited("a: 1\nrelease: {order: keep}\nc: 3\n", [Change(("release", "order"), REMOVED)]).text == "a: 1\nc: 3\n"
    )


def test_an_alias_is_refused_rather_than_changed_in_two_places() -> None:
    text = "a: &x {role: q, w: 1}\nb: *x\nc: {<<: *x, w: 2}\n"
    with pytest.raises(PolicyError, match="change it in the text"):
        edited(text, [Change(("b", "role"), "s")])
    assert edited(text, [Change(("c", "w"), 3)]).text == text.replace("w: 2", "w: 3")
    assert (
        edited(text, [Change(("c", "role"), "s")]).text == "a: &x {role: q, w: 1}\nb: *x\nc: {<<: *x, w: 2, role: s}\n"
    )


def test_two_hundred_roles_in_one_change_are_quick() -> None:
    from time import perf_counter

    text = "kveil: 1\nattributes:\n" + "".join(f"  # why {i}\n  c{i}: {{role: insensitive}}\n" for i in range(200))
    started = perf_counter()
    new = edited(text, [Change(("attributes", f"c{i}", "role"), "identifier") for i in range(200)])
    assert perf_counter() - started < 3
    assert new.text == text.replace("insensitive", "identifier")
