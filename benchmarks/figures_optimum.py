"""How far search and bound are from the optimum: small parts of Adult as integer programs.

`python benchmarks/figures_optimum.py [--seconds N]` solves slices of Adult, sorted by all quasi-identifiers, with HiGHS
and writes the table of docs/least-loss-research.md. A program has every node that a release cheaper than the one found
can use: one that lacks more than the gap between that release and the bound is in none. Programs that are not solved in
time leave a lower and an upper limit. With --rows it prints one slice.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import highspy
import numpy as np
import polars as pl

from figures_boundaries import table_of
from figures_least_loss import PAGE, QUASI, adult_table, bound_of
from kveil.algorithms.bound.covers import SCALE, affordable_levels, lattice_of
from kveil.algorithms.bound.prices import prices
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.kernels.bound.bound import collect
from kveil.kernels.bound.layout import CoverLattice, KeptNodes
from kveil.measures import measure_solution
from kveil.stopping import Stop
from kveil.table.encode import encode
from kveil.table.table import Table
from measuring import ADULT, fill

SLICES = ((20_000, 500, 5), (20_000, 500, 10), (20_000, 200, 5), (12_000, 150, 5), (12_000, 100, 5))
ROOM = 4_000_000
MANY_TRIES = 400
MOST_PAIRS = 150_000  # of a node and a tuple, in a program


class Limits(NamedTuple):
    """What a program tells of the optimum: a lower and an upper limit, and what its relaxation comes to."""

    relaxed: float
    low: float
    high: float


def slice_of(first: int, rows: int, k: int) -> Table:
    """Return neighbouring rows of Adult."""
    frame = pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False).sort(QUASI)
    return encode(from_frame(frame[first : first + rows]), adult_table(k, rows=1).policy)


def program(lattice: CoverLattice, nodes: KeptNodes, k: int, whole: int) -> highspy.HighsLp:
    """Return the program: nodes are used or not, tuples are spread over nodes that are used, or pay everything."""
    number, pairs, tuples = nodes.number, int(nodes.start[nodes.number]), len(lattice.weight)
    node = np.repeat(np.arange(number), np.diff(nodes.start[: number + 1]))
    member, weight, pair = nodes.member[:pairs], lattice.weight.astype(float), np.arange(pairs)
    every = np.arange(tuples)
    # Rows: each tuple is spread; no pair without its node; k rows for a node that is used.
    row = [member, every, tuples + pair, tuples + pair, tuples + pairs + node, tuples + pairs + np.arange(number)]
    column = [number + pair, number + pairs + every, number + pair, node, number + pair, np.arange(number)]
    value = [
        np.ones(pairs), np.ones(tuples), np.ones(pairs), -weight[member], np.ones(pairs), np.full(number, -float(k)),
    ]  # fmt: skip
    at, of, by = (np.concatenate(own) for own in (row, column, value))
    order = np.lexsort((of, at))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = number + pairs + tuples, tuples + pairs + number
    model.col_cost_ = np.concatenate([np.zeros(number), nodes.cost[node] / SCALE, np.full(tuples, whole / SCALE)])
    model.col_lower_ = np.zeros(model.num_col_)
    model.col_upper_ = np.concatenate([np.ones(number), weight[member], weight])
    model.row_lower_ = np.concatenate([weight, np.full(pairs, -highspy.kHighsInf), np.zeros(number)])
    model.row_upper_ = np.concatenate([weight, np.zeros(pairs), np.full(number, highspy.kHighsInf)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(at[order], np.arange(model.num_row_ + 1))
    model.a_matrix_.index_ = of[order]
    model.a_matrix_.value_ = by[order]
    return model


def limits_of(table: Table, k: int, found: float, seconds: float) -> Limits | None:
    """Return what is known of the optimum, given the loss of a release; None where the program is too large."""
    kept, fine = affordable_levels(table, list(range(len(table.names))))
    lattice, whole = lattice_of(table, kept, fine)
    at, bound = prices(lattice, k, whole, Stop(seconds=600.0), lambda best: None)
    gap = round(found * table.records * SCALE) - bound
    used = np.zeros(len(lattice.weight), dtype=np.int64)
    _, nodes = collect(lattice, at.price, np.minimum(at.price + gap // k + 1, whole), k, used, ROOM)
    if not nodes.whole or nodes.start[nodes.number] > MOST_PAIRS:
        print("too large:", nodes.number, "nodes", int(nodes.start[nodes.number]), "pairs", flush=True)
        return None
    model = program(lattice, nodes, k, whole)
    relaxed = solved(model, seconds)[1]
    kinds = [highspy.HighsVarType.kInteger] * nodes.number
    model.integrality_ = kinds + [highspy.HighsVarType.kContinuous] * (model.num_col_ - nodes.number)
    low, high = solved(model, seconds)
    records = table.records
    least = max(low / records, bound / SCALE / records)  # no release below the one found uses other nodes
    return Limits(relaxed / records, min(least, found), min(high / records, found))


def solved(model: highspy.HighsLp, seconds: float) -> tuple[float, float]:
    """Return the lower limit and the value that HiGHS comes to in so many seconds, on one thread."""
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (("output_flag", False), ("threads", 1), ("time_limit", seconds)):
        solver.setOptionValue(name, value)
    solver.passModel(model)
    solver.run()
    about = solver.getInfo()
    return float(about.mip_dual_bound), float(about.objective_function_value)


def line_of(first: int, rows: int, k: int, seconds: float) -> list[str]:
    """Return a line of the table: one slice."""
    table = slice_of(first, rows, k)
    best, found = (
        measure_solution(table, run(find("least-loss"), table, {"refine": effort})).ncp
        for effort in ("best", MANY_TRIES)
    )
    proved = bound_of(table)
    known = limits_of(table, k, min(found, best), seconds)
    searched = [f"{100 * best:.3f}", f"{100 * found:.3f}"]
    if known is None:
        return [f"{rows:,} from {first:,}, k = {k}", "", f"{100 * proved:.3f}", "", *searched]
    optimum = f"{100 * known.low:.3f}"
    if known.high - known.low > 5e-6:
        optimum += f" to {100 * known.high:.3f}"
    shown = [f"{100 * known.relaxed:.3f}", f"{100 * proved:.3f}", optimum, *searched]
    return [f"{rows:,} from {first:,}, k = {k}", *shown]


def main() -> None:
    """Write the table, or print a line of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs=3, metavar=("FIRST", "ROWS", "K"), help="one slice, printed")
    parser.add_argument("--seconds", type=float, default=60.0, help="of HiGHS, per program")
    chosen = parser.parse_args()
    if chosen.rows:
        first, rows, k = chosen.rows
        print(line_of(first, rows, k, chosen.seconds))
        return
    lines = []
    for first, rows, k in SLICES:
        lines.append(line_of(first, rows, k, chosen.seconds))
        print(lines[-1], flush=True)
    head = ["rows of Adult", "prices alone, at best", "bound", "optimum", "best", f"{MANY_TRIES} tries per row"]
    fill(PAGE, "figures-optimum", "optimum", table_of(head, lines))


if __name__ == "__main__":
    main()
