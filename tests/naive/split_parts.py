"""Mondrian's splits one tuple at a time, on lists: what the loops of `kernels/splitting` have to come to.

Costs and numbers are whole multiples of a 64th, so that sums of floats are exact in whichever order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from naive.trees import ListTree, random_tree

EXTENT = 64.0


@dataclass
class SplitAttribute:
    """An attribute: a tree, or numbers for its leaves, or both; the last leaf may be missing."""

    tree: ListTree | None
    numbers: list[float] | None
    missing: int  # -1 where there is none
    importance: float
    leaves: int

    def node_cost(self, node: int) -> float:
        assert self.tree is not None
        return round(64 * self.tree.share(node)) / 64

    def cover(self, low: int, high: int) -> int:
        """Return the lowest node over two leaves, by climbing."""
        assert self.tree is not None
        return self.tree.cover(self.tree.leaf_nodes[low], self.tree.leaf_nodes[high])

    def width(self, low: int, high: int, top: int) -> float:
        """Return how wide a span is, ``top`` being its largest leaf that is not missing."""
        if low == high:
            return 0.0
        if self.numbers is None:
            return self.node_cost(self.cover(low, high))
        return 1.0 if high == self.missing else (self.numbers[top] - self.numbers[low]) / EXTENT

    def cost(self, low: int, high: int) -> float:
        """Return what a cell loses that shows a span."""
        if low == high:
            return 0.0
        if self.tree is not None:
            return self.node_cost(self.cover(low, high))
        assert self.numbers is not None
        return 1.0 if high == self.missing else (self.numbers[high] - self.numbers[low]) / EXTENT


@dataclass
class SplitCase:
    """Tuples with spans of leaves, weights and one sensitive value each; what every part has to satisfy."""

    attributes: list[SplitAttribute]
    low: list[list[int]]  # tuple × attribute
    high: list[list[int]]
    weight: list[int]
    value: list[int]
    k: int
    different: int
    share: tuple[int, int]
    by_gain: bool
    few: int = 0
    final: list[list[int]] = field(default_factory=list)

    def holds(self, part: list[int]) -> bool:
        counts: Counter[int] = Counter()
        for row in part:
            counts[self.value[row]] += self.weight[row]
        total = sum(counts.values())
        if total < self.k or len(counts) < self.different:
            return False
        return max(counts.values(), default=0) * self.share[1] <= total * self.share[0]

    def total(self, part: list[int]) -> int:
        return sum(self.weight[row] for row in part)

    def span(self, part: list[int], a: int) -> tuple[int, int]:
        return min(self.low[row][a] for row in part), max(self.high[row][a] for row in part)

    def cut(self, part: list[int], a: int) -> int | None:
        """Return the leaf after which to cut: nearest to halves, the lower of equals; None where all are one."""
        missing = self.attributes[a].missing
        counts: Counter[int] = Counter()
        for row in part:
            if self.low[row][a] != missing:
                counts[self.low[row][a]] += self.weight[row]
        known = sorted(counts)
        total = sum(counts.values())
        gaps = [(abs(2 * sum(counts[leaf] for leaf in known[: i + 1]) - total), i) for i in range(len(known) - 1)]
        return known[min(gaps)[1]] if gaps else None

    def bins(self, part: list[int], a: int) -> list[list[int]] | None:
        """Return the tuples of a part by bin; the first one is for those that span what would be separated."""
        own = self.attributes[a]
        low, high = self.span(part, a)
        if own.numbers is not None:
            cut = self.cut(part, a)
            if cut is None and high != own.missing:
                return None
            bins: list[list[int]] = [[], [], [], []]
            for row in part:
                first, last = self.low[row][a], self.high[row][a]
                if first == own.missing:
                    bins[3].append(row)
                elif last == own.missing:
                    bins[0].append(row)
                elif cut is None or last <= cut:
                    bins[1].append(row)
                else:
                    bins[2 if first > cut else 0].append(row)
            return bins
        assert own.tree is not None
        children = own.tree.children(own.cover(low, high))
        bins = [[] for _ in range(len(children) + 1)]
        for row in part:
            inside = [
                i
                for i, child in enumerate(children)
                if own.tree.first[child] <= self.low[row][a] and self.high[row][a] <= own.tree.last[child]
            ]
            bins[inside[0] + 1 if inside else 0].append(row)
        return bins

    def settled(self, bins: list[list[int]]) -> list[list[int]]:
        """Return the bins that stand alone, and a rest of all others that holds; fewer than two are no split."""
        good = [b for b, own in enumerate(bins) if b > 0 and own and self.holds(own)]
        while good:
            rest = [row for b, own in enumerate(bins) if b not in good for row in own]
            if not rest or self.holds(rest):
                return [bins[b] for b in good] + ([rest] if rest else [])
            good.remove(min(good, key=lambda b: (self.total(bins[b]), b)))
        return []

    def gain(self, part: list[int], parts: list[list[int]], a: int) -> float:
        own = self.attributes[a]
        before = own.cost(*self.span(part, a)) * self.total(part)
        return (before - sum(own.cost(*self.span(one, a)) * self.total(one) for one in parts)) * own.importance

    def split(self, part: list[int]) -> list[list[int]]:
        """Return the parts that come of one, in order."""
        total = self.total(part)
        best: list[list[int]] = []
        if total > self.few and total >= 2 * self.k and len(part) > 1:
            best_gain = -1.0
            for a in self.widest_first(part):
                bins = self.bins(part, a)
                parts = [] if bins is None else self.settled(bins)
                if len(parts) < 2:
                    continue
                if not self.by_gain:
                    best = parts
                    break
                if (gain := self.gain(part, parts, a)) > best_gain:
                    best, best_gain = parts, gain
        return [final for one in best for final in self.split(one)] if best else [part]

    def widest_first(self, part: list[int]) -> list[int]:
        widths = []
        for a, own in enumerate(self.attributes):
            low, high = self.span(part, a)
            known = [self.high[row][a] for row in part if self.high[row][a] != own.missing]
            widths.append(own.width(low, high, max(known, default=-1)) * own.importance)
        return [a for a in sorted(range(len(widths)), key=lambda a: (-widths[a], a)) if widths[a] > 0]


def random_attribute(chance: Random) -> SplitAttribute:
    kind = chance.choice(["tree", "number", "both"])
    tree = None if kind == "number" else random_tree(chance, most_depth=3, most_children=3)
    leaves = chance.randint(2, 8) if tree is None else tree.leaves
    missing = leaves - 1 if chance.random() < 0.4 and leaves > 2 else -1
    # Some numbers lie far apart, so that values are also sorted where there are too many leaves to count.
    numbers = None if kind == "tree" else [float(n) for n in sorted(chance.sample(range(65), leaves))]
    return SplitAttribute(tree, numbers, missing, chance.choice([0.5, 1.0, 2.0]), leaves)


def random_split(chance: Random, *, spans: bool) -> SplitCase:
    """Return a few tuples; with ``spans`` some of them, as people do, have several leaves."""
    attributes = [random_attribute(chance) for _ in range(chance.randint(1, 4))]
    rows = chance.randint(1, 24)
    low = [[chance.randrange(own.leaves) for own in attributes] for _ in range(rows)]
    high = [
        [
            chance.randrange(leaf, own.leaves) if spans and chance.random() < 0.2 else leaf
            for leaf, own in zip(row, attributes, strict=True)
        ]
        for row in low
    ]
    return SplitCase(
        attributes,
        low,
        high,
        [chance.choice([1, 1, 2, 3]) for _ in range(rows)],
        [chance.randrange(4) for _ in range(rows)],
        chance.randint(1, 4),
        chance.choice([1, 1, 2]),
        chance.choice([(1, 1), (1, 1), (2, 3), (1, 2)]),
        chance.random() < 0.5,
        chance.choice([0, 0, 5]),
    )
