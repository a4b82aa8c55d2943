"""The hierarchy of one attribute, however a policy writes it: its files, and every value's way up.

`table.tree` turns hierarchies into arrays for the algorithms; the verifier and the attacker read them here, as texts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Attribute, Hierarchy, Intervals
from kveil.policy.builders import both_notations, climber
from kveil.policy.lines import Line, Lines, check_lines, collapse
from kveil.policy.wording import utf8_text


def read_hierarchy_file(path: Path, *, quoted: bool = True) -> Lines:
    """Read ARX's form: one line per leaf, ``leaf;parent;…;root``, separated by ``;`` or ``,``, no header.

    Errors name labels of the file unless ``quoted`` is False.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PolicyError(
            f"the hierarchy file {path.name or str(path)} cannot be read ({error.strerror}); check its path."
        ) from None
    return parse_hierarchy(utf8_text(raw, path.name, "hierarchy"), path.name, quoted=quoted)


def parse_hierarchy(text: str, name: str, *, quoted: bool = True) -> Lines:
    """Return the hierarchy that the text of a file writes; ``name`` stands in errors."""
    separator = ";" if ";" in re.sub(r'"[^"]*"', "", text) else ","
    written: list[Line] = []
    try:
        for fields in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            while len(fields) > 1 and fields[-1] == "":
                fields.pop()
            if fields:
                written.append(collapse(fields))
    except csv.Error:
        raise PolicyError(f"{name}: a quote is opened and not closed rightly; correct the file.") from None
    lines = check_lines(written, name, quoted=quoted)
    return Lines(lines, lines[0][-1], built=False)


@dataclass(frozen=True)
class WaysUp:
    """Every value's way up the hierarchy of one attribute, from itself to the root.

    ``fixed`` is the hierarchy where a file or a `tree` gives it; else a builder makes it over ``values``, the distinct
    values of a column, which are asked for only where they are needed. ``missing`` are the texts that mean missing:
    each hangs directly under the root.
    """

    spec: Hierarchy | None
    fixed: Lines | None
    missing: frozenset[str]
    values: Iterable[str] = field(repr=False)

    @property
    def root(self) -> str:
        """The label that covers everything."""
        return STAR if self.fixed is None else self.fixed.root

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The leaves without missing: all of a fixed hierarchy, else the values it is built over."""
        leaves = self.values if self.fixed is None else (line[0] for line in self.fixed.lines)
        return tuple(leaf for leaf in leaves if leaf not in self.missing)

    @cached_property
    def _climb(self) -> Callable[[str], Line | None]:
        if self.fixed is not None:
            return {line[0]: line for line in self.fixed.lines}.get
        return climber(self.spec, self.leaves if isinstance(self.spec, Intervals) else ())

    def of(self, value: str) -> Line:
        """Return a value's way up; one that the hierarchy does not know has nothing above itself."""
        return (value, self.root) if value in self.missing else self._climb(value) or (value,)


def marked_nodes(attribute: Attribute) -> tuple[str, ...]:
    """Return the nodes an attribute's boundary marks by name; intervals in both ways in which they may be written."""
    boundary, spec = attribute.boundary, attribute.hierarchy
    nodes = boundary.nodes if boundary is not None and boundary.form == "marked" else ()
    if not isinstance(spec, Intervals):
        return nodes
    return tuple(dict.fromkeys(label for node in nodes for label in both_notations(spec, node)))
