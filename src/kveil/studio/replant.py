"""Change a hierarchy: rename, move, group, dissolve, place values. Lines in, lines out; nothing else is touched."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from kveil.errors import PolicyError
from kveil.policy.lines import Line, check_lines, collapse


def _labels(lines: Sequence[Line]) -> set[str]:
    return {label for line in lines for label in line}


def _fresh(lines: Sequence[Line], label: str) -> str:
    label = label.strip()
    if not label:
        raise PolicyError("a node needs a name; type one.")
    if label in _labels(lines):
        raise PolicyError(f"the tree has a node {label!r} already; take another name.")
    return label


def _known(lines: Sequence[Line], labels: Sequence[str]) -> None:
    unknown = [label for label in labels if label not in _labels(lines)]
    if unknown:
        raise PolicyError(f"the tree has no node {unknown[0]!r}; load the page again.")


def rename_node(lines: Sequence[Line], label: str, new: str) -> tuple[Line, ...]:
    """Return the tree with a node called otherwise; leaves are values of the table and keep their names."""
    _known(lines, [label])
    if label == lines[0][-1] or any(line[0] == label for line in lines):
        raise PolicyError("values of the table and the top keep their names; rename a group between them.")
    new = _fresh(lines, new)
    return tuple(tuple(new if each == label else each for each in line) for line in lines)


def move_nodes(lines: Sequence[Line], labels: Sequence[str], under: str) -> tuple[Line, ...]:
    """Return the tree with some nodes, and all below them, under another one."""
    _known(lines, [*labels, under])
    root = lines[0][-1]
    if any(line[0] == under for line in lines):
        raise PolicyError(f"{under!r} is a value, nothing can stand below it; choose a group.")
    above = _way(lines, under)
    if root in labels:
        raise PolicyError("the top of the tree cannot be moved; move what stands below it.")
    if any(label in above for label in labels):
        raise PolicyError("a node cannot be moved below itself; choose another place.")
    chosen = set(labels)
    new = []
    for line in lines:
        at = max((i for i, label in enumerate(line) if label in chosen), default=None)
        new.append(line if at is None else (*line[: at + 1], *above))
    return _planted(_in_place(new, above))


def with_group(lines: Sequence[Line], labels: Sequence[str], name: str) -> tuple[Line, ...]:
    """Return the tree with a new node between some nodes and their common parent."""
    _known(lines, labels)
    name = _fresh(lines, name)
    parents = {_way(lines, label)[1:2] for label in labels}
    if len(parents) != 1 or parents == {()}:
        raise PolicyError("only nodes under one parent can be grouped; tick some that stand side by side.")
    chosen = set(labels)
    new = []
    for line in lines:
        at = next((i for i, label in enumerate(line) if label in chosen), None)
        new.append(line if at is None else (*line[: at + 1], name, *line[at + 1 :]))
    return _planted(_in_place(new, (name, *_way(lines, labels[0])[1:])))


def dissolve_group(lines: Sequence[Line], label: str) -> tuple[Line, ...]:
    """Return the tree without a group: what stood below it stands under its parent."""
    _known(lines, [label])
    if label == lines[0][-1] or any(line[0] == label for line in lines):
        raise PolicyError(f"{label!r} cannot be dissolved; only groups between the values and the top can.")
    return _planted([tuple(each for each in line if each != label) for line in lines])


def place_values(lines: Sequence[Line], values: Sequence[str], under: str) -> tuple[Line, ...]:
    """Return the tree with values it did not know under one of its groups."""
    _known(lines, [under])
    if any(line[0] == under for line in lines):
        raise PolicyError(f"{under!r} is a value, nothing can stand below it; choose a group.")
    above = _way(lines, under)
    known = _labels(lines)
    new = [(value, *above) for value in values if value not in known]
    return _planted(_in_place([*lines, *new], above))


def paste_rows(text: str, name: str) -> tuple[Line, ...]:
    """Return the tree that rows of a spreadsheet write: one row per value, from the value to the top."""
    rows = [row for row in text.splitlines() if row.strip()]
    sign = "\t" if any("\t" in row for row in rows) else ";" if any(";" in row for row in rows) else ","
    try:
        cells = csv.reader(io.StringIO("\n".join(rows)), delimiter=sign, strict=True)
        read = [[cell.strip() for cell in row] for row in cells]
    except csv.Error:
        raise PolicyError("a quote is opened and not closed rightly; correct the rows.") from None
    lines = []
    for row in read:
        while len(row) > 1 and not row[-1]:
            row.pop()
        lines.append(collapse(row if len(row) > 1 else [*row, "*"]))
    tops = {line[-1] for line in lines}
    if len(tops) > 1:
        lines = [(*line, "*") if line[-1] != "*" else line for line in lines]
    return check_lines(lines, name, remedy="correct the rows")


def _way(lines: Sequence[Line], label: str) -> Line:
    """Return a node's way to the root, itself first."""
    for line in lines:
        if label in line:
            return line[line.index(label) :]
    raise PolicyError(f"the tree has no node {label!r}; load the page again.")


def _in_place(lines: Sequence[Line], under: Line) -> list[Line]:
    """Put lines that share a node beside each other, where the first of them stands."""
    node = under[0]
    inside = [line for line in lines if node in line]
    placed_lines: list[Line] = []
    for line in lines:
        if node not in line:
            placed_lines.append(line)
        elif line is inside[0]:
            placed_lines += inside
    return placed_lines


def _planted(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return lines that form one tree; a group that lost everything below it is gone."""
    return check_lines(lines, "the tree", remedy="undo, or change it another way")
