"""New records among those of an earlier release: who may join the groups that are there."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.archive import Archived
from kveil.arrays import Bools, Ints, Longs
from kveil.errors import Refused
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.models.distributions import distribution_model
from kveil.models.groups import Groups, Pairs
from kveil.policy.attributes import STAR
from kveil.policy.privacy import GENERALIZING, KAnonymity, PrivacyModel, TCloseness, sensitive_of
from kveil.previous.covering import Covered
from kveil.table.columns import code_texts
from kveil.table.sensitive import Sensitive, encode_sensitive
from kveil.table.table import Table
from kveil.verifier.rows import ITEM, ROW, Rows, release_rows


def rows_that_may_join(table: Table, covered: Covered, archived: Archived) -> Bools:
    """Return the covered rows that leave every model kept in the groups they join, together with those who were there.

    Where a group would break a model, nobody joins it: who is left out is not chosen by their own value. Groups that
    were there alone kept every model, so this ends.
    """
    policy = archived.policy
    sets = sorted({model.model for model in policy.privacy if model.model in GENERALIZING})
    if sets:
        raise Refused(f"{sets[0]} generalizes sets of items, which apply cannot do for new ones; make a new release.")
    models = [model for model in policy.privacy if not isinstance(model, KAnonymity)]  # more of them break no k
    joined = covered.group >= 0
    if not models or not joined.any():
        return joined
    rows = release_rows(archived.release, policy)
    old = _tuples_of(rows, covered.tuples)
    group = np.append(old, covered.group)
    while True:
        before = int(joined.sum())
        for model in models:
            joined &= _fine(model, table, archived, rows, covered, np.where(np.append(old >= 0, joined), group, -1))
        if int(joined.sum()) == before:
            return joined


def _tuples_of(rows: Rows, tuples: pl.DataFrame) -> Longs:
    """Return the tuple of every row of the earlier release, -1 for a row of stars."""
    numbered = tuples.with_row_index("number")
    found = rows.texts.select(tuples.columns).join(numbered, on=tuples.columns, how="left", maintain_order="left")
    return found["number"].cast(pl.Int64).fill_null(-1).to_numpy()


def _fine(model: PrivacyModel, table: Table, archived: Archived, rows: Rows, covered: Covered, group: Longs) -> Bools:
    """Return the new rows whose group keeps a model; those that have none are fine."""
    over = [code_texts(covered.tuples[name]).codes for name in archived.policy.attributes_of(model)]
    of_tuple, first = group_rows(np.array(over, dtype=np.int32))
    inside = group >= 0
    number = len(first)
    members = np.where(inside, of_tuple[np.maximum(group, 0)], number).astype(np.int32)
    values, who = _values(model, table, archived, rows)
    pairs = Pairs(who, values.code, np.ones(len(who), dtype=np.int64), values.known)
    groups = Groups(members, number + 1, inside.astype(np.int64), {values.name: pairs})
    good = distribution_model(model, values).good(groups)
    return np.asarray(good[members] | ~inside)[rows.height :]


def _values(model: PrivacyModel, table: Table, archived: Archived, rows: Rows) -> tuple[Sensitive, Ints]:
    """Return what old and new rows have of a model's sensitive attribute, and whose each value is; old ones first."""
    (name,) = sensitive_of(model)
    own = table.sensitive[name]
    texts = pl.Series([*own.values, None], dtype=pl.String).gather(own.code)
    before = rows.items[name]
    both = pl.concat([before[ITEM].replace({STAR: None}), texts])
    who = np.append(before[ROW].to_numpy(), own.row + rows.height).astype(np.int32)
    coded = code_texts(both)
    if isinstance(model, TCloseness):
        return encode_sensitive(coded, archived.policy, name, None, "old and new together"), who
    known = len(coded.texts)
    codes = np.where(coded.codes < 0, known, coded.codes).astype(np.int32)
    return Sensitive(name, tuple(coded.texts), np.arange(len(codes), dtype=np.int32), codes, None), who
