"""K-MSD and K-MSD-AG: the paper's tables, slow twins, rules of inference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kveil
import places
from kveil.policy.model import Policy
from naive import k_msd as naive_kmsd
from naive import release as naive
from planted_rules import grown
from strategies import examples

GOLDEN = places.GOLDEN / "kmsd"


@pytest.mark.uncompiled
@pytest.mark.parametrize(("policy", "expected"), [("policy.yaml", "k-msd"), ("policy-ag.yaml", "k-msd-ag")])
def test_the_papers_tables(policy: str, expected: str) -> None:
    loaded = kveil.Policy.load(GOLDEN / policy)
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    result = kveil.anonymize(frame, loaded)
    assert result.data.write_csv() == (GOLDEN / f"expected-{expected}.csv").read_text()
    assert result.account["algorithm"] == expected
    assert all(rule["holds"] for rule in result.account["dependencies"])


def test_k_msd_keeps_a_declared_rule_by_the_pass_after() -> None:
    loaded = kveil.Policy.load(GOLDEN / "policy-ag.yaml")
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    result = kveil.anonymize(frame, loaded, algorithm="k-msd")
    assert result.account["dependencies"] == [{"rule": "Department -> Phone", "holds": True}]
    teaching = result.data.filter(pl.col("Department") == "Teaching")["Phone"].unique().to_list()
    assert teaching == ["8515***"]


# ---------------------------------------------------------------------------------------------- slow twins


def tables(rng: Random, algorithm: str = "k-msd") -> tuple[kveil.Policy, list[dict[str, str]]]:
    """A policy of two to four quasi-identifiers with one k, and rows for it."""
    names = ["zip", "age", "job", "city"][: rng.randint(2, 4)]
    attributes: dict[str, Any] = {}
    values = {}
    for name in names:
        spec, values[name] = grown(rng, name)
        while "ranges" in spec.get("hierarchy", {}):
            spec, values[name] = grown(rng, name)
        attributes[name] = {"role": "quasi-identifier", **spec}
    k = rng.randint(1, 4)
    kinds = [{name: rng.choice(values[name]) for name in names} for _ in range(rng.randint(1, 12))]
    rows = [dict(kind) for kind in kinds for _ in range(rng.choice([1, 1, 2, 4]))]
    rows += rows[: max(0, k - len(rows))] * k
    policy = kveil.Policy(
        attributes=attributes,
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": 1, "show": "star"},
        release={"order": "keep"},
        algorithm=algorithm,
    )
    return policy, rows


def climbing(policy: kveil.Policy, rows: list[dict[str, str]], name: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ways up of an attribute's labels, and the labels in leaf order."""
    from kveil.frames import from_frame
    from kveil.table.encode import encode
    from kveil.table.tree import Tree

    table = encode(from_frame(pl.DataFrame(rows)), policy)
    tree = table.trees[table.names.index(name)]
    assert isinstance(tree, Tree)

    def way(label: str) -> tuple[str, ...]:
        node = tree.node_of[label]
        found = [label]
        while node:
            node = int(tree.parent[node])
            found.append(tree.labels[node])
        return tuple(found)

    return way, list(tree.labels)


@given(st.integers(0, 10**9))
@examples(60)
def test_k_msd_is_its_slow_twin(seed: int) -> None:
    policy, rows = tables(Random(seed))
    names = list(policy.quasi_identifiers)
    made = {name: climbing(policy, rows, name) for name in names}
    slow = naive_kmsd.kmsd(
        rows, names, {n: made[n][0] for n in names}, {n: made[n][1] for n in names}, policy.privacy[0].k
    )  # type: ignore[union-attr]
    try:
        fast = kveil.anonymize(pl.DataFrame(rows), policy).data.to_dicts()
    except kveil.Unmeetable:
        pytest.fail("everything may be suppressed")
    assert fast == slow


# ---------------------------------------------------------------------------------------------- public functions


def some_rows(rng: Random, names: str = "abcd") -> list[dict[str, str]]:
    """Rows with few values, many of them repeated, so that dependencies hold now and then."""
    kinds = [{name: rng.choice("xyz"[: rng.randint(1, 3)]) for name in names} for _ in range(rng.randint(1, 5))]
    return [dict(kind) for kind in kinds for _ in range(rng.randint(1, 5))]


@given(st.integers(0, 10**9))
@examples(150)
def test_a_largest_anonymous_set_is_that_of_the_power_set(seed: int) -> None:
    rng = Random(seed)
    rows, k = some_rows(rng), rng.randint(1, 5)
    assert kveil.maximal_anonymous_attributes(pl.DataFrame(rows), k) == naive_kmsd.imkas(rows, list("abcd"), k)


