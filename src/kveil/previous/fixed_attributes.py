"""What each person showed in an earlier release, their look there, as an attribute that no search may generalize.

Rows of one group then looked alike in every release, so that all of them together tell nobody apart. And a table
without some of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.components import most_suppressed
from kveil.policy.keys import Suppression
from kveil.policy.model import Policy
from kveil.previous.demands import SENSITIVE, Demand, binding_demands, counts_apart, searched_model, value_name
from kveil.previous.earlier_looks import Past
from kveil.table.scale import Scale
from kveil.table.sensitive import Sensitive
from kveil.table.table import Table
from kveil.table.tree import Tree, build_tree

FIXED = Attribute.model_validate({"role": "quasi-identifier", "boundary": {"level": 0}})


def look_name(number: int) -> str:
    """Return the name of an attribute of looks, which no column can have."""
    return f"\0look {number}"


def with_looks(policy: Policy, demands: Sequence[Demand], over: Mapping[int, int]) -> Policy:
    """Return a policy whose models are over a fixed attribute, too, and those promised before beside its own.

    ``over`` gives the number of that attribute for the demands that a search keeps, by position; others are implied by
    these. Suppressed is suppressed everywhere: whoever is not shown in one component must not be told apart by another.
    """
    searched = {i: model for i in over if (model := searched_model(demands[i], policy, i)) is not None}
    attributes = {
        **policy.attributes,
        **{look_name(number): FIXED for number in dict.fromkeys(over[i] for i in searched)},
        **{value_name(i): SENSITIVE for i in searched if counts_apart(demands[i], policy)},
    }
    privacy = tuple(
        model.model_copy(update={"attributes": (*demands[i].generalized_in(policy), look_name(over[i]))})
        for i, model in searched.items()
    )
    suppression = policy.suppression.model_copy(update={"show": "drop"})
    return policy.model_copy(update={"attributes": attributes, "privacy": privacy, "suppression": suppression})


def numbers_of_looks(looks: tuple[Longs, ...]) -> tuple[int, ...]:
    """Return a number per demand, the same for demands with the same looks."""
    seen: dict[bytes, int] = {}
    return tuple(seen.setdefault(look.tobytes(), len(seen)) for look in looks)


def fixed_table(table: Table, past: Past, kept: Bools) -> Table:
    """Return the kept rows of a table, with what they showed before as attributes that cannot be generalized."""
    some = rows_of_table(table, kept)
    binding = binding_demands(table.policy, past.policies, past.demands)
    over = dict(zip(binding, numbers_of_looks(tuple(past.fixed[i] for i in binding)), strict=True))
    policy = with_looks(table.policy, past.demands, over)
    looks = {number: past.fixed[i] for i, number in over.items() if look_name(number) in policy.attributes}
    trees: list[Tree | Scale] = list(table.trees)
    lines: list[Ints] = []
    for look in looks.values():
        different, codes = np.unique(look[kept], return_inverse=True)
        labels = [(f"look {number}", STAR) for number in different.tolist()] or [("look", STAR)]
        trees.append(build_tree(labels, STAR, FIXED, None))
        lines.append(codes.reshape(-1).astype(np.int32))
    added = np.array(lines, dtype=np.int32).reshape(len(lines), some.rows)
    low = np.concatenate([some.low, added])
    limit = _limit_left(table, int((~kept).sum()))
    return replace(
        some,
        policy=policy.model_copy(update={"suppression": Suppression(limit=limit, show="drop")}),
        sensitive={**some.sensitive, **{name: _of_rows(values, kept) for name, values in past.now.values.items()}},
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
