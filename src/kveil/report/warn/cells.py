"""Warnings about a release's own cells: columns that may name people, cells that a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from kveil.arrays import Longs
from kveil.files import TEXT_TYPES, Source
from kveil.files.texts import item_texts
from kveil.policy.model import Policy
from kveil.words import count, listing

UNIQUE = 0.9  # different values per record from which on a column may name people
FORMULA = r"^[\t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def release_warnings(
    release: Source, policy: Policy, labels: Mapping[str, list[str]], *, times: Longs | None = None
) -> list[str]:
    """Return warnings about a release's own cells: columns that name people, cells a spreadsheet would run.

    ``labels`` are the distinct texts of columns that are known already, and need no look at every cell. ``times`` says
    how many rows each stands for, where equal ones are taken together.
    """
    rows = release.rows if times is None else int(times.sum())
    plain = [name for name in release.columns if release.dtype(name) != pl.List]
    return [
        *unique_columns(policy, plain, rows, release.distinct),
        *formula_cells(_formulas(release, labels, times)),
    ]


def unique_columns(
    policy: Policy, plain: Sequence[str], rows: int, distinct_rows: Callable[[Sequence[str]], int]
) -> list[str]:
    """Warn of columns released as they are that nearly tell all rows apart, alone or together.

    ``plain`` are the columns of a release that hold no sets; ``distinct_rows`` tells how many different rows some
    columns have.
    """
    if rows < 2:
        return []
    roles = {name: policy.attributes[name].role for name in plain if name in policy.attributes}
    as_is = {role: [name for name in plain if roles.get(name) == role] for role in ("insensitive", "sensitive")}
    warnings, alone = [], set()
    for name in (*as_is["insensitive"], *as_is["sensitive"]):
        distinct = distinct_rows([name])
        if distinct >= UNIQUE * rows:
            alone.add(name)
            warnings.append(
                f"{name} is released as is and nearly unique ({distinct:,} values in {rows:,} records): "
                "it may identify people; give it role identifier if so."
            )
    for names in (as_is["insensitive"], as_is["insensitive"] + as_is["sensitive"]):
        if len(names) > 1 and not alone.intersection(names):
            distinct = distinct_rows(names)
            if distinct >= UNIQUE * rows:
                warnings.append(
                    f"{listing(names)} are released as they are and together nearly unique ({distinct:,} combinations "
                    f"in {rows:,} records): they may identify people; release fewer of them."
                )
                break
    return warnings


def _formulas(release: Source, labels: Mapping[str, list[str]], times: Longs | None) -> int:
    """Return how many cells, names of columns included, start like a formula, also after tabs and inside sets."""
    cells = formula_names(release.columns)
    for name in release.columns:
        kind = release.dtype(name)
        if kind == pl.List:
            cells += count_formula_starts(item_texts(release.column(name)).explode().drop_nulls())
        elif isinstance(kind, TEXT_TYPES):
            known = labels.get(name)
            if known is None or count_formula_starts(pl.Series(known, dtype=pl.String)):
                cells += count_formula_starts(release.texts(name), times=times)
    return cells


def formula_cells(cells: int) -> list[str]:
    """Warn of so many cells that start like a formula."""
    if not cells:
        return []
    verb = "starts" if cells == 1 else "start"
    told = f"{count(cells, 'cell')} of the release {verb} with =, +, - or @"
    return [f"{told}: a spreadsheet may run them as formulas."]


def formula_names(columns: Sequence[str]) -> int:
    """Return how many names of columns start like a formula."""
    return count_formula_starts(pl.Series(columns, dtype=pl.String))


def count_formula_starts(texts: pl.Series, *, times: Longs | None = None) -> int:
    """Return how many texts start like a formula and are no numbers; ``times`` says how many each stands for."""
    like = texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)
    return int(like.sum() if times is None else times[like.fill_null(value=False).to_numpy()].sum())
