"""Greedy clusters and blocks of tuples on lists, every tuple looked at every time.

Beside `k_member`, which clusters the records of a policy: here are tuples as the loops get them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from naive.trees import ListTree, random_tree


@dataclass
class ClusterAttribute:
    """A tree with costs, or numbers of which a span costs the distance, at most ``full``; the last may be missing."""

    tree: ListTree | None
    numbers: list[int]
    missing: int
    full: int
    leaves: int

    def node_cost(self, node: int) -> int:
        assert self.tree is not None
        return round(1000 * self.tree.share(node))

    def cost(self, low: int, high: int) -> int:
        """Return what a cell costs that covers leaves from low to high."""
        if self.tree is not None:
            return self.node_cost(self.tree.cover(self.tree.leaf_nodes[low], self.tree.leaf_nodes[high]))
        if low == high:
            return 0
        return self.full if high == self.missing else min(self.numbers[high] - self.numbers[low], self.full)


@dataclass
class ClusterCase:
    """Distinct tuples, group by group: spans of leaves, and how many rows each has."""

    attributes: list[ClusterAttribute]
    low: list[list[int]]  # tuple × attribute
    high: list[list[int]]
    rows: list[int]
    groups: list[int]  # where they start, and the end

    def cost(self, tuples: list[int]) -> int:
        """Return what each row of a cluster of some tuples costs."""
        return sum(
            own.cost(min(self.low[t][a] for t in tuples), max(self.high[t][a] for t in tuples))
            for a, own in enumerate(self.attributes)
        )

    def clusters(self, k: int) -> list[list[int]]:
        """Return the tuples of every cluster's rows, as Byun et al. 2006 make them, inside each group."""
        made: list[list[int]] = []
        for g in range(len(self.groups) - 1):
            tuples = range(self.groups[g], self.groups[g + 1])
            left = {t: self.rows[t] for t in tuples}
            seed, first = self.groups[g], len(made)
            while sum(left.values()) >= k:
                here = [t for t in tuples if left[t]]
                seed = max(here, key=lambda t, last=seed: (self.cost([last, t]), -t))
                left[seed] -= 1
                cluster = [seed]
                while len(cluster) < k:
                    here = [t for t in tuples if left[t]]
                    best = min(here, key=lambda t, grown=cluster: (self.cost([*grown, t]), t))
                    left[best] -= 1
                    cluster.append(best)
                made.append(cluster)
            self.place_rest(made[first:], left)
        return made

    def place_rest(self, clusters: list[list[int]], left: dict[int, int]) -> None:
        """Let every row that is left of a tuple join the cluster whose total grows least; of equals the first."""
        for t, rows in left.items():
            for _ in range(rows):
                min(clusters, key=lambda c, t=t: self.cost([*c, t]) * (len(c) + 1) - self.cost(c) * len(c)).append(t)

    def merged(self, most: int) -> dict[int, list[int]]:
        """Return tuples merged into clusters, by the least number of each, while all rows cost no more than ``most``.

        The cheapest cluster merges with the one of its group with which it is cheapest, unless that shows nothing.
        """
        made = {t: [t] for t in range(len(self.rows))}
        home = {t: g for g in range(len(self.groups) - 1) for t in range(self.groups[g], self.groups[g + 1])}
        waiting = set(made)  # those that may have something to merge with
        while waiting:
            seed = min(waiting, key=lambda c: (self.cost(made[c]), c))
            price = {c: self.cost(made[seed] + made[c]) for c in made if c != seed and home[c] == home[seed]}
            able = [c for c in price if price[c] < sum(own.full for own in self.attributes)]
            if not able:
                waiting.remove(seed)
                continue
            keep, gone = sorted((seed, min(able, key=lambda c: (price[c], c))))
            after = {c: own + made[gone] * (c == keep) for c, own in made.items() if c != gone}
            if sum(self.cost(own) * self.rows[t] for own in after.values() for t in own) > most:
                break
            made = after
            waiting.discard(gone)
        return made

    def cut(self, part: list[int]) -> tuple[int, int]:
        """Return the attribute that costs most over some tuples, and the leaf before which to cut it."""
        spans = [
            (min(self.low[t][a] for t in part), max(self.high[t][a] for t in part)) for a in range(len(self.attributes))
        ]
        wide = [a for a, (low, high) in enumerate(spans) if low < high]
        a = max(wide, key=lambda a: (self.attributes[a].cost(*spans[a]), -a), default=0)
        starts = sorted(self.low[t][a] for t in part)
        middle = starts[(len(part) - 1) // 2]  # the first leaf up to which half of them, or more, begin
        first = last = middle
        tree = self.attributes[a].tree
        if tree is not None:
            # The child of what covers all in which the middle lies stays whole.
            top = tree.cover(tree.leaf_nodes[spans[a][0]], tree.leaf_nodes[spans[a][1]])
            own = [node for node in tree.way(tree.leaf_nodes[middle]) if tree.parent[node] == top and node != top]
            node = own[0] if own else top
            first, last = tree.first[node], tree.last[node]
        before, after = sum(start < first for start in starts), sum(start > last for start in starts)
        return a, first if before >= after else last + 1

    def blocks(self, largest: int) -> list[set[int]]:
        """Return tuples in blocks of at most so many, cut in two where they cost most until they are small."""

        def halved(part: list[int]) -> list[list[int]]:
            if len(part) <= largest:
                return [part]
            a, cut = self.cut(part)
            # The tuples before the cut come to the front by swaps, so that the others do not keep their order.
            part, middle = part.copy(), 0
            for at, t in enumerate(part):
                if self.low[t][a] < cut:
                    part[at], part[middle] = part[middle], t
                    middle += 1
            if not 0 < middle < len(part):
                middle = len(part) // 2
            return [*halved(part[:middle]), *halved(part[middle:])]

        return [
            set(block)
            for g in range(len(self.groups) - 1)
            for block in halved(list(range(self.groups[g], self.groups[g + 1])))
        ]


def random_clusters(chance: Random, fewest: int, *, spans: bool) -> ClusterCase:
    """Return groups of different tuples, each with so many rows or more."""
    attributes = []
    for _ in range(chance.randint(1, 3)):
        tree = random_tree(chance, most_depth=3, most_children=3) if chance.random() < 0.6 else None
        leaves = chance.randint(3, 12) if tree is None else tree.leaves
        missing = leaves - 1 if tree is None and chance.random() < 0.4 else -1
        numbers = sorted(chance.sample(range(2000), leaves))
        attributes.append(ClusterAttribute(tree, numbers, missing, 1000, leaves))
    low: list[list[int]] = []
    high: list[list[int]] = []
    rows: list[int] = []
    groups = [0]
    for _ in range(chance.randint(1, 3)):
        own = set()
        for _ in range(chance.randint(1, 40)):
            begin = tuple(chance.randrange(a.leaves) for a in attributes)
            end = tuple(
                chance.randrange(leaf, a.leaves) if spans and chance.random() < 0.2 else leaf
                for leaf, a in zip(begin, attributes, strict=True)
            )
            own.add((begin, end))
        times = [chance.choice([1, 1, 2, 6]) for _ in own]
        times[0] += max(fewest - sum(times), 0)
        low += [list(begin) for begin, _ in sorted(own)]
        high += [list(end) for _, end in sorted(own)]
        rows += times
        groups.append(len(rows))
    return ClusterCase(attributes, low, high, rows, groups)
