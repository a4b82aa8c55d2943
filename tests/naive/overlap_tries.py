"""Tries under constraints that overlap, the slow way: classes are plain lists, every cost is added up anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from naive.shown_rows import Row, ShownCase
from naive.trees import ListSpans

FAR = 1 << 60
MOST_REPAIRS, MOST_SEEN, AROUND, AIMS = 20, 1_000, 200, 12
MERGE_LOOKS, SEEDS = 60, 6
WORD = (1 << 64) - 1


class Chance:
    """Splitmix64, by its published constants."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self, below: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return ((z ^ (z >> 31)) >> 33) % below


class GivenUp(Exception):
    """A try that cannot be mended, or costs more than before."""


ClassKey = tuple[int, Row]  # a constraint, and what it sees of the rows of a class
Classes = dict[ClassKey, list[int]]  # the rows of every class, the last to enter first


@dataclass
class OverlapTries:
    """What every row shows, the classes of every constraint, and how a try moves rows; models are not asked.

    A row that is out keeps in ``nodes`` what it would show.
    """

    case: ShownCase
    nodes: list[Row]
    out: list[bool]
    chance: Chance
    hides: bool
    classes: Classes = field(default_factory=dict)
    queue: list[ClassKey] = field(default_factory=list)
    journal: list[tuple[int, Row, bool]] = field(default_factory=list)  # who moved, and what was shown before
    active: list[int] = field(default_factory=list)
    unit: int = 0
    left_by: dict[ClassKey, int] = field(default_factory=dict)  # who left a class last, while it is there

    def __post_init__(self) -> None:
        for row in reversed(range(len(self.nodes))):
            if not self.out[row]:
                for key in self.keys(self.nodes[row]):
                    self.classes.setdefault(key, []).insert(0, row)

    # What things cost, and what may be shown.

    def keys(self, shown: Row) -> list[ClassKey]:
        return [(c, tuple(shown[a] for a in over)) for c, (over, _, _) in enumerate(self.case.constraints)]

    def cost_of(self, row: int) -> int:
        return self.case.cost(None if self.out[row] else self.nodes[row])

    def is_dear(self, row: int) -> bool:
        return self.cost_of(row) > self.case.cost(self.case.base[row])

    def total(self) -> int:
        return sum(map(self.cost_of, range(len(self.nodes))))

    def allowed(self, row: int, a: int) -> list[int]:
        """Return what a row may show of an attribute, the lowest first."""
        return self.case.trees[a].allowed(self.case.base[row][a], self.case.limit[row][a])

    def shows_nothing(self, shown: Row) -> bool:
        return self.hides and self.case.shows_nothing(shown)

    def size(self, key: ClassKey) -> int:
        return len(self.classes.get(key, ()))

    def k(self, c: int) -> int:
        return self.case.constraints[c][1]

    # Moving rows.

    def move(self, row: int, shown: Row) -> None:
        self.journal.append((row, self.nodes[row], self.out[row]))
        self.place(row, shown)

    def take_back(self) -> None:
        for row, shown, out in reversed(self.journal):
            if out:
                self.put_out(row)
                self.nodes[row] = shown
            else:
                self.place(row, shown)

    def put_out(self, row: int) -> None:
        for key in self.keys(self.nodes[row]):
            self.leave(row, key)
        self.out[row] = True

    def place(self, row: int, shown: Row) -> None:
        before = [None] * len(self.case.constraints) if self.out[row] else self.keys(self.nodes[row])
        for old, new in zip(before, self.keys(shown), strict=True):
            if old == new:
                continue
            if old is not None:
                self.leave(row, old)
                if self.classes[old]:
                    self.wait(old)
            self.classes.setdefault(new, []).insert(0, row)
            self.wait(new)
        self.nodes[row], self.out[row] = shown, False

    def leave(self, row: int, key: ClassKey) -> None:
        self.classes[key].remove(row)
        self.left_by[key] = row

    def wait(self, key: ClassKey) -> None:
        if key not in self.queue and self.size(key) < self.k(key[0]):
            self.queue.append(key)

    def strain(self, row: int, shown: Row, besides: int) -> int:
        lacking = 0
        now = [None] * len(self.case.constraints) if self.out[row] else self.keys(self.nodes[row])
        for old, new in zip(now, self.keys(shown), strict=True):
            c = new[0]
            if c == besides or old == new:
                continue
            lacking += max(self.k(c) - self.size(new) - 1, 0)
            lacking += old is not None and 1 < self.size(old) <= self.k(c)
        return lacking

    # What a row aims at.

    def aim(self, row: int) -> tuple[int, Row]:
        shown, base = list(self.nodes[row]), self.case.base[row]
        sets = len(self.case.constraints)
        first = self.chance.draw(sets)
        turns = [(first + turn) % sets for turn in range(sets)]
        c = next((c for c in turns if any(shown[a] != base[a] for a in self.case.constraints[c][0])), first)
        over = self.case.constraints[c][0]
        move = self.chance.draw(AIMS)
        if move >= 8:
            return c, self._like_another(row, c, whole=move in (8, 10), as_shown=move >= 10)
        if move == 0:
            return c, base
        if move <= 3:
            for a in over:
                shown[a] = self._lower(row, a) if move > 1 else base[a]
            return c, tuple(shown)
        first = self.chance.draw(len(over))
        places = [(first + turn) % len(over) for turn in range(len(over))]
        a = next((over[i] for i in places if shown[over[i]] != base[over[i]]), over[first])
        lower = self._lower(row, a)
        shown[a] = base[a] if lower == shown[a] else lower
        if move == 7:
            b = over[self.chance.draw(len(over))]
            tree = self.case.trees[b]
            if b != a and tree.depth[shown[b]] > tree.depth[self.case.limit[row][b]]:
                shown[b] = tree.parent[shown[b]]
        return c, tuple(shown)

    def _lower(self, row: int, a: int) -> int:
        tree, node = self.case.trees[a], self.case.base[row][a]
        if isinstance(tree, ListSpans):
            shown, low, high = self.nodes[row][a], tree.first[node], tree.last[node]
            below, above = low - tree.first[shown], tree.last[shown] - high
            low -= self.chance.draw(below + 1) if below > 0 else 0
            high += self.chance.draw(above + 1) if above > 0 else 0
            found = tree.find(low, high)
            return shown if found is None else found
        steps = tree.depth[node] - tree.depth[self.nodes[row][a]]
        return tree.way(node)[self.chance.draw(steps + 1)] if steps else node

    def _like_another(self, row: int, c: int, *, whole: bool, as_shown: bool) -> Row:
        case, own = self.case, self.nodes[row]
        over = range(len(own)) if whole else case.constraints[c][0]
        least = FAR if self.out[row] else sum(case.costs[a][own[a]] for a in over)
        best = own
        cells = self.sorted_by_leaves(c, self.active)
        lead = case.constraints[c][0][0]
        tree = case.trees[lead]
        near = sum(tree.first[case.base[i][lead]] < tree.first[case.base[row][lead]] for i in cells)
        for turn in range(AROUND):
            other = cells[self.chance.draw(len(cells)) if turn % 2 else (near + turn // 2) % len(cells)]
            if other == row or (as_shown and self.out[other]):
                continue
            shown = list(own)
            for a in over:
                node = self.nodes[other][a] if as_shown else case.trees[a].cover(case.base[row][a], case.base[other][a])
                if node is None:
                    break
                shown[a] = node
            if node is None:
                continue
            cost = sum(case.costs[a][shown[a]] for a in over)
            if cost < least and all(shown[a] in self.allowed(row, a) for a in over):
                least, best = cost, tuple(shown)
        return best

    def sorted_by_leaves(self, c: int, rows: list[int]) -> list[int]:
        def leaves(row: int) -> tuple[list[int], int]:
            return [self.case.trees[a].first[self.case.base[row][a]] for a in self.case.constraints[c][0]], row

        return sorted(rows, key=leaves)

    # Mending classes that have become too small.

    def in_class(self, row: int, key: ClassKey) -> Row:
        shown = list(self.nodes[row])
        for a, node in zip(self.case.constraints[key[0]][0], key[1], strict=True):
            shown[a] = node
        return tuple(shown)

    def helpers(self, key: ClassKey, lack: int, most: int) -> tuple[int, list[int]]:
        """Return the rows that join a class at the least cost, and that cost, FAR where there are too few."""
        c, seen = key
        over, k, _ = self.case.constraints[c]
        trees = [self.case.trees[a] for a in over]
        least = sum(self.case.costs[a][node] for a, node in zip(over, seen, strict=True))
        picked: list[tuple[int, int]] = []  # value and row, the cheapest first; of equals the first one first
        for everyone in (False, True):
            rows = self.sorted_by_leaves(c, list(range(len(self.nodes))) if everyone else self.active)
            inside = [
                row
                for row in rows
                if trees[0].first[seen[0]] <= trees[0].first[self.case.base[row][over[0]]] <= trees[0].last[seen[0]]
            ]
            if not inside:
                continue
            start = self.chance.draw(len(inside))
            assert len(inside) <= MOST_SEEN
            for row in inside[start:] + inside[:start]:
                worst = picked[-1][0] if len(picked) == lack else most + 1
                if everyone and len(picked) == lack and worst <= least:
                    break
                if any(node not in self.allowed(row, a) for a, node in zip(over, seen, strict=True)):
                    continue
                if row in self.classes.get(key, ()) or (everyone and self.is_dear(row)):
                    continue
                shown = self.in_class(row, key)
                value = self.case.cost(shown) - self.cost_of(row)
                own = None if self.out[row] else self.keys(self.nodes[row])[c]
                value += self.unit * (own is not None and self.size(own) <= k)
                value += self.unit * self.strain(row, shown, c)
                if value >= worst or self.shows_nothing(shown):
                    continue
                picked = picked[: lack - 1] if len(picked) == lack else picked
                place = sum(other <= value for other, _ in picked)
                picked.insert(place, (value, row))
        if len(picked) < lack:
            return FAR, []
        return sum(value for value, _ in picked), [row for _, row in picked]

    def way_up(self, key: ClassKey, row: int) -> tuple[int, Row]:
        """Return the cheapest way for a row to leave a class by raising an attribute, and its cost."""
        c, least, best = key[0], FAR, self.nodes[row]
        size = self.size(key)
        for a in self.case.constraints[c][0]:
            tree, shown = self.case.trees[a], list(self.nodes[row])
            while tree.depth[shown[a]] > tree.depth[self.case.limit[row][a]]:
                shown[a] = tree.parent[shown[a]]
                value = self.case.cost(tuple(shown)) - self.cost_of(row)
                if self.shows_nothing(tuple(shown)) or value >= least:
                    break
                has = self.size(self.keys(tuple(shown))[c])
                lacking = max(self.k(c) - has - size, 0) + self.strain(row, tuple(shown), c)
                value += lacking * self.unit // (1 if has else max(size, 1))
                if value < least:
                    least, best = value, tuple(shown)
        return least, best

    def merging(self, key: ClassKey, other: ClassKey) -> tuple[Row, int, int] | None:
        """Return what covers two classes, how many rows the first lacks there, and how many the other one gives."""
        c, seen = key
        over = self.case.constraints[c][0]
        covers = [self.case.trees[a].cover(*nodes) for a, *nodes in zip(over, seen, other[1], strict=True)]
        wide = tuple(node for node in covers if node is not None)
        if len(wide) < len(over):
            return None
        if wide == other[1]:
            return wide, 0, 0
        has = 0 if wide == seen else self.size((c, wide))
        need = max(self.k(c) - self.size(key) - has, 0 if has else 1)
        return wide, need, need if self.size(other) - need >= self.k(c) else self.size(other)

    def partner(self, key: ClassKey, most: int) -> tuple[int, ClassKey | None]:
        """Return the class that a class is merged with at the least cost, and that; None where each is too dear."""
        c, seen = key
        costs = [self.case.costs[a] for a in self.case.constraints[c][0]]

        def price(shown: Row) -> int:
            return sum(own[node] for own, node in zip(costs, shown, strict=True))

        head, size = self.classes[key][0], self.size(key)
        order, active = (self.sorted_by_leaves(c, rows) for rows in (list(range(len(self.nodes))), self.active))
        least, best = most + 1, None
        for turn in range(MERGE_LOOKS):
            at = order.index(head) - MERGE_LOOKS // 4 + turn // 2
            if turn == 0 and key in self.left_by:
                row = self.left_by[key]
            elif turn % 2:
                row = active[self.chance.draw(len(active))]
            elif 0 <= at < len(order):
                row = order[at]
            else:
                continue
            other = self.keys(self.nodes[row])[c]
            merging = None if self.out[row] or other == key else self.merging(key, other)
            if merging is None:
                continue
            wide, need, given = merging
            value = size * (price(wide) - price(seen)) + given * (price(wide) - price(other[1]))
            value += self.unit * (max(need - given, 0) + self.strain(head, self.in_class(head, (c, wide)), c))
            if value < least:
                least, best = value, other
        return FAR if best is None else least, best

    def merge(self, key: ClassKey, other: ClassKey) -> None:
        merging = self.merging(key, other)
        if merging is None:
            raise GivenUp
        wide, _, given = merging
        own = [] if wide == key[1] else list(self.classes[key])
        for row in own + self.classes[other][:given]:
            shown = self.in_class(row, (key[0], wide))
            if self.shows_nothing(shown) or any(
                shown[a] not in self.allowed(row, a) for a in self.case.constraints[key[0]][0]
            ):
                raise GivenUp
            self.move(row, shown)

    def mend(self, key: ClassKey, most: int) -> None:
        lack = max(self.k(key[0]) - self.size(key), 1)
        help_cost, helpers = self.helpers(key, lack, most)
        up_cost = 0
        for row in self.classes[key]:
            up_cost += self.way_up(key, row)[0]
            if up_cost > most or up_cost >= help_cost:
                break
        _, partner = self.partner(key, min(most, help_cost - 1, up_cost - 1))
        if partner is not None:
            self.merge(key, partner)
            return
        if min(help_cost, up_cost) > most:
            raise GivenUp
        if help_cost <= up_cost:
            for row in helpers:
                self.move(row, self.in_class(row, key))
            return
        for row in list(self.classes[key]):
            cost, shown = self.way_up(key, row)
            if cost >= FAR:
                raise GivenUp
            self.move(row, shown)

    # A try.

    def begin(self, seed: int, c: int, aim: Row) -> None:
        was = self.nodes[seed]
        if self.shows_nothing(aim) or (aim == was and not self.out[seed]):
            raise GivenUp
        key = None if self.out[seed] else self.keys(was)[c]
        self.move(seed, aim)
        changed = [a for a in range(len(aim)) if aim[a] != was[a]]
        for row in list(self.classes[key]) if key is not None else []:
            if row == seed:
                continue
            if all(self.nodes[row][a] == was[a] and aim[a] in self.allowed(row, a) for a in changed):
                shown = list(self.nodes[row])
                for a in changed:
                    shown[a] = aim[a]
                if not self.shows_nothing(tuple(shown)):
                    self.move(row, tuple(shown))

    def lower_where_free(self, row: int) -> None:
        width = len(self.case.trees)
        first = self.chance.draw(width)
        for a in [(first + turn) % width for turn in range(width)]:
            tree, here, base = self.case.trees[a], self.nodes[row][a], self.case.base[row][a]
            found = False
            for node in tree.way(base):
                found = found or (tree.depth[node] > tree.depth[here] and self._lowered(row, a, node))
            if isinstance(tree, ListSpans):
                for ends in ((tree.first[base], tree.last[here]), (tree.first[here], tree.last[base])):
                    cut = tree.find(*ends)
                    found = found or (cut is not None and self._lowered(row, a, cut))

    def _lowered(self, row: int, a: int, node: int) -> bool:
        """Let a row show a node if that is cheaper and classes that are there allow it; tell whether it does."""
        costs = self.case.costs[a]
        shown = (*self.nodes[row][:a], node, *self.nodes[row][a + 1 :])
        if costs[node] >= costs[self.nodes[row][a]] or self.strain(row, shown, -1):
            return False
        self.move(row, shown)
        return True

    def _attempt(self, seed: int) -> None:
        before, repairs, at = self.total(), 0, 0
        c, aim = self.aim(seed)
        self.begin(seed, c, aim)
        while True:
            while at < len(self.queue):
                key, at = self.queue[at], at + 1
                self.queue[at - 1] = (-1, ())  # looked at: it may wait again
                if not self.classes.get(key) or self.size(key) >= self.k(key[0]):
                    continue
                repairs += 1
                left = before - self.total()
                if repairs > MOST_REPAIRS or left < 0:
                    raise GivenUp
                waiting = [key for key in self.queue[at:] if 0 < self.size(key) < self.k(key[0])]
                if len(waiting) > MOST_REPAIRS - repairs:
                    raise GivenUp
                self.mend(key, left)
            for row in [row for row, _, _ in self.journal]:
                if self.is_dear(row) and not self.out[row]:
                    self.lower_where_free(row)
            if at == len(self.queue):
                break
        if self.total() > before:
            raise GivenUp

    def list_active(self) -> bool:
        """List the rows that cost something, and what they cost on average; tell whether there are any."""
        self.active = [row for row in range(len(self.nodes)) if self.is_dear(row)]
        dear = sum(self.cost_of(row) - self.case.cost(self.case.base[row]) for row in self.active)
        self.unit = dear // max(len(self.active), 1)
        return bool(self.active)

    def costlier(self) -> int:
        drawn = [self.active[self.chance.draw(len(self.active))] for _ in range(SEEDS)]
        return max(drawn, key=lambda row: self.cost_of(row) - self.case.cost(self.case.base[row]))

    def search(self, tries: int) -> None:
        """Try so many times to move a row that costs something; keep what holds and is not dearer."""
        if not self.list_active():
            return
        for _ in range(tries):
            seed = self.costlier()
            if not self.is_dear(seed):
                continue
            self.queue, self.journal = [], []
            try:
                self._attempt(seed)
            except GivenUp:
                self.take_back()
            self.left_by = {key: row for key, row in self.left_by.items() if self.classes[key]}
