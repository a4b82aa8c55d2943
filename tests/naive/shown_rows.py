"""What rows show under constraints that overlap, the slow way: every class counted anew at every step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from naive.trees import ListSpans, ListTree, random_spans, random_tree

Row = tuple[int, ...]


@dataclass
class ShownCase:
    """Trees with the cost of every node, rows with their lowest and highest nodes, and what they show, None if out.

    A constraint is a tuple of attributes, a least size, and a least number of different values, 0 for no such model.
    """

    trees: list[ListTree]
    costs: list[list[int]]
    base: list[Row]
    limit: list[Row]
    shown: list[Row | None]
    constraints: list[tuple[tuple[int, ...], int, int]]
    values: list[int]
    whole: int = field(default=0)

    def cost(self, shown: Row | None) -> int:
        if shown is None:
            return self.whole
        return sum(own[node] for own, node in zip(self.costs, shown, strict=True))

    def shows_nothing(self, shown: Row) -> bool:
        return all(tree.is_star(node) for tree, node in zip(self.trees, shown, strict=True))

    def total(self, shown: list[Row | None]) -> int:
        return sum(self.cost(row) for row in shown)

    def classes(self, c: int, shown: list[Row | None]) -> dict[Row, list[int]]:
        """Return the rows that look alike to a constraint, by how they look."""
        found: dict[Row, list[int]] = {}
        for number, row in enumerate(shown):
            if row is not None:
                found.setdefault(tuple(row[a] for a in self.constraints[c][0]), []).append(number)
        return found

    def class_holds(self, c: int, members: list[int]) -> bool:
        _, k, least = self.constraints[c]
        return len(members) >= k and len({self.values[row] for row in members}) >= least

    def holds(self, shown: list[Row | None]) -> bool:
        return all(
            self.class_holds(c, own) for c in range(len(self.constraints)) for own in self.classes(c, shown).values()
        )

    def within(self, shown: list[Row | None], *, but: list[Row | None]) -> bool:
        """Tell whether every row shows what covers it and lies within its limit, unless it is as in ``but``."""
        for row, other, base, limit in zip(shown, but, self.base, self.limit, strict=True):
            if row is None or row == other:
                continue
            for a, tree in enumerate(self.trees):
                if row[a] not in tree.allowed(base[a], limit[a]) and (other is None or row[a] != other[a]):
                    return False
        return True

    def at_depths(self, number: int, depths: list[int]) -> Row:
        """Return what a row shows at depths: its lowest node no deeper, within its limit; -1 is as it is."""
        found = []
        shown = self.shown[number]
        for a, tree in enumerate(self.trees):
            if depths[a] < 0:
                found.append(self.limit[number][a] if shown is None else shown[a])
                continue
            way = tree.way(self.base[number][a])
            way = way[: way.index(self.limit[number][a]) + 1]
            found.append(next((node for node in way if tree.depth[node] <= depths[a]), way[-1]))
        return tuple(found)

    def offer(self, depths: list[int], *, hides: bool = False, room: int | None = None) -> list[Row | None]:
        """Return what rows show after a vector of depths was offered to those it makes cheaper.

        Movers are looked at in order of growing gain, again and again: one that would enter a class that is empty now
        and would be too small, or leave one that would become too small, is refused. Then models refuse whoever enters
        or leaves a class that would not satisfy them, one constraint after another, and all begins again.

        With ``hides`` nobody may show the roots alone; nobody moves once there is ``room`` for no more new classes.
        """
        gains = [self.cost(self.shown[i]) - self.cost(self.at_depths(i, depths)) for i in range(len(self.base))]
        movers = [i for _, i in sorted((gain, i) for i, gain in enumerate(gains) if gain > 0)]
        movers = [i for i in movers if not hides or not self.shows_nothing(self.at_depths(i, depths))]
        if room is not None:
            movers = movers[: self._movers_with_room(movers, depths, room)]
        moving = list(movers)
        self._trim(movers, moving, depths)
        while self._refused_by_models(moving, depths):
            self._trim(movers, moving, depths)
        return self.moved(moving, depths)

    def moved(self, moving: list[int], depths: list[int]) -> list[Row | None]:
        return [self.at_depths(i, depths) if i in moving else row for i, row in enumerate(self.shown)]

    def _movers_with_room(self, movers: list[int], depths: list[int], room: int) -> int:
        known = [set(self.classes(c, self.shown)) for c in range(len(self.constraints))]
        most = [len(own) + room for own in known]
        for number, i in enumerate(movers):
            if any(len(own) >= full for own, full in zip(known, most, strict=True)):
                return number
            for own, (over, _, _) in zip(known, self.constraints, strict=True):
                own.add(tuple(self.at_depths(i, depths)[a] for a in over))
        return len(movers)

    def _trim(self, movers: list[int], moving: list[int], depths: list[int]) -> None:
        changed = True
        while changed:
            changed = False
            for i in movers:
                if i in moving and not self._may_move(i, moving, depths):
                    moving.remove(i)
                    changed = True

    def _refused_by_models(self, moving: list[int], depths: list[int]) -> bool:
        refused = False
        for c, (over, _, least) in enumerate(self.constraints):
            after = self.moved(moving, depths)
            bad = {look for look, own in self.classes(c, after).items() if least and not self.class_holds(c, own)}
            for i in list(moving):
                looks = {None if row is None else tuple(row[a] for a in over) for row in (self.shown[i], after[i])}
                if len(looks) > 1 and looks & bad:
                    moving.remove(i)
                    refused = True
        return refused

    def _may_move(self, number: int, moving: list[int], depths: list[int]) -> bool:
        now, then = self.shown, self.moved(moving, depths)
        own_now, own_then = now[number], then[number]
        assert own_then is not None
        for over, k, _ in self.constraints:

            def project(row: Row | None, over: tuple[int, ...] = over) -> Row | None:
                return None if row is None else tuple(row[a] for a in over)

            before, after = Counter(map(project, now)), Counter(map(project, then))
            to, of = project(own_then), project(own_now)
            if to == of:
                continue
            if before[to] == 0 and after[to] < k:
                return False
            if of is not None and 0 < after[of] < k:
                return False
        return True


def class_hash(c: int, look: Row) -> int:
    """Return the hash of what a constraint sees of a row."""
    word = 2**64
    found = c + 1
    for node in look:
        found = (found ^ node) * 0x9E3779B97F4A7C15 % word
        found ^= found >> 29
    return found


def random_case(
    chance: Random, *, beyond_limits: bool = False, diverse: bool = False, spans: bool = False
) -> ShownCase:
    """Return rows at their limits, or at the roots, above limits, where that is asked for; not always a valid start.

    With ``spans`` the first attribute is one of numbers.
    """
    trees = [random_tree(chance) for _ in range(chance.randint(2, 4))]
    if spans:
        trees[0] = random_spans(chance)
    costs = [[round(1000 * tree.share(node)) for node in range(tree.nodes)] for tree in trees]
    rows = chance.randint(4, 30)
    base = [tuple(chance.choice(tree.leaf_nodes) for tree in trees) for _ in range(rows)]
    marked = [{0} | {node for node in range(tree.nodes) if chance.random() < 0.2} for tree in trees]
    limit = [
        tuple(
            tree.way(node)[-1] if isinstance(tree, ListSpans) else next(n for n in tree.way(node) if n in own)
            for tree, own, node in zip(trees, marked, row, strict=True)
        )
        for row in base
    ]
    roots = tuple(0 for _ in trees)
    shown: list[Row | None] = [roots if beyond_limits else own for own in limit]
    for i in range(rows):
        if chance.random() < 0.15:
            shown[i] = None
    constraints = []
    for _ in range(chance.randint(1, 3)):
        over = tuple(sorted(chance.sample(range(len(trees)), chance.randint(1, len(trees)))))
        if over not in [own for own, _, _ in constraints]:
            constraints.append((over, chance.randint(1, 4), chance.randint(1, 2) if diverse else 0))
    values = [chance.randint(0, 2) for _ in range(rows)]
    return ShownCase(trees, costs, base, limit, shown, constraints, values, 1000 * len(trees))
