"""Hierarchies as lines of texts: every leaf's way to the root, however the policy writes it.

This is what a hierarchy *means*; `table.tree` turns it into arrays for the algorithms, and the verifier
reads it on its own.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Attribute, Dates, Hierarchy, HierarchyFile, Intervals, Mask, Ranges, Tree
from kveil.policy.model import Policy
from kveil.policy.numbers import EXACT, is_whole, multiple_below, parse_number, show_number, show_span
from kveil.words import did_you_mean

Line = tuple[str, ...]  # leaf first, root last

_TIME = re.compile(r"[T ]\d{2}:\d{2}.*", re.ASCII | re.DOTALL)


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


def check_lines(lines: Iterable[Line], where: str, remedy: str = "correct the hierarchy") -> tuple[Line, ...]:
    """Return the lines, each leaf once, if they form one tree; raise PolicyError otherwise.

    O(total length of the lines).
    """
    leaves: dict[str, Line] = {}
    edges: set[tuple[str, str]] = set()
    roots: dict[str, None] = {}
    for line in lines:
        if leaves.setdefault(line[0], line) != line:
            raise PolicyError(f"{where}: the leaf {line[0]!r} is listed twice with different parents; {remedy}.")
        edges.update(pairwise(line))
        roots[line[-1]] = None
    if not roots:
        raise PolicyError(f"{where}: it has no leaf; {remedy}.")
    parent: dict[str, str] = {}
    for child, above in sorted(edges) if len({child for child, _ in edges}) < len(edges) else edges:
        if parent.setdefault(child, above) != above:
            raise PolicyError(
                f"{where}: the label {child!r} has two parents, {parent[child]!r} and {above!r}; {remedy}."
            )
    both = leaves.keys() & parent.values()
    if both:
        raise PolicyError(f"{where}: the label {min(both)!r} is both a leaf and an inner node; {remedy}.")
    inner = [root for root in roots if root in parent]
    if inner:
        raise PolicyError(f"{where}: a line ends at {inner[0]!r}, others go on from there; {remedy}.")
    if len(roots) > 1:
        first, second = list(roots)[:2]
        raise PolicyError(f"{where}: it has two roots, {first!r} and {second!r}; end every line with one root.")
    return tuple(leaves.values())


def read_hierarchy_file(path: Path) -> Lines:
    """Read ARX's form: one line a leaf, ``leaf;parent;…;root``, separated by ``;`` or ``,``, no header."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PolicyError(
            f"the hierarchy file {path.name or str(path)} cannot be read ({error.strerror}); check its path."
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{path.name}: line {line} is not UTF-8; save the hierarchy as UTF-8.") from None
    separator = ";" if ";" in re.sub(r'"[^"]*"', "", text) else ","
    found: list[Line] = []
    try:
        for fields in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            while len(fields) > 1 and fields[-1] == "":
                fields.pop()
            if fields:
                found.append(collapse(fields))
    except csv.Error:
        raise PolicyError(f"{path.name}: a quote is opened and not closed rightly; correct the file.") from None
    lines = check_lines(found, path.name)
    return Lines(lines, lines[0][-1], built=False)


# ---------------------------------------------------------------------------------------------- builders


class IntervalScale:
    """The intervals of one attribute: nested, starting at `from`, the last cut at `to`.

    Inclusive for whole numbers (``11-20``), half-open for others (``[1.5,2.5)``). A column is of whole
    numbers if the policy's numbers and all its values are.
    """

    def __init__(self, spec: Intervals, real: bool) -> None:
        self.spec = spec
        self.real = real or not all(is_whole(n) for n in (spec.from_, spec.to, *spec.widths))

    def bounds(self, number: Decimal, width: Decimal) -> tuple[Decimal, Decimal]:
        """Return the interval of a width that holds a number, as its label names the bounds."""
        start = self.spec.from_
        low = EXACT.add(start, multiple_below(EXACT.subtract(number, start), width))
        high = EXACT.add(low, width) if self.real else EXACT.add(low, EXACT.subtract(width, Decimal(1)))
        return low, min(high, self.spec.to)

    def label(self, low: Decimal, high: Decimal) -> str:
        """Return the text of an interval; an interval of one whole number is that number."""
        return f"[{show_number(low)},{show_number(high)})" if self.real else show_span(low, high)

    def holds(self, number: Decimal) -> bool:
        """Tell whether a number lies on the scale; half-open intervals leave `to` itself out."""
        if self.real:
            return self.spec.from_ <= number < self.spec.to
        return self.spec.from_ <= number <= self.spec.to and is_whole(number)

    def line(self, value: str) -> Line | None:
        """Return a value's way up, None where the scale does not know it."""
        number = parse_number(value)
        if number is None or not self.holds(number):
            return None
        labels = [self.label(*self.bounds(number, width)) for width in self.spec.widths]
        if labels[0] == show_number(number):
            labels = [value if label == labels[0] else label for label in labels]
        return collapse([value, *labels, STAR])

    def height(self, low: Decimal, level: int) -> int:
        """Return how many edges a leaf may lie below the interval of ``widths[level]`` that starts at low.

        The first interval inside is the widest, so it decides.
        """
        if level < 0:
            return 0
        here = self.label(*self.bounds(low, self.spec.widths[level]))
        if level:
            below = self.label(*self.bounds(low, self.spec.widths[level - 1]))
        else:
            below = "" if self.real else show_number(low)
        return self.height(low, level - 1) + (here != below)


