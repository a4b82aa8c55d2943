"""Places in clusters for rows that are in none yet, or in one that shows nothing."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.clustering.space import RowClusters, Space
from kveil.algorithms.splitting.parts import Splitter
from kveil.arrays import Bools, Ints, Longs
from kveil.models.distributions import AlphaShare, FrequencyL
from kveil.models.groups import one_group
from kveil.stopping import check_deadline

TRIES = 20  # clusters that a row is tried in where its sensitive values have to be counted


class Placement:
    """Clusters of a component whose tuples are rows, while rows look for a place in them.

    What is asked again and again is kept up to date with every move: the members of each cluster, and how often a
    sensitive value that has been asked for occurs in each.
    """

    def __init__(self, splitter: Splitter, space: Space, clusters: RowClusters, inside: Bools) -> None:
        self.splitter = splitter
        self.space = space
        self.clusters = clusters
        self.judges = splitter.judges(inside)  # t-closeness compares with all that are in
        models = splitter.models
        self.shares = [model for model in models if isinstance(model, (AlphaShare, FrequencyL))]
        self.shares_decide = all(m.unique_subset or isinstance(m, (AlphaShare, FrequencyL)) for m in models)
        self.members: dict[int, set[int]] = {}
        labelled = np.flatnonzero(clusters.label >= 0)
        for row, cluster in zip(labelled.tolist(), clusters.label[labelled].tolist(), strict=True):
            self.members.setdefault(cluster, set()).add(row)
        self.tallies: dict[tuple[str, int], Longs] = {}

    def holds(self, rows: Ints | Longs) -> bool:
        """Tell whether rows satisfy every model by themselves."""
        group = one_group(rows, self.splitter.weights, self.splitter.pairs)
        return all(bool(model.good(group)[0]) for model in self.judges)

    def place(self, rows: Ints) -> None:
        """Let every row join the cluster whose loss grows least and that goes on satisfying every model.

        Rows that none takes stay together and take in the clusters nearest to them until they hold; all of their MAM
        group does, at the latest.
        """
        group = self.splitter.mam.group
        stuck: dict[int, list[int]] = {}
        for row in rows.tolist():
            check_deadline()
            if not self._join(row):
                stuck.setdefault(int(group[row]), []).append(row)
        for of_group, mine in stuck.items():
            self._gather(of_group, mine)

    def join_and_show(self, row: int) -> bool:
        """Let a row join a cluster of its MAM group that shows something with it still, if one can take it."""
        return self._join(row, shown=True)

    def _join(self, row: int, *, shown: bool = False) -> bool:
        offers = self.space.offers(self.clusters, row, int(self.splitter.mam.group[row]))
        possible = ~offers.is_star if shown else np.ones(len(offers.cluster), dtype=bool)
        for model in self.shares:
            possible &= self._share_stays(model, row, offers.cluster)
        order = np.flatnonzero(possible)[np.argsort(offers.growth[possible], kind="stable")]
        for at in order[:TRIES].tolist():
            chosen = int(offers.cluster[at])
            if self.shares_decide or self.holds(np.array([*self.members[chosen], row])):
                self._move([row], chosen, offers.low[:, at], offers.high[:, at])
                return True
        return False

    def _share_stays(self, model: AlphaShare | FrequencyL, row: int, clusters: Longs) -> Bools:
        """Tell in which clusters a row's values keep a share that is small enough."""
        pairs = self.splitter.pairs[model.sensitive]
        share = model.alpha if isinstance(model, AlphaShare) else 1 / model.l
        fine = np.ones(len(clusters), dtype=bool)
        for code in pairs.of(np.array([row]))[0].tolist():
            if code < pairs.known or isinstance(model, AlphaShare):
                have = self._tally(model.sensitive, code)[clusters]
                fine &= (have + 1) * share.denominator <= (self.clusters.size[clusters] + 1) * share.numerator
        return fine

    def _tally(self, name: str, code: int) -> Longs:
        """Return how many members of every cluster have a sensitive value."""
        if (name, code) not in self.tallies:
            pairs = self.splitter.pairs[name]
            label = self.clusters.label[pairs.tuples[pairs.codes == code]]
            self.tallies[name, code] = np.bincount(label[label >= 0], minlength=len(self.clusters.size))
        return self.tallies[name, code]

    def start_equal(self, rows: list[int]) -> set[int]:
        """Make clusters of equal rows that show something and hold by themselves; return who is in one."""
        low, high = self.space.low, self.space.high
        equal: dict[tuple[int, ...], list[int]] = {}
        for row in rows:
            equal.setdefault((*low[:, row].tolist(), *high[:, row].tolist()), []).append(row)
        placed: set[int] = set()
        for mine in equal.values():
            own_low, own_high = low[:, mine[0]], high[:, mine[0]]
            if self.space.is_star(own_low[:, None], own_high[:, None])[0] or not self.holds(np.array(mine)):
                continue
            self._move(mine, self._new(mine[0]), own_low, own_high)
            placed.update(mine)
        return placed

    def _new(self, row: int) -> int:
        for key, tally in self.tallies.items():
            self.tallies[key] = np.append(tally, 0)
        new = self.clusters.add(self.space.low[:, row], self.space.high[:, row], int(self.splitter.mam.group[row]))
        self.members[new] = set()
        return new

    def _move(self, rows: list[int], to: int, low: Ints, high: Ints) -> None:
        clusters = self.clusters
        for row in rows:
            before = int(clusters.label[row])
            for name, pairs in self.splitter.pairs.items() if self.tallies else ():
                for code in pairs.of(np.array([row]))[0].tolist():
                    if (name, code) in self.tallies:
                        self.tallies[name, code][to] += 1
                        if before >= 0:
                            self.tallies[name, code][before] -= 1
            if before >= 0:
                clusters.size[before] -= 1
                self.members[before].discard(row)
        clusters.label[rows] = to
        clusters.size[to] += len(rows)
        self.members[to].update(rows)
        clusters.low[:, to], clusters.high[:, to] = low, high

    def _gather(self, group: int, rows: list[int]) -> None:
        space, clusters = self.space, self.clusters
        low, high = space.low[:, rows].min(axis=1), space.high[:, rows].max(axis=1)
        to = self._new(rows[0])
        self._move(rows, to, low, high)
        while not self.holds(np.array(sorted(self.members[to]))):
            others = np.flatnonzero((clusters.group == group) & (clusters.size > 0))
            others = others[others != to]
            wider = (
                np.minimum(clusters.low[:, others], low[:, None]),
                np.maximum(clusters.high[:, others], high[:, None]),
            )
            size = clusters.size[others]
            before = space.price(clusters.low[:, others], clusters.high[:, others]) * size
            nearest = int(np.argmin(space.price(*wider) * (size + clusters.size[to]) - before))
            low, high = wider[0][:, nearest], wider[1][:, nearest]
            self._move(sorted(self.members[int(others[nearest])]), to, low, high)
