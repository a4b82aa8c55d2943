"""Refining one component whose models are all over all of its attributes: rows in groups (the kernel `neighbours`)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.least_loss.layout import children_of_trees, lay_out, leaves_of_codes
from kveil.algorithms.least_loss.refine_options import heat_of, tries_in_groups
from kveil.algorithms.least_loss.state import RefinedComponent, Watch
from kveil.algorithms.rules.follow import Follower, follow_costs, show_followers
from kveil.algorithms.stars import star_spans
from kveil.arrays import Bools, Ints
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import GroupedRows
from kveil.kernels.least_loss.neighbours import new_state, place_rows, pool_room, search, top_down
from kveil.kernels.models.layout import Models, SensitiveCodes, new_models
from kveil.kernels.threads import threads
from kveil.models.packed import cut_to_rows, needs_of, values_of
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Tree

BLOCK = 16_384  # rows that are searched together
LARGE = 4 * BLOCK  # rows above which pools are smaller at first, and `normal` has fewer tries
LEAST_ROUNDS, MOST_ROUNDS = 4, 32  # with blocks cut in another order of attributes each
TIMED_ROUND = 0.5  # tries per row in a round at the most where seconds end the search
ROUND_TRIES = 1_600  # in a block, before blocks are cut anew: what lies across a cut is never searched together
# With many tries some that end dearer are kept, in this part of the rounds, the first ones being for going down alone.
HEATED_FROM, HEATED_UNTIL = 0.2, 0.8
HEAT = 0.4  # what such a try may cost on average at first, in the mean cost of the groups that cost something
EXCESS = 0.015  # by how much the whole may then be dearer than it was at its lowest, as a share of that
CHUNK = 500  # tries between two looks at the clock
TOLD_EVERY = 0.2  # seconds between two words about how far the blocks are
POOL = 300  # rows that are taken apart together
FEWER_ABOVE = 10  # k above which a try is dearer, so that there are fewer
MOST_PLACES = 1 << 29  # rows times groups up to which suppressed rows look at every group


@dataclass
class Grouping:
    """Rows of a component, each one's ``group``, and what each group shows and all of them cost."""

    rows: Ints
    group: Ints
    code: Ints  # group × attribute
    cost: int


@dataclass
class SearchedBlock:
    """The groups of a block's rows after a round, what each shows, what was gained, and the tries done and kept."""

    group: Ints
    code: Ints
    gained: int
    tries: int
    kept: int


