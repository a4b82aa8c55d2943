"""Hierarchies drawn on a terminal."""

from __future__ import annotations

import itertools
from collections import Counter

from rich.console import Console
from rich.tree import Tree as Drawing

from kveil.cli.terminal import safe
from kveil.policy.lines import Lines
from kveil.words import count


def show_tree(out: Console, lines: Lines, most: int) -> None:
    """Draw a hierarchy, with the number of leaves under every inner node."""
    children: dict[str, dict[str, None]] = {}
    leaves: Counter[str] = Counter()
    for line in lines.lines:
        leaves.update(line[1:])
        for child, parent in itertools.pairwise(line):
            children.setdefault(parent, {})[child] = None
    height = max(len(line) for line in lines.lines) - 1 if lines.lines else 0
    out.print(f"{count(len(lines.lines), 'leaf', 'leaves')}, {count(len(children), 'inner node')}, height {height}")
    drawing = Drawing(_on_one_line(lines.root))
    waiting = [(lines.root, drawing)]  # not by recursion: a file may be deeper than that may go
    while waiting:
        label, at = waiting.pop()
        below = list(children.get(label, ()))
        for child in below[:most]:
            inner = f" ({count(leaves[child], 'leaf', 'leaves')})" if child in children else ""
            waiting.append((child, at.add(f"{_on_one_line(child)}{inner}")))
        if len(below) > most:
            at.add(f"… {len(below) - most:,} more")
    out.print(drawing)


def _on_one_line(label: str) -> str:
    """Return a label as a terminal may show it; a line break in it would draw a node that is none."""
    return safe(label).replace("\n", "\\n").replace("\t", "\\t")
