"""RMERGER: Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013, for (k,kᵐ)-anonymity.

It is the baseline of Gong et al. 2017. Clusters of at least k people by their quasi-identifiers, by greedy
clustering; merging of the clusters that are nearest in them while QID-NCP stays below δ; then inside each cluster
items are generalized until every combination of at most m that occurs is shared by k (Terrovitis, Mamoulis, Kalnis
2008). Where the papers are silent, see docs/decisions.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import numpy as np
from pydantic import Field

from kveil.algorithms.clustering.k_member import dissolve_stars
from kveil.algorithms.clustering.space import RowClusters, Space, clusters_of
from kveil.algorithms.neighbourhoods import hide_with_neighbours
from kveil.algorithms.people.combinations import SharedCombinations, generalize_combinations
from kveil.algorithms.stars import NOTHING_LEFT
from kveil.algorithms.suppression import LeftOut
from kveil.arrays import Bools
from kveil.kernels.items.combinations import merge_nearest
from kveil.policy.components import largest_k
from kveil.policy.fields import Count, PolicyPart, Share
from kveil.policy.privacy import KKmAnonymity
from kveil.table.solution import Solution
from kveil.table.table import Table


class RmergerOptions(PolicyPart):
    """Options of RMERGER.

    delta: clusters are merged while QID-NCP stays below it; a larger one spares items at the cost of
    quasi-identifiers. m: combinations of at most so many items, at least what the policy asks for.
    """

    delta: Annotated[Share, Field()] = Decimal("0.65")
    m: Count | None = None


def rmerger(table: Table, options: RmergerOptions, rng: np.random.Generator) -> Solution:
    """Cluster people by quasi-identifiers, merge the nearest clusters, generalize items inside each.

    Cost: greedy clustering; quadratic in the number of clusters; then O(combinations) per round of generalization, with
    few more rounds than the item trees have levels times m.
    """
    k = largest_k(table.policy)
    m = max([options.m or 1, *(model.m for model in table.policy.privacy if isinstance(model, KKmAnonymity))])
    shared = SharedCombinations(tuple(table.policy.generalized), k, m)
    spaces = _Spaces(table) if table.names else None
    left_out = LeftOut(table, "rmerger")
    while True:
        kept = left_out.kept
        clusters, small = _one_cluster(kept, k) if spaces is None else _clusters(spaces, kept, k, options.delta)
        if small.any():
            left_out.leave_out(small, "too rare within its boundaries")
            continue
        items, rounds = generalize_combinations(table, shared, clusters.label)
        shown = () if spaces is None else tuple(spaces.clustering.shown(clusters))
        hidden = hide_with_neighbours(table, shown, items, kept)
        if not hidden.any():
            break
        left_out.leave_out(hidden, NOTHING_LEFT)
    suppressed = np.repeat(~kept[None, :], len(table.components), axis=0)
    details = {"clusters": len(np.unique(clusters.label[kept])), "rounds": rounds}
    return Solution(shown, suppressed, left_out.reasons, details, items=items)


class _Spaces:
    """People as rows, whose quasi-identifiers alone are looked at: clustered by the policy's loss, merged by NCP.

    NCP is what δ bounds.
    """

    def __init__(self, table: Table) -> None:
        rows, every = table.changed(persons=None), list(range(len(table.names)))
        self.clustering = Space(rows, every)
        by_ncp = table.policy.model_copy(update={"loss": "ncp"})
        self.merging = self.clustering if by_ncp == table.policy else Space(rows.changed(policy=by_ncp), every)


def _clusters(spaces: _Spaces, kept: Bools, k: int, delta: Decimal) -> tuple[RowClusters, Bools]:
    """Return merged clusters of the kept people, or those whose group of equal limits is below k."""
    space, merging = spaces.clustering, spaces.merging
    table = space.table
    group = space.mam_groups(k, kept=kept).group
    of_row = group[table.distinct.member]
    few = np.bincount(of_row[kept], minlength=int(group.max(initial=0)) + 1) < k
    small = few[of_row] & kept
    if small.any():
        none = np.zeros(0, dtype=np.int32)
        return RowClusters(none, none, none, none.astype(np.int64), none), small
    clusters = _in_order(_showing_something(space, clusters_of(space, group, kept, k)[0], k), table)
    weights = sum(table.policy.attributes[name].weight for name in table.names)
    most = int(delta * weights * merging.whole.scale * int(kept.sum()))
    low, high = np.ascontiguousarray(clusters.low.T), np.ascontiguousarray(clusters.high.T)
    into = merge_nearest(merging.costs, low, high, clusters.size, clusters.group, most)
    used, number = np.unique(into, return_inverse=True)
    number = number.reshape(-1).astype(np.int32)
    label = np.append(number, -1)[clusters.label].astype(np.int32)
    size = np.bincount(number, weights=clusters.size, minlength=len(used)).astype(np.int64)
    low, high = np.ascontiguousarray(low[used].T), np.ascontiguousarray(high[used].T)
    return RowClusters(label, low, high, size, clusters.group[used]), small


def _in_order(clusters: RowClusters, table: Table) -> RowClusters:
    """Return clusters numbered by their first members in canonical order: merging breaks ties by their numbers."""
    members = table.canonical[clusters.label[table.canonical] >= 0]
    used, first = np.unique(clusters.label[members], return_index=True)
    order = used[np.argsort(first)]
    number = np.full(len(clusters.size) + 1, -1, dtype=np.int32)
    number[order] = np.arange(len(order))
    return RowClusters(
        number[clusters.label],
        clusters.low[:, order],
        clusters.high[:, order],
        clusters.size[order],
        clusters.group[order],
    )


def _one_cluster(kept: Bools, k: int) -> tuple[RowClusters, Bools]:
    """Return everyone who is kept as one cluster: by plain sets of items nobody is nearer than another."""
    flat, everyone = np.zeros((0, 1), dtype=np.int32), np.array([int(kept.sum())], dtype=np.int64)
    clusters = RowClusters(np.where(kept, 0, -1).astype(np.int32), flat, flat, everyone, np.zeros(1, dtype=np.int32))
    return clusters, kept & (int(kept.sum()) < k)


def _showing_something(space: Space, clusters: RowClusters, k: int) -> RowClusters:
    """Return clusters without those that show nothing but `*`, if other clusters can take in all their people."""
    open_to = RowClusters(
        clusters.label.copy(), clusters.low.copy(), clusters.high.copy(), clusters.size.copy(), clusters.group.copy()
    )
    if dissolve_stars(space, open_to, k).any():
        return clusters
    used = np.flatnonzero(open_to.size > 0)
    number = np.full(len(open_to.size) + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    low, high = open_to.low[:, used], open_to.high[:, used]
    return RowClusters(number[open_to.label], low, high, open_to.size[used], open_to.group[used])
