"""Rows in the space of some attributes: what cells cost, what clusters offer, and greedy clusters."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded, texts_of
from kveil.algorithms.clustering.space import RowClusters, Space, clusters_of, sort_by_group
from kveil.table.scale import Scale
from kveil.table.table import Table

ATTRIBUTES = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 20]}}},
}


def table(seed: int, rows: int = 30) -> Table:
    random = np.random.default_rng(seed)
    columns = {"t": random.choice(list("abc"), rows), "n": random.choice(["", *map(str, range(20))], rows)}
    return coded(columns, ATTRIBUTES)


def loss(own: Table, low: np.ndarray, high: np.ndarray) -> float:
    total = 0.0
    for tree, first, last in zip(own.trees, low.tolist(), high.tolist(), strict=True):
        if isinstance(tree, Scale):
            total += tree.shown(first, last)[1]
        else:
            total += float(tree.ncp[tree.lca(np.array([first]), np.array([last]))[0]])
    return total / len(own.trees)


@pytest.mark.parametrize("seed", range(5))
def test_spans_cost_what_a_row_loses(seed: int) -> None:
    own = table(seed)
    space = Space(own, [0, 1])
    random = np.random.default_rng(seed)
    ends = np.sort(np.array([random.integers(0, tree.leaves, (2, 12)) for tree in own.trees]), axis=1)
    low, high = ends[:, 0].astype(np.int32), ends[:, 1].astype(np.int32)
    first, last = np.zeros((2, 1), dtype=np.int32), np.array([[t.leaves - 1] for t in own.trees], dtype=np.int32)
    unit = space.price(first, last)[0] / loss(own, first[:, 0], last[:, 0])
    for i, price in enumerate(space.price(low, high).tolist()):
        assert price / unit == pytest.approx(loss(own, low[:, i], high[:, i]), abs=1e-6)
    everything = space.is_star(low, high)
    for i in range(12):
        scale = own.trees[1]
        star = int(low[0, i]) < 2 <= int(high[0, i]) and scale.missing is not None
        assert everything[i] == (star and high[1, i] == scale.missing and low[1, i] != high[1, i])


@pytest.mark.parametrize("most", [None, 8])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_clusters_hold_everybody_and_show_what_covers_them(seed: int, most: int | None) -> None:
    own = table(seed)
    space = Space(own, [0, 1])
    kept = np.arange(30) % 7 > 0
    groups = np.zeros(len(own.distinct.weights), dtype=np.int32)
    clusters, blocks = clusters_of(space, groups, kept, 3, most=most)
    assert (clusters.label >= 0).tolist() == kept.tolist()
    sizes = np.bincount(clusters.label[kept])
    assert sizes.tolist() == clusters.size.tolist()
    assert sizes.min() >= 3
    assert (blocks > 1) == (most is not None)
    for c in range(len(sizes)):
        leaves = own.leaves[:, clusters.label == c]
        assert clusters.low[:, c].tolist() == leaves.min(axis=1).tolist()
        assert clusters.high[:, c].tolist() == leaves.max(axis=1).tolist()
    shown = space.shown(clusters)
    first = int(np.flatnonzero(kept)[0])
    own_cluster = clusters.label[first]
    tree = own.trees[0]
    node = tree.lca(clusters.low[:1, own_cluster], clusters.high[:1, own_cluster])[0]
    assert texts_of(shown[0])[first] == tree.labels[node]


def test_clusters_offer_to_widen_over_a_row() -> None:
    own = coded({"t": ["a", "b", "c"], "n": ["1", "5", "9"]}, ATTRIBUTES)
    space = Space(own, [0, 1])
    clusters = RowClusters(
        np.full(3, -1, dtype=np.int32),
        np.array([[0, 2], [0, 2]], dtype=np.int32),
        np.array([[1, 2], [1, 2]], dtype=np.int32),
        np.array([2, 1]),
        np.array([0, 0], dtype=np.int32),
    )
    empty = clusters.add(np.array([0, 0], dtype=np.int32), np.array([0, 0], dtype=np.int32), 0)
    assert (empty, clusters.size.tolist()) == (2, [2, 1, 0])
    offers = space.offers(clusters, int(own.distinct.member[2]), 0)
    assert offers.cluster.tolist() == [0, 1]  # one without rows offers nothing
    assert offers.low.tolist() == [[0, 2], [0, 2]]
    assert offers.high.tolist() == [[2, 2], [2, 2]]
    assert offers.growth[1] == 0  # the row is what the second shows already
    before, after = space.price(clusters.low, clusters.high)[0], space.price(offers.low, offers.high)[0]
    assert offers.growth[0] == after * 3 - before * 2
    assert len(space.offers(clusters, 0, 1).cluster) == 0


def test_kept_rows_stand_by_group_in_canonical_order() -> None:
    own = table(0)
    group = (np.arange(len(own.distinct.weights)) % 2).astype(np.int32)
    kept = np.arange(30) != 4
    rows, of_row = sort_by_group(own, group, kept)
    assert sorted(rows.tolist()) == np.flatnonzero(kept).tolist()
    assert (np.diff(of_row) >= 0).all()
    place = np.argsort(own.canonical)
    for number in (0, 1):
        assert (np.diff(place[rows[of_row == number]]) > 0).all()
    tuples = Space(own, [0, 1]).tuples(rows)
    assert tuples.start[-1] == 29
    assert (np.diff(tuples.start) > 0).all()
