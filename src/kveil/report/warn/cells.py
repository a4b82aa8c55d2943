"""Warnings about a release's own cells: columns that may name people, cells that a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kveil.files import as_texts
from kveil.files.texts import item_texts
from kveil.policy.model import Policy
from kveil.words import count, listing

TEXTS = (pl.String, pl.Categorical, pl.Enum)
UNIQUE = 0.9  # different values per record from which on a column may name people
_FORMULA = r"^[\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def release_warnings(frame: pl.DataFrame, policy: Policy, labels: Mapping[str, list[str]]) -> list[str]:
    """Return warnings about a release's own cells: columns that name people, cells a spreadsheet would run.

    ``labels`` are the distinct texts of columns that are known already, and need no look at every cell.
    """
    return [*_unique_columns(frame, policy), *_formulas(frame, labels)]


def _unique_columns(frame: pl.DataFrame, policy: Policy) -> list[str]:
    """Warn of columns released as they are that nearly tell all rows apart, alone or together."""
    if frame.height < 2:
        return []
    roles = {name: policy.attributes[name].role for name in frame.columns if name in policy.attributes}
    plain = [name for name in frame.columns if frame[name].dtype != pl.List]
    as_is = {role: [name for name in plain if roles.get(name) == role] for role in ("insensitive", "sensitive")}
    warnings, alone = [], set()
    for name in (*as_is["insensitive"], *as_is["sensitive"]):
        distinct = frame[name].n_unique()
        if distinct >= UNIQUE * frame.height:
            alone.add(name)
            warnings.append(
                f"{name} is released as is and nearly unique ({distinct:,} values in {frame.height:,} records): "
                "it may identify people; give it role identifier if so."
            )
    for names in (as_is["insensitive"], as_is["insensitive"] + as_is["sensitive"]):
        if len(names) > 1 and not alone.intersection(names):
            distinct = frame.select(names).n_unique()
            if distinct >= UNIQUE * frame.height:
                warnings.append(
                    f"{listing(names)} are released as they are and together nearly unique ({distinct:,} combinations "
                    f"in {frame.height:,} records): they may identify people; release fewer of them."
                )
                break
    return warnings


def _formulas(frame: pl.DataFrame, labels: Mapping[str, list[str]]) -> list[str]:
    """Warn of cells, names of columns included, that start like a formula, also after tabs and inside sets."""
    cells = _starting(pl.Series(frame.columns, dtype=pl.String))
    for column in frame.get_columns():
        if column.dtype == pl.List:
            cells += _starting(item_texts(column).explode().drop_nulls())
        elif column.dtype in TEXTS:
            known = labels.get(column.name)
            if known is None or _starting(pl.Series(known, dtype=pl.String)):
                cells += _starting(as_texts(column))
    if not cells:
        return []
    verb = "starts" if cells == 1 else "start"
    told = f"{count(cells, 'cell')} of the release {verb} with =, +, - or @"
    return [f"{told}: a spreadsheet may run them as formulas."]


def _starting(texts: pl.Series) -> int:
    """Return how many texts start like a formula and are no numbers."""
    like = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return int(like.sum())
