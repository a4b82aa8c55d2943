"""Refine: lower the loss of a valid solution by moves from valid to valid.

Components whose models are all over the same attributes are searched as groups (`_Grouped`, the kernel `neighbours`);
those with several sets of attributes as shown values with counts (`descent`). It can stop at any time and never returns
anything worse than it was given.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from kveil.algorithms.association import Rule
from kveil.algorithms.codes import Costs, TooLarge, base_codes, children_of, lay_out, whole_numbers
from kveil.algorithms.comeback import come_back
from kveil.algorithms.descent import Overlap, may_come_in, smallest
from kveil.algorithms.followers import Follower, follow_costs, followers_of, show_followers
from kveil.kernels.groups import group_rows
from kveil.kernels.mondrian import Values
from kveil.kernels.neighbours import (
    GROUP,
    SIZE,
    Models,
    new_state,
    noise_table,
    place_rows,
    search,
    top_down,
)
from kveil.kernels.threads import threads
from kveil.measures import measure
from kveil.models.counts import AtLeastK, Groups, Pairs
from kveil.models.distributions import Close
from kveil.models.fingerprints import as_shown
from kveil.models.loops import needs_of, values_of
from kveil.models.standing import group_model
from kveil.policy.constraints import implied
from kveil.table.encode import Table
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Bools, Ints, Tree

Progress = Callable[[str], None]

BLOCK = 16_384  # rows that are searched together
ROUNDS = 4  # with blocks cut along another attribute each
CHUNK = 500  # tries between two looks at the clock
POOL = 300  # rows that are taken apart together
FEWER_ABOVE = 10  # k above which a try is dearer, so that there are fewer
ASKED = "asked to stop"
MOST_PLACES = 1 << 29  # rows times groups up to which suppressed rows look at every group


@dataclass
class Watch:
    """Says when to stop: at a time, or when someone asked for it."""

    until: float | None
    progress: Progress
    whole: float  # what the loss of everything would be, in the search's whole numbers
    outside: float = 0.0  # what other components and suppressed rows cost
    asked: threading.Event = field(default_factory=threading.Event)
    tries: int = 0
    kept: int = 0

    def over(self) -> bool:
        """Tell whether to stop."""
        return self.asked.is_set() or (self.until is not None and perf_counter() >= self.until)

    def tell(self, cost: float) -> None:
        """Show the loss as it falls."""
        self.progress(f"refining: loss {(cost + self.outside) / max(self.whole, 1):.3%} after {self.tries:,} tries")


@contextmanager
def _stoppable(watch: Watch) -> Iterator[None]:
    """Let the first interrupt ask for the best so far, the second one end the run; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if watch.asked.is_set():
            raise KeyboardInterrupt
        watch.asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


