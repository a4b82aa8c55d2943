"""Combinations of items are shared by k of a cluster, beside counting all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.people import combinations as module
from kveil.algorithms.people.combinations import SharedCombinations, generalize_combinations
from kveil.table.table import Table

TREE = {"tree": {"*": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}}
ATTRIBUTES = {"who": "individual", "a": QUASI, "s": {"role": "sensitive", "hierarchy": TREE}}
KKM = {"model": "k-km-anonymity", "sensitive": "s", "k": 2, "m": 2}


def table(seed: int) -> tuple[Table, np.ndarray]:
    random = np.random.default_rng(seed)
    columns = {"who": [f"p{i}" for i in [*range(10), *random.integers(0, 10, 20)]], "a": ["u"] * 30}
    columns["s"] = random.choice(["x1", "x2", "y1", "y2"], 30).tolist()
    label = np.where(random.random(10) < 0.1, -1, np.arange(10) % 2).astype(np.int32)
    return coded(columns, ATTRIBUTES, privacy=[KKM]), label


@pytest.mark.parametrize("at_once", [8_000_000, 1])
@pytest.mark.parametrize("seed", range(8))
def test_k_of_a_cluster_share_every_combination(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", at_once)
    own, label = table(seed)
    shown, _ = generalize_combinations(own, SharedCombinations(("s",), 2, 2), label)
    sensitive = own.sensitive["s"]
    tree, leaf = sensitive.tree, sensitive.leaves[sensitive.code]
    sets = defaultdict(set)
    for row, node in zip(sensitive.row.tolist(), shown["s"].tolist(), strict=True):
        sets[row].add(node)
    support: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for row, nodes in sets.items():
        for size in (1, 2):
            for combination in combinations(sorted(nodes), size):
                support[int(label[row]), combination] += 1
    assert all(number >= 2 for (cluster, _), number in support.items() if cluster >= 0)
    assert (tree.first[shown["s"]] <= leaf).all()
    assert (leaf <= tree.last[shown["s"]]).all()
    assert (shown["s"][label[sensitive.row] < 0] == 0).all()  # who is in no cluster shows the root
    for cluster in (0, 1):  # no shown node lies below another
        nodes = set(shown["s"][label[sensitive.row] == cluster].tolist())
        for one, other in combinations(sorted(nodes), 2):
            assert tree.last[one] < tree.first[other] or tree.last[other] < tree.first[one]


def test_no_item_is_shown_finer_than_given() -> None:
    own, label = table(1)
    tree = own.sensitive["s"].tree
    leaf = own.sensitive["s"].leaves[own.sensitive["s"].code]
    given = {"s": tree.parent[tree.leaf_nodes[leaf]]}
    shown, _ = generalize_combinations(own, SharedCombinations(("s",), 1, 1), label, given=given)
    assert (tree.depth[shown["s"]] <= 1).all()
    finest, rounds = generalize_combinations(own, SharedCombinations(("s",), 1, 1), label)
    assert rounds == 0
    inside = label[own.sensitive["s"].row] >= 0
    assert (finest["s"][inside] == tree.leaf_nodes[leaf][inside]).all()
    assert generalize_combinations(own, SharedCombinations((), 2, 2), label) == ({}, 0)
