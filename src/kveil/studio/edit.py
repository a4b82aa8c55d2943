"""Change a policy's text where its content changes, and nowhere else: comments and layout stay byte for byte.

The form never writes YAML. It says which key shall have which value; the text is composed, old and new content are
compared key by key, and only the characters that differ are replaced. The result is read back, and a change that did
not give what was wished for is refused.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import yaml

from kveil.errors import PolicyError
from kveil.free_form import Content
from kveil.studio.yaml_places import LOADER, Spans, comments
from kveil.studio.yaml_values import flow, scalar_as_quoted

Path = tuple[str | int, ...]
_ANCHOR = "this part of the policy uses an anchor or a layout that a click cannot change; change it in the text."


class _Removed:
    """Stands for the value of a key that shall not be there."""


REMOVED = _Removed()


@dataclass(frozen=True)
class Change:
    """One key path and the value it shall have; REMOVED takes the key away."""

    path: Path
    value: Any = REMOVED


@dataclass(frozen=True)
class Edited:
    """A changed text, and the comments that went with a value they stood in."""

    text: str
    lost: tuple[str, ...]


@dataclass
class _Splices:
    """Replacements of spans of one text, applied together; those at one place keep their order."""

    text: str
    all: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, start: int, end: int, new: str) -> None:
        self.all.append((start, end, new))

    def applied(self) -> str:
        parts, at = [], 0
        for start, end, new in sorted(self.all, key=lambda splice: splice[:2]):
            if start < at:
                raise PolicyError(_ANCHOR)
            parts += [self.text[at:start], new]
            at = end
        return "".join([*parts, self.text[at:]])


def compose(text: str) -> yaml.MappingNode:
    """Return the text's node tree; raise PolicyError with the line where it is no YAML mapping."""
    try:
        root = yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "the text cannot be read"
        raise PolicyError(f"{where}this is not YAML ({problem}); check quotes, colons and indents.") from None
    if not isinstance(root, yaml.MappingNode):
        raise PolicyError("line 1: a policy is a YAML mapping that starts with `kveil: 1`.")
    return root


def content_of(node: yaml.Node) -> Any:
    """Return a node as texts, lists and dicts; a key with nothing behind it has None."""
    if isinstance(node, yaml.ScalarNode):
        return None if node.value == "" and not node.style else str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [content_of(item) for item in node.value]
    own: Content = {}
    merged: Content = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise PolicyError(f"line {key.start_mark.line + 1}: a key must be a text.")
        if key.value == "<<" and not key.style and isinstance(value, yaml.MappingNode):
            merged |= content_of(value)
        elif key.value in own:
            raise PolicyError(
                f"line {key.start_mark.line + 1}: the key {key.value!r} stands twice in one mapping; keep one."
            )
        else:
            own[key.value] = content_of(value)
    return merged | own


def content(text: str) -> Content:
    """Return what a policy's text says, as plain data; texts stay as written."""
    found: Content = content_of(compose(text))
    return found


def _plain(value: Any) -> Any:
    """Return a value of the form as a policy's text will give it back: all scalars are texts."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value)


def content_after(before: Content, changes: Iterable[Change]) -> Content:
    """Return a policy's content after some changes; mappings that were emptied by them go too."""
    after = copy.deepcopy(before)
    for change in changes:
        if not change.path:
            raise PolicyError("a change needs the path of a key.")
        trail: list[tuple[Any, str | int]] = []
        place: Any = after
        for step, deeper in zip(change.path, [*change.path[1:], None], strict=True):
            trail.append((place, step))
            if deeper is not None:
                place = _entered(place, step, create=change.value is not REMOVED)
                if place is None:
                    break
        if place is not None:
            _set(place, change.path[-1], change.value)
            if change.value is REMOVED:
                _prune(trail)
    return after


def _entered(place: Any, step: str | int, *, create: bool) -> Any:
    if isinstance(place, list):
        if not isinstance(step, int) or not 0 <= step < len(place):
            raise PolicyError(f"the policy has no entry number {step} there; load the page again.")
        return place[step]
    if not isinstance(place, dict):
        raise PolicyError(f"the policy has no key {step!r} there; change it in the text.")
    inner = place.get(str(step))
    if inner is None or not isinstance(inner, (dict, list)):
        if not create:
            return None
        inner = place[str(step)] = {}
    return inner


