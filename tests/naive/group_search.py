"""The search in groups on lists: neighbourhoods are taken apart, rebuilt, polished and put back, one row at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from naive.grouped_rows import SPLITMIX, WORD, GroupCase, Row, TreeAttribute, draw

Holds = Callable[[list[int]], bool]  # whether rows may be a group, beside their number


@dataclass
class Pool:
    """Rows taken out of their groups and the groups they are put into, some around the core of an old one."""

    rows: list[int]
    cores: list[int]  # old groups that keep some rows
    kept: list[int]  # how many each of them keeps
    old: int = 0  # what the groups taken apart cost together
    groups: list[list[int]] = field(default_factory=list)  # the pool's rows in each, cores first


@dataclass
class GroupSearch:
    """Groups of rows with the numbers and orders that the loops give them, since these decide ties."""

    case: GroupCase
    members: dict[int, list[int]]  # the rows of each group, the one that came last first
    shown: dict[int, Row]
    random: list[int]
    room: int
    factors: list[int]
    slacks: list[int]
    holds: Holds | None = None
    hides: bool = False
    alive: list[int] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    seed: int = -1
    listed: list[int] = field(default_factory=list)
    left: int = 0
    kept: int = 0
    heat: int = 0
    spare: int = 0

    @classmethod
    def start(cls, case: GroupCase, group: list[int], seed: int, room: int, chance: list[list[int]]) -> GroupSearch:
        number = max(group) + 1
        members = {g: [row for row, own in enumerate(group) if own == g] for g in range(number)}
        found = cls(case, members, {g: case.cover(own) for g, own in members.items()}, [seed], room, *chance)
        found.alive = list(range(number))
        found.free = list(range(len(group) - 1, number - 1, -1))
        return found

    def group_of(self, row: int) -> int:
        return next(g for g in self.alive if row in self.members[g])

    def cost(self, g: int) -> int:
        return self.case.cost(self.shown[g])

    def total(self) -> int:
        return sum(len(self.members[g]) * self.cost(g) for g in self.alive)

    def allowed(self, rows: list[int]) -> bool:
        """Tell whether a group may be these rows, by the models; sizes alone are seen to elsewhere."""
        return self.holds is None or not rows or (len(rows) >= self.case.k and self.holds(rows))

    # ------------------------------------------------------------------------------------------ a neighbourhood

    def costly_row(self) -> int:
        seed = -1
        for _ in range(3):
            for _ in range(64):
                row = draw(self.random, len(self.case.rows))
                if self.cost(self.group_of(row)):
                    break
            else:
                return seed
            if seed < 0 or self.cost(self.group_of(row)) > self.cost(self.group_of(seed)):
                seed = row
        return seed

    def nearest(self) -> list[int]:
        own = self.group_of(self.seed)
        by_group = draw(self.random, 5) < 2
        credit = 614 + draw(self.random, 411)
        salt = (draw(self.random, 1 << 30) * SPLITMIX + 1) % WORD
        centre = self.shown[own] if by_group else self.case.rows[self.seed]
        scored = []
        for g in self.alive:
            exact = self.cost(g) == 0 and len(self.members[g]) <= self.case.k
            passed = exact and ((g + 1) * salt % WORD) >> 54 < 896
            same_zone = self.case.zone[self.members[g][0]] == self.case.zone[self.seed]
            if g != own and same_zone and not passed:
                scored.append(
                    (1024 * self.case.cost(self.case.joined(centre, self.shown[g])) - credit * self.cost(g), g)
                )
        scored.sort(key=lambda pair: pair[0])  # equal ones stay in the order of the list of groups
        return [g for _, g in scored[:14]]

    def choose(self, most: int) -> list[int]:
        wanted, skip = 2 + draw(self.random, most - 1), draw(self.random, 513)
        chosen = [self.group_of(self.seed)]
        for g in self.listed:
            if len(chosen) < wanted and g in self.alive and g != chosen[0] and draw(self.random, 1024) >= skip:
                chosen.append(g)
        return chosen

    def gather(self, chosen: list[int]) -> Pool:
        """Put the rows of groups into a pool; a group of equal rows, or a large one, gives some and keeps a core."""
        pool = Pool([], [], [])
        k = self.case.k
        for i, g in enumerate(chosen):
            own = self.members[g]
            give = len(own)
            partly = self.holds is None and ((self.cost(g) == 0 and i > 0) or len(own) > self.room // 2)
            if partly:
                by_chance = k + draw(self.random, k + 1)
                give = max(min(len(own) - k, by_chance, self.room // 4, self.room - len(pool.rows)), 0)
            if len(pool.rows) + give > self.room:
                continue
            pool.old += len(own) * self.cost(g)
            if partly:
                pool.cores.append(g)
                pool.kept.append(len(own) - give)
            if partly and i == 0:
                if give == 0:
                    return Pool([], [], [])
                pool.rows += [self.seed, *[row for row in own if row != self.seed][: give - 1]]
            else:
                pool.rows += own[:give]
        pool.rows.sort()
        return pool

    # ------------------------------------------------------------------------------------------ new groups

    def units(self, pool: Pool, out: int) -> list[list[int]]:
        """Return what the pool's rows are at first: taken out, equal neighbours together, or with their old group."""
        units: list[list[int]] = []
        stayed: dict[int, list[int]] = {}
        last: list[int] | None = None  # the unit of the row before, where that was taken out
        for row in pool.rows:
            group = self.group_of(row)
            if out == 1024 or draw(self.random, 1024) < out or group in pool.cores:
                if last is not None and self.case.rows[last[0]] == self.case.rows[row]:
                    last.insert(0, row)
                else:
                    last = [row]
                    units.append(last)
            elif group in stayed:
                stayed[group].insert(0, row)
                last = None
            else:
                stayed[group] = [row]
                units.append(stayed[group])
                last = None
        return units

    def noisy(self, noise: list[int], shown: Row) -> int:
        """Return what showing codes costs a row, attributes weighed by so many 1024ths each."""
        return sum(n * own.cost(c) for n, own, c in zip(noise, self.case.attributes, shown, strict=True)) >> 10

    def rebuild(self, pool: Pool, noise: list[int], out: int) -> bool:
        """Merge units by what that costs per row, until each may be a group; tell whether there are any groups."""
        case = self.case
        units = self.units(pool, out)

        def value(i: int, j: int) -> float:
            both = case.joined(case.cover(units[i]), case.cover(units[j]))
            spent = sum(len(units[u]) * self.noisy(noise, case.cover(units[u])) for u in (i, j))
            together = len(units[i]) + len(units[j])
            return (self.noisy(noise, both) * together - spent) / together

        def may_be(u: int) -> bool:
            return len(units[u]) >= case.k and self.allowed(units[u])

        opened = [u for u in range(len(units)) if not may_be(u)]
        while len(opened) > 1:
            _, i, j = min((value(u, v), u, v) for u in opened for v in opened if u != v)
            units[i], units[j] = units[j] + units[i], []
            opened.remove(j)
            if may_be(i):
                opened.remove(i)
        pool.groups = [[] for _ in pool.cores] + [own for u, own in enumerate(units) if own and u not in opened]
        if not pool.groups:
            return False
        for u in opened:
            for row in units[u]:
                grown = [self.spent(pool, g, row) - self.spent(pool, g) for g in range(len(pool.groups))]
                pool.groups[grown.index(min(grown))].append(row)
        return True

    def cover(self, pool: Pool, g: int, *more: int, without: int = -1) -> Row | None:
        """Return what a group of the pool shows: its core, as that was, and its rows; None for nothing."""
        rows = [*(row for row in pool.groups[g] if row != without), *more]
        shown = self.shown[pool.cores[g]] if g < len(pool.cores) else self.case.cover(rows) if rows else None
        for row in rows:
            assert shown is not None
            shown = self.case.joined(shown, self.case.rows[row])
        return shown

    def each(self, pool: Pool, g: int, *more: int, without: int = -1) -> int:
        shown = self.cover(pool, g, *more, without=without)
        return 0 if shown is None else self.case.cost(shown)

    def size(self, pool: Pool, g: int) -> int:
        return len(pool.groups[g]) + (pool.kept[g] if g < len(pool.cores) else 0)

    def spent(self, pool: Pool, g: int, *more: int) -> int:
        return (self.size(pool, g) + len(more)) * self.each(pool, g, *more)

    def pool_cost(self, pool: Pool) -> int:
        return sum(self.spent(pool, g) for g in range(len(pool.groups)))

    # ------------------------------------------------------------------------------------------ polishing

    def polish(self, pool: Pool) -> None:
        for _ in range(3):
            self.merge_equal(pool)
            moved = self.move_rows(pool)
            for g in range(len(pool.groups)):
                if self.size(pool, g) and self.dissolve(pool, g):
                    moved = True
            if not moved:
                break
        self.merge_equal(pool)

    def merge_equal(self, pool: Pool) -> None:
        for g in range(len(pool.cores), len(pool.groups)):
            for h in range(g):
                if self.size(pool, g) and self.size(pool, h) and self.cover(pool, g) == self.cover(pool, h):
                    pool.groups[h] += pool.groups[g]
                    pool.groups[g] = []

    def home(self, pool: Pool, row: int) -> int:
        return next(g for g, own in enumerate(pool.groups) if row in own)

    def alone(self, pool: Pool, g: int) -> bool:
        return g >= len(pool.cores) and len(pool.groups[g]) == 1

    def move_rows(self, pool: Pool) -> bool:
        moved = False
        for row in pool.rows:
            i = self.home(pool, row)
            if self.alone(pool, i) or self.each(pool, i) == 0:
                continue
            to, partner = self.best_move(pool, row, i)
            if to < 0:
                continue
            mine = [own for own in pool.groups[i] if own != row] + ([partner] if partner >= 0 else [])
            theirs = [own for own in pool.groups[to] if own != partner] + [row]
            if self.allowed(mine) and self.allowed(theirs):
                pool.groups[i], pool.groups[to] = mine, theirs
                moved = True
        return moved

    def best_move(self, pool: Pool, row: int, i: int) -> tuple[int, int]:
        """Return the group a row would rather be in, and the row it would swap with, -1 for none."""
        best, found = 0, (-1, -1)
        size, before = self.size(pool, i), self.spent(pool, i)
        if size > self.case.k:
            out = (size - 1) * self.each(pool, i, without=row) - before
            for j in range(len(pool.groups)):
                if j != i and self.size(pool, j):
                    gain = out + self.spent(pool, j, row) - self.spent(pool, j)
                    if gain < best:
                        best, found = gain, (j, -1)
        for other in pool.rows:
            j = self.home(pool, other)
            if j == i or self.alone(pool, j):
                continue
            mine = size * self.each(pool, i, other, without=row)
            theirs = self.size(pool, j) * self.each(pool, j, row, without=other)
            gain = mine + theirs - before - self.spent(pool, j)
            if gain < best:
                best, found = gain, (j, other)
        return found

    def dissolve(self, pool: Pool, g: int) -> bool:
        """Give the rows of a group to others, one by one, where that costs less in the end."""
        before = self.spent(pool, g)
        if g < len(pool.cores) or before == 0:
            return False
        trial = Pool(pool.rows, pool.cores, pool.kept, groups=[own.copy() for own in pool.groups])
        trial.groups[g] = []
        grown = 0
        for row in sorted(pool.groups[g]):
            others = [h for h in range(len(pool.groups)) if h != g and self.size(trial, h)]
            more = {h: self.spent(trial, h, row) - self.spent(trial, h) for h in others}
            best = min(more, key=lambda h: (more[h], h), default=-1)
            if best < 0 or more[best] >= before - grown:
                return False
            grown += more[best]
            trial.groups[best].append(row)
        if not all(
            self.allowed(new) for new, old in zip(trial.groups, pool.groups, strict=True) if len(new) > len(old)
        ):
            return False
        pool.groups = trial.groups
        return True

    # ------------------------------------------------------------------------------------------ back into place

    def splice(self, pool: Pool) -> int:
        """Put the pool's groups into the place of the old ones; return what showing no more than their rows gains."""
        shown = [self.cover(pool, g) for g in range(len(pool.groups))]
        for row in pool.rows:
            g = self.group_of(row)
            self.members[g].remove(row)
            if not self.members[g]:
                last = self.alive[-1]
                self.alive[self.alive.index(g)] = last
                self.alive.pop()
                self.free.append(g)
        numbers: list[int] = []
        for g in range(len(pool.groups)):
            number = pool.cores[g] if g < len(pool.cores) else -1
            if number < 0 and self.size(pool, g):
                number = self.free.pop()
                self.alive.append(number)
                self.members[number] = []
            numbers.append(number)
        for row in pool.rows:
            self.members[numbers[self.home(pool, row)]].insert(0, row)
        gained = 0
        for number, wide in zip(numbers, shown, strict=True):
            if number >= 0 and wide is not None:
                self.shown[number] = self.case.cover(self.members[number])
                gained += len(self.members[number]) * (self.case.cost(wide) - self.cost(number))
        return gained

    def hidden(self, pool: Pool) -> bool:
        """Tell whether some group would show nothing but the roots of trees."""
        trees = all(isinstance(own, TreeAttribute) for own in self.case.attributes)
        covers = [self.cover(pool, g) for g in range(len(pool.groups)) if self.size(pool, g)]
        return trees and any(all(code == 0 for code in shown or (1,)) for shown in covers)

    def may_cost(self) -> int:
        if not self.heat or self.spare <= 0:
            return 0
        return min(self.heat * self.slacks[draw(self.random, len(self.slacks))] // 1024, self.spare)

    def try_once(self, chosen: list[int]) -> int | None:
        pool = self.gather(chosen)
        if len(pool.rows) < 2:
            return None
        noise = [self.factors[draw(self.random, len(self.factors))] for _ in self.case.attributes]
        out = 1024 if draw(self.random, 2) < 1 else 256 + draw(self.random, 513)
        if not self.rebuild(pool, noise, out) or 5 * self.pool_cost(pool) > 6 * pool.old:
            return None
        if not all(self.allowed(own) for own in pool.groups):
            return None
        self.polish(pool)
        new = self.pool_cost(pool)
        if (new > pool.old and new - pool.old > self.may_cost()) or (self.hides and self.hidden(pool)):
            return None
        return pool.old - new + self.splice(pool)

    def search(self, tries: int, most: int) -> int:
        gained, self.left = 0, 0
        for _ in range(tries):
            if self.left == 0 or self.cost(self.group_of(self.seed)) == 0:
                self.seed = self.costly_row()
                if self.seed < 0:
                    continue
                self.listed = self.nearest()
                self.left = 3
            self.left -= 1
            more = self.try_once(self.choose(most))
            if more is None:
                continue
            gained += more
            self.spare += more
            self.kept += 1
            if more > 0:
                self.left = 0
        return gained
