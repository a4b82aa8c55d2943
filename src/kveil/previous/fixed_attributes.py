"""What each person showed in an earlier release, their look there, as an attribute that no search may generalize.

Rows of one group then looked alike in every release, so that all of them together tell nobody apart. And a table
without some of its rows.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.components import binding, most_suppressed
from kveil.policy.keys import Suppression
from kveil.policy.model import Policy
from kveil.previous.earlier_looks import Past
from kveil.table.scale import Scale
from kveil.table.sensitive import Sensitive
from kveil.table.table import Table
from kveil.table.tree import Tree, build_tree

FIXED = Attribute.model_validate({"role": "quasi-identifier", "boundary": {"level": 0}})


def look_name(number: int) -> str:
    """Return the name of an attribute of looks, which no column can have."""
    return f"\0look {number}"


def with_looks(policy: Policy, over: tuple[int, ...]) -> Policy:
    """Return a policy whose models are over a fixed attribute, too; ``over`` gives the number of each model's.

    Models that others imply go, since with looks of their own they would seem to ask for more. Suppressed is suppressed
    everywhere: whoever is not shown in one component must not be told apart by another.
    """
    attributes = {**policy.attributes, **{look_name(number): FIXED for number in dict.fromkeys(over)}}
    privacy = tuple(
        model.model_copy(update={"attributes": (*policy.attributes_of(model), look_name(over[i]))})
        for i, model in ((i, policy.privacy[i]) for i in binding(policy))
    )
    suppression = policy.suppression.model_copy(update={"show": "drop"})
    return policy.model_copy(update={"attributes": attributes, "privacy": privacy, "suppression": suppression})


def numbers_of_looks(looks: tuple[Longs, ...]) -> tuple[int, ...]:
    """Return a number per model, the same for models with the same looks."""
    seen: dict[bytes, int] = {}
    return tuple(seen.setdefault(look.tobytes(), len(seen)) for look in looks)


def fixed_table(table: Table, past: Past, kept: Bools) -> Table:
    """Return the kept rows of a table, with what they showed before as attributes that cannot be generalized."""
    some = rows_of_table(table, kept)
    numbers = numbers_of_looks(past.looks)
    policy = with_looks(table.policy, numbers)
    looks = dict(zip(numbers, past.looks, strict=True))
    trees: list[Tree | Scale] = list(table.trees)
    lines: list[Ints] = []
    for look in looks.values():
        different, codes = np.unique(look[: past.rows][kept], return_inverse=True)
        labels = [(f"look {number}", STAR) for number in different.tolist()] or [("look", STAR)]
        trees.append(build_tree(labels, STAR, FIXED, None))
        lines.append(codes.reshape(-1).astype(np.int32))
    added = np.array(lines, dtype=np.int32).reshape(len(lines), some.rows)
    low = np.concatenate([some.low, added])
    limit = _limit_left(table, int((~kept).sum()))
    return replace(
        some,
        policy=policy.model_copy(update={"suppression": Suppression(limit=limit, show="drop")}),
        names=(*table.names, *(look_name(number) for number in looks)),
        trees=tuple(trees),
        leaves=low if some.leaves is some.low else np.concatenate([some.leaves, added]),
        low=low,
        high=low if some.low is some.high else np.concatenate([some.high, added]),
    )


def rows_of_table(table: Table, kept: Bools) -> Table:
    """Return the kept rows of a table as a table of their own."""
    rows = np.flatnonzero(kept)
    low = np.take(table.low, rows, axis=1)
    return Table(
        table.policy,
        table.names,
        table.trees,
        leaves=low if table.leaves is table.low else np.take(table.leaves, rows, axis=1),
        low=low,
        high=low if table.low is table.high else np.take(table.high, rows, axis=1),
        sensitive={name: _of_rows(values, kept) for name, values in table.sensitive.items()},
        persons=table.persons,
        others={name: codes[rows] for name, codes in table.others.items()},
        ties=tuple(texts.gather(pl.Series(rows)) for texts in table.ties),
        fractions={name: some[rows] for name, some in table.fractions.items()},
        rows_apart=table.rows_apart,
    )


def _limit_left(table: Table, withheld: int) -> str:
    """Return the share of the rows that are left that may still be suppressed."""
    left = table.records - withheld
    allowed = max(most_suppressed(table.policy, table.records) - withheld, 0)
    if not left:
        return "0"
    # A decimal just above the share: as many rows of those left as are allowed, and not one more.
    return f"{float(min(Fraction(1), Fraction(10 * allowed + 1, 10 * left))):.15f}"


def _of_rows(values: Sensitive, kept: Bools) -> Sensitive:
    """Return the values of the kept rows, under their new numbers."""
    number = (np.cumsum(kept) - 1).astype(np.int32)
    inside = kept[values.row]
    return replace(values, row=number[values.row[inside]], code=values.code[inside])
