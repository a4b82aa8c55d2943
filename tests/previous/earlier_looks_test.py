"""What earlier releases showed of people: looks, values, and what has changed since."""

from __future__ import annotations

import numpy as np
import pytest

from earlier_releases import K, L, past_of, policy_with
from kveil.previous.demands import Demand
from kveil.previous.earlier_looks import NEVER
from support import QUASI, make_policy

NOW = {"ann": ("a", "flu"), "bob": ("b", "flu"), "cid": ("c", "gout"), "new": ("d", "flu")}
FIRST = {"ann": ("A", "flu"), "bob": ("A", "gout"), "cid": ("B", "gout"), "dan": ("B", "flu")}
SECOND = {"ann": ("A", "flu"), "cid": ("*", "*"), "bob": ("a", "gout"), "dan": ("B", "flu")}


def test_the_tables_rows_come_first_then_who_left() -> None:
    _, past = past_of(policy_with(K), NOW, FIRST)
    assert (past.rows, past.people) == (4, 5)
    assert past.leavers.tolist() == [False] * 4 + [True]


def test_people_look_alike_who_showed_the_same_in_every_release() -> None:
    _, past = past_of(policy_with(K), NOW, FIRST)
    ann, bob, cid, new, dan = past.looks[0].tolist()
    assert ann == bob != cid == dan
    assert new == NEVER not in (ann, cid)
    ann, bob, cid, new, dan = past_of(policy_with(K), NOW, FIRST, SECOND)[1].looks[0].tolist()
    assert len({ann, bob, cid, new, dan}) == 5  # the second one tells them apart: stars are not to be shown


def test_a_group_is_judged_by_the_values_its_members_had() -> None:
    _, past = past_of(policy_with(K, L), NOW, FIRST)
    group = np.array([0, 0, 1, -1, 1], dtype=np.int32)
    assert past.good(0, group, 2).tolist() == [True, True]
    assert past.good(1, group, 2).tolist() == [True, True]  # flu and gout then, though both have flu now
    apart = np.array([0, -1, 1, 1, 0], dtype=np.int32)
    assert past.good(1, apart, 2).tolist() == [False, False]  # both had flu; one value of the only one shown
    assert past.good(0, np.array([0, 1, 1, -1, -1], dtype=np.int32), 2).tolist() == [False, True]


def test_whose_value_is_not_what_it_was_has_changed() -> None:
    _, past = past_of(policy_with(K, L), NOW, FIRST)
    assert past.changed["s"].tolist() == [False, True, False, False]
    _, hidden = past_of(policy_with(K, L), NOW, SECOND)
    assert hidden.changed["s"].tolist() == [False, True, False, False]  # what was starred is not known to differ


def test_some_people_alone_are_judged_as_among_all() -> None:
    _, past = past_of(policy_with(K, L), NOW, FIRST)
    some = past.among(np.array([1, 4]))
    assert (some.rows, some.people) == (2, 2)
    assert some.looks[0].tolist() == past.looks[0][[1, 4]].tolist()
    assert some.good(1, np.array([0, 0], dtype=np.int32), 1).tolist() == [True]  # gout and flu
    assert past.among(np.array([0, 4])).good(1, np.array([0, 0], dtype=np.int32), 1).tolist() == [False]


def test_ties_are_ranks_of_the_hashes() -> None:
    _, past = past_of(policy_with(K), {"z": ("a", "flu"), "y": ("a", "flu"), "x": ("b", "flu")})
    assert past.ties.tolist() == [2, 1, 0]
    assert past.looks[0].tolist() == [NEVER] * 3


@pytest.mark.parametrize(
    ("named", "known"), [(["zip"], ["zip", "job"]), (["zip", "age"], ["zip", "age", "job"]), (["age"], ["age", "job"])]
)
def test_an_attacker_knows_what_the_model_names_and_what_only_the_other_release_has(
    named: list[str], known: list[str]
) -> None:
    whole = {"model": "k-anonymity", "k": 2}
    privacy = [{**whole, "attributes": named}, whole]
    policy = make_policy({"age": QUASI, "zip": QUASI, "sex": QUASI}, privacy=privacy)
    other = make_policy({"zip": QUASI, "age": QUASI, "job": QUASI})
    assert Demand(policy.privacy[0], policy).known_before(other) == known
