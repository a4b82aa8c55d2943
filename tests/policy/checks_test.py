"""What single keys of a policy cannot show."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.errors import PolicyError, Refused
from kveil.policy.attributes import Attribute
from kveil.policy.checks import check_labels, check_rule_shapes
from kveil.policy.hierarchy import parse_hierarchy
from support import make_policy

QUASI = "quasi-identifier"
TREE = {"tree": {"*": {"A": ["a1", "a2"], "B": ["b1"]}}}
BASE: dict[str, Any] = {"who": "individual", "name": "identifier", "a": QUASI, "b": QUASI, "s": "sensitive"}
GENERALIZED = {**BASE, "s": {"role": "sensitive", "hierarchy": TREE}}
KL = {"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 1}


def model(name: str, **others: Any) -> dict[str, Any]:
    return {"model": name, **others}


@pytest.mark.parametrize(
    ("attributes", "others", "sentence"),
    [
        ({}, {}, "attributes is empty"),
        ({**BASE, "w": "individual"}, {}, "gives role individual to who and w"),
        ({"s": "sensitive"}, {}, "has no quasi-identifier"),
        (
            BASE,
            {"privacy": [model("k-anonymity", k=2, attributes=["a"])]},
            "no privacy model covers the quasi-identifier b",
        ),
        (
            BASE,
            {"privacy": [model("k-anonymity", k=2, attributes=["aa"])]},
            "names 'aa', which is not under attributes",
        ),
        (BASE, {"privacy": [model("k-anonymity", k=2, attributes=["a", "a"])]}, "names a twice"),
        (BASE, {"privacy": [model("k-anonymity", k=2, attributes=["s"])]}, "only quasi-identifiers can be grouped by"),
        (BASE, {"privacy": [model("p-sensitive", sensitive="a", p=2)]}, "give it role sensitive"),
        (
            BASE,
            {"privacy": [model("t-closeness", sensitive="s", t=0.1, distance="hierarchical")]},
            "attributes.s has no hierarchy",
        ),
        ({k: v for k, v in GENERALIZED.items() if k != "who"}, {"privacy": [KL]}, "which is about people"),
        (BASE, {"privacy": [KL]}, "which generalizes s, but attributes.s has no hierarchy"),
        (BASE, {"data": {"key": "nobody"}}, "data.key names 'nobody'"),
        (BASE, {"data": {"key": "s"}}, "has role identifier or individual"),
        (BASE, {"dependencies": ["a -> c"]}, "dependencies[0] names 'c'"),
        (BASE, {"dependencies": ["name -> a"]}, "is never released; take the rule out"),
        (
            {**GENERALIZED, "t": "sensitive"},
            {"privacy": [KL], "release": {"shape": "long"}},
            "promises something about sets of items",
        ),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(
    attributes: dict[str, Any], others: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        make_policy(attributes, **{"algorithm": "auto", **others})
    assert sentence in str(caught.value)


def test_plain_sets_of_items_need_no_quasi_identifier() -> None:
    attributes = {"who": "individual", "s": {"role": "sensitive", "hierarchy": TREE}}
    assert make_policy(attributes, privacy=[KL], algorithm="auto").quasi_identifiers == []


def test_a_node_is_marked_only_where_the_hierarchy_has_it() -> None:
    lines = parse_hierarchy("a1;A;*\nb1;B;*\n", "file")
    check_labels("a", Attribute(role=QUASI, boundary=["A", "b1"]), lines, ("",), quoted=True)  # type: ignore[arg-type]
    wrong = Attribute(role=QUASI, boundary=["AA"])  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match=r"marks 'AA'.*did you mean 'A'"):
        check_labels("a", wrong, lines, ("",), quoted=True)
    with pytest.raises(PolicyError, match="mark one of its nodes"):
        check_labels("a", wrong, lines, ("",), quoted=False)
    check_labels("a", wrong, lines, ("AA",), quoted=True)  # missing may be marked


def test_missing_is_no_inner_node() -> None:
    lines = parse_hierarchy("a1;?;*\n", "file")
    with pytest.raises(PolicyError, match=r"data\.missing lists '\?', which is an inner node"):
        check_labels("a", Attribute(role=QUASI), lines, ("", "?"), quoted=True)
    check_labels("a", Attribute(role=QUASI), lines, ("a1",), quoted=True)


@pytest.mark.parametrize(
    ("attributes", "others", "refused"),
    [
        (BASE, {}, False),
        (BASE, {"release": {"shape": "long"}}, True),
        ({k: v for k, v in BASE.items() if k != "who"}, {"release": {"shape": "long"}}, False),
        (GENERALIZED, {"privacy": [KL, model("k-anonymity", k=2)]}, True),
    ],
)
def test_rules_are_refused_where_a_release_has_no_place_for_them(
    attributes: dict[str, Any], others: dict[str, Any], refused: bool
) -> None:
    policy = make_policy(attributes, dependencies=["s -> a"], **{"algorithm": "auto", **others})
    if refused:
        with pytest.raises(Refused, match="the dependency s -> a names s"):
            check_rule_shapes(policy)
    else:
        check_rule_shapes(policy)
