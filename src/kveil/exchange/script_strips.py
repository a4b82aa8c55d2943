"""Blanks that a script takes off the cells of its table: `str.strip()` of pandas, in the ways people write it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

CELL_BY_CELL = frozenset(["apply", "applymap", "map", "transform"])
HARMLESS = frozenset(["astype", "copy", "isinstance", "str", "type"])


@dataclass(frozen=True)
class Strips:
    """Whose cells lose their outer blanks: those of the columns that are named, or of ``every`` column.

    ``leading`` blanks go from every cell. ``changed`` are columns whose cells the script changes in another way, which
    only running it would tell.
    """

    names: frozenset[str] = frozenset()
    every: bool = False
    leading: bool = False
    changed: tuple[str, ...] = ()

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a table whose cells have lost these blanks."""
        texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
        chosen = [name for name in texts if self.every or name.strip() in self.names]
        stripped = frame.with_columns(pl.col(name).str.strip_chars() for name in chosen)
        if self.leading:
            stripped = stripped.with_columns(pl.col(name).str.strip_chars_start() for name in texts)
        return stripped


def strips_only(node: ast.expr) -> bool | None:
    """Tell whether an expression takes blanks off and does nothing else; None where it changes nothing that is seen."""
    seen = False
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr == "strip":
            seen = True
        elif isinstance(part, ast.Call):
            named = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if named not in {"strip", *CELL_BY_CELL, *HARMLESS} or (named == "strip" and part.args):
                return False
    return seen or None


def is_cell_by_cell(node: ast.expr) -> bool:
    """Tell whether an expression calls something for every cell, or every column, of what it is called on."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CELL_BY_CELL


class StripNotes:
    """What is gathered of a script's assignments to columns of a table."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.every = False
        self.changed: list[str] = []

    def note(self, columns: Collection[str] | None, value: ast.expr) -> None:
        """Take in what some columns, None for all, are given in their place."""
        only = strips_only(value)
        if only is None:
            return
        if only and columns is None:
            self.every = True
        elif only and columns is not None:
            self.names.update(name.strip() for name in columns)
        else:
            self.changed += [name for name in columns or ["every column"] if name not in self.changed]

    def strips(self, *, leading: bool) -> Strips:
        """Return all of it."""
        return Strips(frozenset(self.names), self.every, leading, tuple(self.changed))
