"""The search for groups of people with common sets of items, the slow way: lists, dictionaries, every join anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from naive.grouped_rows import draw
from naive.joined_sets import Weighted, joined
from naive.trees import ListTree

CANDIDATES, WALKS, NEAR, MOST_POOLED = 1500, 3, 14, 96


@dataclass
class ItemGroup:
    """People in the order in which they are listed, and the set that all of them show."""

    members: list[int]
    shown: Weighted
    cost: int = 0


@dataclass
class SetTries:
    """Groups of people by number; a try takes some apart and puts their people together anew.

    Sets cost in truth, and at the prices by which people are put together. Which groups show something below a node is
    known from the beginning and not looked up again.
    """

    tree: ListTree
    costs: list[int]
    prices: list[int]
    people: list[Weighted]
    k: int
    random: list[int]
    room: int
    groups: list[ItemGroup] = field(default_factory=list)
    below: dict[int, list[int]] = field(default_factory=dict)
    tries: int = 0
    kept: int = 0

    @classmethod
    def start(
        cls, tree: ListTree, costs: list[int], prices: list[int], people: list[list[int]], shown: list[list[int]],
        label: list[int], k: int, seed: int,
    ) -> SetTries:  # fmt: skip
        """Begin with everyone in a group; ``shown`` is the node that each item shows there."""
        found = cls(
            tree, costs, prices, [dict.fromkeys(own, 1) for own in people], k, [seed],
            len(people) // k + MOST_POOLED,
        )  # fmt: skip
        for g in range(max(label) + 1):
            members = [p for p, own in enumerate(label) if own == g]
            together = dict(Counter(node for p in members for node in shown[p]))
            found.groups.append(ItemGroup(members, together, found.cost(together)))
        for node in range(tree.nodes):
            found.below[node] = [
                g for g, own in enumerate(found.groups) if any(node in tree.way(other) for other in own.shown)
            ]
        return found

    def cost(self, shown: Weighted) -> int:
        return sum(items * self.costs[node] for node, items in shown.items())

    def price(self, shown: Weighted) -> int:
        return sum(items * self.prices[node] for node, items in shown.items())

    def join(self, one: Weighted, other: Weighted) -> Weighted:
        return joined(self.tree, self.costs, one, other)

    def group_of(self, person: int) -> int:
        return next(g for g, own in enumerate(self.groups) if person in own.members)

    def list_near(self) -> list[int]:
        """Return a costly group and those that lose little together with it or with one of its people."""
        seed = person = -1
        for _ in range(3):
            p = draw(self.random, len(self.people))
            g = self.group_of(p)
            own, best = self.groups[g], self.groups[seed]
            if seed < 0 or own.cost * len(best.members) > best.cost * len(own.members):
                seed, person = g, p
        if self.groups[seed].cost == 0:
            return []
        found = self._candidates(seed)
        spared, one = 60 + draw(self.random, 41), draw(self.random, 2) == 0
        centre = ItemGroup([person], self.people[person]) if one else self.groups[seed]

        def score(g: int) -> float:
            own = self.groups[g]
            together = self.cost(self.join(centre.shown, own.shown))
            return (together - 0.01 * spared * (own.cost + centre.cost)) / (len(own.members) + len(centre.members))

        return [seed, *sorted(found, key=score)[: NEAR - 1]]

    def _candidates(self, seed: int) -> list[int]:
        found: list[int] = []
        shown = sorted(self.groups[seed].shown)
        for _ in range(WALKS):
            node = shown[draw(self.random, len(shown))]
            higher = draw(self.random, 2)
            while node != 0 and (higher > 0 or WALKS * len(self.below[node]) < CANDIDATES):
                node = self.tree.parent[node]
                higher -= 1
            listed = self.below[node]
            offset = draw(self.random, max(len(listed), 1))
            for g in (listed[offset:] + listed[:offset])[: CANDIDATES // WALKS]:
                if g != seed and g not in found and self.groups[g].members:
                    found.append(g)
        return found

    def take_apart(self, near: list[int]) -> tuple[list[int], list[ItemGroup], int]:
        """Return which groups are taken, the units they fall into, and what they cost."""
        wanted, skipped = 2 + draw(self.random, 4), draw(self.random, 50)
        leaving = 25 + draw(self.random, 51) if draw(self.random, 2) == 0 else 100
        taken: list[int] = []
        units: list[ItemGroup] = []
        for n, g in enumerate(near):
            pooled = sum(len(unit.members) for unit in units) + len(self.groups[g].members)
            if not self.groups[g].members or pooled > MOST_POOLED or (n > 0 and draw(self.random, 100) < skipped):
                if n == 0:
                    break
                continue
            taken.append(g)
            staying: ItemGroup | None = None
            for p in self.groups[g].members:
                if staying is not None and draw(self.random, 100) >= leaving:
                    staying.shown = self.join(staying.shown, self.people[p])
                    staying.members.insert(0, p)
                    continue
                units.append(ItemGroup([p], self.people[p]))
                if staying is None and leaving < 100:
                    staying = units[-1]
            if len(taken) == wanted:
                break
        return taken, units, sum(self.groups[g].cost for g in taken)

    def put_together(self, units: list[ItemGroup]) -> list[ItemGroup]:
        """Return the groups that units become: pairs merge by price, who is left joins one by one; none if none can."""
        waiting = [unit for unit in units if len(unit.members) < self.k]

        def worse(one: ItemGroup, other: ItemGroup) -> float:
            together = self.price(joined(self.tree, self.prices, one.shown, other.shown))
            lost = together - self.price(one.shown) - self.price(other.shown)
            return lost / (len(one.members) + len(other.members))

        values = {(i, j): worse(waiting[i], waiting[j]) for i in range(len(waiting)) for j in range(i)}
        gone: set[int] = set()
        while values:
            i, j = min(values, key=lambda pair: (values[pair], pair))
            one, into = waiting[i], waiting[j]
            into.shown = joined(self.tree, self.prices, into.shown, one.shown)
            into.members[:0] = one.members
            one.members = []
            gone |= {i, j} if len(into.members) >= self.k else {i}
            values = {pair: value for pair, value in values.items() if gone.isdisjoint(pair)}
            for pair in [pair for pair in values if j in pair]:
                values[pair] = worse(waiting[pair[0]], waiting[pair[1]])
        left = [own for unit in units if len(unit.members) < self.k for own in unit.members]
        groups = [unit for unit in units if len(unit.members) >= self.k]
        for own in groups:
            own.cost = self.cost(own.shown)
        for p in left if groups else []:
            self.move_in(self.cheapest(groups, p)[1], p)
        return groups

    def cheapest(self, groups: list[ItemGroup], person: int, but: ItemGroup | None = None) -> tuple[int, ItemGroup]:
        """Return by how much a person makes the group dearer for which that is least, and this group."""
        others = [own for own in groups if own is not but]
        rises = [self.cost(self.join(own.shown, self.people[person])) - own.cost for own in others]
        return min(rises), others[rises.index(min(rises))]

    def move_in(self, group: ItemGroup, person: int) -> None:
        group.shown = self.join(group.shown, self.people[person]) if group.members else self.people[person]
        group.cost = self.cost(group.shown)
        group.members.insert(0, person)

    def move_best(self, groups: list[ItemGroup], group: ItemGroup) -> bool:
        """Move the person to another group by whom most is gained; tell whether anything is."""
        members = list(group.members)
        best: tuple[int, int, ItemGroup] | None = None
        for m, p in enumerate(members):
            before, behind = (self.in_turn(own) for own in (members[:m], members[:m:-1]))
            rest = self.join(before, behind) if before and behind else before or behind
            spared = group.cost - self.cost(rest)
            if spared > (best[0] if best else 0) and len(groups) > 1:
                dearer, to = self.cheapest(groups, p, group)
                if spared - dearer > (best[0] if best else 0):
                    best = spared - dearer, p, to
        if best is None:
            return False
        group.members = []
        for p in members:
            self.move_in(best[2] if p == best[1] else group, p)
        return True

    def in_turn(self, members: list[int]) -> Weighted:
        """Return what people show together, who come one after another."""
        shown: Weighted = {}
        for p in members:
            shown = self.join(shown, self.people[p]) if shown else self.people[p]
        return shown

    def keep(self, taken: list[int], groups: list[ItemGroup]) -> None:
        for g in taken:
            self.groups[g] = ItemGroup([], {})
        numbers = [*taken, *range(len(self.groups), len(self.groups) + len(groups))]
        for g, own in zip(numbers, groups, strict=False):
            new = ItemGroup(own.members[::-1], own.shown, own.cost)
            if g < len(self.groups):
                self.groups[g] = new
            else:
                self.groups.append(new)

    def search(self, tries: int) -> None:
        near: list[int] = []
        left = 0
        for _ in range(tries):
            if left == 0:
                near, left = self.list_near(), 3
            left -= 1
            self.tries += 1
            if len(near) < 2:
                left = 0
                continue
            taken, units, before = self.take_apart(near)
            groups = self.put_together(units) if len(taken) > 1 else []
            if not groups or 4 * sum(own.cost for own in groups) > 5 * before:
                continue
            for _ in range(8):
                able = False
                for own in groups:
                    if len(own.members) > self.k and own.cost > 0:
                        able = self.move_best(groups, own) or able
                if not able:
                    break
            after = sum(own.cost for own in groups)
            if after <= before and len(self.groups) + len(units) <= self.room:
                self.keep(taken, groups)
                if after < before:
                    self.kept += 1
                    left = 0
