"""The keys of a policy one by one, and look-ups among them."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.errors import PolicyError
from kveil.policy.keys import AlgorithmChoice, Data, algorithm_names, is_algorithm
from support import make_policy

TREE = {"tree": {"*": ["x", "y"]}}
MIXED: dict[str, Any] = {
    "who": "individual",
    "name": "identifier",
    "age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 120]}}},
    "city": "quasi-identifier",
    "items": {"role": "sensitive", "hierarchy": TREE},
    "pay": "sensitive",
    "ward": "insensitive",
}
MODELS = [
    {"model": "k-anonymity", "k": 2},
    {"model": "kl-diversity", "sensitive": "items", "k": 2, "l": 1, "attributes": ["city"]},
    {"model": "t-closeness", "sensitive": "pay", "t": 0.3, "distance": "ordered", "attributes": ["city", "age"]},
]


def test_attributes_are_looked_up_by_what_becomes_of_them() -> None:
    policy = make_policy(MIXED, privacy=MODELS, algorithm="auto")
    assert policy.quasi_identifiers == ["age", "city"]
    assert policy.released == ["age", "city", "items", "pay", "ward"]
    assert policy.generalized == ["items"]
    assert policy.numeric == ["age", "pay"]
    assert policy.unchanged == ["pay", "ward"]
    assert policy.individual_column == policy.key_column == "who"
    assert policy.attributes_of(policy.privacy[2]) == ("age", "city")  # in the policy's order
    assert policy.attributes_of(policy.privacy[0]) == ("age", "city")
    assert not policy.shows_records
    assert policy.sets == ["items", "pay"]


def test_a_key_of_the_data_says_who_somebody_is_across_tables() -> None:
    assert make_policy(MIXED, privacy=MODELS, algorithm="auto", data={"key": "name"}).key_column == "name"
    assert make_policy().key_column is None


def test_records_are_shown_whole_in_long_shape_with_several_sensitive_attributes() -> None:
    several = {**MIXED, "items": "sensitive"}
    long: dict[str, Any] = {"release": {"shape": "long"}, "algorithm": "auto"}
    assert make_policy(several, **long).shows_records
    assert make_policy(several, **long).sets == []
    assert not make_policy(several, algorithm="auto").shows_records
    assert not make_policy({k: v for k, v in several.items() if k != "items"}, **long).shows_records
    assert not make_policy({k: v for k, v in several.items() if k != "who"}, **long).shows_records
    assert make_policy({k: v for k, v in several.items() if k != "who"}, algorithm="auto").sets == []


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"separator": ";;"}, "it must be one character"),
        ({"separator": '"'}, "has a quote or a line end as its separator"),
        ({"encoding": "utf-9"}, "which Python does not know"),
        ({"encoding": "base64"}, "which Python does not know"),
        ({"missing": []}, "has an empty list `missing`"),
        ({"missing": ["*", ""]}, "lists `*` first in `missing`"),
        ({"decimal": ";"}, 'write "." or ","'),
    ],
)
def test_data_that_cannot_be_read_so_is_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Data(**values)
    assert sentence in str(caught.value)


def test_a_tab_may_be_written_with_a_backslash() -> None:
    assert Data(separator="\\t").separator == "\t"
    assert Data(encoding="cp1252", missing=("", "*")).missing == ("", "*")


@pytest.mark.parametrize(
    ("written", "name", "options"),
    [
        ("mondrian", "mondrian", {}),
        ({"name": "k-member", "blocks": 10}, "k-member", {"blocks": 10}),
        ({"name": "k-member", "options": {"blocks": 10}}, "k-member", {"blocks": 10}),
        ({"name": "auto", "seconds": 5}, "auto", {"seconds": 5}),
    ],
)
def test_an_algorithm_is_a_name_with_or_without_options(written: Any, name: str, options: dict[str, Any]) -> None:
    chosen = make_policy(algorithm=written).algorithm
    assert (chosen.name, chosen.options) == (name, options)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"blocks": 10}, "is a mapping without `name`"),
        ("mondrain", "did you mean 'mondrian'?"),
        ({"name": "auto", "blocks": 10}, "gives auto more than `seconds`"),
    ],
)
def test_an_algorithm_that_there_is_not_is_refused(written: Any, sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make_policy(algorithm=written)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ({"kveil": 2}, "this kveil reads policies of version 1"),
        ({"dependencies": "a -> b"}, "must be a list of rules"),
        ({"privacy": []}, "privacy must not be empty"),
        ({"loss": "gain"}, "allowed: ncp, il or precision"),
    ],
)
def test_a_key_with_a_wrong_value_is_refused(others: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make_policy(**others)
    assert sentence in str(caught.value)


def test_every_name_of_an_algorithm_is_one() -> None:
    names = algorithm_names()
    assert len(names) == len(set(names))
    assert all(map(is_algorithm, names))
    assert all(AlgorithmChoice(name=name).name == name for name in names)
    assert not is_algorithm("nonsense")


def test_the_outline_has_a_row_per_attribute_and_model() -> None:
    outline = make_policy(MIXED, privacy=MODELS, algorithm="auto", dependencies=["city -> ward"]).outline()
    assert outline["attributes"][2] == ("age", "quasi-identifier", "ranges", "-")
    assert outline["privacy"][1] == ("kl-diversity", "city", "sensitive items, k 2, l 1")
    assert outline["dependencies"] == ["city -> ward"]
    assert (outline["limit"], outline["algorithm"]) == (0.2, "auto")
