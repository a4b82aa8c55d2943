"""Who must not be shown: those whose company of earlier releases is not complete any more, and no more of them."""

from __future__ import annotations

import numpy as np

from earlier_releases import K, L, Row, past_of, policy_with
from kveil.previous.earlier_looks import Past
from kveil.previous.withhold import already_broken, broken_looks, hide_groups, withhold_company

# Five who looked alike; `zoe` left the table.
BEFORE: dict[str, Row] = {
    "ann": ("A", "flu"),
    "bob": ("A", "gout"),
    "cid": ("A", "gout"),
    "dan": ("A", "flu"),
    "zoe": ("A", "flu"),
}
NOW: dict[str, Row] = {name: ("a", value) for name, (_, value) in BEFORE.items() if name != "zoe"}
ORDER = np.arange(4)


def past(*privacy: dict[str, object], before: dict[str, Row] | None = None) -> Past:
    return past_of(policy_with(*privacy), NOW, BEFORE if before is None else before)[1]


def test_whoever_left_is_a_class_that_is_too_small() -> None:
    here = past(K)
    (look,) = {int(look) for look in here.looks[0]}
    assert broken_looks(here, 0, here.leavers) == [look]
    assert broken_looks(here, 0, np.ones(5, dtype=bool)) == []
    assert broken_looks(here, 0, np.zeros(5, dtype=bool)) == []


def test_as_few_as_possible_are_withheld_with_them_in_the_given_order() -> None:
    here = past(K)
    assert withhold_company(here, ORDER, here.leavers).tolist() == [True, False, False, False, True]
    other = withhold_company(here, ORDER[::-1].copy(), here.leavers)
    assert other.tolist() == [False, False, False, True, True]


def test_company_is_as_diverse_as_the_model_asks() -> None:
    here = past(K, L)
    hidden = withhold_company(here, ORDER, here.leavers)
    assert hidden.tolist() == [False, True, False, False, True]  # `ann` had flu, too, as `zoe` did


def test_where_those_left_would_be_too_few_all_are_withheld() -> None:
    now = {name: NOW[name] for name in ("ann", "bob")}
    before = {name: BEFORE[name] for name in ("ann", "bob", "zoe")}
    _, here = past_of(policy_with(K), now, before)
    assert withhold_company(here, np.arange(2), here.leavers).all()


def test_nobody_is_withheld_where_nobody_left() -> None:
    here = past(K, L, before={name: BEFORE[name] for name in NOW})
    assert not withhold_company(here, ORDER, here.leavers).any()


def test_what_earlier_releases_break_together_is_seen() -> None:
    alone = {**BEFORE, "zoe": ("B", "flu")}
    assert already_broken(past(K, before=alone)).tolist() == [False] * 4 + [True]
    assert not already_broken(past(K)).any()


def test_groups_that_break_a_model_are_hidden_whole() -> None:
    here = past(K, L, before={name: BEFORE[name] for name in NOW})
    apart = np.array([0, 1, 1, 0], dtype=np.int32)  # the values of each group are the same
    nobody = np.zeros(4, dtype=bool)
    assert hide_groups(here, [apart, apart], nobody).all()
    mixed = np.array([0, 0, 1, 1], dtype=np.int32)
    assert not hide_groups(here, [mixed, mixed], nobody).any()


def test_where_those_hidden_are_too_few_the_smallest_group_of_their_look_goes_with_them() -> None:
    before = {**BEFORE, "eve": ("A", "flu")}
    now: dict[str, Row] = {**NOW, "eve": ("a", "flu")}
    _, here = past_of(policy_with(K), now, before)
    groups = np.array([0, 0, 0, 1, 1], dtype=np.int32)
    hidden = hide_groups(here, [groups], here.leavers)
    assert hidden.tolist() == [False, False, False, True, True, True]


def test_values_that_only_one_release_shows_protect_nobody_whose_value_lasts() -> None:
    # Bob's value changed since: whoever takes values for lasting rules it out, and is left with Ann's.
    now: dict[str, Row] = {"ann": ("a", "flu"), "bob": ("a", "flu"), "cid": ("b", "gout"), "dan": ("b", "flu")}
    before = {name: BEFORE[name] for name in now}
    _, here = past_of(policy_with(K, L), now, before)
    groups = np.array([0, 0, 1, 1], dtype=np.int32)
    hidden = hide_groups(here, [groups, groups], np.zeros(4, dtype=bool))
    assert hidden[:2].all()