def _set(place: Any, step: str | int, value: Any) -> None:
    if isinstance(place, list):
        if not isinstance(step, int) or not 0 <= step <= len(place):
            raise PolicyError(f"the policy has no entry number {step} there; load the page again.")
        if value is REMOVED:
            del place[step : step + 1]
        else:
            place[step : step + 1] = [_plain(value)]
    elif not isinstance(place, dict):
        raise PolicyError(f"the policy has no key {step!r} there; change it in the text.")
    elif value is REMOVED:
        place.pop(str(step), None)
    else:
        place[str(step)] = _plain(value)


def _prune(trail: list[tuple[Any, str | int]]) -> None:
    for place, step in reversed(trail[:-1]):
        if isinstance(place, dict) and place.get(str(step)) in ({}, []):
            del place[str(step)]


# ---------------------------------------------------------------------------------------------- comparing


class _Patch:
    """Collects what has to be replaced in one text so that its content becomes another one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = Spans(text)
        self.splices = _Splices(text)
        self.line_end = "\r\n" if "\r\n" in text else "\n"

    def value(self, node: yaml.Node, new: Any, *, after_key: int | None = None, indent: int = 0) -> None:
        """Make one node say something else; ``after_key`` is where its key ends, ``indent`` where the key starts."""
        if content_of(node) == new:
            return
        if after_key is not None and node.start_mark.index < after_key:
            raise PolicyError(_ANCHOR)  # an alias: its text stands elsewhere
        if isinstance(node, yaml.MappingNode) and isinstance(new, dict) and new and node.value:
            changed = self._mapping(node, new)
        elif isinstance(node, yaml.SequenceNode) and isinstance(new, list) and new and node.value:
            changed = self._sequence(node, new)
        else:
            changed = False
        if not changed:
            self._whole(node, new, after_key, indent)

    def _whole(self, node: yaml.Node, new: Any, after_key: int | None, indent: int) -> None:
        start, end = node.start_mark.index, self.spans.end(node)
        style = node.style if isinstance(node, yaml.ScalarNode) and node.style in ('"', "'") else None
        written = scalar_as_quoted(new, style=style) if isinstance(new, str) else flow(new)
        if after_key is not None:
            between = self.text[after_key:start]
            if not between.strip():  # no comment between: the value goes on the line of its key
                start, written = after_key, f" {written}" if written else ""
            elif node.start_mark.column <= indent:
                written = " " * (indent + 2 - node.start_mark.column) + written
        self.splices.put(start, end, written)

    def _mapping(self, node: yaml.MappingNode, new: Content) -> bool:
        """Change a mapping key by key; False where no key of it stays, so that it is written anew."""
        pairs = node.value
        own = [key.value if not _is_merge(key, value) else None for key, value in pairs]
        kept = [name is None or name in new for name in own]
        if not any(kept):
            return False
        for (key, value), name, stays in zip(pairs, own, kept, strict=True):
            if stays and name is not None:
                colon = self.text.find(":", key.end_mark.index) + 1
                self.value(value, new[name], after_key=colon, indent=key.start_mark.column)
        merged = content_of(node)
        added = {name: value for name, value in new.items() if name not in own and merged.get(name, REMOVED) != value}
        spans = [(key.start_mark.index, max(self.spans.end(value), key.end_mark.index)) for key, value in pairs]
        texts = [
            f"{scalar_as_quoted(name)}: {flow(value)}" if value is not None else f"{scalar_as_quoted(name)}:"
            for name, value in added.items()
        ]
        if node.flow_style:
            self._in_flow(spans, kept, {len(pairs): texts} if texts else {})
        else:
            column = pairs[0][0].start_mark.column
            self._in_block(spans, kept, {len(pairs): texts} if texts else {}, column, "")
        return True

    def _sequence(self, node: yaml.SequenceNode, new: list[Any]) -> bool:
        """Change a list entry by entry; False where no entry of it stays, so that it is written anew."""
        items = node.value
        old = [json.dumps(content_of(item), sort_keys=True) for item in items]
        kept = [False] * len(items)
        added: dict[int, list[str]] = {}
        inner: list[tuple[yaml.Node, Any]] = []
        opcodes = SequenceMatcher(
            None, old, [json.dumps(item, sort_keys=True) for item in new], autojunk=False
        ).get_opcodes()
        for tag, i1, i2, j1, j2 in opcodes:
            if tag == "equal":
                kept[i1:i2] = [True] * (i2 - i1)
                continue
            paired = min(i2 - i1, j2 - j1)
            for i, j in zip(range(i1, i1 + paired), range(j1, j1 + paired), strict=True):
                kept[i] = True
                inner.append((items[i], new[j]))
            if j2 - j1 > paired:
                added[i1 + paired] = [flow(value) for value in new[j1 + paired : j2]]
        if not any(kept):
            return False
        starts = [self.spans.dash(item) if not node.flow_style else item.start_mark.index for item in items]
        if starts != sorted(starts):
            raise PolicyError(_ANCHOR)
        for item, value in inner:
            self.value(item, value)
        spans = [(start, self.spans.end(item)) for start, item in zip(starts, items, strict=True)]
        if node.flow_style:
            self._in_flow(spans, kept, added)
        else:
            self._in_block(spans, kept, added, node.start_mark.column, "- ")
        return True

    def _in_flow(self, spans: list[tuple[int, int]], kept: list[bool], added: dict[int, list[str]]) -> None:
        """Take entries out of ``{…}`` or ``[…]`` and put others in; commas go with what they belong to."""
        last = max(i for i, stays in enumerate(kept) if stays)
        for i, (start, end) in enumerate(spans):
            comma = self.spans.comma(end)
            if not kept[i]:
                stop = end
                if comma is not None:
                    if self.text[end:comma].strip():
                        self.splices.put(comma, comma + 1, "")
                    else:
                        stop = comma + 1
                    if stop > end and i < last:
                        while stop < len(self.text) and self.text[stop] == " ":
                            stop += 1
                if i > last:
                    while self.text[start - 1] == " ":
                        start -= 1
                self.splices.put(start, stop, "")
            elif i == last and comma is not None and last < len(spans) - 1:
                self.splices.put(comma, comma + 1, "")
        for place, texts in added.items():
            before = [i for i in range(min(place, len(spans))) if kept[i]]
            if before:
                at = spans[before[-1]][1]
                self.splices.put(at, at, "".join(f", {text}" for text in texts))
            else:
                at = spans[kept.index(True)][0]
                self.splices.put(at, at, "".join(f"{text}, " for text in texts))

    def _in_block(
        self, spans: list[tuple[int, int]], kept: list[bool], added: dict[int, list[str]], column: int, dash: str
    ) -> None:
        """Take lines out of a block and put others in; a comment behind an entry that goes stays on its line."""
        for i, (start, end) in enumerate(spans):
            if kept[i]:
                continue
            first, stop = self.spans.line_start(start), self.spans.line_end(end)
            if self.text[first:start].strip():  # the first key of an entry, on the line of its dash
                following = next((spans[j][0] for j in range(i + 1, len(spans)) if kept[j]), None)
                if following is None:
                    raise PolicyError(_ANCHOR)
                noted = self.text[end:following].strip()
                self.splices.put(start, end if noted else following, "")
            elif self.text[end:stop].strip():
                note = end + len(self.text[end:stop]) - len(self.text[end:stop].lstrip())
                self.splices.put(start, note, "")
            elif first == 0:
                self.splices.put(0, min(stop + len(self.line_end), len(self.text)), "")
            else:
                self.splices.put(first - (2 if self.text[first - 2 : first] == "\r\n" else 1), stop, "")
        for place, texts in added.items():
            before = [i for i in range(min(place, len(spans))) if kept[i]]
            if before:
                at = self.spans.line_end(spans[before[-1]][1])
                lines = "".join(f"{self.line_end}{' ' * column}{dash}{text}" for text in texts)
            else:
                at = spans[kept.index(True)][0]
                lines = "".join(f"{dash}{text}{self.line_end}{' ' * column}" for text in texts)
            self.splices.put(at, at, lines)


def _is_merge(key: yaml.Node, value: yaml.Node) -> bool:
    return key.value == "<<" and not key.style and isinstance(value, yaml.MappingNode)  # type: ignore[attr-defined]


def edit_text(text: str, changes: Sequence[Change]) -> Edited:
    """Return the text with some changes made, and the comments that went with values they stood in."""
    root = compose(text)
    before = content_of(root)
    after = content_after(before, changes)
    return _to(text, root, before, after)


def rewrite_text(text: str, after: Content) -> Edited:
    """Return the text changed so that it says something else."""
    root = compose(text)
    return _to(text, root, content_of(root), _plain(after))


def _to(text: str, root: yaml.MappingNode, before: Content, after: Content) -> Edited:
    if before == after:
        return Edited(text, ())
    patch = _Patch(text)
    patch.value(root, after)
    new = patch.splices.applied()
    try:
        reread = content(new)
    except PolicyError:
        raise PolicyError(_ANCHOR) from None
    if reread != after:
        raise PolicyError(_ANCHOR)
    lost = Counter(comments(text)) - Counter(comments(new))
    return Edited(new, tuple(lost.elements()))
