"""Neighbourhoods: whom to leave out, without a look at anybody's own sensitive value.

Whoever looks for a person and finds no row that fits knows that this one was left out. If records were left out for
what they have, everybody would then know what that is. So nobody is: rows stand in *runs*, neighbours by their
quasi-identifiers, which are public, and a run is left out, or comes back, as a whole. What decides is how the values
of a run, or of a group, are distributed. A policy that looks at no sensitive value needs no runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kveil.algorithms.stars import nothing_left, star_cells
from kveil.arrays import Bools, Ints, Longs
from kveil.models.distributions import AlphaShare, EntropyL, FrequencyL, RecursiveCL
from kveil.models.groups import AtLeastK, GroupModel, Pairs, one_group
from kveil.models.of_policy import counted_names, group_model, least_members, sensitive_pairs_of_rows
from kveil.policy.components import largest_k
from kveil.table.order import sorted_rows
from kveil.table.solution import Shown
from kveil.table.table import Table

ROUNDS = 6  # of offering runs of records; a run of which one record found no place is not offered again
FEWEST_VALUES = 2  # different ones in a run that is left out: of a run with one, everybody would know it
Frequent = AlphaShare | EntropyL | FrequencyL | RecursiveCL  # models that a too frequent value breaks


# ------------------------------------------------------------------------------------------------ runs


def runs_of(keys: Sequence[Ints], weights: Longs, least: int) -> Longs:
    """Return every item's run: neighbours in the order of the keys that weigh at least so much together.

    Equal items are never torn apart, and a last run that is too light belongs to the one before. O(items · keys), and
    a search per run.
    """
    if not len(weights):
        return np.zeros(0, dtype=np.int64)
    order = sorted_rows(keys) if keys else np.arange(len(weights))
    new = np.zeros(len(weights), dtype=bool)
    new[0] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ends = np.append(np.cumsum(weights[order])[np.flatnonzero(new)[1:] - 1], int(weights.sum())).tolist()
    first, begins = 0, [0]  # of runs, among the different items
    while True:
        reached = ends[first - 1] if first else 0
        first = bisect_left(ends, reached + least) + 1
        if first >= len(ends) or ends[-1] - ends[first - 1] < least:
            break
        begins.append(first)
    of_different = np.zeros(len(ends), dtype=np.int64)
    of_different[begins[1:]] = 1
    run = np.empty(len(weights), dtype=np.int64)
    run[order] = np.cumsum(of_different)[np.cumsum(new) - 1]
    return run


def shortest_run(table: Table) -> int:
    """Return how many rows a run has at least.

    As many as the largest k, and one more than a group that satisfies every model: with fewer, whatever breaks a model
    is one value alone.
    """
    models = [group_model(model, table) for model in table.policy.privacy]
    counting = [least_members(model, table) + 1 for model in models if model.sensitive is not None]
    return max([largest_k(table.policy), FEWEST_VALUES, *counting])


def runs_of_rows(table: Table, rows: Ints | Longs) -> Longs:
    """Return the run of each of some rows, by all their quasi-identifiers."""
    spans = [*table.low] if table.low is table.high else [*table.low, *table.high]
    return runs_of([leaves[rows] for leaves in spans], table.weights[rows], shortest_run(table))


def looks_at_values(table: Table) -> bool:
    """Tell whether a model of the policy looks at sensitive values, so that these could decide who is left out."""
    return bool(counted_names(table.policy))


def hide_with_neighbours(table: Table, shown: Sequence[Shown], items: Mapping[str, Ints], kept: Bools) -> Bools:
    """Return whom to suppress because they show nothing at all, together with their neighbours.

    A person who is kept but shows `*` everywhere, items included, counts as suppressed. That all items became `*` is
    due to the items, so this would tell something about them. Therefore, of those who show `*` for every
    quasi-identifier, the whole run of such a person is suppressed. In a table without quasi-identifiers nobody can be
    looked up and found missing; there, only those who show nothing are suppressed.
    """
    hidden = nothing_left(table, shown, items) & kept
    if not table.names or not items or not hidden.any():
        return hidden
    among = np.flatnonzero(star_cells(shown, table.rows) & kept)
    run = runs_of_rows(table, among)
    hidden[among[np.isin(run, run[hidden[among]])]] = True
    return hidden


def whole_runs(run: Longs, inside: Bools) -> Bools:
    """Return which items are of runs that are inside as a whole."""
    return ~np.isin(run, run[~inside])


def come_by_runs(run: Longs, able: Bools, attempt: Callable[[Bools], Bools]) -> Bools:
    """Let suppressed items come back, a run only as a whole; return who did.

    ``able`` are the items that could come back if only sizes of groups mattered. Sizes are public, so an item that is
    not able may stay away by itself; an able one that stays away would tell something about its sensitive values.
    ``attempt`` gets the items that are offered a place, starts afresh in every call, and returns which of them found
    one. If an able item finds none, its whole run is withdrawn, and the next attempt goes without it. What the last
    attempt did stands.
    """
    offered = able.copy()
    for _ in range(ROUNDS):
        torn = offered & ~attempt(offered)
        if not torn.any():
            return offered
        offered &= ~np.isin(run, run[torn])
    offered[:] = False
    attempt(offered)
    return offered


# ------------------------------------------------------------------------------------------------ whom to leave out


@dataclass(frozen=True)
class CountedRows:
    """Rows of a table, some of them or all, with the sensitive values that models count of them."""

    table: Table
    rows: Ints | Longs
    pairs: Mapping[str, Pairs]

    @property
    def sizes(self) -> Longs:
        """How many records each row of the table stands for."""
        return self.table.weights

    def hold(self, model: GroupModel, kept: Bools) -> bool:
        """Tell whether some of the rows satisfy a model as one group."""
        return bool(model.good(one_group(self.rows[kept], self.sizes, self.pairs))[0])

    def excess(self, model: Frequent, kept: Bools) -> Longs:
        """Return for each row how much its sensitive values stand in a model's way.

        A model that names a largest share: how many of the row's values exceed that share among the rows that are
        kept. Any other model: the sum, over the row's values, of how many kept records have that value. These are whole
        numbers, so that sums over runs do not depend on the order of adding up.
        """
        pairs = self.pairs[model.sensitive]
        place = np.full(self.table.rows, -1, dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        mine = place[pairs.tuples] >= 0
        at, code = place[pairs.tuples[mine]], pairs.codes[mine]
        counted = pairs.counts[mine][kept[at]]
        tally = np.bincount(code[kept[at]], weights=counted, minlength=pairs.known + 1).astype(np.int64)
        if not isinstance(model, AlphaShare):
            tally[pairs.known :] = 0  # only (α,k) takes missing for a value
        number = max(int(self.sizes[self.rows[kept]].sum()), 1)
        if isinstance(model, (AlphaShare, FrequencyL)):
            share = model.alpha if isinstance(model, AlphaShare) else 1 / model.l
            tally = (tally * share.denominator > number * share.numerator).astype(np.int64)
        return np.bincount(at, weights=tally[code], minlength=len(self.rows)).astype(np.int64)

    def values_per_run(self, name: str, run: Longs) -> Longs:
        """Return how many different values there are in each run."""
        pairs = self.pairs[name]
        of_row = np.full(self.table.rows, -1, dtype=np.int64)
        of_row[self.rows] = run
        mine = (of_row[pairs.tuples] >= 0) & (pairs.counts > 0)
        different = np.unique(of_row[pairs.tuples[mine]] * (pairs.known + 1) + pairs.codes[mine])
        return np.bincount(different // (pairs.known + 1), minlength=int(run.max(initial=-1)) + 1)


def counted_rows(table: Table, rows: Ints | Longs) -> CountedRows:
    """Return rows with the values that the models of a table's policy count."""
    return CountedRows(table, rows, sensitive_pairs_of_rows(table))


