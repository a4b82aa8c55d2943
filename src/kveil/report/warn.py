"""What a steward should look at, though nothing is broken."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kveil.files import as_texts
from kveil.policy.model import Policy
from kveil.words import count

TEXTS = (pl.String, pl.Categorical, pl.Enum)
FORMULA_SIGNS = frozenset("=+-@")
_FORMULA = r"^[=+\-@]"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def release_warnings(frame: pl.DataFrame, policy: Policy, labels: Mapping[str, list[str]]) -> list[str]:
    """Return warnings about a release's own cells: columns that name people, cells a spreadsheet would run.

    ``labels`` are the distinct texts of columns that are known already, and need no look at every cell.
    """
    warnings = []
    for name in frame.columns:
        role = policy.attributes[name].role if name in policy.attributes else None
        if role == "insensitive" and frame.height > 1:
            distinct = frame[name].n_unique()
            if distinct >= 0.9 * frame.height:
                warnings.append(
                    f"{name} is released as is and nearly unique ({distinct:,} values in {frame.height:,} records): "
                    "it may identify people; give it role identifier if so."
                )
    formulas = 0
    for column in frame.get_columns():
        harmless = column.name in labels and not any(label[:1] in FORMULA_SIGNS for label in labels[column.name])
        if column.dtype in TEXTS and not harmless:
            texts = as_texts(column)
            formulas += int((texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)).sum())
    if formulas:
        verb = "starts" if formulas == 1 else "start"
        told = f"{count(formulas, 'cell')} of the release {verb} with =, +, - or @"
        warnings.append(f"{told}: a spreadsheet may run them as formulas.")
    return warnings
