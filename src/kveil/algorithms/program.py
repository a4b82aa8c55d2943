"""What rows may show under overlapping constraints, as an integer program that HiGHS solves or bounds.

Rows that are equal are one kind, and divide themselves among options: what a row may show, within its limits. A class,
which is what a constraint sees of an option, is closed, so that nobody shows it, or has k rows or more. So the least
cost of a program is the least that any release can cost, as far as sizes of classes go; where HiGHS stops early, it
still gives a lower bound. Programs of some hundred options are solved in about a second, larger ones in minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.table.tree import way_up

MOST_PARTIAL = 50_000  # options while they are being made, attribute by attribute
SURE = 1e-6  # how far HiGHS's numbers may be off, as a share of a row's whole loss


class ProgramTree(NamedTuple):
    """One attribute: the parent of every node, the root's being itself, and what a node costs per row.

    ``star`` is the node that shows nothing where no row may show nothing at all, else -1.
    """

    parent: Ints
    cost: Longs
    star: int


@dataclass(frozen=True)
class SizeConstraint:
    """How many rows at least must share what is shown of some attributes, given by their places."""

    over: tuple[int, ...]
    k: int


@dataclass(frozen=True)
class Ways:
    """What kinds of rows may show of one attribute, laid end to end: those of kind i from ``start[i]`` on."""

    start: Longs
    nodes: Ints
    costs: Longs


@dataclass(frozen=True)
class Kinds:
    """Rows that are equal in what they may show: how many, and how many of them may be left out."""

    rows: Longs
    outside: Longs
    ways: list[Ways]  # per attribute
    whole: int  # what a row costs that is left out
    stars: Ints  # what no row may show all of: a node per attribute, -1 for none


@dataclass(frozen=True)
class Division:
    """How a program divides kinds among options: ``rows`` of ``kind`` show ``vector``; those not named are left out."""

    kind: Ints
    vector: Ints
    rows: Longs
    cost: int

    def shared_out(self, rows: Ints | Longs, kind: Ints) -> Iterator[tuple[Ints | Longs, Ints]]:
        """Give rows with what they show; ``rows`` are in the order in which those of a kind get something to show."""
        order, at = members_by_group(kind[rows], int(kind.max(initial=-1)) + 1)
        rows = rows[order]
        for own, vector, number in zip(self.kind.tolist(), self.vector, self.rows.tolist(), strict=True):
            yield rows[at[own] : at[own] + number], vector
            at[own] += number


@dataclass(frozen=True)
class Answer:
    """The best division that was found, None where none was, and what every division costs at least.

    ``impossible`` says that there is none at all.
    """

    best: Division | None
    at_least: int
    impossible: bool = False


@dataclass(frozen=True)
class _Options:
    """Options of all kinds: whose, what is shown (0 where an attribute has not had its turn), what it costs per row."""

    kind: Ints
    vector: Ints
    cost: Longs

    def only(self, chosen: Bools) -> _Options:
        return _Options(self.kind[chosen], self.vector[chosen], self.cost[chosen])


class Program:
    """Kinds of rows under constraints, with all options that may be in the best division of them."""

    def __init__(self, kinds: Kinds, constraints: Sequence[SizeConstraint], options: _Options) -> None:
        self.kinds = kinds
        self.constraints = constraints
        self.options = options

    @property
    def size(self) -> int:
        """The number of options."""
        return len(self.options.kind)

    def solve(self, most_outside: int, most_nodes: int, *, seconds: float | None = None) -> Answer:
        """Return the best division that leaves out so many rows at most, and a bound on all of them.

        HiGHS looks at so many nodes of its tree at most: a limit that is the same on every machine.
        """
        import highspy

        whole = self.kinds.whole
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False), ("parallel", "off"), ("random_seed", 0),
            ("mip_max_nodes", most_nodes), ("mip_rel_gap", 0.0), ("mip_abs_gap", SURE),
            ("mip_heuristic_run_rins", False), ("mip_heuristic_run_rens", False),  # they take half of the time
        ):  # fmt: skip
            solver.setOptionValue(option, value)
        if seconds is not None:
            solver.setOptionValue("time_limit", seconds)
        solver.passModel(_HighsModel(self, most_outside).laid_out())
        solver.run()
        solver.resetGlobalScheduler(True)  # else a host could no longer choose how many threads its own programs take
        if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return Answer(None, 0, impossible=True)
        about = solver.getInfo()
        at_least = 0
        if np.isfinite(about.mip_dual_bound):
            at_least = int(np.floor((about.mip_dual_bound - SURE * max(1.0, about.mip_dual_bound)) * whole))
        if about.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Answer(None, max(at_least, 0))
        rows = np.rint(np.array(solver.getSolution().col_value)[: self.size]).astype(np.int64)
        taken = rows > 0
        outside = int(self.kinds.rows.sum() - rows.sum())
        cost = int((rows * self.options.cost).sum()) + outside * whole
        best = Division(self.options.kind[taken], self.options.vector[taken], rows[taken], cost)
        return Answer(best, max(at_least, 0))


class _HighsModel:
    """A program as HiGHS reads it: a column per option, per kind for those left out, and per class."""

    def __init__(self, program: Program, most_outside: int) -> None:
        self.program = program
        self.most_outside = most_outside
        self.entries: list[tuple[Longs, Longs, Floats]] = []
        self.least: list[Floats] = []
        self.most: list[Floats] = []
        self.made = 0

    def _add(self, row: Ints, column: Ints, value: Floats, least: Floats, most: Floats) -> None:
        self.entries.append((row.astype(np.int64) + self.made, column.astype(np.int64), value))
        self.least.append(least)
        self.most.append(most)
        self.made += len(least)

    def laid_out(self) -> Any:
        """Return the model."""
        import highspy

        options, kinds = self.program.options, self.program.kinds
        each, everyone = np.arange(self.program.size), np.arange(len(kinds.rows))
        rows = kinds.rows.astype(float)
        # Every row of a kind shows an option, or is left out.
        owner = np.concatenate([options.kind, everyone])
        self._add(owner, np.arange(len(each) + len(everyone)), np.ones(len(each) + len(everyone)), rows, rows)
        if kinds.outside.any():
            limit = np.array([float(self.most_outside)])
            self._add(0 * everyone, len(each) + everyone, np.ones(len(everyone)), np.zeros(1), limit)
        columns = len(each) + len(everyone)
        for constraint in self.program.constraints:
            columns = self._classes(constraint, columns)
        cost, most = np.zeros(columns), np.ones(columns)
        cost[: len(each)] = options.cost / kinds.whole
        cost[len(each) : len(each) + len(everyone)] = 1.0
        most[: len(each)] = rows[options.kind]
        most[len(each) : len(each) + len(everyone)] = kinds.outside
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = columns, self.made
        model.col_cost_, model.col_lower_, model.col_upper_ = cost, np.zeros(columns), most
        model.row_lower_, model.row_upper_ = np.concatenate(self.least), np.concatenate(self.most)
        row, column, value = (np.concatenate([entry[i] for entry in self.entries]) for i in range(3))
        order = np.lexsort((row, column))
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.searchsorted(column[order], np.arange(columns + 1)).astype(np.int32)
        model.a_matrix_.index_ = row[order].astype(np.int32)
        model.a_matrix_.value_ = value[order]
        model.integrality_ = [highspy.HighsVarType.kInteger] * columns
        return model

    def _classes(self, constraint: SizeConstraint, columns: int) -> int:
        """Add what one constraint asks for; return how many columns there are then."""
        options = self.program.options
        of, number = _classes_of(options, constraint)
        each, own = np.arange(self.program.size), np.arange(number)
        # An open class has k rows or more …
        self._add(
            np.concatenate([of, own]),
            np.concatenate([each, columns + own]),
            np.concatenate([np.ones(len(each)), np.full(number, -float(constraint.k))]),
            np.zeros(number),
            np.full(number, np.inf),
        )
        # … and a closed one no row of any kind.
        pair, place = np.unique(options.kind.astype(np.int64) * number + of, return_inverse=True)
        self._add(
            np.concatenate([place.reshape(-1), np.arange(len(pair))]),
            np.concatenate([each, columns + pair % number]),
            np.concatenate([np.ones(len(each)), -self.program.kinds.rows[pair // number].astype(float)]),
            np.full(len(pair), -np.inf),
            np.zeros(len(pair)),
        )
        return columns + number


def program_of(kinds: Kinds, constraints: Sequence[SizeConstraint], most: int) -> Program | None:
    """Return the program of kinds under constraints, None where it would have more than so many options.

    Options grow attribute by attribute; those whose class too few rows could share go as soon as that shows.
    """
    if not kinds.whole:
        return None  # nothing costs anything
    everyone = np.arange(len(kinds.rows), dtype=np.int32)
    options = _Options(
        everyone, np.zeros((len(everyone), len(kinds.ways)), np.int32), np.zeros(len(everyone), np.int64)
    )
    order = list(dict.fromkeys(a for own in sorted(constraints, key=lambda own: len(own.over)) for a in own.over))
    done: set[int] = set()
    for a in order:
        options = _with_attribute(options, kinds.ways[a], a)
        done.add(a)
        ready = [own for own in constraints if a in own.over and done.issuperset(own.over)]
        options = _shareable(options, kinds, ready)
        if len(options.kind) > MOST_PARTIAL:
            return None
    options = options.only((options.vector != kinds.stars).any(axis=1))
    options = _shareable(options, kinds, constraints)
    return Program(kinds, constraints, options) if len(options.kind) <= most else None


def _with_attribute(options: _Options, ways: Ways, a: int) -> _Options:
    """Return every option with every way of its kind to show one more attribute."""
    begin = ways.start[options.kind]
    number = ways.start[options.kind + 1] - begin
    of = np.repeat(np.arange(len(options.kind)), number)
    at = np.arange(len(of)) - np.repeat(np.cumsum(number) - number, number) + begin[of]
    vector = options.vector[of]
    vector[:, a] = ways.nodes[at]
    return _Options(options.kind[of], vector, options.cost[of] + ways.costs[at])


def _classes_of(options: _Options, constraint: SizeConstraint) -> tuple[Ints, int]:
    """Return what a constraint sees of options: each option's class, and how many classes there are."""
    of, first = group_rows(np.ascontiguousarray(options.vector[:, list(constraint.over)].T))
    return of, len(first)


