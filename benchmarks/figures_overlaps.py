"""Least loss against Classfly+ complete where constraints overlap, on Adult with ARX's trees.

`python benchmarks/figures_overlaps.py` writes the table of docs/algorithms/least-loss.md between its marker
comments: the constraint sets of docs/algorithms/classfly.md and two heavier ones. `--tiny` compares the search with the
exact optimum of tiny tables under two overlapping constraints instead, and `--bound` writes what is proved of the
sets, both for docs/least-loss-research.md. `--ranges` writes the second table of docs/algorithms/least-loss.md, where
ages show spans of numbers.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Mapping
from decimal import Decimal
from time import process_time

import polars as pl

import kveil
from figures_classfly import ADULT_SETS, QUASI, policy_over
from kveil.algorithms.bound.bound import lower_bound
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.measures import measure_solution
from kveil.policy.attributes import MaxWidth, Ranges
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.table.table import Table
from measuring import ADULT, ROOT, fill
from naive import overlaps as naive

PAGE = ROOT / "docs" / "algorithms" / "least-loss.md"
RESEARCH = ROOT / "docs" / "least-loss-research.md"
HEAVY = {
    "five, k 50–200": (
        (("age", "sex", "race", "marital-status"), 50),
        (("education", "occupation", "workclass"), 100),
        (("age", "education"), 50),
        (("occupation", "native-country", "sex"), 100),
        (("marital-status", "workclass", "race"), 200),
    ),
    "four wide, k 50–200": (
        (("age", "sex", "race", "native-country", "education"), 50),
        (("education", "occupation", "workclass", "age"), 50),
        (("marital-status", "occupation", "sex", "age"), 100),
        (("workclass", "native-country", "race"), 200),
    ),
}
SETS = {**ADULT_SETS, **HEAVY}


def adult_table(name: str, loss: str, rows: int | None = None, *, age: Mapping[str, object] | None = None) -> Table:
    """Return Adult under one of the constraint sets; ``age`` changes that attribute, which else has a tree."""
    frame = pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False)
    frame = frame if rows is None else frame[:rows]
    trees = {name: str(ADULT / "hierarchies_arx" / f"adult_hierarchy_{name}.csv") for name in QUASI}
    policy = policy_over(trees, SETS[name], frame.height, {"salary-class": "sensitive"})
    attributes = {**policy.attributes, "age": policy.attributes["age"].model_copy(update=age)}
    return encode(from_frame(frame), policy.model_copy(update={"loss": loss, "attributes": attributes}))


def compared(name: str, loss: str, rows: int | None = None) -> tuple[float, float, int, int]:
    """Return the loss of Classfly+ complete and of least-loss, and how many records each suppresses."""
    table = adult_table(name, loss, rows)
    found = [run(find(algorithm), table, {}) for algorithm in ("classfly+complete", "least-loss")]
    plain, refined = (measure_solution(table, solution).of(loss) for solution in found)
    return plain, refined, *(int(solution.suppressed_anywhere.sum()) for solution in found)  # type: ignore[return-value]


def constraints_table(rows: int | None = None, names: list[str] | None = None) -> str:
    """Return the comparison as a table."""
    lines = [
        "| constraint set | loss | classfly+complete | suppressed | least-loss | suppressed | less |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names or SETS:
        for loss in ("ncp", "precision"):
            plain, refined, lost, left = compared(name, loss, rows)
            told = "NCP" if loss == "ncp" else "1 − precision"
            less = f"{100 * (1 - refined / plain):.0f} %" if plain else "–"
            lines.append(f"| {name} | {told} | {plain:.4f} | {lost} | {refined:.4f} | {left} | {less} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def ranges_table(rows: int | None = None, names: list[str] | None = None) -> str:
    """Return what is lost where ages show spans of numbers: by Mondrian, and by least-loss."""
    lines = [
        "| constraint set | widest | mondrian | least-loss | suppressed | CPU seconds |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name in names or SETS:
        for widest in (None, Decimal(10)):
            boundary = None if widest is None else MaxWidth(max_width=widest)
            ages = {"hierarchy": Ranges(within=(Decimal(17), Decimal(90))), "boundary": boundary}
            table = adult_table(name, "ncp", rows, age=ages)
            started = process_time()
            try:
                solution = run(find("least-loss"), table, {})
            except kveil.Unmeetable:
                continue
            seconds = process_time() - started
            try:
                plain = f"{measure_solution(table, run(find('mondrian'), table, {})).of('ncp'):.4f}"
            except kveil.Unmeetable:
                plain = "–"
            lost = int(solution.suppressed_anywhere.sum())
            told = "–" if widest is None else str(widest)
            loss = measure_solution(table, solution).of("ncp")
            lines.append(f"| {name} | {told} | {plain} | {loss:.4f} | {lost} | {seconds:.1f} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def bounds_table() -> str:
    """Return the bound of every constraint set beside what is released, by NCP."""
    lines = ["| constraint set | bound, NCP % | of which | least-loss |", "| --- | ---: | --- | ---: |"]
    for name in SETS:
        table = adult_table(name, "ncp")
        least = lower_bound(table, silent)
        released = measure_solution(table, run(find("least-loss"), table, {})).of("ncp")
        parts = ", ".join(f"{100 * part['at_least']:.2f} (k = {part['k']})" for part in least.parts)
        lines.append(f"| {name} | {100 * least.at_least:.2f} | {parts} | {100 * released:.2f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------- tiny tables


def tiny_tables(number: int) -> str:
    """Return how far the search and the bound are from the exact optimum, over so many tiny random tables."""
    above, below, optimal, solved = [], [], 0, 0
    for seed in range(number):
        chance = random.Random(seed)
        rows = naive.tiny_rows(chance, chance.randint(5, 7))
        frame = pl.DataFrame(rows, schema=list(naive.NAMES), orient="row")
        policy = Policy.parse(naive.POLICY, "tiny", ROOT)
        best = naive.optimum(rows)
        try:
            found = kveil.anonymize(frame, policy).account["loss"]["ncp"]
        except kveil.Unmeetable:
            continue
        solved += 1
        least = kveil.bound(frame, policy).at_least
        assert least <= best + 1e-9 <= found + 2e-9
        optimal += found <= best + 1e-9
        above.append(found - best)
        below.append(best - least)
    return (
        f"{solved} random tables of 5 to 7 rows: the search reaches the optimum in {optimal}; its loss lies "
        f"{100 * statistics.fmean(above):.2f} points of NCP above the optimum on average, the bound "
        f"{100 * statistics.fmean(below):.2f} below."
    )


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, help="only the first rows, to try the script; nothing is written")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), help="only these; nothing is written")
    parser.add_argument("--tiny", action="store_true", help="tiny tables against their exact optimum instead")
    parser.add_argument("--bound", action="store_true", help="what is proved of the constraint sets instead")
    parser.add_argument("--ranges", action="store_true", help="ages that show spans of numbers instead")
    chosen = parser.parse_args()
    if chosen.ranges:
        text = ranges_table(chosen.rows, chosen.sets)
        if chosen.rows is None and not chosen.sets:
            fill(PAGE, "figures-overlaps", "ranges", [text])
        return
    if chosen.bound:
        fill(RESEARCH, "figures-overlaps", "bounds", [bounds_table()])
        return
    if chosen.tiny:
        text = tiny_tables(150)
        print(text)
        fill(RESEARCH, "figures-overlaps", "tiny tables", [text])
        return
    text = constraints_table(chosen.rows, chosen.sets)
    if chosen.rows is None and not chosen.sets:
        fill(PAGE, "figures-overlaps", "constraints", [text])


if __name__ == "__main__":
    main()
