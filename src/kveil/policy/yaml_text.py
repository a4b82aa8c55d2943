"""Parts of a policy as text: values, comments, and hierarchy files with their names."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from kveil.policy.lines import Line
from kveil.policy.written import WrittenTree

_Branch = dict[str, "_Branch"]
WIDTH = 110
MOST_LEAVES_INSIDE = 60  # of a tree that is written into the policy rather than beside it


def scalar(text: str) -> str:
    """Return a text as YAML writes it, in quotes unless that cannot be needed.

    What cannot be seen is written by its number, as YAML does it: JSON would write large ones as two halves.
    """
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*", text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)


def flow_text(value: Any, *, write: Callable[[Any], str] | None = None) -> str:
    """Return texts, lists and mappings as YAML writes them on one line; ``write`` writes what is no list or mapping."""
    write = write or _plain_text
    if isinstance(value, dict):
        pairs = (f"{write(str(key))}: {flow_text(inner, write=write)}" for key, inner in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_text(inner, write=write) for inner in value) + "]"
    return write(value)


def _plain_text(value: Any) -> str:
    return scalar(str(value))


def comment(text: str, *, indent: str = "") -> list[str]:
    """Return a text as comment lines of a readable width."""
    found, line = [], ""
    for word in " ".join(text.split()).split(" "):
        if line and len(line) + len(word) + 1 > WIDTH - len(indent) - 2:
            found.append(f"{indent}# {line}")
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*found, f"{indent}# {line}"]


def hierarchy_file_name(stem: str, column: str, taken: set[str]) -> str:
    """Return the name of a column's hierarchy file beside a policy: with a marker, and different from those taken."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", column).strip("-") or "column"
    name, number = f"{stem}.{plain}.hierarchy.csv", 2
    while name.lower() in taken:
        name, number = f"{stem}.{plain}-{number}.hierarchy.csv", number + 1
    taken.add(name.lower())
    return name


def tree_mapping(lines: Sequence[Line]) -> WrittenTree | list[str]:
    """Return a tree's lines as the mapping that `tree` takes: groups are keys, lists hold values."""
    root: _Branch = {}
    for line in lines:
        place = root
        for label in reversed(line):
            place = place.setdefault(label, {})
    return _with_lists(root)


def _with_lists(tree: _Branch) -> WrittenTree | list[str]:
    if all(not below for below in tree.values()):
        return list(tree)
    return {label: _with_lists(below) if below else [] for label, below in tree.items()}


def hierarchy_csv(lines: Sequence[Line]) -> str:
    """Return a tree's lines as a hierarchy file has them."""
    out = io.StringIO()
    plain = csv.writer(out, delimiter=";", lineterminator="\n")
    quoted = csv.writer(out, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL)
    for line in lines:  # Python leaves a lone \r without quotes, and whoever reads the file ends the line there
        (quoted if any("\r" in label for label in line) else plain).writerow(line)
    return out.getvalue()
