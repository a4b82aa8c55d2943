"""Slow twins for one person, many records: Partition by its rules, and the models of sets by their definitions.

Plain sets and fractions; nothing is shared with kveil but the words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Node = tuple[int, str]  # which tree, which label
Way = tuple[str, ...]  # leaf first, root last


@dataclass(frozen=True)
class Forest:
    """Trees over items, given as the ways up of their leaves, in leaf order."""

    trees: tuple[tuple[Way, ...], ...]

    def way(self, item: Node) -> list[Node]:
        """The nodes above an item, itself first."""
        tree, leaf = item
        return [(tree, label) for label in next(way for way in self.trees[tree] if way[0] == leaf)]

    def cost(self, node: Node) -> Fraction:
        tree, label = node
        below = sum(label in way for way in self.trees[tree])
        return Fraction(below, len(self.trees[tree])) if below > 1 else Fraction(0)

    def place(self, node: Node) -> tuple[int, int, int]:
        """Where a node stands in depth-first order."""
        tree, label = node
        first = next(i for i, way in enumerate(self.trees[tree]) if label in way)
        way = self.trees[tree][first]
        return tree, first, -way.index(label)


def partition(
    forest: Forest, people: Sequence[frozenset[Node]], k: int, patient: bool = False
) -> list[dict[Node, Node]]:
    """What every item of every person is shown as; people in the order that breaks ties."""
    shown = [{item: forest.way(item)[-1] for item in items} for items in people]

    def below(person: int, node: Node) -> dict[Node, Node]:
        """The child of a node above each item of a person that shows it."""
        found = {}
        for item, at in shown[person].items():
            way = forest.way(item)
            if at == node and way.index(node) > 0:
                found[item] = way[way.index(node) - 1]
        return found

    def fall(person: int, node: Node, only: Node | None) -> Fraction:
        return sum(
            (forest.cost(node) - forest.cost(child) for child in below(person, node).values() if only in (None, child)),
            Fraction(0),
        )

    def key(person: int, node: Node, only: Node | None) -> Hashable:
        children = set(below(person, node).values())
        if only is None:
            return tuple(sorted(map(forest.place, children)))
        return None if only not in children else len(children) > 1

    def settle(part: list[int], node: Node, only: Node | None) -> tuple[Fraction, list[list[int]], list[int]] | None:
        """The gain, the sub-parts, and who is left over; None where nothing moves."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for person in part:
            groups[key(person, node, only)].append(person)
        left = [p for name, group in groups.items() if name is None or len(group) < k for p in group]
        large = {name: group for name, group in groups.items() if name is not None and len(group) >= k}
        if 0 < len(left) < k and large:
            if sum(len(group) - k for group in large.values()) >= k - len(left):
                offered = sorted(
                    ((fall(p, node, only), part.index(p), name, p) for name, group in large.items() for p in group),
                    key=lambda offer: offer[:2],
                )
                for _, _, name, p in offered:
                    if len(left) < k and len(large[name]) > k:
                        large[name].remove(p)
                        left.append(p)
            else:
                least = min(large, key=lambda name: (sum(fall(p, node, only) for p in large[name]), name))
                left += large.pop(least)
        if not large:
            return None
        moved = [p for group in large.values() for p in group]
        return (
            sum((fall(p, node, only) for p in moved), Fraction(0)),
            list(large.values()),
            sorted(left, key=part.index),
        )

    waiting = [list(range(len(people)))] if len(people) >= k else []
    while waiting:
        part = waiting.pop()
        nodes = {node for node in shown[part[0]].values() if below(part[0], node)}
        options = []
        for node in nodes:
            options.append((node, None, settle(part, node, None)))
            children = {child for p in part for child in below(p, node).values()}
            options += [(node, child, settle(part, node, child)) for child in children]
        able = [(node, only, s) for node, only, s in options if s is not None and (only is None or s[0] > 0)]
        whole = [option for option in able if option[1] is None]
        if patient and whole:
            able = whole
        if not able:
            continue
        node, only, (_, groups, left) = min(
            able, key=lambda o: (-o[2][0], o[1] is not None, forest.place(o[0] if o[1] is None else o[1]))
        )
        for person in (p for group in groups for p in group):
            for item, child in below(person, node).items():
                if only in (None, child):
                    shown[person][item] = child
        waiting += groups + ([left] if left else [])
    return shown


def rare_combinations_climb(
    forest: Forest, people: Sequence[tuple[int, frozenset[Node]]], k: int, m: int
) -> list[dict[Node, Node]]:
    """What every item of every person is shown as, after RMERGER's last step; people come with their cluster."""
    had: dict[int, Counter[Node]] = defaultdict(Counter)
    for cluster, items in people:
        had[cluster].update(items)
    shown = {cluster: {item: item for item in items} for cluster, items in had.items()}

    def rare(size: int) -> list[tuple[int, tuple[Node, ...]]]:
        shared: Counter[tuple[int, tuple[Node, ...]]] = Counter()
        for cluster, items in people:
            nodes = sorted({shown[cluster][item] for item in items}, key=forest.place)
            shared.update((cluster, chosen) for chosen in combinations(nodes, size))
        found = [each for each, n in shared.items() if n < k]
        return sorted(found, key=lambda each: (each[0], [forest.place(node) for node in each[1]]))

    def below(cluster: int, node: Node) -> list[Node]:
        return [item for item in shown[cluster] if node in forest.way(item)]

    def price(cluster: int, node: Node) -> Fraction:
        rise = (had[cluster][i] * (forest.cost(node) - forest.cost(shown[cluster][i])) for i in below(cluster, node))
        return sum(rise, Fraction(0))

    for size in range(1, m + 1):
        while found := rare(size):
            for cluster, nodes in found:
                if not set(nodes) <= set(shown[cluster].values()):
                    continue  # an earlier one has changed it
                ways = [forest.way(next(i for i in below(cluster, n) if shown[cluster][i] == n)) for n in nodes]
                above = [way[way.index(n) + 1] for way, n in zip(ways, nodes, strict=True) if n != way[-1]]
                if above:
                    best = min(above, key=lambda node: price(cluster, node))
                    shown[cluster].update(dict.fromkeys(below(cluster, best), best))
    return [{item: shown[cluster][item] for item in items} for cluster, items in people]