def runs_to_leave_out(counted: CountedRows, models: Sequence[GroupModel], allowed: int) -> Bools:
    """Return which rows to leave out so that the others, as one group, satisfy every model; none where that fails.

    Whole runs are left out, at most ``allowed`` records. Only runs come into question that have several sensitive
    values and whose values stand in a model's way more than those of all rows do on the average (`CountedRows.excess`).
    Of these the mildest are taken that are enough, since whoever knows that somebody is missing learns the less from it
    the more ordinary the missing values are. Where all rows together exceed the largest share that a model names, the
    runs that are left out exceed it, too; no choice avoids that, and the mildest runs are the best one.
    """
    nobody = np.zeros(len(counted.rows), dtype=bool)
    run = runs_of_rows(counted.table, counted.rows)
    out = nobody.copy()
    while True:
        failing = [model for model in models if not counted.hold(model, ~out)]
        if not failing:
            return out
        model = next((model for model in failing if isinstance(model, Frequent)), None)
        if model is None or (isinstance(model, AlphaShare) and not counted.hold(AtLeastK(model.k), ~out)):
            return nobody
        more = _mildest(counted, model, run, out, allowed - int(counted.sizes[counted.rows[out]].sum()))
        if not more.any():
            return nobody
        out |= more


def _mildest(counted: CountedRows, model: Frequent, run: Longs, out: Bools, allowed: int) -> Bools:
    """Return the rows of the mildest runs without which the others satisfy a model, none where none are enough."""
    nobody = np.zeros(len(out), dtype=bool)
    excess = counted.excess(model, ~out)
    weights = counted.sizes[counted.rows]
    sizes = np.bincount(run, weights=weights).astype(np.int64)
    measure = np.bincount(run, weights=excess * weights) / sizes
    gone = np.zeros(len(sizes), dtype=bool)
    gone[run[out]] = True
    left = ~out
    above = measure > int((excess * weights)[left].sum()) / int(weights[left].sum()) if left.any() else gone
    possible = np.flatnonzero(above & ~gone & (counted.values_per_run(model.sensitive, run) >= FEWEST_VALUES))
    ranked = possible[np.argsort(measure[possible], kind="stable")]
    ends = np.append(0, np.cumsum(sizes[ranked]))
    place = np.full(len(sizes), -1, dtype=np.int64)
    place[ranked] = np.arange(len(ranked))
    of_row = place[run]

    def enough(begin: int, end: int) -> bool:
        return counted.hold(model, ~out & ~((of_row >= begin) & (of_row < end)))

    def furthest(begin: int) -> int:
        return int(np.searchsorted(ends, ends[begin] + allowed, side="right")) - 1

    worst = int(np.searchsorted(ends, ends[-1] - allowed))  # from here on all are allowed
    if worst >= len(ranked) or not enough(worst, len(ranked)):
        return nobody
    begin = _first(0, worst, lambda begin: enough(begin, furthest(begin)))
    end = _first(begin + 1, furthest(begin), lambda end: enough(begin, end))
    return (of_row >= begin) & (of_row < end)


def _first(low: int, high: int, true_at: Callable[[int], bool]) -> int:
    """Return the first number of a span at which something is true, as it is at the last one; by halving."""
    while low < high:
        middle = (low + high) // 2
        if true_at(middle):
            high = middle
        else:
            low = middle + 1
    return high
