"""Rows in groups, the slow way: what covers a group, where rows go, how groups are split."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from naive.trees import ListTree, random_tree

Code = int | tuple[int, int]
Row = tuple[Code, ...]
WORD = 2**64
SPLITMIX = 0x9E3779B97F4A7C15
FORBIDDEN = 2**38  # the cost of what may not be shown


def draw(random: list[int], below: int) -> int:
    """Return the next number of the generator splitmix64, below a number."""
    random[0] = (random[0] + SPLITMIX) % WORD
    z = random[0]
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return ((z ^ (z >> 31)) >> 33) % below


@dataclass
class TreeAttribute:
    """An attribute with a tree: codes are nodes."""

    tree: ListTree

    def cover(self, one: Code, other: Code) -> Code:
        assert isinstance(one, int)
        assert isinstance(other, int)
        return self.tree.cover(one, other)

    def cost(self, code: Code) -> int:
        assert isinstance(code, int)
        return round(1000 * self.tree.share(code))

    def shows_nothing(self, code: Code) -> bool:
        return code == 0


@dataclass
class SpanAttribute:
    """An attribute of numbers: a code is the lowest and the highest of a group, by rank; the last may be missing.

    A span up to missing shows nothing; where spans have a greatest width, it is forbidden, as wider ones are.
    """

    numbers: list[int]
    missing: bool = False
    widest: int = -1

    @property
    def extent(self) -> int:
        return self.numbers[-2 if self.missing else -1] - self.numbers[0]

    def cover(self, one: Code, other: Code) -> Code:
        assert isinstance(one, tuple)
        assert isinstance(other, tuple)
        return min(one[0], other[0]), max(one[1], other[1])

    def cost(self, code: Code) -> int:
        assert isinstance(code, tuple)
        if code[0] == code[1]:
            return 0
        if self.shows_nothing(code):
            return 1000 if self.widest < 0 else FORBIDDEN
        width = self.numbers[code[1]] - self.numbers[code[0]]
        return FORBIDDEN if 0 <= self.widest < width else round(1000 * width / self.extent)

    def shows_nothing(self, code: Code) -> bool:
        assert isinstance(code, tuple)
        return self.missing and code[0] < code[1] == len(self.numbers) - 1


@dataclass
class GroupCase:
    """Attributes, rows that are sorted (equal ones stand together), their zones and a least size of groups."""

    attributes: list[TreeAttribute | SpanAttribute]
    rows: list[Row]
    zone: list[int]
    k: int

    def joined(self, one: Row, other: Row) -> Row:
        return tuple(own.cover(a, b) for own, a, b in zip(self.attributes, one, other, strict=True))

    def cost(self, shown: Row) -> int:
        return sum(own.cost(code) for own, code in zip(self.attributes, shown, strict=True))

    def cover(self, members: list[int]) -> Row:
        shown = self.rows[members[0]]
        for row in members:
            shown = self.joined(shown, self.rows[row])
        return shown

    def total(self, group: list[int]) -> int:
        members = [[row for row, own in enumerate(group) if own == g] for g in sorted(set(group))]
        return sum(len(own) * self.cost(self.cover(own)) for own in members)

    def valid(self, group: list[int]) -> bool:
        """Tell whether every group is large enough and of one zone."""
        members = [[row for row, own in enumerate(group) if own == g] for g in set(group)]
        return all(len(own) >= self.k and len({self.zone[row] for row in own}) == 1 for own in members)

    def placed(self, groups: list[list[int]], coming: list[Row], zone: list[int], most: int) -> list[int]:
        """Return where rows go that come in one by one: the group whose cost grows least, -1 from ``most`` on."""
        shown = [self.cover(own) for own in groups]
        sizes = [len(own) for own in groups]
        found = []
        for row, own in zip(coming, zone, strict=True):
            grown = [
                (sizes[g] + 1) * self.cost(self.joined(shown[g], row)) - sizes[g] * self.cost(shown[g])
                for g in range(len(groups))
            ]
            able = [g for g in range(len(groups)) if self.zone[groups[g][0]] == own and grown[g] < most]
            to = min(able, key=lambda g: (grown[g], g), default=-1)
            if to >= 0:
                shown[to] = self.joined(shown[to], row)
                sizes[to] += 1
            found.append(to)
        return found

    # ------------------------------------------------------------------------------------------ top-down

    def split(self, members: list[int]) -> list[list[int]]:
        """Split rows into the children of what covers them in the attribute where that gains most, and go on."""
        best: tuple[int, list[list[int]], list[int]] | None = None
        for a, own in enumerate(self.attributes):
            assert isinstance(own, TreeAttribute)
            if len(members) < 2 * self.k:
                break
            node = self.cover(members)[a]
            assert isinstance(node, int)
            bins: dict[int, list[int]] = {child: [] for child in own.tree.children(node)}
            rest = []
            for row in members:
                way = own.tree.way(self.rows[row][a])  # type: ignore[arg-type]
                place = way.index(node)
                (bins[way[place - 1]] if place else rest).append(row)
            kept = self._plan([len(rows) for rows in bins.values()], len(rest))
            gain = sum(n * (own.cost(node) - own.cost(child)) for n, child in zip(kept, bins, strict=True))
            if gain > (best[0] if best else 0):
                best = gain, list(bins.values()), kept
        if best is None:
            return [members]
        _, rows_of, kept = best
        parts = [own[:n] for own, n in zip(rows_of, kept, strict=True) if n]
        inside = {row for part in parts for row in part}
        rest = [row for row in members if row not in inside]
        return [part for own in [*parts, *([rest] if rest else [])] for part in self.split(own)]

    def _plan(self, counts: list[int], rest: int) -> list[int]:
        """Return how many rows each child keeps: k or more, or none; the rest is empty or has k or more, if it can."""
        kept = [count if count >= self.k else 0 for count in counts]
        rest += sum(counts) - sum(kept)
        while 0 < rest < self.k:
            if sum(n - self.k for n in kept if n) >= self.k - rest:
                while rest < self.k:
                    largest = kept.index(max(kept))
                    give = min(self.k - rest, kept[largest] - self.k)
                    kept[largest] -= give
                    rest += give
            elif any(kept):
                smallest = kept.index(min(n for n in kept if n))
                rest += kept[smallest]
                kept[smallest] = 0
            else:
                break
        return kept

    def optimum(self) -> int:
        """Return the least total of all partitions of the rows into groups that are large enough, of one zone each."""
        best = [len(self.rows) * 1000 * len(self.attributes) + 1]

        def place(row: int, groups: list[list[int]]) -> None:
            if row == len(self.rows):
                if all(len(own) >= self.k for own in groups):
                    best[0] = min(best[0], sum(len(own) * self.cost(self.cover(own)) for own in groups))
                return
            for own in groups:
                if self.zone[own[0]] == self.zone[row]:
                    own.append(row)
                    place(row + 1, groups)
                    own.pop()
            place(row + 1, [*groups, [row]])

        place(0, [])
        return best[0]


def random_groups(chance: Random, rows: int, *, spans: bool, zones: int = 1) -> GroupCase:
    """Return rows over a few small trees, and numbers where there are to be ``spans``."""
    attributes: list[TreeAttribute | SpanAttribute] = []
    for _ in range(chance.randint(1, 3)):
        if spans and chance.random() < 0.5:
            numbers = sorted(chance.sample(range(100), chance.randint(2, 6)))
            while (numbers[-1] - numbers[0]) % 16 == 0:  # some cost would be a half, which nobody says how to round
                numbers = sorted(chance.sample(range(100), len(numbers)))
            attributes.append(SpanAttribute(numbers))
        else:
            attributes.append(TreeAttribute(random_tree(chance)))

    def value(own: TreeAttribute | SpanAttribute) -> Code:
        if isinstance(own, TreeAttribute):
            return chance.choice(own.tree.leaf_nodes)
        rank = chance.randrange(len(own.numbers))
        return rank, rank

    both = sorted((chance.randrange(zones), tuple(value(own) for own in attributes)) for _ in range(rows))
    return GroupCase(attributes, [row for _, row in both], [zone for zone, _ in both], chance.randint(1, 4))
