"""Labels that name rare values, as a choice among solutions sees them: what the verifier would refuse, and no more."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.algorithms.telling_labels import find_telling, refuse_labels
from kveil.flow.steps.inputs import table_of
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Tree
from kveil.verifier.labels import telling_labels
from kveil.verifier.release import lay_beside

TOWNS = ["Alta", "Bodo", "Moss", "Oslo", "Rome", "7", "9"]
LABELS = [
    "Alta … Moss",
    "Alta, Bodo",
    "{Moss; Oslo}",
    "Oslo to Rome",
    "7 … 9",
    "7-9",
    "North",
    "Bodo and more",
    "Alta-Bodo",
]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_passed_over_is_what_the_verifier_refuses(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        towns = rng.sample(TOWNS, len(TOWNS))
        cut = rng.randint(1, len(towns) - 1)
        one, other = rng.sample(LABELS, 2)
        policy = kveil.Policy(
            kveil=1,
            attributes={
                "town": {
                    "role": "quasi-identifier",
                    "hierarchy": {"tree": {"World": {one: towns[:cut], other: towns[cut:]}}},
                }
            },
            privacy=[{"model": "k-anonymity", "k": rng.randint(1, 4)}],
            suppression={"limit": 1},
        )
        had = rng.choices(towns, k=rng.randint(1, 25)) + (towns if rng.random() < 0.5 else [])
        source = table_of(pl.DataFrame({"town": had}), policy)
        table = encode(source, policy)
        (tree,) = table.trees
        assert isinstance(tree, Tree)
        nodes = tree.leaf_nodes[table.leaves[0]]
        up = np.array([rng.random() < 0.7 for _ in tree.labels])
        nodes = np.where(up[nodes], tree.parent[nodes], nodes).astype(np.int32)
        out = np.array([[rng.random() < 0.2 for _ in had]])
        solution = Solution((Shown.nodes(tree, nodes),), out)
        release = decode(source, table, solution)
        laid = lay_beside(table_of(release.frame(source), policy), source, release.rows, policy)
        refused = telling_labels(laid, policy)
        told = find_telling(table, solution)
        assert (told is not None) == bool(refused), (one, other, had)
        assert (refuse_labels(table, solution) is None) == (told is None)
