"""What a hierarchy means: lines of texts, each a leaf's way up to the root."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kveil.errors import PolicyError

Line = tuple[str, ...]  # leaf first, root last


@dataclass(frozen=True)
class Lines:
    """The leaves of one hierarchy with their ways up, in leaf order as written or built."""

    lines: tuple[Line, ...]
    root: str
    built: bool  # from the values of a table, so that other values have no leaf


def collapse(line: Sequence[str]) -> Line:
    """Return a line in which a label repeated next to itself stands once."""
    if len(set(line)) == len(line):
        return tuple(line)
    return tuple(label for i, label in enumerate(line) if i == 0 or label != line[i - 1])


def check_lines(
    lines: Iterable[Line], where: str, *, remedy: str = "correct the hierarchy", quoted: bool = True
) -> tuple[Line, ...]:
    """Return the lines, each leaf once, if they form one tree; raise PolicyError otherwise.

    Errors name the labels in question unless ``quoted`` is False. O(total length of the lines).
    """
    show: Callable[[str], str] = repr if quoted else (lambda _: "(not shown)")
    leaves: dict[str, Line] = {}
    edges: set[tuple[str, str]] = set()
    roots: dict[str, None] = {}
    for line in lines:
        if leaves.setdefault(line[0], line) != line:
            raise PolicyError(f"{where}: the leaf {show(line[0])} is listed twice with different parents; {remedy}.")
        edges.update(pairwise(line))
        roots[line[-1]] = None
    if not roots:
        raise PolicyError(f"{where}: it has no leaf; {remedy}.")
    parent: dict[str, str] = {}
    for child, above in sorted(edges) if len({child for child, _ in edges}) < len(edges) else edges:
        if parent.setdefault(child, above) != above:
            raise PolicyError(
                f"{where}: the label {show(child)} has two parents, {show(parent[child])} and {show(above)}; {remedy}."
            )
    both = leaves.keys() & parent.values()
    if both:
        raise PolicyError(f"{where}: the label {show(min(both))} is both a leaf and an inner node; {remedy}.")
    inner = [root for root in roots if root in parent]
    if inner:
        raise PolicyError(f"{where}: a line ends at {show(inner[0])}, others go on from there; {remedy}.")
    if len(roots) > 1:
        first, second = list(roots)[:2]
        if len(roots) == 2 and sum(line[-1] == first for line in leaves.values()) == 1 < len(leaves) - 1:
            raise PolicyError(
                f"{where}: line 1 ends in {show(first)}, all others in {show(second)}; a hierarchy file has no line of "
                "names, so take line 1 out."
            )
        raise PolicyError(f"{where}: it has two roots, {show(first)} and {show(second)}; end every line with one root.")
    return tuple(leaves.values())


def in_preorder(lines: Sequence[Line]) -> list[str]:
    """Return all labels of a tree, parents before children, children in the order the lines first name them."""
    children: dict[str, dict[str, None]] = {}
    for line in lines:
        for child, parent in pairwise(line):
            children.setdefault(parent, {})[child] = None
    labels, stack = [], [lines[0][-1]] if lines else []
    while stack:
        label = stack.pop()
        labels.append(label)
        stack.extend(reversed(children.get(label, {})))
    return labels