def _shareable(options: _Options, kinds: Kinds, constraints: Sequence[SizeConstraint]) -> _Options:
    """Return the options whose every class has k rows, counting all that could show it."""
    while True:
        enough = np.ones(len(options.kind), dtype=bool)
        for constraint in constraints if len(options.kind) else ():
            of, number = _classes_of(options, constraint)
            pair = np.unique(options.kind.astype(np.int64) * number + of)
            able = np.bincount(pair % number, kinds.rows[pair // number], number)
            enough &= able[of] >= constraint.k
        if enough.all():
            return options
        options = options.only(enough)


def kinds_of(
    base: Ints, limit: Ints, records: Longs, outside: Longs, trees: Sequence[ProgramTree], whole: int
) -> tuple[Kinds, Ints]:
    """Return rows by kind, and every row's kind.

    ``base`` and ``limit`` are row × attribute: the lowest and the highest that a row may show. Each row stands for so
    many ``records``, of which so many may be left ``outside``, at the cost of a ``whole`` one.
    """
    member, first = group_rows(np.ascontiguousarray(np.concatenate([base, limit], axis=1).T))
    ways = []
    for a, tree in enumerate(trees):
        ends = zip(base[first, a].tolist(), limit[first, a].tolist(), strict=True)
        each = [way_up(tree.parent, low, high) for low, high in ends]
        nodes = np.array([node for way in each for node in way], dtype=np.int32)
        ways.append(Ways(np.cumsum([0, *map(len, each)]), nodes, tree.cost[nodes]))
    stars = np.array([tree.star for tree in trees], dtype=np.int32)
    weight, out = (np.bincount(member, each, len(first)).astype(np.int64) for each in (records, outside))
    return Kinds(weight, out, ways, whole, stars), member
