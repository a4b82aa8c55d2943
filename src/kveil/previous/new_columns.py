"""What a new release shows beside the columns that a search may generalize, as far as demands are about it.

A column that an earlier policy had for known, and that the new one shows as it is, tells rows apart whatever becomes of
the others; and values that the new policy does not count may be counted by what was promised before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.errors import DataError
from kveil.files import Source
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness, single_sensitive
from kveil.previous.demands import SENSITIVE, Demand, counts_apart, value_name
from kveil.table.columns import code_columns, code_texts
from kveil.table.sensitive import Sensitive, encode_sensitive
from kveil.table.table import Table
from kveil.verifier.rows import ITEM, ROW, Rows, original_rows, released_texts


@dataclass(frozen=True)
class NewColumns:
    """Columns of a new table: ``fixed`` has, per demand, those that are shown as they are and that its attacker knows.

    ``values`` are sensitive values that only demands of earlier releases count, by the name that a search has for them.
    """

    fixed: Mapping[int, Sequence[pl.Series]] = field(default_factory=dict)
    values: Mapping[str, Sensitive] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, table: Table, demands: Sequence[Demand]) -> NewColumns:
        """Return what a table, read from a source, shows beside what its own search looks at."""
        policy = table.policy
        named = {i: names for i, demand in enumerate(demands) if (names := demand.fixed_in(policy))}
        rows = original_rows(source, policy) if named else None
        fixed = {}
        for i, names in named.items():
            assert rows is not None
            fixed[i] = [texts_in_rows(source, policy, rows, name) for name in names]
        values = {
            value_name(i): _values(source, table, demand)
            for i, demand in enumerate(demands)
            if counts_apart(demand, policy)
        }
        return cls(fixed, values)

    def apart(self, position: int, looks: Longs) -> Longs:
        """Return numbers of looks that differ also where rows will be shown apart, whatever a search does."""
        columns = self.fixed.get(position, ())
        if not columns:
            return looks
        codes = [
            np.unique(looks, return_inverse=True)[1].reshape(-1),
            *(code_texts(column).codes for column in columns),
        ]
        return group_rows(np.array(codes, dtype=np.int32))[0].astype(np.int64) + 1


NO_COLUMNS = NewColumns()


def texts_in_rows(source: Source, policy: Policy, rows: Rows, name: str) -> pl.Series:
    """Return a released column as it is shown per row; of a person's values all of them."""
    if name in rows.texts.columns:
        return rows.texts[name]
    if rows.persons and name in rows.items:
        shown = pl.col(ITEM).fill_null(policy.data.missing[0]).sort().str.join("\0")
        return rows.items[name].group_by(ROW).agg(shown).sort(ROW)[ITEM]
    return released_texts(source, policy, name, stars=True).gather(rows.source)


def _values(source: Source, table: Table, demand: Demand) -> Sensitive:
    """Return the values that a demand of an earlier release counts, in the order and tree that its distances need."""
    name = single_sensitive(demand.model)
    assert name is not None
    coded = next(iter(code_columns(source, table.policy, [name])))
    by_itself = isinstance(demand.model, TCloseness)
    policy = demand.policy if by_itself else _without_hierarchy(demand.policy, name)
    try:
        return encode_sensitive(coded, policy, name, table.persons, source.name)
    except DataError:
        raise DataError(
            f"{source.name} has values of {name} that its hierarchy in an earlier policy, which promised t-closeness, "
            "does not know; leave that archive out, or give --weaker."
        ) from None


def _without_hierarchy(policy: Policy, name: str) -> Policy:
    return policy.model_copy(update={"attributes": {**policy.attributes, name: SENSITIVE}})