class Part:
    """One component of a table: its columns and models, and the rows that take part in it."""

    def __init__(self, table: Table, number: int, solution: Solution, order: Ints) -> None:
        policy = table.policy
        component = table.components[number]
        skip = implied(policy)
        self.table = table
        self.number = number
        self.names = component.attributes
        self.positions = table.positions(component.attributes)
        wanted = [i for i in component.models if i not in skip]
        self.models = [group_model(policy.privacy[i], table) for i in wanted]
        self.over = [
            [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])] for i in wanted
        ]
        self.grouped = all(len(over) == len(self.positions) for over in self.over)
        self.trees_only = all(isinstance(table.trees[p], Tree) for p in self.positions)
        star = np.ones(table.records, dtype=bool)
        for position in self.positions:
            star &= solution.shown[position].is_star[solution.shown[position].codes]
        self.hides = not table.stars_take_part or bool(solution.items)
        self.out = solution.suppressed[number] | (star if self.hides else False)
        self.suppressed = solution.suppressed[number]
        self.rows = order[~self.out[order]]
        self.k = smallest(self.models)
        self.plain = all(isinstance(m, AtLeastK) for m in self.models)

    def leaves(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the spans of leaves of some rows, attribute × row."""
        low = np.ascontiguousarray(self.table.low[self.positions][:, rows])
        same = self.table.low is self.table.high
        return low, low if same else np.ascontiguousarray(self.table.high[self.positions][:, rows])

    def base(self, rows: Ints) -> Ints:
        """Return what rows would show alone, row × attribute."""
        return base_codes(self.table, self.positions, *self.leaves(rows))

    def zones(self) -> Ints:
        """Return every row's zone: rows of different limits are never joined."""
        limits = [
            tree.limit_of[self.table.low[p]]
            for p in self.positions
            if isinstance(tree := self.table.trees[p], Tree) and tree.limit_of.any()
        ]
        if not limits:
            return np.zeros(self.table.records, dtype=np.int32)
        group, first = group_rows(np.array(limits, dtype=np.int32))
        rank = np.empty(len(first), dtype=np.int32)  # zones in the order of their limits, not of their first rows
        rank[np.lexsort(tuple(np.array(limits)[::-1, first]))] = np.arange(len(first))
        return rank[group]

    def pairs(self, rows: Ints) -> dict[str, Pairs]:
        """Return the sensitive values of rows, by their place in ``rows``."""
        names = sorted({m.sensitive for m in self.models if m.sensitive is not None})
        place = np.full(self.table.records, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        kept = place >= 0
        return {
            name: Pairs(*self.table.pairs(name, place, len(rows), kept), self.table.sensitive[name].known)
            for name in names
        }

    def good(self, part: Ints, rows: Ints) -> Bools:
        """Tell which groups of rows satisfy every model; ``part`` gives the rows' groups."""
        groups = int(part.max(initial=-1)) + 1
        counted = Groups(part, groups, np.ones(len(rows), dtype=np.int64), self.pairs(rows))
        found = np.ones(groups, dtype=bool)
        for model in self.models:
            found &= model.good(counted)
        return found


@dataclass
class _Found:
    """The groups of a component's rows: the rows, each one's group, and what each group shows."""

    rows: Ints
    part: Ints
    code: Ints  # group × attribute
    cost: int


class _Grouped:
    """The search of one component whose models are all over all of its attributes."""

    def __init__(
        self, part: Part, costs: Costs, watch: Watch, solution: Solution, followers: Sequence[Follower]
    ) -> None:
        self.part = part
        self.followers = followers
        self.watch = watch
        self.codes = lay_out(part.table, part.positions, follow_costs(costs, followers))
        self.noise = noise_table()
        self.zone = part.zones()
        self.whole = sum(costs.whole[p] for p in part.positions)
        codes = np.array([solution.shown[p].codes[part.rows] for p in part.positions], dtype=np.int32)
        group, _ = group_rows(codes)
        self.found = self._settle(part.rows, group)

    def base(self, rows: Ints) -> Ints:
        """Return what rows would show alone; what follows another attribute has no say, and shows a root."""
        base = self.part.base(rows)
        base[:, [self.part.positions.index(follower.right) for follower in self.followers]] = 0
        return base

    def _settle(self, rows: Ints, group: Ints) -> _Found:
        """Return groups as what covers their rows, numbered by their first row, those that show the same merged."""
        if not len(rows):
            return _Found(rows, group, np.zeros((0, len(self.part.positions)), dtype=np.int32), 0)
        base = self.base(rows)
        state, cost = new_state(base, self.zone[rows], group, self.codes, 0)
        code = state.code[: int(group.max()) + 1]
        # A group that shows the same in another zone is not the same: its rows may show less.
        zone = np.zeros(len(code), dtype=np.int32)
        zone[group] = self.zone[rows]
        words = code.astype(np.int64)
        halves = np.concatenate([(words & 0x7FFFFFFF).T, (words >> 31).T, zone[None, :]]).astype(np.int32)
        merged, first = group_rows(halves)
        group = merged[group]
        _, place, group = np.unique(group, return_index=True, return_inverse=True)
        order = np.argsort(place, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        shown = np.empty((len(first), code.shape[1]), dtype=code.dtype)
        shown[rank] = code[first]
        return _Found(rows, rank[group.reshape(-1)], shown, cost)

    def valid(self, found: _Found) -> bool:
        """Tell whether every group satisfies every model and shows something."""
        if not len(found.rows):
            return True
        return bool(self.part.good(found.part, found.rows).all()) and not self._hidden(found.code).any()

    def _hidden(self, code: Ints) -> Bools:
        hidden = np.full(len(code), self.part.hides)
        for a, position in enumerate(self.part.positions):
            tree = self.part.table.trees[position]
            if isinstance(tree, Tree):
                hidden &= tree.is_star[code[:, a]]
            else:
                low, high = code[:, a] // max(tree.leaves, 1), code[:, a] % max(tree.leaves, 1)
                hidden &= (high == (-1 if tree.missing is None else tree.missing)) & (low != high)
        return hidden

    # ------------------------------------------------------------------------------------------ starts

    def start_over(self) -> None:
        """Split all rows top-down, and go on from there if that costs less than the groups given."""
        if not (self.part.plain and self.part.trees_only and len(self.found.rows)):
            return
        found = self._top_down(self.found.rows)
        if found is not None and found.cost < self.found.cost and self.valid(found):
            self.found = found

    def _top_down(self, rows: Ints) -> _Found | None:
        by_zone = np.argsort(self.zone[rows], kind="stable")
        zone = self.zone[rows[by_zone]]
        starts = np.flatnonzero(np.concatenate([[True], zone[1:] != zone[:-1], [True]])).astype(np.int64)
        children = children_of(self.part.table, self.part.positions)
        split = top_down(self.base(rows[by_zone]), starts, self.codes, children, self.part.k)
        group = np.empty(len(rows), dtype=np.int32)
        group[by_zone] = split
        found = self._settle(rows, group)
        hidden = self._hidden(found.code)
        if hidden.any():  # what would show nothing goes where it costs least
            waiting = hidden[found.part]
            kept, renumber = ~hidden, np.cumsum(~hidden) - 1
            inside = _Found(rows[~waiting], renumber[found.part[~waiting]].astype(np.int32), found.code[kept], 0)
            return self._place(inside, rows[waiting], 1 << 62, all_of_them=True)
        return found

    def _place(self, found: _Found, rows: Ints, most: int, all_of_them: bool = False) -> _Found | None:
        """Put rows into the groups whose cost grows least, one by one; None where one of them has no place."""
        groups = len(found.code)
        if not groups:
            return None
        sizes = np.bincount(found.part, minlength=groups)
        group_zone = np.zeros(groups, dtype=np.int32)
        group_zone[found.part] = self.zone[found.rows]
        state, _ = new_state(self.base(found.rows), self.zone[found.rows], found.part, self.codes, 0)
        longs = np.array([sizes, state.cost[:groups]], dtype=np.int64)
        code = state.code[:groups].copy()
        to = place_rows(self.base(rows), self.zone[rows], group_zone, code, longs, most, self.codes)
        if all_of_them and (to < 0).any():
            return None
        while True:
            inside = to >= 0
            together = np.concatenate([found.rows, rows[inside]])
            group = np.concatenate([found.part, to[inside]]).astype(np.int32)
            new = self._settle_in_order(together, group)
            if self.valid(new):
                return new
            if all_of_them or not inside.any():
                return None
            bad = ~self.part.good(group, together)
            bad[self._hidden(code)] = True
            drop = inside & bad[np.maximum(to, 0)]
            to[drop if drop.any() else inside] = -1

    def _settle_in_order(self, rows: Ints, group: Ints) -> _Found:
        order = np.argsort(self.part_rank[rows], kind="stable")
        return self._settle(rows[order], group[order])

    part_rank: Ints  # every row's place in canonical order

    def bring_back(self, rows: Ints) -> Ints:
        """Let suppressed rows into groups where that costs less than their suppression; return who came back.

        One by one where it costs least; those left over become groups of their own where there are enough.
        """
        before = self.found
        if len(rows) and len(rows) * max(len(self.found.code), 1) <= MOST_PLACES:
            self.found = self._place(self.found, rows, self.whole) or self.found
        inside = np.zeros(self.part.table.records, dtype=bool)
        inside[self.found.rows] = True
        waiting = rows[~inside[rows]]
        sizes = np.bincount(self.zone[waiting], minlength=int(self.zone.max(initial=0)) + 1)
        waiting = waiting[sizes[self.zone[waiting]] >= self.part.k]
        if len(waiting) and self.part.plain and self.part.trees_only:
            new = self._top_down(waiting)
            if new is not None and self.valid(new):
                together = np.concatenate([self.found.rows, new.rows])
                group = np.concatenate([self.found.part, new.part + len(self.found.code)]).astype(np.int32)
                self.found = self._settle_in_order(together, group)
        if not self.valid(self.found):
            self.found = before
        inside[:] = False
        inside[self.found.rows] = True
        return np.asarray(rows[inside[rows]])

    # ------------------------------------------------------------------------------------------ the search

    def run(self, tries_a_row: float) -> None:
        """Search, round by round, in blocks that are cut along another attribute each."""
        rows = len(self.found.rows)
        if not rows or not self.found.cost:
            return
        tries = tries_a_row * rows * min(1.0, FEWER_ABOVE / self.part.k)
        blocks = max(1, round(rows / BLOCK))
        rounds = ROUNDS if blocks > 1 else 1
        values = self._values()
        for number in range(rounds):
            if self.watch.over():
                return
            self._round(number, blocks, round(tries / rounds / blocks), values)

    def _values(self) -> Values | None:
        if self.part.plain:
            return None
        rows = self.found.rows
        names = sorted({m.sensitive for m in self.part.models if m.sensitive is not None})
        used = {str(m.sensitive) for m in self.part.models if isinstance(m, Close) and m.distance == "hierarchical"}
        alive = np.ones(len(rows), dtype=np.int64)
        return values_of(self.part.table, self.part.pairs(rows), names, alive, used)

    def _models(self, values: Values | None, rows: Ints) -> Models | None:
        """Return the models for a block: the values of its rows, given by their places, and room to count in."""
        if values is None:
            return None
        names = sorted({m.sensitive for m in self.part.models if m.sensitive is not None})
        starts, codes, times = [], [], []
        offset = 0
        for s in range(len(names)):
            begin, end = values.start[s, rows], values.start[s, rows + 1]
            lengths = end - begin
            ends = np.cumsum(lengths)
            chosen = np.repeat(begin - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
            starts.append(offset + np.concatenate([[0], ends]))
            codes.append(values.code[chosen])
            times.append(values.times[chosen])
            offset += len(chosen)
        number, most = values.whole.shape
        own = values._replace(
            start=np.array(starts, dtype=np.int64).reshape(number, -1),
            code=np.concatenate([np.zeros(0, dtype=np.int32), *codes]).astype(np.int32),
            times=np.concatenate([np.zeros(0, dtype=np.int64), *times]).astype(np.int64),
        )
        nodes = values.edge.shape[1] + 1
        return Models(
            needs_of(self.part.models, names), own, np.zeros((number, most), dtype=np.int64),
            np.zeros((number, most), dtype=np.int32), np.zeros(number, dtype=np.int32), np.zeros(nodes),
            np.zeros(nodes, dtype=np.int32),
        )  # fmt: skip

    def _cut(self, number: int, blocks: int) -> list[Ints]:
        """Return the groups of each block: sorted by zone, then by their values from one attribute on."""
        groups = len(self.found.code)
        if blocks == 1:
            return [np.arange(groups, dtype=np.int32)]
        width = self.found.code.shape[1]
        columns = [self.found.code[:, (number + a) % width] for a in range(width)]
        zone = np.zeros(groups, dtype=np.int32)
        zone[self.found.part] = self.zone[self.found.rows]
        order = np.lexsort((*reversed(columns), zone))
        ends = np.cumsum(np.bincount(self.found.part, minlength=groups)[order])
        block = np.minimum((ends - 1) * blocks // int(ends[-1]), blocks - 1)  # never falls along the order
        return np.split(order.astype(np.int32), np.flatnonzero(np.diff(block)) + 1)

    def _round(self, number: int, blocks: int, tries: int, values: Values | None) -> None:
        part = self.found.part.copy()
        offset = len(self.found.code)
        cuts = self._cut(number, blocks)
        block_of = np.empty(offset, dtype=np.int32)
        for b, groups in enumerate(cuts):
            block_of[groups] = b
        total = self.found.cost
        of_row = block_of[part]
        by_block = np.argsort(of_row, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(of_row, minlength=len(cuts)))
        with ThreadPoolExecutor(min(threads(), len(cuts))) as pool:
            waiting: dict[Future[tuple[Ints, int, int, int]], Ints] = {}
            for b, places in enumerate(np.split(by_block, ends[:-1])):
                seed = np.random.SeedSequence([self.part.table.policy.seed, self.part.number, number, b])
                word = int(seed.generate_state(1, np.uint64)[0])
                models = self._models(values, places)
                waiting[pool.submit(self._block, places, word, models, tries)] = places
            pending = set(waiting)
            while pending:
                try:
                    done, pending = wait(pending, timeout=0.2)
                except BaseException:
                    self.watch.asked.set()  # the blocks end soon, and with them the pool
                    raise
                self.watch.tell(total)
                for future in done:
                    group, gained, tried, kept = future.result()
                    part[waiting[future]] = group + offset
                    offset += int(group.max(initial=-1)) + 1
                    total -= gained
                    self.watch.tries += tried
                    self.watch.kept += kept
        _, part = np.unique(part, return_inverse=True)
        self.found = self._settle(self.found.rows, part.reshape(-1).astype(np.int32))

    def _block(self, places: Ints, seed: int, models: Models | None, tries: int) -> tuple[Ints, int, int, int]:
        """Search a block; return the rows' groups, what was gained, the tries, and how many of them were kept."""
        rows = self.found.rows[places]
        _, group = np.unique(self.found.part[places], return_inverse=True)
        state, _ = new_state(self.base(rows), self.zone[rows], group.reshape(-1), self.codes, seed)
        room = max(POOL, 3 * self.part.k)
        gained = 0
        while state.counts[3] < tries and not self.watch.over():
            number = min(CHUNK, tries - int(state.counts[3]))
            gained += search(state, self.codes, models, self.noise, self.part.k, self.part.hides, number, room)
            if not (state.cost * state.groups[SIZE]).any():
                break
        return state.rows[GROUP].copy(), gained, int(state.counts[3]), int(state.counts[2])

    # ------------------------------------------------------------------------------------------ the result

    def shown(self, solution: Solution) -> list[Shown]:
        """Return what every row shows; rows that take no part go on showing what they did."""
        table, part = self.part.table, self.part
        found = []
        code = self.found.code.copy()
        show_followers(code, part.positions, self.followers)
        for a, position in enumerate(part.positions):
            tree = table.trees[position]
            codes = code[self.found.part, a]
            if isinstance(tree, Tree):
                nodes = solution.shown[position].codes.copy()
                nodes[self.found.rows] = codes
                found.append(Shown.nodes(tree, nodes))
            else:
                low, high = table.low[position].copy(), table.high[position].copy()
                parked = part.out & ~part.suppressed
                low[parked], high[parked] = 0, tree.leaves - 1
                low[self.found.rows], high[self.found.rows] = codes // tree.leaves, codes % tree.leaves
                found.append(Shown.spans(tree, low, high))
        return found


def refine(
    table: Table,
    solution: Solution,
    tries_a_row: float,
    seconds: float | None,
    progress: Progress,
    rules: Sequence[Rule] = (),
) -> Solution:
    """Return a solution of the same policy with a loss no higher, and what was done for it in its details.

    With ``rules``, right sides follow their left sides where they can (see `followers`); other rules are not looked at.
    Cost: O(tries · (groups of a block · attributes + pool² · attributes)); memory linear in the table.
    """
    started = perf_counter()
    if any(model.model == "k-km-anonymity" for model in table.policy.privacy):
        return solution  # its items were generalized class by class
    if not table.names:
        return solution  # plain sets of items
    try:
        costs = whole_numbers(table)
        return _refine(table, solution, tries_a_row, seconds, started, costs, progress, rules)
    except TooLarge:
        return solution


def _refine(
    table: Table,
    solution: Solution,
    tries_a_row: float,
    seconds: float | None,
    started: float,
    costs: Costs,
    progress: Progress,
    rules: Sequence[Rule],
) -> Solution:
    before = measure(table, solution).of(table.policy.loss)
    until = None if seconds is None else started + seconds
    watch = Watch(until, progress, float(costs.scale * table.records))
    order = table.canonical.astype(np.int32)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    given = solution
    if len(table.components) > 1 and table.whole_rows and not solution.items:

        def let_in(number: int, rows: Ints) -> tuple[Ints, list[Shown]]:
            part = Part(table, number, given, order)
            if not part.grouped:
                overlap = Overlap(part, costs, watch, given, rows if may_come_in(part) else rows[:0])
                if overlap.valid():
                    overlap.descend()
                return overlap.came_in(), overlap.shown(given)
            grouped = _Grouped(part, costs, watch, given, followers_of(table, part.positions, rules))
            grouped.part_rank = rank
            came = grouped.bring_back(rows) if grouped.valid(grouped.found) else rows[:0]
            return came, grouped.shown(given)

        solution = come_back(table, solution, order, let_in)
    suppressed = solution.suppressed.copy()
    shown = list(solution.shown)
    back = given.suppressed_anywhere & ~solution.suppressed_anywhere
    view = as_shown(table, dict(solution.items)) if solution.items else table
    with _stoppable(watch):
        for number in range(len(table.components)):
            part = Part(view, number, solution, order)
            alone = (len(table.components) == 1 or not table.whole_rows) and not solution.items
            if not part.grouped:
                outside = order[part.out[order]] if alone and may_come_in(part) else order[:0]
                overlap = Overlap(part, costs, watch, solution, outside)
                if not overlap.valid():
                    continue
                overlap.descend()
                overlap.run(tries_a_row)
                suppressed[number][overlap.came_in()] = False
                back[overlap.came_in()] = True
                for position, column in zip(part.positions, overlap.shown(solution), strict=True):
                    shown[position] = column
                continue
            grouped = _Grouped(part, costs, watch, solution, followers_of(view, part.positions, rules))
            grouped.part_rank = rank
            if not grouped.valid(grouped.found):
                continue
            if alone:
                came = grouped.bring_back(order[part.out[order]])
                suppressed[number][came] = False
                back[came] = True
            grouped.start_over()
            grouped.run(tries_a_row)
            for position, column in zip(part.positions, grouped.shown(solution), strict=True):
                shown[position] = column
    gone = suppressed.any(axis=0)
    reasons = {reason: kept for reason, rows in solution.reasons.items() if len(kept := rows[gone[rows]])}
    details: dict[str, Any] = {"tries": watch.tries, "kept": watch.kept, "loss_before": before}
    if back.any():
        details["brought_back"] = int((back & ~gone).sum())
    if watch.over():
        details["stopped"] = ASKED if watch.asked.is_set() else "out of time"
    found = replace(
        solution,
        shown=tuple(shown),
        suppressed=suppressed,
        reasons=reasons,
        details={**solution.details, "refine": details},
        alike=None,
    )
    if measure(table, found).of(table.policy.loss) <= before:
        return found
    details.pop("brought_back", None)
    return replace(given, details={**given.details, "refine": details})
