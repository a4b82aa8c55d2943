"""What refining gains: Adult with ARX's trees and its bound, boundaries, people, and loss against time as a picture.

`python benchmarks/figures_least_loss.py [--only NAME …] [--rows N]` writes docs/pictures/least-loss.svg and the tables
of docs/least-loss-research.md, between their marker comments. With --rows it only prints, from the first rows.
ARX's points are its local recoding as measured once on the same file and trees (ARX is no part of this repository); all
others are run here. The bound gets time enough for all its steps also on a machine that has other things to do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from figures_boundaries import BOUNDARIES, policy_over, sample, table_of
from figures_people import K, L, diabetes_policy, diabetes_table, specs_of, youtube_table
from kveil.algorithms.bound.bound import lower_bound
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.kernels.compiling import compile_all
from kveil.measures import measure_solution
from kveil.policy.model import Policy
from kveil.table.encode import encode
from kveil.table.table import Table
from measuring import ADULT, ROOT, fill

PAGE = ROOT / "docs" / "least-loss-research.md"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
UCI = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
ARX = {5: (7.5, 0.0623), 10: (7.5, 0.0857)}  # seconds, NCP
SECONDS = (1, 2, 4, 8, 16, 32, 64)
SECONDS_OF_BOUND = 600.0


def adult_table(k: int, file: str = "adult_arx.csv", rows: int | None = None) -> Table:
    """Return Adult, or the first of its rows, under k-anonymity over all quasi-identifiers with ARX's trees."""
    if file.endswith(".csv"):
        frame = pl.read_csv(ADULT / file, separator=";", infer_schema=False)
    else:
        lines = [line.strip().rstrip(".").split(", ") for line in (ADULT / file).read_text().splitlines()]
        whole = [line for line in lines if len(line) == len(UCI) and "?" not in line]
        frame = pl.DataFrame(whole, schema=list(UCI), orient="row").select(*QUASI, "salary-class")
    frame = frame if rows is None else frame[:rows]
    trees = "".join(
        f"\n  {name}: {{role: quasi-identifier, hierarchy: {ADULT}/hierarchies_arx/adult_hierarchy_{name}.csv}}"
        for name in QUASI
    )
    text = (
        f"kveil: 1\nattributes:{trees}\n  salary-class: {{role: sensitive}}\nprivacy: [{{model: k-anonymity, k: {k}}}]"
    )
    return encode(from_frame(frame), Policy.parse(text, "adult", ADULT))


def losses_of(table: Table, effort: str) -> tuple[float, float]:
    """Return the NCP of an effort, and its tries per second."""
    started = time.perf_counter()
    solution = run(find("least-loss"), table, {"refine": effort})
    return measure_solution(table, solution).ncp, solution.details["refine"]["tries"] / (time.perf_counter() - started)


def bound_of(table: Table) -> float:
    """Return the proved bound on the NCP."""
    return lower_bound(table, lambda stage: None, seconds=SECONDS_OF_BOUND).at_least


@lru_cache
def adult_bound(k: int, file: str = "adult_arx.csv", rows: int | None = None) -> float:
    """Return the bound of a table of Adult, once."""
    return bound_of(adult_table(k, file, rows))


