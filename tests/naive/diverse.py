"""Greedy clusters with different sensitive values or limited shares, the slow way: every tuple looked at, every time.

Numbers only: a tuple is a list of ranks, a cluster costs the widths of its box. Ties go to the tuple that stands first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

Box = list[tuple[int, int]]


@dataclass
class DiverseCase:
    """Distinct tuples with the value of each of their rows (one value per tuple), and what clusters need.

    ``least`` different values, or no value above the share ``alpha``; and k rows.
    """

    tuples: list[list[int]]
    rows: list[int]
    values: list[int]
    k: int
    least: int | None
    alpha: Fraction | None
    more_is_safe: bool

    def width(self, box: Box, t: int) -> int:
        """Return what a box costs that also covers a tuple."""
        own = self.tuples[t]
        return sum(max(high, v) - min(low, v) for (low, high), v in zip(box, own, strict=True))

    def holds(self, members: list[int]) -> bool:
        counts = Counter(self.values[t] for t in members)
        if self.least is not None and len(counts) < self.least:
            return False
        return self.alpha is None or max(counts.values()) <= self.alpha * len(members)

    def _plan(self, left: list[int]) -> tuple[int, int, int]:
        """Return how many clusters come later, how many rows they can spare, and the most frequent value."""
        rest = Counter[int]()
        for t, number in enumerate(left):
            rest[self.values[t]] += number
        waiting = sum(left)
        frequent = min(range(max(self.values) + 2), key=lambda v: (-rest[v], v))
        if self.alpha is not None:
            size = max(self.k, -(-self.alpha.denominator // self.alpha.numerator))
            others = size - size * self.alpha.numerator // self.alpha.denominator
            if others <= 0:
                return -1, 0, frequent
            stock = max(waiting - rest[frequent], 0)
            later = max(min(waiting // size - 1, stock // others - 1), 0)
            return later, stock - later * others, frequent
        assert self.least is not None
        clusters = max(
            n for n in range(waiting // self.k + 1) if sum(min(c, n) for c in rest.values()) >= self.least * n
        )
        later = max(clusters - 1, 0)
        return later, sum(min(c, later) for c in rest.values()) - self.least * later, frequent

    def clusters(self) -> tuple[list[list[int]], list[int]]:
        """Return clusters as lists of tuples, one entry per row, and how many rows of each tuple are left over."""
        left = list(self.rows)
        made: list[list[int]] = []
        boxes: list[Box] = []
        origin = [(v, v) for v in self.tuples[0]]
        while sum(left) >= self.k:
            later, spare, frequent = self._plan(left)
            seed = max((t for t in range(len(left)) if left[t]), key=lambda t: (self.width(origin, t), -t))
            members: list[int] = []
            box: Box = []
            planned = later >= 0
            while True:
                failing = bool(members) and not self.holds(members)
                counts = Counter(self.values[t] for t in members)

                def wanted(t: int, later: int = later, frequent: int = frequent) -> bool:
                    if self.least is not None:
                        rest = sum(n for u, n in enumerate(left) if self.values[u] == self.values[t])
                        return rest <= later
                    return self.values[t] != frequent

                def good(t: int, failing: bool = failing, counts: Counter[int] = counts, n: int = len(members)) -> bool:
                    count = counts[self.values[t]]
                    if failing:
                        return count == 0 if self.least is not None else count < max(counts.values())
                    size = max(n + 1, self.k)
                    return self.alpha is None or count + 1 <= self.alpha * size

                if not members:
                    chosen: int | None = seed
                else:
                    able = [
                        t
                        for t in range(len(left))
                        if left[t] and good(t) and not (planned and wanted(t) and spare <= 0)
                    ]
                    chosen = min(able, key=lambda t: (self.width(box, t), t), default=None)
                    if chosen is None and planned:
                        planned = False
                        continue
                if chosen is None:
                    break
                if planned and wanted(chosen):
                    spare -= 1
                left[chosen] -= 1
                members.append(chosen)
                own = self.tuples[chosen]
                box = [
                    (min(low, v), max(high, v))
                    for (low, high), v in zip(box or [(v, v) for v in own], own, strict=True)
                ]
                if len(members) == 1:
                    origin = box
                if len(members) >= self.k and self.holds(members):
                    break
            if len(members) < self.k or not self.holds(members):
                for t in members:
                    left[t] += 1
                break
            made.append(members)
            boxes.append(box)
        if self.more_is_safe and made:
            for t in range(len(left)):
                while left[t]:
                    grown = [
                        (len(own) + 1) * self.width(box, t) - len(own) * sum(high - low for low, high in box)
                        for own, box in zip(made, boxes, strict=True)
                    ]
                    best = grown.index(min(grown))
                    boxes[best] = [
                        (min(low, v), max(high, v)) for (low, high), v in zip(boxes[best], self.tuples[t], strict=True)
                    ]
                    made[best].append(t)
                    left[t] -= 1
        return made, left
