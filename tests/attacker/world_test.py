"""The original and the release, row beside row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from kveil.attacker.world import world_of
from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from small_world import NAMES, world

TREE_OF_ILLNESSES = """
kveil: 1
attributes:
  age: {role: quasi-identifier}
  city: {role: quasi-identifier}
  sex: {role: quasi-identifier}
  illness: {role: sensitive, hierarchy: {tree: {All: {viral: [flu, cold], gout: []}}}}
privacy: [{model: k-anonymity, k: 1}]
"""


def test_a_world_knows_who_is_where() -> None:
    own = world()
    assert (own.people, own.noun) == (4, "record")
    assert own.row_of.tolist() == [0, 1, 2, -1]
    assert own.hidden(NAMES).tolist() == [False, False, True]
    assert own.equal("before", NAMES).sizes.tolist() == [1, 1, 1, 1]
    assert sorted(own.equal("after", NAMES).sizes.tolist()) == [1, 2]
    assert own.promises(NAMES)
    assert not own.promises(("age", "sex"))
    assert own.items_before["illness"].rows() == [(0, "x"), (1, "y"), (2, "x"), (3, "x")]
    assert own.sample(10).tolist() == [0, 1, 2, 3]
    assert len(own.sample(2)) == 2
    assert own.sample(2).tolist() == own.sample(2).tolist()  # by the policy's seed
    assert own.sample(1, among=np.array([3])).tolist() == [3]


def test_what_a_star_or_a_root_shows_is_nothing_and_a_label_is_true_of_what_lies_below_it() -> None:
    places = {"age": ["1", "2", "30", "50"], "city": ["Oslo"] * 4, "sex": ["f"] * 4}
    policy = Policy.parse(TREE_OF_ILLNESSES, "policy.yaml", Path())
    original = pl.DataFrame({**places, "illness": ["flu", "cold", "gout", ""]})
    release = pl.DataFrame({**places, "illness": ["viral", "flu", "All", "*"]})
    own = world_of(policy, table_of(original, policy), table_of(release, policy), np.arange(4))
    assert own.told_items("illness").rows() == [(0, "viral"), (1, "flu")]
    assert sorted(own.true_items("illness", ["flu", "viral"]).rows()) == [
        (0, "flu"), (0, "viral"), (1, "cold"), (1, "viral"), (2, "gout"),
    ]  # fmt: skip
    assert own.true_items("illness", ["flu"]).rows() == own.items_before["illness"].rows()
