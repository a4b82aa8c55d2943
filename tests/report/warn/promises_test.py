"""Promises that protect less than they seem to."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.report.warn.promises import empty_promises, one_persons_rows, uniform_groups, values_of_everybody
from laid_evidence import evidence
from support import QUASI, make_policy

K2 = {"model": "k-anonymity", "k": 2}


def policy_of(*privacy: dict[str, Any], who: str = "identifier") -> Any:
    roles = {"who": who, "q": QUASI, "s": "sensitive"}
    return make_policy(roles, privacy=list(privacy), algorithm="auto" if who == "individual" else "datafly")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"model": "k-anonymity", "k": 1}, ["k-anonymity with k 1 promises nothing"]),
        (K2, []),
        ({"model": "l-diversity", "sensitive": "s", "l": 1}, ["l-diversity with l 1 promises nothing"]),
        ({"model": "alpha-k", "sensitive": "s", "k": 1, "alpha": 1}, ["alpha-k with k 1 and alpha 1 promises nothing"]),
        ({"model": "alpha-k", "sensitive": "s", "k": 1, "alpha": 0.5}, []),
        (
            {"model": "t-closeness", "sensitive": "s", "t": 1},
            ["t-closeness with t 1 promises nothing", "t-closeness alone does not say how many share a group"],
        ),
        ({"model": "t-closeness", "sensitive": "s", "t": 0.2}, ["t-closeness alone does not say how many"]),
    ],
)
def test_models_that_every_table_meets(model: dict[str, Any], told: list[str]) -> None:
    warnings = empty_promises(policy_of(model))
    assert len(warnings) == len(told)
    assert all(warning.startswith(start) for warning, start in zip(warnings, told, strict=True))


def test_t_closeness_beside_a_size_is_not_alone() -> None:
    assert empty_promises(policy_of(K2, {"model": "t-closeness", "sensitive": "s", "t": 0.2})) == []


def groups(who: list[str], q: str, s: str) -> Any:
    columns = {"who": who, "q": list(q), "s": list(s)}
    return columns, {name: columns[name] for name in ("q", "s")}


def test_a_group_of_one_persons_records_is_told() -> None:
    who = ["p", "p", "q", "r", "s"]
    (warning,) = one_persons_rows(evidence(policy_of(K2), *groups(who, "xxyyy", "abcde")))
    assert warning.startswith("who repeats, and 2 released records stand in groups")
    mixed = ["p", "q", "p", "q", "r"]
    assert one_persons_rows(evidence(policy_of(K2), *groups(mixed, "xxyyy", "abcde"))) == []
    own = [str(i) for i in range(5)]
    assert one_persons_rows(evidence(policy_of(K2), *groups(own, "xxyyz", "abcde"))) == []  # does not repeat
    assert one_persons_rows(evidence(policy_of({**K2, "k": 1}), *groups(who, "xxyyy", "abcde"))) == []


def test_whose_records_cannot_be_told_apart_count_for_a_group() -> None:
    # Of three records of x two are shown: which of them the group got is chance, so q's counts, too.
    policy = make_policy({"who": "identifier", "q": QUASI}, k=2, suppression={"limit": 1, "show": "star"})
    original = {"who": ["p", "p", "q", "r", "s"], "q": ["x", "x", "x", "y", "y"]}
    release = {"q": ["x", "x", "*", "y", "y"]}
    assert one_persons_rows(evidence(policy, original, release)) == []


def test_a_group_with_one_value_is_told_where_no_model_names_the_column() -> None:
    columns = groups(list("abcd"), "xxyy", "ffgh")
    (warning,) = uniform_groups(evidence(policy_of(K2), *columns))
    assert warning.startswith("no model names s, and in 1 group (2 records) all have one value of it")
    named = {"model": "l-diversity", "sensitive": "s", "l": 1}
    assert uniform_groups(evidence(policy_of(K2, named), *columns)) == []
    assert uniform_groups(evidence(policy_of(K2), *groups(list("abcd"), "xxyy", "fgfg"))) == []
    assert uniform_groups(evidence(policy_of(K2), *groups(list("abcd"), "xxyy", "ffff"))) == []  # nothing to tell


def test_a_value_that_everybody_of_a_class_has_is_told_though_there_are_several() -> None:
    distinct = {"model": "l-diversity", "sensitive": "s", "l": 2}
    original = {"who": list("ppqqrs"), "q": list("xxxxyy"), "s": list("abacde")}
    release = {"q": list("xxyy"), "s": ["a|b", "a|c", "d", "e"]}
    (warning,) = values_of_everybody(evidence(policy_of(distinct, who="individual"), original, release))
    assert "in 1 class (2 people) everybody has one value in common" in warning
    frequency = {**distinct, "variant": "frequency"}
    assert values_of_everybody(evidence(policy_of(frequency, who="individual"), original, release)) == []
    records = groups(list("abcd"), "xxyy", "ffgh")
    assert values_of_everybody(evidence(policy_of(distinct), *records)) == []  # records have one value each
