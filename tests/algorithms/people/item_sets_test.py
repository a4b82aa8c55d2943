"""Items are generalized until k people share every fingerprint, and laid out as the loops read them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.people.item_sets import Bucketing, bucketings, finest, generalize_items, joined_sets, lay_items
from kveil.algorithms.people.person_order import canonical_fingerprints
from kveil.models.fingerprints import fingerprints
from kveil.table.table import Table
from support import make_policy

TREE = {"tree": {"*": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}}
ITEMS = {"role": "sensitive", "hierarchy": TREE}
ATTRIBUTES = {"who": "individual", "a": QUASI, "r": ITEMS, "s": ITEMS, "t": ITEMS}


def kl(k: int, *names: str) -> dict[str, object]:
    return {"model": "kl-diversity", "sensitive": list(names), "k": k, "l": 1}


def test_attributes_of_models_that_share_one_are_generalized_together() -> None:
    policy = make_policy(ATTRIBUTES, privacy=[kl(2, "r"), kl(3, "t"), kl(5, "s", "t")], algorithm="auto")
    assert bucketings(policy) == [Bucketing(("r",), 2), Bucketing(("s", "t"), 5)]
    chained = make_policy(ATTRIBUTES, privacy=[kl(2, "r"), kl(3, "t"), kl(1, "r", "s", "t")], algorithm="auto")
    assert bucketings(chained) == [Bucketing(("r", "s", "t"), 3)]


def table(seed: int, k: int) -> Table:
    random = np.random.default_rng(seed)
    columns = {"who": [f"p{i}" for i in random.integers(0, 9, 40)], "a": ["u"] * 40}
    columns |= {name: random.choice(["x1", "x2", "y1", "y2", ""], 40).tolist() for name in ("r", "s", "t")}
    return coded(columns, ATTRIBUTES, privacy=[kl(k, "r", "s"), kl(k, "t")])


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_k_people_share_every_fingerprint_and_items_show_what_covers_them(seed: int, patient: bool) -> None:
    own = table(seed, 3)
    items = generalize_items(own, canonical_fingerprints(own), patient=patient)
    assert set(items) == {"r", "s", "t"}
    for names in (("r", "s"), ("t",)):
        assert min(Counter(fingerprints(own, names, items)[0].tolist()).values()) >= 3
    for name, nodes in items.items():
        tree, leaves = own.sensitive[name].tree, finest(own, name)
        for node, leaf in zip(nodes.tolist(), leaves.tolist(), strict=True):
            assert tree.first[node] <= tree.first[leaf] <= tree.last[node]


def test_trees_of_items_lie_end_to_end_with_the_way_of_every_leaf() -> None:
    own = table(0, 1)
    trees = [own.sensitive[name].tree for name in ("r", "s")]
    forest = lay_items(trees, 40)
    rows, leaves = joined_sets(own, ("r", "s"))
    assert len(rows) == len(own.sensitive["r"].row) + len(own.sensitive["s"].row)
    assert leaves.max() < trees[0].leaves + trees[1].leaves
    base = 0
    for number, tree in enumerate(trees):
        for leaf in range(tree.leaves):
            at = leaf + (trees[0].leaves if number else 0)
            way = (forest.way[forest.way_start[at] : forest.way_start[at + 1]] - base).tolist()
            assert way[0] == 0
            assert way[-1] == tree.leaf_nodes[leaf]
            assert all(tree.parent[below] == above for above, below in pairwise(way))
        base += len(tree.labels)
    assert (np.diff(forest.cost[[0, int(trees[0].leaf_nodes[0])]]) < 0).all()
