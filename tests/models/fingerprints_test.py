"""Fingerprints: the same number for the same shown set, another one for every other."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.models.fingerprints import (
    as_shown,
    fingerprint_name,
    fingerprints,
    run_starts,
    sharers_of_fingerprints,
    shown_pairs,
)
from kveil.table.table import Table

TREE = {"tree": {"*": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}}
SENSITIVE = {"role": "sensitive", "hierarchy": TREE}
KL = {"model": "kl-diversity", "sensitive": ["s", "t"], "k": 1, "l": 1}


def table(seed: int) -> tuple[Table, dict[str, np.ndarray]]:
    """People with two sets each, and their items shown as some node above."""
    random = np.random.default_rng(seed)
    leaves = ["x1", "x2", "y1", "y2", ""]
    columns = {"who": [f"p{i}" for i in random.integers(0, 6, 20)], "a": ["u"] * 20}
    columns |= {name: random.choice(leaves, 20).tolist() for name in ("s", "t")}
    attributes = {"who": "individual", "a": QUASI, "s": SENSITIVE, "t": SENSITIVE}
    own = coded(columns, attributes, privacy=[{"model": "k-anonymity", "k": 1}, KL])
    items = {}
    for name in ("s", "t"):
        sensitive = own.sensitive[name]
        node = sensitive.tree.leaf_nodes[sensitive.leaves[sensitive.code]]
        climbs = random.random(len(node)) < 0.5
        items[name] = np.where(climbs, sensitive.tree.parent[node], node).astype(np.int32)
    return own, items


def test_of_models_that_count_the_same_fingerprints_the_largest_k_counts() -> None:
    models = [{"model": "k-anonymity", "k": 7}, {**KL, "k": 2}, {**KL, "k": 3}, {**KL, "sensitive": "s", "k": 4}]
    attributes = {"who": "individual", "a": QUASI, "s": SENSITIVE, "t": SENSITIVE}
    policy = coded({name: ["x1"] for name in attributes}, attributes, privacy=models).policy
    one, both = "fingerprint\0s", "fingerprint\0s\0t"
    assert sharers_of_fingerprints(policy) == {both: 3, one: 4}


@pytest.mark.parametrize("seed", range(10))
def test_rows_have_one_fingerprint_if_they_show_the_same_sets(seed: int) -> None:
    own, items = table(seed)
    shown = {name: (own.sensitive[name].row, items[name]) for name in ("s", "t")}
    sets = [tuple(frozenset(nodes[of == row].tolist()) for of, nodes in shown.values()) for row in range(own.rows)]
    number, first = fingerprints(own, ("s", "t"), items)
    assert [sets[first[n]] for n in number] == sets
    assert len({sets[row] for row in first}) == len(first) == len(set(sets))


def test_pairs_of_a_row_and_a_node_stand_once_and_in_order() -> None:
    own, items = table(3)
    row, node = shown_pairs(own, "s", items["s"])
    pairs = list(zip(row.tolist(), node.tolist(), strict=True))
    assert pairs == sorted(set(zip(own.sensitive["s"].row.tolist(), items["s"].tolist(), strict=True)))


@pytest.mark.parametrize("seed", range(5))
def test_a_table_as_it_will_be_shown_counts_nodes_and_fingerprints(seed: int) -> None:
    own, items = table(seed)
    shown = as_shown(own, items)
    name = fingerprint_name(own.policy.privacy[1])
    assert set(shown.sensitive) == {"s", "t", name}
    assert shown.sensitive[name].code.tolist() == fingerprints(own, ("s", "t"), items)[0].tolist()
    values = shown.sensitive["s"]
    tree = own.sensitive["s"].tree
    missing = None if tree.missing is None else tree.labels[tree.leaf_nodes[tree.missing]]
    labels = {(int(row), tree.labels[node]) for row, node in zip(*shown_pairs(own, "s", items["s"]), strict=True)}
    found = {
        (int(row), missing if code == values.known else values.values[code])
        for row, code in zip(values.row, values.code, strict=True)
    }
    assert found == labels


def test_runs_start_where_their_rows_do() -> None:
    assert run_starts(np.array([0, 0, 2], dtype=np.int32), 4).tolist() == [0, 2, 2, 3, 3]
