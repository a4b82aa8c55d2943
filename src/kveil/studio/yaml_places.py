"""Where the parts of a YAML text stand: ends of values, commas, dashes, comments, the note above a key."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import yaml

# libyaml's marks are those of the reader in Python, which takes ten times as long; not every build has it.
LOADER: type = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _scalar_spans(text: str) -> list[tuple[int, int]]:
    return [
        (token.start_mark.index, token.end_mark.index)
        for token in yaml.scan(text, Loader=LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]


def _comment_spans(text: str, scalars: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found = []
    at = place = 0
    while (at := text.find("#", at)) >= 0:
        while place < len(scalars) and scalars[place][1] <= at:
            place += 1
        if place < len(scalars) and scalars[place][0] <= at and not _after_block(text, scalars[place], at):
            at = scalars[place][1]
            continue
        end = at
        while end < len(text) and text[end] not in "\r\n":
            end += 1
        found.append((at, end))
        at = end
    return found


def _after_block(text: str, span: tuple[int, int], at: int) -> bool:
    """Tell whether a sign stands on the first line of a block scalar, behind its ``|``: there it starts a comment."""
    start = span[0]
    return text[start] in "|>" and "\n" not in text[start:at] and text[at - 1] in " \t"


def comments(text: str) -> list[str]:
    """Return the comments of a YAML text, in its order."""
    return [text[start:end].rstrip() for start, end in _comment_spans(text, _scalar_spans(text))]


class Spans:
    """One text, and where its values end: block values end with their last value, not with what follows them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _comments(self) -> list[tuple[int, int]]:
        return _comment_spans(self.text, _scalar_spans(self.text))

    @cached_property
    def _comment_starts(self) -> list[int]:
        return [start for start, _ in self._comments]

    def end(self, node: yaml.Node) -> int:
        """Return where a value ends, without blanks, line ends and comments behind it."""
        if isinstance(node, yaml.ScalarNode):
            end = node.end_mark.index
            if node.style in ("|", ">"):
                while end > node.start_mark.index and self.text[end - 1] in " \r\n\t":
                    end -= 1
            return int(end)
        assert isinstance(node, yaml.CollectionNode)
        if node.flow_style or not node.value:
            return int(node.end_mark.index)
        last = node.value[-1]
        if isinstance(node, yaml.SequenceNode):
            return self.end(last)
        return max(self.end(last[1]), int(last[0].end_mark.index) + 1)

    def _skipped(self, at: int) -> int:
        """Return the next place that is neither blank nor in a comment."""
        while at < len(self.text):
            if self.text[at] in " \t\r\n":
                at += 1
                continue
            inside = bisect_right(self._comment_starts, at) - 1
            if inside >= 0 and self._comments[inside][0] <= at < self._comments[inside][1]:
                at = self._comments[inside][1]
                continue
            break
        return at

    def comma(self, end: int) -> int | None:
        """Return where the comma behind an entry of a flow collection stands, None if there is none."""
        at = self._skipped(end)
        return at if at < len(self.text) and self.text[at] == "," else None

    def dash(self, item: yaml.Node) -> int:
        """Return where the dash of an entry of a block sequence stands."""
        return self.text.rfind("-", 0, max(item.start_mark.index, 1))

    def line_start(self, at: int) -> int:
        """Return where the line of a place starts."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return where the line of a place ends, before its line end."""
        end = self.text.find("\n", at)
        if end < 0:
            return len(self.text)
        return end - 1 if end > at and self.text[end - 1] == "\r" else end


@dataclass(frozen=True)
class Note:
    """The comment lines directly above a key: their span in the text, and their words as one sentence."""

    start: int
    end: int
    words: str


def notes_above(text: str, keys: list[yaml.Node]) -> dict[str, Note]:
    """Return for each key the comment directly above it, if it has one; a blank line ends a comment's reach."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = {}
    for key in keys:
        number = key.start_mark.line
        first = number
        while first > 0 and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        if first < number:
            words = " ".join(line.strip().lstrip("#").strip() for line in lines[first:number])
            found[str(key.value)] = Note(starts[first], starts[number], " ".join(words.split()))
    return found
