"""Least loss: any valid solution to start from, then neighbourhood search (`refine`). Our own; see docs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from operator import itemgetter

import numpy as np

from kveil.algorithms.algorithm import START_EFFORT, Algorithm, DivideOptions
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.layout import TooLarge, whole_numbers
from kveil.algorithms.least_loss.overlap_starts import overlap_starts
from kveil.algorithms.least_loss.refine import refine
from kveil.algorithms.least_loss.search_groups import BLOCK
from kveil.algorithms.least_loss.small_search import MOST_ROWS_TRIED, keeps_rules, try_everything
from kveil.algorithms.neighbourhoods import looks_at_values
from kveil.algorithms.settle import settle, settle_unless_dearer
from kveil.algorithms.small_tables import show_at_least_cost
from kveil.errors import Unmeetable
from kveil.free_form import Details, GivenOptions
from kveil.measures import released_loss
from kveil.policy.components import binding_sets, most_suppressed
from kveil.policy.privacy import KAnonymity, TCloseness
from kveil.progress import silent
from kveil.stopping import OutOfTime, Stop, current, under
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

SPLITTING = {"mondrian", "1m-generalization"}  # choose what to split by width, or by how much the loss falls
ROWS_FOR_BOTH_WAYS = 1_000  # of a table on which both ways are tried in any case
BY_BLOCKS = {"pk-clustering"}  # clusters large tables block by block
CLIMBING = {"classfly+complete"}  # chooses what to climb by distinct values, or by what is set aside for its loss
# Starts that are searched a little before one is chosen, where constraints overlap or they leave out different records.
DESCENDED = 3
MUCH_DEARER = 2.0  # none of them loses so many times as much as the one that loses least
FIRST_TRIES = 0.5  # tries per row of each of them
NEARLY = 1.005  # times the loss of the lowest of them: one of no more, that leaves out fewer records, goes on instead


class LeastLossOptions(DivideOptions):
    """Least loss has the options of refine, and none of its own."""


Found = list[tuple[float, Solution]]  # starts with their losses, the one that loses least first


@dataclass(frozen=True)
class _GivenStarts:
    """What the algorithms gave that may give a start, why others gave nothing, and whether there was time for all."""

    found: Found
    failures: list[Unmeetable]
    in_time: bool


def least_loss(
    table: Table, rng: np.random.Generator, starts: Sequence[Algorithm], *, last: Sequence[Algorithm] = ()
) -> Solution:
    """Return a valid solution to refine: the one that loses least, of the algorithms that may give a start.

    So what is refined never loses more than any of them, unless the time is over before all were tried: the best so far
    is taken then. Fingerprints are generalized by Partition, as 1m-generalization does; refining then keeps them.
    Where constraints overlap, or models look at sensitive values, the starts that lose least are searched a little, and
    the lowest of them is taken; where sizes alone decide, those that leave out different records are, since the search
    can change all but that. Where no start finds anything, the ``last`` ones are tried, if their effort is small.
    """
    descends = _descends(table)
    given = _given_starts(table, rng, starts)
    if not given.found and given.in_time:
        cheap = [algorithm for algorithm in last if algorithm.effort and algorithm.effort(table) <= START_EFFORT]
        given = replace(_given_starts(table, rng, cheap), failures=given.failures)
    found = given.found
    if found and not given.in_time:
        return found[0][1]
    if descends:
        with suppress(OutOfTime, TooLarge):
            for name, solution in overlap_starts(table, rng, found[0][1] if found else None):
                found = _lowest(table, found, {"start": name}, solution)[:DESCENDED]
    least, best = (_descended(table, found) if descends or len(found) > 1 else found[0]) if found else (0.0, None)
    small = _settled(table, _tried_table(table))
    if small is None and best is None:
        small = _settled(table, _small_table(table))
    if small is not None and (best is None or released_loss(table, small) < least):
        return small
    if best is None:
        failure = given.failures[0]
        raise Unmeetable(f"least-loss has nothing to start from: {failure}", lost=failure.lost)
    return best


def _given_starts(table: Table, rng: np.random.Generator, starts: Sequence[Algorithm]) -> _GivenStarts:
    """Run algorithms, each in all its ways, and return what they find that is worth a search.

    Where there is a deadline, none of them may take more than half of what is left once another one has found
    something: it is the search that gains most.
    """
    policy = table.policy
    several = len(binding_sets(policy)) > 1
    descends = _descends(table)
    found: Found = []
    failures: list[Unmeetable] = []
    in_time = True
    # Refining splits top-down by itself where sizes are enough; elsewhere either way of choosing may be far better. The
    # components' `counts_only` does not tell: they see the sizes alone of (k,kᵐ)-anonymity, and no implied model.
    sizes = all(isinstance(m, KAnonymity) for m in policy.privacy) and all(isinstance(t, Tree) for t in table.trees)
    one_way = sizes and not several and table.rows > ROWS_FOR_BOTH_WAYS
    for algorithm in starts:
        for chosen in _ways(algorithm, table, one_way=one_way, climbs=descends):
            whole = current()
            whole.check()
            part = whole.left / 2 if found and whole.left is not None else None
            try:
                with under(Stop(seconds=part, within=whole, known_loss=whole.known_loss)):
                    solution = algorithm.solve(table, algorithm.options.model_validate(chosen), rng)
            except Unmeetable as error:
                failures.append(error)
                continue
            except OutOfTime:
                if not found:
                    raise
                in_time = False
                continue
            found = _lowest(table, found, {"start": algorithm.name, **chosen}, solution)
            found = found[:DESCENDED] if descends else _worth_a_search(table, found)
    return _GivenStarts(found, failures, in_time)


def _lowest(table: Table, found: Found, details: Details, solution: Solution) -> Found:
    """Return starts with another one, the one that loses least first; of equals the first is kept alone."""
    loss = released_loss(table, solution)
    if any(loss == other for other, _ in found):
        return found
    return sorted([*found, (loss, replace(solution, details=details))], key=itemgetter(0))


def _worth_a_search(table: Table, found: Found) -> Found:
    """Return the starts that are to be searched a little before one is taken, the one that loses least first.

    The first one alone where what loses least may not be what can be kept. Where sizes decide, those that leave out
    other records than the ones before them: all else the search can change. Where models look at sensitive values, what
    a start is made of decides how far down a search gets, but not one that leaves out others than the first does: the
    more choices of whom to leave out are compared by loss, the more sensitive values would have a say in it.
    """
    if not _may_be_tried(table):
        return found[:1]
    if looks_at_values(table):
        if table.rows <= ROWS_FOR_BOTH_WAYS:
            return found[:1]
        first = found[0][1].suppressed
        return [own for own in found if np.array_equal(own[1].suppressed, first)][:DESCENDED]
    by_missing: dict[bytes, tuple[float, Solution]] = {}
    for loss, solution in found:
        by_missing.setdefault(np.packbits(solution.suppressed).tobytes(), (loss, solution))
    return list(by_missing.values())[:DESCENDED]


def _ways(algorithm: Algorithm, table: Table, *, one_way: bool, climbs: bool) -> list[GivenOptions]:
    """Return the options with which an algorithm may give a start."""
    if algorithm.name in SPLITTING:
        return [{"choose": "gain"}] if one_way else [{"choose": "gain"}, {"choose": "widest"}]
    if algorithm.name in BY_BLOCKS and algorithm.effort is not None and algorithm.effort(table) > START_EFFORT:
        # A block is not distributed as the whole is: what cannot join inside it would be most, placed row by row.
        return [] if any(isinstance(model, TCloseness) for model in table.policy.privacy) else [{"blocks": BLOCK}]
    return [{}, {"choose": "gain", "join": True}] if climbs and algorithm.name in CLIMBING else [{}]


def _descends(table: Table) -> bool:
    """Tell whether starts are compared by what is left of their loss once each was searched a little."""
    return _may_be_tried(table) and any(not component.over_everything for component in components_of(table))


def _may_be_tried(table: Table) -> bool:
    """Tell whether starts may be searched: where rules or items are kept, the lowest may not be what can be kept."""
    policy = table.policy
    return not policy.dependencies and not policy.generalized and bool(table.names)


def _descended(table: Table, found: Found) -> tuple[float, Solution]:
    """Return the start that loses least after a descent and a few tries, with its loss; the first if time runs out.

    Of those that lose nearly as little, and no more than any start, one that leaves out the fewest: what is left out
    cannot be searched any more.
    """
    lowest: Found = []
    for loss, solution in found:
        if loss > MUCH_DEARER * found[0][0]:
            break
        try:
            refined = refine(table, solution, FIRST_TRIES, None, silent)
            refined = settle_unless_dearer(table, refined, solution)
        except OutOfTime:
            return found[0]
        lowest.append((released_loss(table, refined), refined))
    least = min(loss for loss, _ in lowest)
    most = max(least, min(NEARLY * least, found[0][0]))
    return min(
        (own for own in lowest if own[0] <= most),
        key=lambda own: (int(own[1].suppressed_anywhere.sum()), own[0]),
    )


def _settled(table: Table, found: Solution | None) -> Solution | None:
    """Return a solution settled, None where there is none, or where it leaves out more than may be.

    Components are tried one by one: a row that each of them lets show nothing but stars shows nothing at all.
    """
    try:
        return None if found is None else settle(table, found, "least-loss")
    except Unmeetable:
        return None


def _tried_table(table: Table) -> Solution | None:
    """Return a release of a table of few rows by trying everything, None where none is found or that takes too long.

    As few rows are left out as can be, with all that are alike, and none where models look at sensitive values.
    """
    policy = table.policy
    if table.rows > MOST_ROWS_TRIED or not keeps_rules(table) or policy.generalized or table.times is not None:
        return None
    try:
        costs = whole_numbers(table)
    except TooLarge:
        return None
    # Who is missing is known to everybody, so nobody's value may have a say in it: all who are alike by what is public
    # go together, and where models look at values, that is left to the algorithms that choose by what is public.
    allowed = 0 if looks_at_values(table) else most_suppressed(policy, table.records)
    alike = table.distinct.member
    units = [
        np.flatnonzero(alike == number).astype(np.int32) for number in dict.fromkeys(alike[table.canonical].tolist())
    ]
    sets = [np.concatenate([alike[:0], *some]) for n in range(len(units)) for some in combinations(units, n)]
    for gone in sorted((own for own in sets if len(own) <= allowed), key=len):
        rows = table.canonical[~np.isin(table.canonical, gone)].astype(np.int32)  # ties go by what is released
        shown: list[Shown | None] = [None] * len(table.names)
        for component in components_of(table):
            columns = try_everything(component, rows, costs, shown, None).columns
            if columns is None:
                break
            for position, column in zip(component.positions, columns, strict=True):
                shown[position] = column
        else:
            suppressed = np.zeros((len(table.components), table.rows), dtype=bool)
            suppressed[:, gone] = True
            reasons = {"too rare, or too much alike": gone.astype(np.int32)} if len(gone) else {}
            columns = [column for column in shown if column is not None]
            return Solution(tuple(columns), suppressed, reasons, details={"start": "every release"})
    return None


def _small_table(table: Table) -> Solution | None:
    """Return a release of a small table in which sizes decide, where no algorithm has found one; None if unknown."""
    policy = table.policy
    if policy.dependencies or policy.generalized or any(isinstance(tree, Scale) for tree in table.trees):
        return None
    try:
        costs = whole_numbers(table)
    except TooLarge:
        return None
    shown: list[Shown | None] = [None] * len(table.names)
    for component in components_of(table):
        columns = show_at_least_cost(component, [costs.nodes[position] for position in component.positions])
        if columns is None:
            return None
        for position, column in zip(component.positions, columns, strict=True):
            shown[position] = column
    suppressed = np.zeros((len(table.components), table.rows), dtype=bool)
    return Solution(tuple(column for column in shown if column is not None), suppressed, details={"start": "program"})
