"""RMERGER against slow twins of its two steps: the merging of clusters, and the generalization of items in each."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.clustering.space import Space
from kveil.algorithms.people.combinations import SharedCombinations, generalize_combinations
from kveil.frames import from_frame
from kveil.kernels.items.combinations import merge_nearest
from kveil.policy.model import Policy
from kveil.table.encode import encode
from kveil.table.table import Table
from naive import people as naive

WAYS: dict[str, tuple[naive.Way, ...]] = {
    "job": (
        ("smith", "craft", "*"), ("baker", "craft", "*"), ("clerk", "office", "*"), ("judge", "law", "office", "*"),
        ("usher", "law", "office", "*"), ("none", "*"),
    ),
    "town": (("oslo", "north", "*"), ("bergen", "north", "*"), ("rome", "south", "*"), ("bari", "south", "*")),
    "illness": (
        ("flu", "viral", "*"), ("cold", "lungs", "viral", "*"), ("cough", "lungs", "viral", "*"), ("gout", "*"),
        ("acne", "skin", "*"),
    ),
    "drug": (("11", "1x", "*"), ("12", "1x", "*"), ("2", "*"), ("31", "3x", "*"), ("32", "3x", "*"), ("33", "3x", "*")),
}  # fmt: skip
QUASI, SETS = ("job", "town"), ("illness", "drug")


def tree_text(ways: tuple[naive.Way, ...]) -> str:
    """A hierarchy as a policy has it, in one line."""

    def under(ways: list[naive.Way]) -> str:
        heads = list(dict.fromkeys(way[-1] for way in ways))
        parts = []
        for head in heads:
            deeper = [way[:-1] for way in ways if way[-1] == head and len(way) > 1]
            parts.append(f'"{head}": {under(deeper) if deeper else "[]"}')
        return "{" + ", ".join(parts) + "}"

    return f"{{tree: {under(list(ways))}}}"


def random_table(random: Random) -> tuple[Table, pl.DataFrame]:
    """People with quasi-identifiers and sets of items, as kveil has them and as rows."""
    roles = {**dict.fromkeys(QUASI, "quasi-identifier"), **dict.fromkeys(SETS, "sensitive")}
    lines = "".join(f"  {n}: {{role: {role}, hierarchy: {tree_text(WAYS[n])}}}\n" for n, role in roles.items())
    text = (
        f"kveil: 1\nattributes:\n  pid: {{role: individual}}\n{lines}privacy:\n"
        "  - {model: k-km-anonymity, sensitive: [illness, drug], k: 2, m: 2}\nalgorithm: rmerger\n"
    )
    rows = []
    for person in range(random.randint(4, 20)):
        own = {"pid": f"P{person:02}", **{name: random.choice(WAYS[name])[0] for name in QUASI}}
        rows += [{**own, **{name: random.choice(WAYS[name])[0] for name in SETS}} for _ in range(random.randint(1, 4))]
    frame = pl.DataFrame(rows)
    return encode(from_frame(frame), Policy.parse(text, "a test", Path())), frame


@pytest.mark.uncompiled
def test_items_are_generalized_as_by_the_slow_twin() -> None:
    random = Random(5)
    forest = naive.Forest(tuple(WAYS[name] for name in SETS))
    climbed = 0
    for _ in range(60):
        table, frame = random_table(random)
        k, m = random.choice([2, 3]), random.choice([1, 2, 3])
        clusters = random.randint(1, max(table.records // k, 1))
        label = np.array([person % clusters for person in range(table.records)], dtype=np.int32)
        had = [
            frozenset((t, item) for t, name in enumerate(SETS) for item in rows[name].to_list())
            for rows in frame.partition_by("pid", maintain_order=True)
        ]
        wanted = naive.rare_combinations_climb(forest, list(zip(label.tolist(), had, strict=True)), k, m)
        found, _ = generalize_combinations(table, SharedCombinations(tuple(table.policy.generalized), k, m), label)
        for t, name in enumerate(SETS):
            sensitive = table.sensitive[name]
            assert sensitive.tree is not None
            labels = sensitive.tree.labels
            for row, code, node in zip(sensitive.row, sensitive.code, found[name], strict=True):
                item = labels[sensitive.tree.leaf_nodes[sensitive.leaves[code]]]
                assert labels[node] == wanted[row][(t, item)][1]
                climbed += labels[node] != item
    assert climbed > 300


@pytest.mark.uncompiled
def test_clusters_are_merged_as_by_the_slow_twin() -> None:
    random = Random(7)
    forest = naive.Forest(tuple(WAYS[name] for name in QUASI))
    merged = 0
    for _ in range(80):
        table, frame = random_table(random)
        people = [tuple(enumerate(row)) for row in frame.unique("pid", maintain_order=True).select(QUASI).iter_rows()]
        space = Space(table.changed(persons=None), [0, 1])
        label = np.empty(table.records, dtype=np.int64)  # of two neighbours or three, so that merging pays
        label[np.array(sorted(range(len(people)), key=people.__getitem__))] = np.arange(len(people)) // random.choice(
            [2, 3]
        )
        number = int(label.max()) + 1
        group = np.array([random.choice([0, 0, 1]) for _ in range(number)], dtype=np.int32)
        member = table.distinct.member
        low = np.array([space.low[:, member[label == c]].min(axis=1) for c in range(number)], dtype=np.int32)
        high = np.array([space.high[:, member[label == c]].max(axis=1) for c in range(number)], dtype=np.int32)
        delta = Fraction(random.choice([0, 20, 40, 65, 100]), 100)
        most = int(delta * len(QUASI) * space.whole.scale * table.records)
        size = np.bincount(label).astype(np.int64)
        found = merge_nearest(space.costs, low, high, size, group, most)
        rows = [[people[p] for p in np.flatnonzero(label == c)] for c in range(number)]
        wanted = naive.merge_nearest(forest, list(zip(group.tolist(), rows, strict=True)), delta)
        assert found.tolist() == wanted
        merged += number - len(set(wanted))
    assert merged > 20