def _mask_climber(spec: Mask) -> Callable[[str], Line]:
    """Return the way up of values; values of one length and beginning share theirs above the first mask."""
    longest = spec.keep[0]

    @cache
    def above(start: str, length: int) -> Line:
        return collapse([*[start[:kept] + STAR * (length - kept) for kept in spec.keep], STAR])

    def line(value: str) -> Line:
        upper = above(value[:longest], len(value))
        return upper if upper[0] == value else (value, *upper)

    return line


_DATE_LABELS: dict[str, Callable[[str], str]] = {
    "month": lambda date: date[:7],
    "quarter": lambda date: f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}",
    "year": lambda date: date[:4],
    "decade": lambda date: date[:3] + STAR,
    "century": lambda date: date[:2] + STAR * 2,
}


def _date_climber(spec: Dates) -> Callable[[str], Line | None]:
    """Return the way up of ISO dates, or of moments that start with one; None for anything else."""

    @cache
    def above(month: str) -> Line:
        return (*[_DATE_LABELS[level](month) for level in spec.levels], STAR)

    def line(value: str) -> Line | None:
        date = value[:10]
        if date[4:5] != "-" or date[7:8] != "-" or (len(value) > 10 and not _TIME.fullmatch(value, 10)):
            return None
        try:
            datetime.date.fromisoformat(date)
        except ValueError:
            return None
        return (value, *above(date[:7]))

    return line


def is_real(values: Iterable[str]) -> bool:
    """Tell whether any of the values is a number with a fraction."""
    return any(n is not None and not is_whole(n) for n in map(parse_number, values))


def climber(spec: Hierarchy | None, values: Iterable[str]) -> Callable[[str], Line | None]:
    """Return the function from a value to its way up, for builders and for no hierarchy.

    ``values`` are a column's distinct values: they decide whether `intervals` are of whole numbers.
    """
    if spec is None:
        return lambda value: (value, STAR)
    if isinstance(spec, Intervals):
        return IntervalScale(spec, is_real(values)).line
    if isinstance(spec, Mask):
        return _mask_climber(spec)
    if isinstance(spec, Dates):
        return _date_climber(spec)
    raise TypeError(f"{type(spec).__name__} is no builder")


def _in_order(spec: Hierarchy | None, values: Iterable[str]) -> list[str]:
    if isinstance(spec, Intervals):
        return sorted(values, key=lambda value: (parse_number(value) or Decimal(0), value))
    return sorted(values)


def build_lines(spec: Hierarchy | None, values: Iterable[str], where: str) -> tuple[Lines, list[str]]:
    """Return a builder's hierarchy over a column's distinct values, and the values it does not know.

    Leaves stand in their natural order: numbers by size, other texts by code point.
    """
    distinct = _in_order(spec, values)
    climb = climber(spec, distinct)
    found: list[Line] = []
    unknown: list[str] = []
    for value in distinct:
        line = climb(value)
        if line is None:
            unknown.append(value)
        else:
            found.append(line)
    if isinstance(spec, Mask) and any(STAR in value for value in distinct):
        # Only a value that looks masked already can stand in another one's way.
        check_lines(found, where, "rename the values that contain `*`, or use a hierarchy file")
    return Lines(tuple(found), STAR, built=True), unknown