def by_first_row(group: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return the rows' groups, numbered by their first rows, and the old numbers in the new order.

    Numbers without a row are left out. Nothing is sorted but the groups.
    """
    place = np.full(groups, len(group), dtype=np.int32)
    place[group[::-1]] = np.arange(len(group) - 1, -1, -1, dtype=np.int32)  # the last one that is written stays
    order = np.argsort(place, kind="stable")[: int((place < len(group)).sum())]
    rank = np.empty(groups, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[group], order


def _warmth(done: float) -> float:
    """Return how warm the search is once a share of its rounds is done: not at first, then ever less, then no more."""
    if done < HEATED_FROM:
        return 0.0
    return max((HEATED_UNTIL - done) / (HEATED_UNTIL - HEATED_FROM), 0.0)


class GroupSearch:
    """The search of one component whose models are all over all of its attributes."""

    def __init__(
        self,
        refined: RefinedComponent,
        costs: NodeCosts,
        watch: Watch,
        solution: Solution,
        followers: Sequence[Follower],
    ) -> None:
        self.refined = refined
        self.followers = followers
        self.watch = watch
        self.codes = lay_out(refined.table, refined.positions, follow_costs(costs, followers))
        self.zone = refined.zones()
        self.most_groups = field.FIRST_GROUPS  # in a pool
        self.warmth = 0.0  # of a round: what share of the full heat and excess it has
        self.whole = sum(costs.whole[p] for p in refined.positions)
        codes = np.array([solution.shown[p].codes[refined.rows] for p in refined.positions], dtype=np.int32)
        group, _ = group_rows(codes)
        self.lowest = self.grouping = self._settle(refined.rows, group)

    @cached_property
    def _base(self) -> Ints:
        """What every row of the table would show alone; asked for by each block in each round, so reckoned once."""
        base = self.refined.base(np.arange(self.refined.table.rows, dtype=np.int32))
        base[:, [self.refined.positions.index(follower.right) for follower in self.followers]] = 0
        return base

    def base(self, rows: Ints) -> Ints:
        """Return what rows would show alone; what follows another attribute has no say, and shows a root."""
        return np.take(self._base, rows, axis=0)

    def _settle(self, rows: Ints, group: Ints) -> Grouping:
        """Return groups as what covers their rows, numbered by their first row, those that show the same merged."""
        if not len(rows):
            return Grouping(rows, group, np.zeros((0, len(self.refined.positions)), dtype=np.int32), 0)
        state, cost = new_state(self.base(rows), self.zone[rows], group, self.codes, 0)
        return self._merged(rows, group, state.code[: int(group.max()) + 1], cost)

    def _merged(self, rows: Ints, group: Ints, code: Ints, cost: int) -> Grouping:
        """Return groups, given what each shows, numbered by their first row, those that show the same merged."""
        # A group that shows the same in another zone is not the same: its rows may show less.
        zone = np.zeros(len(code), dtype=np.int32)
        zone[group] = self.zone[rows]
        words = code.astype(np.int64)
        halves = np.concatenate([(words & 0x7FFFFFFF).T, (words >> 31).T, zone[None, :]]).astype(np.int32)
        merged, first = group_rows(halves)
        group, kept = by_first_row(merged[group], len(first))
        return Grouping(rows, group, code[first[kept]], cost)

    def valid(self, found: Grouping) -> bool:
        """Tell whether every group satisfies every model and shows something."""
        if not len(found.rows):
            return True
        return bool(self.refined.good(found.group, found.rows).all()) and not self._hidden(found.code).any()

    def _hidden(self, code: Ints) -> Bools:
        """Tell which groups show nothing, where that is no group of a release."""
        table, positions = self.refined.table, self.refined.positions
        if not self.refined.hides:
            return np.zeros(len(code), dtype=bool)
        return star_spans([table.trees[p] for p in positions], *leaves_of_codes(table, positions, code))

    # ------------------------------------------------------------------------------------------ starts

    def start_over(self) -> None:
        """Split all rows top-down, and go on from there if that costs less than the groups given."""
        if not (self.refined.component.counts_only and self.refined.component.trees_only and len(self.grouping.rows)):
            return
        found = self._top_down(self.grouping.rows)
        if found is not None and found.cost < self.grouping.cost and self.valid(found):
            self.grouping = found

    def _top_down(self, rows: Ints) -> Grouping | None:
        by_zone, starts = members_by_group(self.zone[rows]).without_empty()
        children = children_of_trees(self.refined.table, self.refined.positions)
        split = top_down(self.base(rows[by_zone]), starts, self.codes, children, self.refined.k)
        group = np.empty(len(rows), dtype=np.int32)
        group[by_zone] = split
        found = self._settle(rows, group)
        hidden = self._hidden(found.code)
        if hidden.any():  # what would show nothing goes where it costs least
            waiting = hidden[found.group]
            kept, renumber = ~hidden, np.cumsum(~hidden) - 1
            inside = Grouping(rows[~waiting], renumber[found.group[~waiting]].astype(np.int32), found.code[kept], 0)
            return self._place(inside, rows[waiting], 1 << 62, all_of_them=True)
        return found

    def _place(self, found: Grouping, rows: Ints, most: int, *, all_of_them: bool = False) -> Grouping | None:
        """Put rows into the groups whose cost grows least, one by one; None where one of them has no place."""
        groups = len(found.code)
        if not groups:
            return None
        sizes = np.bincount(found.group, minlength=groups)
        group_zone = np.zeros(groups, dtype=np.int32)
        group_zone[found.group] = self.zone[found.rows]
        state, _ = new_state(self.base(found.rows), self.zone[found.rows], found.group, self.codes, 0)
        longs = np.array([sizes, state.cost[:groups]], dtype=np.int64)
        code = state.code[:groups].copy()
        to = place_rows(self.base(rows), self.zone[rows], group_zone, code, longs, most, self.codes)
        if all_of_them and (to < 0).any():
            return None
        while True:
            inside = to >= 0
            together = np.concatenate([found.rows, rows[inside]])
            group = np.concatenate([found.group, to[inside]]).astype(np.int32)
            new = self._settle_in_order(together, group)
            if self.valid(new):
                return new
            if all_of_them or not inside.any():
                return None
            bad = ~self.refined.good(group, together)
            bad[self._hidden(code)] = True
            drop = inside & bad[np.maximum(to, 0)]
            to[drop if drop.any() else inside] = -1

    def _settle_in_order(self, rows: Ints, group: Ints) -> Grouping:
        order = np.argsort(self.refined.rank[rows], kind="stable")
        return self._settle(rows[order], group[order])

    def bring_back(self, rows: Ints) -> Ints:
        """Let suppressed rows into groups where that costs less than their suppression; return who came back.

        One by one where it costs least; those left over become groups of their own where there are enough.
        """
        before = self.grouping
        if len(rows) and len(rows) * max(len(self.grouping.code), 1) <= MOST_PLACES:
            self.grouping = self._place(self.grouping, rows, self.whole) or self.grouping
        inside = np.zeros(self.refined.table.rows, dtype=bool)
        inside[self.grouping.rows] = True
        waiting = rows[~inside[rows]]
        sizes = np.bincount(self.zone[waiting], minlength=int(self.zone.max(initial=0)) + 1)
        waiting = waiting[sizes[self.zone[waiting]] >= self.refined.k]
        if len(waiting) and self.refined.component.counts_only and self.refined.component.trees_only:
            new = self._top_down(waiting)
            if new is not None and self.valid(new):
                together = np.concatenate([self.grouping.rows, new.rows])
                group = np.concatenate([self.grouping.group, new.group + len(self.grouping.code)]).astype(np.int32)
                self.grouping = self._settle_in_order(together, group)
        if not self.valid(self.grouping):
            self.grouping = before
        inside[:] = False
        inside[self.grouping.rows] = True
        return np.asarray(rows[inside[rows]])

    # ------------------------------------------------------------------------------------------ the search

    def run(self, tries_per_row: float) -> None:
        """Search, round by round, in blocks that are cut in another order of attributes each."""
        rows = len(self.grouping.rows)
        if not rows or not self.grouping.cost:
            return
        large = rows > LARGE
        tries_per_row = tries_in_groups(tries_per_row, large=large)
        fewer, until = field.FIRST_OF_LARGE if large else (field.FIRST_GROUPS, field.FIRST_TRIES)
        tries = tries_per_row * rows * min(1.0, FEWER_ABOVE / self.refined.k)
        blocks = max(1, round(rows / BLOCK))
        rounds = min(max(round(tries / blocks / ROUND_TRIES), LEAST_ROUNDS if blocks > 1 else 1), MOST_ROUNDS)
        if self.watch.stop.timed:
            rounds = max(rounds, min(round(tries_per_row / TIMED_ROUND), int(tries / blocks / CHUNK)))
        values = self._values()
        self.lowest = self.grouping
        for number in range(rounds):
            if self.watch.over():
                break
            late = number * tries_per_row >= rounds * until
            self.most_groups = field.MOST_GROUPS if late else fewer
            self.warmth = self._warmth_after(number / rounds, tries_per_row)
            self._round(number, blocks, round(tries / rounds / blocks), values)
            if self.grouping.cost <= self.lowest.cost:
                self.lowest = self.grouping
        self.grouping = self.lowest

    def _warmth_after(self, share: float, tries_per_row: float) -> float:
        """Return the warmth of a round once a share of the tries is done; where seconds end the search, they count."""
        done = max(share, self.watch.stop.spent)
        return _warmth(done) * heat_of(tries_per_row * share / done) if share else 0.0

    def _values(self) -> SensitiveCodes | None:
        if self.refined.component.counts_only:
            return None
        rows = self.grouping.rows
        alive = np.ones(len(rows), dtype=np.int64)
        return values_of(self.refined.table, self.refined.pairs(rows), self.refined.models, alive)

    def _models(self, values: SensitiveCodes | None, rows: Ints) -> Models | None:
        """Return the models for a block: the values of its rows, given by their places, and room to count in."""
        if values is None:
            return None
        return new_models(needs_of(self.refined.models, self.refined.component.sensitive), cut_to_rows(values, rows))

    def _cut(self, number: int, blocks: int) -> list[Ints]:
        """Return the groups of each block: sorted by zone, then by their values, another attribute first each time.

        Once each was first, the others follow it in another order.
        """
        groups = len(self.grouping.code)
        if blocks == 1:
            return [np.arange(groups, dtype=np.int32)]
        width = self.grouping.code.shape[1]
        others = [(number + a) % width for a in range(1, width)]
        turn = number // width % max(len(others), 1)
        columns = [self.grouping.code[:, a] for a in [number % width, *others[turn:], *others[:turn]]]
        zone = np.zeros(groups, dtype=np.int32)
        zone[self.grouping.group] = self.zone[self.grouping.rows]
        order = np.lexsort((*reversed(columns), zone))
        ends = np.cumsum(np.bincount(self.grouping.group, minlength=groups)[order])
        block = np.minimum((ends - 1) * blocks // int(ends[-1]), blocks - 1)  # never falls along the order
        return np.split(order.astype(np.int32), np.flatnonzero(np.diff(block)) + 1)

    def _round(self, number: int, blocks: int, tries: int, values: SensitiveCodes | None) -> None:
        group_of = np.empty_like(self.grouping.group)
        codes: list[Ints] = []
        offset = 0
        cuts = self._cut(number, blocks)
        block_of = np.empty(len(self.grouping.code), dtype=np.int32)
        for b, groups in enumerate(cuts):
            block_of[groups] = b
        total = self.grouping.cost
        by_block = members_by_group(block_of[self.grouping.group], len(cuts))
        with ThreadPoolExecutor(min(threads(), len(cuts))) as pool:
            waiting: dict[Future[SearchedBlock], Ints] = {}
            for b, places in enumerate(own.astype(np.int32) for own in by_block.split()):
                seed = np.random.SeedSequence([self.refined.table.policy.seed, self.refined.number, number, b])
                word = int(seed.generate_state(1, np.uint64)[0])
                models = self._models(values, places)
                waiting[pool.submit(self._block, places, word, models, tries)] = places
            pending = set(waiting)
            try:
                while pending:
                    done, pending = wait(pending, timeout=TOLD_EVERY)
                    self.watch.tell(min(total, self.lowest.cost))
                    for future in done:
                        found = future.result()
                        group_of[waiting[future]] = found.group + offset
                        codes.append(found.code)
                        offset += len(found.code)
                        total -= found.gained
                        self.watch.tries += found.tries
                        self.watch.kept += found.kept
            except BaseException:
                self.watch.stop.ask()  # the other blocks end soon, and with them the pool
                raise
        self.grouping = self._merged(self.grouping.rows, group_of, np.concatenate(codes), total)

    def _block(self, places: Ints, seed: int, models: Models | None, tries: int) -> SearchedBlock:
        """Search a block."""
        rows = self.grouping.rows[places]
        group, _ = by_first_row(self.grouping.group[places], len(self.grouping.code))
        base, zone = self.base(rows), self.zone[rows]
        state, before = new_state(base, zone, group, self.codes, seed)
        self._heat(state, before)
        room = pool_room(state, max(POOL, 3 * self.refined.k))
        while state.counts[field.TRIES] < tries and not self.watch.over():
            number = min(CHUNK, tries - int(state.counts[field.TRIES]))
            most, hides = self.most_groups, self.refined.hides
            search(state, self.codes, models, room, self.refined.k, number, hides=hides, most_groups=most)
            if not (state.cost * state.groups[field.SIZE]).any():
                break
        group, kept = by_first_row(state.rows[field.GROUP], len(rows))
        settled, after = new_state(base, zone, group, self.codes, 0)  # shows what covers its rows, and no more
        code = settled.code[: len(kept)].copy()
        return SearchedBlock(group, code, before - after, int(state.counts[field.TRIES]), int(state.counts[field.KEPT]))

    def _heat(self, state: GroupedRows, cost: int) -> None:
        """Let tries in a block of this cost keep what is a little dearer, as this round's warmth has it."""
        costly = max(int((state.cost[state.groups[field.SIZE] > 0] > 0).sum()), 1)
        state.counts[field.HEAT] = min(int(HEAT * self.warmth * cost / costly), field.MOST_HEAT)
        spare = self.lowest.cost - self.grouping.cost + int(EXCESS * self.warmth * self.lowest.cost)
        state.counts[field.SPARE] = spare * len(state.base) // len(self.grouping.rows)

    # ------------------------------------------------------------------------------------------ the result

    def shown(self, solution: Solution) -> list[Shown]:
        """Return what every row shows; rows that take no part go on showing what they did."""
        table, refined = self.refined.table, self.refined
        found = []
        code = self.grouping.code.copy()
        show_followers(code, refined.positions, self.followers)
        for a, position in enumerate(refined.positions):
            tree = table.trees[position]
            codes = code[self.grouping.group, a]
            if isinstance(tree, Tree):
                nodes = solution.shown[position].codes.copy()
                nodes[self.grouping.rows] = codes
                found.append(Shown.nodes(tree, nodes))
            else:
                low, high = table.low[position].copy(), table.high[position].copy()
                parked = refined.out & ~refined.suppressed
                low[parked], high[parked] = 0, tree.leaves - 1
                low[self.grouping.rows], high[self.grouping.rows] = codes // tree.leaves, codes % tree.leaves
                found.append(Shown.spans(tree, low, high))
        return found


def group_search_of(
    refined: RefinedComponent, costs: NodeCosts, watch: Watch, solution: Solution, followers: Sequence[Follower]
) -> GroupSearch | None:
    """Return the search of a component, None where the solution to begin with breaks a constraint."""
    groups = GroupSearch(refined, costs, watch, solution, followers)
    return groups if groups.valid(groups.grouping) else None
