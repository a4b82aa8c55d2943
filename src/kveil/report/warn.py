"""What a steward should look at, though nothing is broken."""

from __future__ import annotations

import polars as pl

from kveil.errors import count
from kveil.files import as_texts
from kveil.policy.model import Policy

TEXTS = (pl.String, pl.Categorical, pl.Enum)
_FORMULA = r"^[=+\-@]"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


def release_warnings(frame: pl.DataFrame, policy: Policy) -> list[str]:
    """Return warnings about a release's own cells: columns that name people, cells a spreadsheet would run."""
    found = []
    for name in frame.columns:
        role = policy.attributes[name].role if name in policy.attributes else None
        if role == "insensitive" and frame.height > 1:
            distinct = frame[name].n_unique()
            if distinct >= 0.9 * frame.height:
                found.append(
                    f"{name} is released as is and nearly unique ({distinct:,} values in {frame.height:,} records): "
                    "it may identify people; give it role identifier if so."
                )
    texts = [as_texts(column).alias(str(i)) for i, column in enumerate(frame.get_columns()) if column.dtype in TEXTS]
    risky = pl.DataFrame(texts).select(pl.all().str.head(1).is_in(["=", "+", "-", "@"]).any())
    formulas = 0
    for column in texts:
        if risky[column.name].item():
            formulas += int((column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)).sum())
    if formulas:
        found.append(
            f"{count(formulas, 'cell')} of the release start with =, +, - or @: a spreadsheet may run them as formulas."
        )
    return found
