"""No release loses less than the bound."""

from __future__ import annotations

import pytest

import kveil
from kveil.errors import Unmeetable
from kveil.flow.bound import bound
from small_people import people, policy_of


@pytest.mark.parametrize("seed", range(3))
def test_every_release_loses_as_much_at_least(seed: int) -> None:
    policy = policy_of("[{model: k-anonymity, k: 3}]", algorithm="mondrian")
    found = bound(people(20, seed), policy)
    assert 0 < found.at_least <= kveil.anonymize(people(20, seed), policy).account["loss"]["ncp"]


def test_a_table_that_is_too_small_is_told() -> None:
    with pytest.raises(Unmeetable, match="fewer than k = 30"):
        bound(people(20), policy_of("[{model: k-anonymity, k: 30}]"))
