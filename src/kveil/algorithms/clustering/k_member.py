"""Greedy k-member clustering, free and inside boundaries.

Byun, Kamra, Bertino, Li 2006; GreedyCKA: Miller, Campan, Truta 2008: the same inside every group of equal maximum
allowed values. Where the papers are silent: ties go to the first record in canonical order; rows that would show
nothing but `*` count as suppressed, so their clusters are dissolved.
"""

from __future__ import annotations

import math
from typing import NotRequired, TypedDict

import numpy as np

from kveil.algorithms.algorithm import DivideOptions
from kveil.algorithms.clustering.space import RowClusters, Space, clusters_of
from kveil.algorithms.component import components_of
from kveil.algorithms.stars import NOTHING_LEFT, count_as_suppressed, give_away
from kveil.algorithms.suppression import WAYS_OUT
from kveil.arrays import Bools
from kveil.errors import Unmeetable
from kveil.policy.components import most_suppressed
from kveil.policy.fields import Count
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import count


class KMemberOptions(DivideOptions):
    """Options of k-member and greedy-cka.

    blocks: split every group into blocks of at most so many distinct tuples first, and cluster inside the blocks: two
    to three times as fast and not the same clusters; records near the edge of a block miss neighbours beyond it, which
    usually raises the loss. Left out: exact.
    """

    blocks: Count | None = None


GROWTH = 1.6  # ten times the tuples took forty times as long, on a million rows of benchmarks/bench_clusters.py


def clustering_effort(table: Table) -> float:
    """Return about how many steps clustering takes: more than linear in the distinct tuples, less than all pairs."""
    return math.pow(len(table.distinct.weights), GROWTH)


def dissolve_stars(space: Space, clusters: RowClusters, least: int) -> Bools:
    """Give the rows of clusters that would show nothing but `*` to other clusters; return the rows that cannot.

    A row of stars counts as suppressed, so a wider neighbour is better. Row by row in canonical order: to the cluster
    of its MAM group whose total loss grows least and that shows something still; of equals the first. Rows that fit
    nowhere become clusters as they are where so many are equal, to which others may then go.
    """
    table = space.table
    gone = np.zeros(table.rows, dtype=bool)
    star = count_as_suppressed(table, space.is_star(clusters.low, clusters.high))
    if not star.any():
        return gone
    waiting = [int(row) for row in table.canonical if clusters.label[row] >= 0 and star[clusters.label[row]]]
    groups = {row: int(clusters.group[clusters.label[row]]) for row in waiting}
    clusters.size[star] = 0
    clusters.label[waiting] = -1

    def join(row: int) -> bool:
        offers = space.offers(clusters, int(table.distinct.member[row]), groups[row])
        growth = np.where(offers.is_star, np.iinfo(np.int64).max, offers.growth)
        if offers.is_star.all():
            return False
        best = int(np.argmin(growth))
        chosen = offers.cluster[best]
        clusters.label[row] = chosen
        clusters.low[:, chosen], clusters.high[:, chosen] = offers.low[:, best], offers.high[:, best]
        clusters.size[chosen] += 1
        return True

    def start(rows: list[int]) -> set[int]:
        equal: dict[int, list[int]] = {}
        for row in rows:
            equal.setdefault(int(table.distinct.member[row]), []).append(row)
        placed: set[int] = set()
        for member, mine in equal.items():
            low, high = space.low[:, member], space.high[:, member]
            if len(mine) >= least and not space.is_star(low[:, None], high[:, None])[0]:
                new = clusters.add(low, high, groups[mine[0]])
                clusters.label[mine] = new
                clusters.size[new] = len(mine)
                placed.update(mine)
        return placed

    gone[give_away(waiting, join, start)] = True
    return gone


def k_member(table: Table, options: KMemberOptions, rng: np.random.Generator) -> Solution:
    """Cluster the whole table. O(records²) at worst, far less where a search tree of the tuples helps."""
    return _solve(table, options, "k-member")


def greedy_cka(table: Table, options: KMemberOptions, rng: np.random.Generator) -> Solution:
    """Suppress what boundaries keep from any group of k (OUT, the least there can be); cluster inside the others."""
    return _solve(table, options, "greedy-cka")


class _BoundaryDetails(TypedDict):
    """How many groups there are within the boundaries, how many are too small, and how many records those have."""

    groups: int
    groups_out: int
    out: int


class ClusterDetails(TypedDict):
    """What the greedy algorithms tell of their work."""

    clusters: int
    boundaries: NotRequired[_BoundaryDetails]
    blocks: NotRequired[int]
    costs_rounded_to: NotRequired[float]


def _solve(table: Table, options: KMemberOptions, name: str) -> Solution:
    (component,) = components_of(table)
    k = component.least_members
    space = Space(table, component.positions)
    groups = space.mam_groups(k)
    sizes = np.bincount(groups.group, weights=table.distinct.weights, minlength=groups.number)
    kept = (sizes >= k)[groups.group][table.distinct.member]
    clusters, blocks = clusters_of(space, groups.group, kept, k, most=options.blocks)
    stars = space.is_star(clusters.low, clusters.high).any()
    starred = dissolve_stars(space, clusters, k)
    lost, allowed = int((~kept | starred).sum()), most_suppressed(table.policy, table.records)
    if lost > allowed:
        raise _unmeetable(table, name, int((~kept).sum()), int(starred.sum()), allowed)
    reasons = {
        f"its group within the boundaries has fewer than {k} members": np.flatnonzero(~kept).astype(np.int32),
        NOTHING_LEFT: np.flatnonzero(starred).astype(np.int32),
    }
    details: ClusterDetails = {"clusters": len(np.unique(clusters.label[clusters.label >= 0]))}
    if name == "greedy-cka":
        small = int(((sizes > 0) & (sizes < k)).sum())
        details["boundaries"] = {"groups": int((sizes > 0).sum()), "groups_out": small, "out": int((~kept).sum())}
    if options.blocks is not None:
        details["blocks"] = blocks
    if not space.whole.exact:
        details["costs_rounded_to"] = 1 / space.whole.scale
    return Solution(
        tuple(space.shown(clusters)),
        (~kept | starred)[None, :],
        {reason: rows for reason, rows in reasons.items() if len(rows)},
        details,
        alike=None if lost else clusters.label,
        plain=not stars and not lost and options.blocks is None,
    )


def _unmeetable(table: Table, name: str, out: int, starred: int, allowed: int) -> Unmeetable:
    """Return the error about records that cannot be kept."""
    parts = []
    if out:
        parts.append(f"{count(out, table.noun)} of {table.records:,} cannot be kept within the boundaries")
    if starred:
        parts.append(f"{count(starred, table.noun)} of {table.records:,} would show nothing but `*`")
    return Unmeetable(
        f"{name} cannot meet the policy: {' and '.join(parts)}, and the limit allows {allowed:,}; {WAYS_OUT}",
        lost=out + starred,
    )
