"""Looks of the past as attributes that no search may generalize, and a table without some of its rows."""

from __future__ import annotations

import numpy as np
import pytest

from earlier_releases import K, L, past_of, policy_with
from kveil.policy.components import most_suppressed
from kveil.previous.demands import demands_of
from kveil.previous.fixed_attributes import fixed_table, look_name, numbers_of_looks, rows_of_table, with_looks

NOW = {"ann": ("a", "flu"), "bob": ("b", "gout"), "cid": ("c", "gout"), "dan": ("d", "flu")}
BEFORE = {"ann": ("A", "flu"), "bob": ("A", "gout"), "cid": ("B", "gout"), "dan": ("B", "flu")}
ALL = np.ones(4, dtype=bool)


def test_models_with_the_same_looks_share_an_attribute() -> None:
    one, other = np.array([1, 2]), np.array([1, 1])
    assert numbers_of_looks((one, other, one.copy())) == (0, 1, 0)


def test_every_model_is_over_a_look_that_stays_as_it_is() -> None:
    asked = policy_with(K, L)
    policy = with_looks(asked, demands_of(asked, []), {0: 0, 1: 0})
    assert policy.quasi_identifiers == ["q", look_name(0)]
    assert all(look_name(0) in policy.attributes_of(model) for model in policy.privacy)
    assert policy.attributes[look_name(0)].boundary is not None
    assert policy.suppression.show == "drop"


def test_a_model_that_another_implies_goes() -> None:
    table, past = past_of(policy_with(K, {"model": "k-anonymity", "k": 4}), NOW, BEFORE)
    assert [getattr(model, "k", None) for model in fixed_table(table, past, ALL).policy.privacy] == [4]


def test_rows_have_the_look_they_had() -> None:
    table, past = past_of(policy_with(K), NOW, BEFORE)
    fixed = fixed_table(table, past, ALL)
    assert fixed.names == ("q", look_name(0))
    looks = fixed.low[1].tolist()
    assert looks[0] == looks[1] != looks[2] == looks[3]
    assert fixed.low[0].tolist() == table.low[0].tolist()


def test_kept_rows_are_numbered_anew_with_their_values() -> None:
    table, past = past_of(policy_with(K, L), NOW, BEFORE)
    kept = np.array([False, True, False, True])
    some = rows_of_table(table, kept)
    assert some.rows == 2
    assert some.low[0].tolist() == table.low[0][kept].tolist()
    values = some.sensitive["s"]
    assert [values.values[code] for code in values.code.tolist()] == ["gout", "flu"]
    assert values.row.tolist() == [0, 1]
    assert fixed_table(table, past, kept).rows == 2


@pytest.mark.parametrize(("limit", "kept", "left"), [(0.5, 4, 2), (0.5, 3, 1), (0.5, 2, 0), (0.0, 4, 0), (1, 4, 4)])
def test_what_is_withheld_counts_for_the_limit(limit: float, kept: int, left: int) -> None:
    table, past = past_of(policy_with(K, limit=limit), NOW, BEFORE)
    fixed = fixed_table(table, past, np.arange(4) < kept)
    assert most_suppressed(fixed.policy, fixed.records) == left