def test_a_largest_anonymous_set_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    sizes = {"a": 3, "b": 4, "c": 900, "d": 5}
    frame = pl.DataFrame({name: rng.integers(0, size, 5_000).astype(str) for name, size in sizes.items()})
    whole = kveil.maximal_anonymous_attributes(frame, 40)
    monkeypatch.setattr("kveil.algorithms.sequential.k_msd.PART", 100)
    assert kveil.maximal_anonymous_attributes(frame, 40) == whole == ("a", "b", "d")
    assert kveil.maximal_anonymous_attributes(frame, 40, ["c", "b"]) == ("b",)
    assert kveil.maximal_anonymous_attributes(frame, 4_000) == ()


def test_a_multiset_dependency_says_where_it_fails() -> None:
    frame = pl.DataFrame({"zip": ["1", "1", "1", "2", None], "age": ["5", "5", "6", "7", "7"]})
    found = kveil.multiset_dependency(frame, ["zip"], ["age"], 2)
    assert not found
    assert found.broken == 3
    assert {"zip": "1", "age": "6", "records": 1} in found.groups
    assert kveil.multiset_dependency(frame, ["zip"], ["age"], 1)
    with pytest.raises(kveil.DataError, match="zipp"):
        kveil.multiset_dependency(frame, ["zipp"], ["age"], 1)
    with pytest.raises(kveil.PolicyError):
        kveil.multiset_dependency(frame, ["zip"], ["age"], 0)


# ---------------------------------------------------------------------------------------------- rules of inference


@given(st.integers(0, 10**9))
@examples(150)
def test_the_papers_rules_of_inference(seed: int) -> None:
    """Sections 4.2.1 and 6.1.1, on tables in which the premises hold now and then."""
    rng = Random(seed)
    rows, k = some_rows(rng), rng.randint(1, 4)
    frame = pl.DataFrame(rows)

    def multiset(left: str, right: str) -> bool:
        return bool(kveil.multiset_dependency(frame, list(left), list(right), k))

    def functional(left: str, right: str) -> bool:
        return naive.functional(rows, list(left), list(right))

    def anonymous(names: str) -> bool:
        return naive_kmsd.anonymous(rows, names, k)

    sides = ["a", "b", "c", "d", "ab", "bc", "cd"]
    for x in sides:
        for y in sides:
            if set(x) & set(y):
                continue
            both = multiset(x, y)
            # A k-multiset dependency is k-anonymity of both sides together, and then of every part of them.
            assert both == anonymous(x + y) == multiset(y, x)
            if both:
                assert anonymous(x)
                assert anonymous(y)
                assert all(multiset(part, other) for part in x for other in y)  # rule 3's X' →k Y'
            if functional(x, y) and anonymous(x):
                assert both
            for z in sides:
                if set(z) & set(x + y):
                    continue
                if both and functional(y, z):
                    assert multiset(x, z)
                    assert multiset(y, z)
                    assert multiset(x, y + z)
                if both and functional(x, y) and functional(x, z) and multiset(x, z):
                    assert multiset(x, y + z)
                if multiset(x, y + z):
                    assert both
                    assert multiset(x, z)


# ---------------------------------------------------------------------------------------------- edges


def test_boundaries_suppress_only_what_no_release_can_keep() -> None:
    text = """
kveil: 1
attributes:
  place:
    role: quasi-identifier
    hierarchy: {tree: {"*": {Kansas: [Wichita, Topeka], Ohio: [Akron, Dayton]}}}
    boundary: [Kansas, Ohio]
  sex: {role: quasi-identifier}
privacy: [{model: k-anonymity, k: 2}]
suppression: {limit: 0.25}
release: {order: keep}
"""
    frame = pl.DataFrame({"place": ["Wichita", "Topeka", "Topeka", "Akron"], "sex": ["f", "m", "m", "f"]})
    for algorithm in ("k-msd", "k-msd-ag"):
        result = kveil.anonymize(frame, Policy.parse(text, "p", Path()), algorithm=algorithm)
        assert result.owner.rows.tolist() == [0, 1, 2]
        assert set(result.data["place"]) == {"Kansas"}


def test_the_closure_chooses_where_to_start() -> None:
    # b determines c and, through c, d; a determines d alone: b comes first, then c and d follow by association.
    attributes = {name: {"role": "quasi-identifier"} for name in "abcd"}
    policy = kveil.Policy(
        attributes=attributes,
        privacy=[{"model": "k-anonymity", "k": 2}],
        dependencies=["a -> d", "b -> c", "c -> d"],
        algorithm="k-msd-ag",
    )
    frame = pl.DataFrame({"a": list("ppqqpp"), "b": list("uuvvww"), "c": list("xxyyxx"), "d": list("mmnnmm")})
    details = kveil.anonymize(frame, policy).account["details"]
    assert details["started_with"] == ["b"]
    assert details["order"] == ["b", "c", "d", "a"]
