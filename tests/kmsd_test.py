"""K-MSD and K-MSD-AG: the paper's tables, slow twins, rules of inference."""

from __future__ import annotations

from collections import Counter
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
import naive_kmsd
from dependencies_test import grown
from kveil.kernels.kmsd import Nodes, repair
from strategies import examples

GOLDEN = Path(__file__).parent / "golden" / "kmsd"


@pytest.mark.parametrize(("policy", "expected"), [("policy.yaml", "k-msd"), ("policy-ag.yaml", "k-msd-ag")])
def test_the_papers_tables(policy: str, expected: str) -> None:
    loaded = kveil.Policy.load(GOLDEN / policy)
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    result = kveil.anonymize(frame, loaded)
    assert result.data.write_csv() == (GOLDEN / f"expected-{expected}.csv").read_text()
    assert result.receipt["algorithm"] == expected
    assert all(rule["holds"] for rule in result.receipt["dependencies"])


def test_k_msd_keeps_a_declared_rule_by_the_pass_after() -> None:
    loaded = kveil.Policy.load(GOLDEN / "policy-ag.yaml")
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    result = kveil.anonymize(frame, loaded, algorithm="k-msd")
    assert result.receipt["dependencies"] == [{"rule": "Department -> Phone", "holds": True}]
    teaching = result.data.filter(pl.col("Department") == "Teaching")["Phone"].unique().to_list()
    assert teaching == ["8515***"]


# ---------------------------------------------------------------------------------------------- slow twins


def random_tree(rng: Random) -> list[int]:
    """The parents of a tree's nodes in depth-first order."""
    parent = [0]

    def grow(node: int, depth: int) -> None:
        for _ in range(rng.randint(1, 4)):
            if len(parent) > 40:
                return
            parent.append(node)
            if depth < 5 and rng.random() < 0.5:
                grow(len(parent) - 1, depth + 1)

    grow(0, 1)
    return parent


@given(st.integers(0, 10**9))
@examples(400)
def test_minimal_distance_generalization_is_that_of_its_slow_twin(seed: int) -> None:
    rng = Random(seed)
    parent = random_tree(rng)
    number = len(parent)
    depth, end = [0] * number, list(range(number))
    for node in range(1, number):
        depth[node] = depth[parent[node]] + 1
    for node in range(number - 1, 0, -1):
        end[parent[node]] = max(end[parent[node]], end[node])
    k = rng.randint(1, 6)
    groups = []
    for _ in range(rng.randint(1, 4)):
        chosen = sorted(rng.sample(range(number), rng.randint(1, min(number, 12))))
        own = {node: rng.choice([1, 1, 1, 2, 3, 7]) for node in chosen}
        if sum(own.values()) >= k:
            groups.append(own)

    def way(label: str) -> tuple[str, ...]:
        found = [int(label)]
        while found[-1]:
            found.append(parent[found[-1]])
        return tuple(map(str, found))

    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    shown = repair(
        Nodes(
            np.array(parent, dtype=np.int32),
            np.array(depth, dtype=np.int32),
            np.array(end, dtype=np.int32),
            np.arange(number) == 0,
        ),
        starts,
        np.array([node for own in groups for node in own], dtype=np.int32),
        np.array([count for own in groups for count in own.values()], dtype=np.int64),
        k,
    )
    assert shown is not None
    for i, own in enumerate(groups):
        values = Counter({str(node): count for node, count in own.items()})
        slow = naive_kmsd.mdg(values, way, [str(node) for node in range(number)], k)
        fast = dict(zip(values, map(str, shown[starts[i] : starts[i + 1]]), strict=True))
        assert fast == slow


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
    from kveil.files import from_frame
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