TIMED = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from figures_least_loss import synthetic_table, find, run
table = synthetic_table(int(sys.argv[2]), int(sys.argv[3]))
run(find("least-loss"), table, {"refine": "0.01"})
started = time.perf_counter()
solution = run(find("least-loss"), table, {"refine": sys.argv[4]})
print(json.dumps([time.perf_counter() - started, solution.details["refine"]["tries"]]))
"""


def timed(threads: int, rows: int, k: int, effort: str) -> tuple[float, int]:
    """Return the seconds and the tries of a run on so many threads, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TIMED, str(Path(__file__).parent), str(rows), str(k), effort],
        env=os.environ | {"NUMBA_NUM_THREADS": str(threads)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, tries = json.loads(done.stdout)
    return seconds, tries


def synthetic_table(rows: int, k: int = 10) -> Table:
    """Return made-up rows of five attributes."""
    random = np.random.default_rng(0)
    sizes = (100, 60, 40, 20, 4)
    frame = pl.DataFrame({f"a{i}": random.integers(0, size, rows).astype(str).tolist() for i, size in enumerate(sizes)})
    lines = "".join(
        f"\n  a{i}: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: {size - 1}, widths: [2, 10]}}}}}}"
        for i, size in enumerate(sizes)
    )
    return encode(
        from_frame(frame),
        Policy.parse(f"kveil: 1\nattributes:{lines}\nprivacy: [{{model: k-anonymity, k: {k}}}]", "made-up", Path()),
    )


def threads_ratio(rows: int = 200_000, effort: str = "0.5") -> float:
    """Return how many times faster two threads are than one."""
    return timed(1, rows, 10, effort)[0] / timed(2, rows, 10, effort)[0]


def adult(rows: int | None) -> list[str]:
    """Return the loss of both efforts beside the bound on Adult, and of `normal` on the split that nobody tunes on."""
    lines = []
    for k in (2, 5, 10, 50):
        table = adult_table(k, rows=rows)
        normal, best = (losses_of(table, effort)[0] for effort in ("normal", "best"))
        least = adult_bound(k, rows=rows)
        arx = f"{100 * ARX[k][1]:.2f}" if k in ARX else ""
        split = losses_of(adult_table(k, "adult_test.txt", rows), "normal")[0]
        shares = [f"{100 * value:.2f}" for value in (normal, best, least)]
        above = f"{100 * (best / least - 1):.1f} %" if least else ""
        lines.append([f"k = {k}", arx, *shares, above, f"{100 * split:.2f}"])
        print(lines[-1], flush=True)
    return table_of(
        ["NCP, %", "ARX, given", "normal", "best", "bound", "best above the bound", "test split, normal"], lines
    )


def boundaries(rows: int | None) -> list[str]:
    """Return IL and NCP beside greedy-cka's, each under a policy that asks for it, on the policies of its figures."""
    frame = from_frame(sample(rows or 10_000))
    lines = []
    for name, marked in BOUNDARIES.items():
        for k in (2, 5, 10):
            found: list[str] = []
            gone: dict[str, list[str]] = {}
            for loss in ("il", "ncp"):
                table = encode(frame, policy_over(k, marked).model_copy(update={"loss": loss}))
                for algorithm in ("greedy-cka", "least-loss"):
                    solution = run(find(algorithm), table, {})
                    losses = measure_solution(table, solution)
                    out = str(int(solution.suppressed_anywhere.sum()))
                    gone[algorithm] = [*gone.get(algorithm, []), out]
                    found.append(f"{losses.il:,.0f}" if loss == "il" else f"{100 * losses.ncp:.2f} %")
            suppressed = (" and ".join(dict.fromkeys(own)) for own in gone.values())
            lines.append([f"{name}, k = {k}", *suppressed, *found])
    head = [
        "boundaries on",
        "suppressed by greedy-cka",
        "by least-loss",
        "IL, greedy-cka",
        "IL, least-loss",
        "NCP, greedy-cka",
        "NCP, least-loss",
    ]
    return table_of(head, lines)


def people(rows: int | None) -> list[str]:
    """Return the losses of diabetes130 and Youtube, k = 10 and l = 5: of quasi-identifiers, of items, and the time."""
    compile_all()
    lines = []
    for name, table in people_tables(rows):
        for algorithm, options in (
            ("1m-generalization", {}), ("1m-generalization", {"refine": "normal"}), ("least-loss", {}),
            ("least-loss", {"refine": "best"}),
        ):  # fmt: skip
            started = time.process_time()
            solution = run(find(algorithm), table, options)
            seconds = time.process_time() - started
            losses = measure_solution(table, solution)
            assert losses.sa_ncp is not None
            more = "".join(f", refine: {effort}" for effort in options.values())
            shares = [f"{100 * losses.ncp:.2f} %", f"{100 * losses.sa_ncp:.2f} %"]
            lines.append([f"{name}: {algorithm}{more}", *shares, f"{seconds:.1f} s"])
            print(lines[-1], flush=True)
    return table_of(["table: algorithm", "NCP of quasi-identifiers", "NCP of items", "CPU time"], lines)


def people_tables(rows: int | None) -> Iterator[tuple[str, Table]]:
    """Yield diabetes130 under two trees of items, and Youtube, with their names."""
    frame = diabetes_table()[:rows]
    for tree in ("icd9_even", "icd9_chapters"):
        yield f"diabetes130, {tree}", encode(from_frame(frame), Policy.parse(diabetes_policy(tree), tree, Path()))
    videos = youtube_table()[:rows]
    model = {"model": "kl-diversity", "sensitive": "related", "k": K, "l": L}
    yield "youtube", encode(from_frame(videos), Policy(kveil=1, attributes=specs_of(videos), privacy=[model]))


def points(k: int, rows: int | None, seconds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return what each method reaches in which time."""
    table = adult_table(k, rows=rows)
    run(find("least-loss"), table, {"refine": "0.01"})  # compiled
    found = []
    for limit in seconds:
        started = time.perf_counter()
        solution = run(find("least-loss"), table, {"refine": 1000, "refine_seconds": limit})
        spent = time.perf_counter() - started
        found.append({"method": "least-loss", "seconds": spent, "NCP": measure_solution(table, solution).ncp})
    for name in ("mondrian", "k-member"):
        started = time.perf_counter()
        solution = run(find(name), table, {})
        found.append(
            {"method": name, "seconds": time.perf_counter() - started, "NCP": measure_solution(table, solution).ncp}
        )
    least = adult_bound(k, rows=rows)
    found += [{"method": "bound", "seconds": limit, "NCP": least} for limit in (seconds[0], seconds[-1])]
    if rows is None and k in ARX:
        found.append({"method": "ARX, given", "seconds": ARX[k][0], "NCP": ARX[k][1]})
    return [{**point, "panel": f"k = {k}"} for point in found]


def draw(values: list[dict[str, Any]], output: Path) -> None:
    """Draw loss against time, one panel per k."""
    import altair

    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X("seconds:Q", scale=altair.Scale(type="log"), title="seconds"),
        y=altair.Y("NCP:Q", axis=altair.Axis(format=".1%"), scale=altair.Scale(zero=False)),
        color=altair.Color("method:N", legend=altair.Legend(orient="top", title=None)),
    )
    chart = altair.layer(base.mark_line(), base.mark_point(filled=True, size=60)).properties(width=320, height=260)
    chart.facet(altair.Facet("panel:N", title=None), columns=2).save(str(output))
    print(f"{output} is written.")


TABLES: dict[str, Callable[[int | None], list[str]]] = {"adult": adult, "boundaries": boundaries, "people": people}


def main() -> None:
    """Write the tables and draw the picture."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", choices=[*TABLES, "picture"], default=[*TABLES, "picture"])
    parser.add_argument("--rows", type=int, help="only the first rows, to try the script; writes no table")
    parser.add_argument("--seconds", type=int, nargs="*", default=list(SECONDS))
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "pictures" / "least-loss.svg")
    chosen = parser.parse_args()
    for name in chosen.only:
        if name == "picture":
            draw([p for k in (5, 10) for p in points(k, chosen.rows, tuple(chosen.seconds))], chosen.output)
            continue
        lines = TABLES[name](chosen.rows)
        print("\n".join([*lines, ""]), flush=True)
        if chosen.rows is None:
            fill(PAGE, "figures-least-loss", name, lines)


if __name__ == "__main__":
    main()
