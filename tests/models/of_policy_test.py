"""The models of a policy as a search checks them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coded_tables import QUASI, coded
from kveil.models.distributions import DistinctValues, FrequencyL
from kveil.models.fingerprints import fingerprint_name
from kveil.models.groups import AtLeastK
from kveil.models.of_policy import counted_names, group_model, least_members, sensitive_pairs, sensitive_pairs_of_rows
from kveil.table.table import Table

TREE = {"tree": {"*": ["x", "y", "z"]}}
ATTRIBUTES = {"who": "individual", "a": QUASI, "s": {"role": "sensitive", "hierarchy": TREE}, "t": "sensitive"}
MODELS = [
    {"model": "k-anonymity", "k": 2},
    {"model": "p-sensitive", "sensitive": "t", "p": 5},
    {"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 1.5},
    {"model": "k-km-anonymity", "sensitive": "s", "k": 3, "m": 2},
]


def table() -> Table:
    columns = {"who": list("ppqr"), "a": ["u", "u", "u", "v"], "s": ["x", "y", "z", ""], "t": ["1", "2", "1", ""]}
    return coded(columns, ATTRIBUTES, privacy=MODELS)


def test_each_model_becomes_what_a_search_can_check_on_groups() -> None:
    own = table()
    k, p, kl, kkm = (group_model(model, own) for model in own.policy.privacy)
    assert k == AtLeastK(2)
    assert p == DistinctValues("t", 5)
    assert kl == FrequencyL(fingerprint_name(own.policy.privacy[2]), Fraction(3, 2))
    assert kkm == AtLeastK(3)  # combinations of items are looked at apart
    assert counted_names(own.policy) == {"t", fingerprint_name(own.policy.privacy[2])}


def test_pairs_are_counted_per_tuple_of_kept_rows() -> None:
    columns = {"a": ["u", "v", "u"], "t": ["1", "2", "1"]}
    own = coded(columns, {"a": QUASI, "t": "sensitive"}, privacy=[{"model": "p-sensitive", "sensitive": "t", "p": 1}])
    (pairs,) = sensitive_pairs(own).values()
    found = set(zip(pairs.tuples.tolist(), pairs.codes.tolist(), pairs.counts.tolist(), strict=True))
    first = own.distinct.member.tolist()
    assert found == {(first[0], 0, 2), (first[1], 1, 1)}
    (some,) = sensitive_pairs(own, kept=np.array([True, False, False])).values()
    assert (some.tuples.tolist(), some.counts.tolist()) == ([first[0]], [1])


def test_pairs_of_rows_count_the_records_that_each_row_stands_for() -> None:
    columns = {"a": ["u", "v", "u"], "t": ["1", "2", "1"]}
    own = coded(columns, {"a": QUASI, "t": "sensitive"}, privacy=[{"model": "p-sensitive", "sensitive": "t", "p": 1}])
    for times in (None, np.array([2, 1, 3])):
        ((name, pairs),) = sensitive_pairs_of_rows(own.changed(times=times)).items()
        assert (name, pairs.known) == ("t", 2)
        assert (pairs.tuples.tolist(), pairs.codes.tolist()) == ([0, 1, 2], [0, 1, 0])
        assert pairs.counts.tolist() == ([1, 1, 1] if times is None else times.tolist())


def test_fewest_members_depend_on_what_rows_of_the_table_have() -> None:
    own = table()
    assert least_members(DistinctValues("t", 5), own) == 3  # p has two values
    assert least_members(AtLeastK(4), own) == 4
    assert least_members(FrequencyL("t", Fraction(2)), own) == 1  # r has none
    assert least_members(FrequencyL("\0fingerprint", Fraction(3)), own) == 3