def merge_nearest(
    forest: Forest, clusters: Sequence[tuple[int, Sequence[Sequence[Node]]]], delta: Fraction
) -> list[int]:
    """The cluster that each ends up in by RMERGER's merging; each has a group and its members' quasi-identifiers.

    There is one tree per attribute; the loss of a row is the sum over attributes, of which delta is a share.
    """
    everything = len(forest.trees)

    def row(members: Iterable[Sequence[Node]]) -> Fraction:
        total = Fraction(0)
        for column in zip(*members, strict=True):
            common = next(node for node in forest.way(column[0]) if all(node in forest.way(other) for other in column))
            total += forest.cost(common)
        return total

    alive = {c: list(members) for c, (_, members) in enumerate(clusters)}
    into = list(range(len(clusters)))
    alone: set[int] = set()
    limit = delta * everything * sum(map(len, alive.values()))
    while open_ones := [c for c in alive if c not in alone]:
        seed = min(open_ones, key=lambda c: (row(alive[c]), c))
        near = [c for c in alive if c != seed and clusters[c][0] == clusters[seed][0]]
        near = [c for c in near if row(alive[c] + alive[seed]) < everything]
        if not near:
            alone.add(seed)
            continue
        nearest = min(near, key=lambda c: (row(alive[c] + alive[seed]), c))
        keep, gone = sorted((seed, nearest))
        after = {**alive, keep: alive[keep] + alive[gone]}
        del after[gone]
        if sum(row(members) * len(members) for members in after.values()) > limit:
            break
        alive = after
        into = [keep if c == gone else c for c in into]
    return into


# ---------------------------------------------------------------------------------------------- definitions


def kl_diverse(people: Iterable[tuple[Hashable, frozenset[Hashable]]], k: int, diverse: Fraction) -> bool:
    """Whether k people share every fingerprint and none has more than 1/l of a class."""
    people = list(people)
    shared = Counter(items for _, items in people)
    size = Counter(group for group, _ in people)
    together = Counter(people)
    return all(n >= k for n in shared.values()) and all(
        n * diverse <= size[group] for (group, _), n in together.items()
    )


def km_anonymous(people: Iterable[tuple[Hashable, frozenset[Hashable]]], k: int, m: int) -> bool:
    """Whether every class has k people, k of whom share every combination of at most m items that one has."""
    people = list(people)
    size = Counter(group for group, _ in people)
    support = Counter(
        (group, chosen)
        for group, items in people
        for number in range(1, m + 1)
        for chosen in combinations(sorted(items, key=repr), number)
    )
    return all(n >= k for n in size.values()) and all(n >= k for n in support.values())


def covers(ways: dict[str | None, Sequence[str | None]], had: set[str | None], shows: set[str | None]) -> bool:
    """Whether each original item has a shown ancestor, and each shown label an original item below."""
    return all(any(label in shows for label in ways[item]) for item in had) and all(
        any(label in ways[item] for item in had) for label in shows
    )


def sa_ncp(forest: Forest, shown: Sequence[dict[Node, Node] | None], items: int) -> Fraction:
    """SA-NCP, given what each item of each kept person became; None for a person who is suppressed."""
    kept = sum(len(each) for each in shown if each is not None)
    return (
        sum((forest.cost(node) for each in shown if each is not None for node in each.values()), Fraction(0))
        + (items - kept)
    ) / items


# ---------------------------------------------------------------------------------------------- whole records

Cells = tuple[str, ...]  # the sensitive cells of one record, in the order of the columns


def differing_records(before: Sequence[Sequence[Cells]], after: Sequence[Sequence[Cells]]) -> int:
    """How many rows of people are none of their records, and how many of their records are in no row."""
    number = 0
    for had, shown in zip(before, after, strict=True):
        left = list(had)
        for row in shown:
            if row in left:
                left.remove(row)
            else:
                number += 1
        number += len(left)
    return number


def in_no_telling_order(after: Sequence[Sequence[Cells]], missing: Sequence[str]) -> bool:
    """Whether every person's rows are sorted: column by column, numbers by size if all are some, missing last."""
    columns = list(zip(*(row for rows in after for row in rows), strict=True))
    numeric = [all(cell.isdigit() for cell in column if cell not in missing) for column in columns]

    def key(row: Cells) -> list[tuple[bool, int, str]]:
        known = [cell not in missing for cell in row]
        return [
            (not here, int(cell) if here and number else 0, cell)
            for cell, here, number in zip(row, known, numeric, strict=True)
        ]

    return all(list(rows) == sorted(rows, key=key) for rows in after)