def balanced_lines(
    counts: Iterable[tuple[str, int]], fan_out: int, order: Callable[[str], Any] | None = None
) -> tuple[Line, ...]:
    """Return a tree over values whose siblings hold about equally many records, in the order of their texts.

    ``order`` gives values other places. Each level cuts its parent's run of values into at most ``fan_out`` parts
    of about equal weight; inner nodes are called by their first and last value.
    """
    found: list[Line] = []

    def cut(run: list[tuple[str, int]], above: Line) -> None:
        if len(run) <= fan_out:
            found.extend((value, *above) for value, _ in run)
            return
        total, seen = sum(weight for _, weight in run), 0
        parts: list[list[tuple[str, int]]] = [[] for _ in range(fan_out)]
        for value, weight in run:
            parts[min(fan_out - 1, seen * fan_out // total)].append((value, weight))
            seen += weight
        filled = [part for part in parts if part]
        for part in filled:
            if len(part) == 1:
                found.append((part[0][0], *above))
            elif len(filled) == 1:
                found.extend((value, *above) for value, _ in part)
            else:
                cut(part, (f"{part[0][0]} … {part[-1][0]}", *above))

    if fan_out < 2:
        raise PolicyError("balanced:N needs N of at least 2.")
    cut(sorted(counts, key=lambda pair: (pair[0] if order is None else order(pair[0]), pair[0])), (STAR,))
    return tuple(found)


# ---------------------------------------------------------------------------------------------- of a policy


def fixed_lines(policy: Policy, name: str) -> Lines | None:
    """Return the hierarchy of an attribute that does not depend on data: a file or a `tree`; else None."""
    known: dict[str, Lines | None] = policy._lines
    if name not in known:
        spec = policy.attributes[name].hierarchy
        if isinstance(spec, HierarchyFile):
            known[name] = read_hierarchy_file(policy.folder / spec.path)
        elif isinstance(spec, Tree):
            lines = check_lines(map(collapse, spec.paths()), f"attributes.{name}.hierarchy")
            known[name] = Lines(lines, lines[0][-1], built=False)
        else:
            known[name] = None
    return known[name]


def read_hierarchies(policy: Policy) -> None:
    """Read every hierarchy file of a policy and check the boundaries that are marked by name.

    In trees that are built from data a marked node may be one that this data does not have; only what no data could
    have is an error there.
    """
    for name, attribute in policy.attributes.items():
        lines = fixed_lines(policy, name)
        spec = attribute.hierarchy
        if isinstance(spec, Ranges) or (lines is None and not marked_nodes(attribute)):
            continue
        labels = {label for line in lines.lines for label in line} if lines is not None else set()
        inner = {label for line in lines.lines for label in line[1:]} if lines is not None else set()
        for text in policy.data.missing:
            if text in inner:
                raise PolicyError(
                    f"data.missing lists {text!r}, which is an inner node of the hierarchy of {name}; "
                    "rename one of the two."
                )
        known = label_test(spec, lines)
        for node in marked_nodes(attribute):
            if not known(node) and node not in policy.data.missing:
                raise PolicyError(
                    f"attributes.{name}.boundary marks {node!r}, which its hierarchy does not have"
                    f"{did_you_mean(node, labels) or '; mark one of its nodes.'}"
                )


def marked_nodes(attribute: Attribute) -> tuple[str, ...]:
    """Return the nodes an attribute's boundary marks by name."""
    boundary = attribute.boundary
    return boundary.nodes if boundary is not None and boundary.form == "marked" else ()


def is_tree(attribute: Attribute) -> bool:
    """Tell whether an attribute generalizes along a tree (`ranges` does not)."""
    return not isinstance(attribute.hierarchy, Ranges)


def label_test(spec: Hierarchy | None, lines: Lines | None) -> Callable[[str], bool]:
    """Return a test whether a text can be a node of a hierarchy at all, without the data it is built over.

    Certain for files and trees; for builders it rejects what no value could give.
    """
    if lines is not None:
        labels = {label for line in lines.lines for label in line}
        return labels.__contains__
    if isinstance(spec, Dates):
        return lambda text: text == STAR or _is_date_label(spec, text)
    if isinstance(spec, Intervals):
        scales = (IntervalScale(spec, real=False), IntervalScale(spec, real=True))
        return lambda text: text == STAR or any(_is_interval_label(scale, text) for scale in scales)
    return lambda text: True


def _is_date_label(spec: Dates, text: str) -> bool:
    if _date_climber(spec)(text) is not None:
        return True
    patterns = {
        "month": r"\d{4}-(0[1-9]|1[0-2])",
        "quarter": r"\d{4}-Q[1-4]",
        "year": r"\d{4}",
        "decade": r"\d{3}\*",
        "century": r"\d{2}\*\*",
    }
    return any(re.fullmatch(patterns[level], text, re.ASCII) for level in spec.levels)


def _is_interval_label(scale: IntervalScale, text: str) -> bool:
    if scale.line(text) is not None:
        return True
    low = parse_number(text[1:].split(",")[0] if text.startswith("[") else text.split("-")[0])
    if low is None or not scale.holds(low):
        return False
    return any(scale.label(*scale.bounds(low, width)) == text for width in scale.spec.widths)
