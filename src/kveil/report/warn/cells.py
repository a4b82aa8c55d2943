"""Warnings about a release's own cells: columns that may name people, cells that a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kveil.files import TEXT_TYPES, Source
from kveil.files.texts import item_texts
from kveil.policy.model import Policy
from kveil.words import count, listing

UNIQUE = 0.9  # different values per record from which on a column may name people
_FORMULA = r"^[\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def release_warnings(release: Source, policy: Policy, labels: Mapping[str, list[str]]) -> list[str]:
    """Return warnings about a release's own cells: columns that name people, cells a spreadsheet would run.

    ``labels`` are the distinct texts of columns that are known already, and need no look at every cell.
    """
    return [*_unique_columns(release, policy), *_formulas(release, labels)]


def _unique_columns(release: Source, policy: Policy) -> list[str]:
    """Warn of columns released as they are that nearly tell all rows apart, alone or together."""
    if release.rows < 2:
        return []
    roles = {name: policy.attributes[name].role for name in release.columns if name in policy.attributes}
    plain = [name for name in release.columns if release.dtype(name) != pl.List]
    as_is = {role: [name for name in plain if roles.get(name) == role] for role in ("insensitive", "sensitive")}
    warnings, alone = [], set()
    for name in (*as_is["insensitive"], *as_is["sensitive"]):
        distinct = release.distinct([name])
        if distinct >= UNIQUE * release.rows:
            alone.add(name)
            warnings.append(
                f"{name} is released as is and nearly unique ({distinct:,} values in {release.rows:,} records): "
                "it may identify people; give it role identifier if so."
            )
    for names in (as_is["insensitive"], as_is["insensitive"] + as_is["sensitive"]):
        if len(names) > 1 and not alone.intersection(names):
            distinct = release.distinct(names)
            if distinct >= UNIQUE * release.rows:
                warnings.append(
                    f"{listing(names)} are released as they are and together nearly unique ({distinct:,} combinations "
                    f"in {release.rows:,} records): they may identify people; release fewer of them."
                )
                break
    return warnings


def _formulas(release: Source, labels: Mapping[str, list[str]]) -> list[str]:
    """Warn of cells, names of columns included, that start like a formula, also after tabs and inside sets."""
    cells = _starting(pl.Series(release.columns, dtype=pl.String))
    for name in release.columns:
        kind = release.dtype(name)
        if kind == pl.List:
            cells += _starting(item_texts(release.column(name)).explode().drop_nulls())
        elif isinstance(kind, TEXT_TYPES):
            known = labels.get(name)
            if known is None or _starting(pl.Series(known, dtype=pl.String)):
                cells += _starting(release.texts(name))
    if not cells:
        return []
    verb = "starts" if cells == 1 else "start"
    told = f"{count(cells, 'cell')} of the release {verb} with =, +, - or @"
    return [f"{told}: a spreadsheet may run them as formulas."]


def _starting(texts: pl.Series) -> int:
    """Return how many texts start like a formula and are no numbers."""
    like = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return int(like.sum())
