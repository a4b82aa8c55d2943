"""The experiments of Yang, Liu, Wang and Yu (2006), section 4, run again: precision and time of the Classfly family.

`python benchmarks/figures_classfly.py` writes docs/pictures/classfly-*.svg, and the tables of
docs/algorithms/classfly.md between its marker comments. The paper gives neither cardinalities nor hierarchies: see
``SHAPES``. Times are CPU seconds of the search alone, as the paper gives CPU time.
"""

from __future__ import annotations

import argparse
import csv
import signal
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import kveil
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.measures import measure_solution
from kveil.table.encode import encode
from kveil.table.table import Table
from made_up_data import EIGHT_CONSTRAINTS
from measuring import ADULT, ROOT, fill
from naive import classfly as twins
from naive import release as naive

PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "algorithms" / "classfly.md"
GOLDEN = ROOT / "tests" / "golden" / "classfly"

ROWS = (1024, 2048, 4096, 6144, 8192, 10240)
SEEDS = (1, 2, 3)
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "Datafly": ("datafly", {}),
    "naive": ("classfly+naive", {}),
    "complete": ("classfly+complete", {}),
    "partial": ("classfly+partial", {}),
    "complete, gain": ("classfly+complete", {"choose": "gain"}),
    "complete, gain by NCP": ("classfly+complete", {"choose": "gain"}),
    "complete, join": ("classfly+complete", {"join": True}),
}
BY_NCP = "complete, gain by NCP"  # the one that minimizes NCP; all others look at precision, as the paper does
PAPER = ("Datafly", "naive", "complete", "partial")

CONSTRAINTS = EIGHT_CONSTRAINTS
SETS = range(2, 9)  # table 3: the first two of them, the first three, and so on

EDUCATION = {
    "*": {
        "Basic": {"Primary": ["e1", "e2", "e3", "e4"], "Lower": ["e5", "e6", "e7", "e8"]},
        "Higher": {"Upper": ["e9", "e10", "e11", "e12"], "University": ["e13", "e14", "e15", "e16"]},
    }
}
TOWNS = ("021", "024", "100", "113", "301", "331", "606", "770", "900", "941")


def _days(number: int) -> list[str]:
    return [str(day) for day in np.datetime64("1940-01-01") + np.arange(number)]


def _numbers(first: int, number: int, step: int = 1) -> list[str]:
    return [str(first + step * i) for i in range(number)]


# Values an attribute. `wide` is the file that all benchmarks of kveil use; `narrow` has as many as a town might.
SHAPES: dict[str, dict[str, list[str]]] = {
    "wide": {
        "Race": ["White", "Black", "Asian", "Native", "Other"],
        "Birth": _days(20_000),
        "Sex": ["m", "f"],
        "ZIP": _numbers(10_000, 30_000, 3),
        "Height": _numbers(140, 60),
        "Weight": _numbers(40, 100),
        "Work_Hrs": _numbers(1, 60),
        "Salary": _numbers(0, 2_000, 100),
        "Edu": [f"e{i}" for i in range(1, 17)],
    },
    "narrow": {
        "Race": ["White", "Black", "Asian", "Native", "Other"],
        "Birth": _days(3_650),
        "Sex": ["m", "f"],
        "ZIP": [f"{town}{code}" for town in TOWNS for code in range(10, 60, 5)],
        "Height": _numbers(150, 50),
        "Weight": _numbers(40, 60),
        "Work_Hrs": _numbers(11, 40),
        "Salary": _numbers(0, 100, 1_000),
        "Edu": [f"e{i}" for i in range(1, 17)],
    },
}
HIERARCHIES: dict[str, Any] = {
    "Race": None,
    "Birth": {"dates": ["month", "year", "decade"]},
    "Sex": None,
    "ZIP": {"mask": {"keep": [4, 3, 2, 1]}},
    "Height": {"intervals": {"from": 140, "to": 199, "widths": [5, 10, 20]}},
    "Weight": {"intervals": {"from": 40, "to": 139, "widths": [5, 10, 20]}},
    "Work_Hrs": {"intervals": {"from": 1, "to": 60, "widths": [5, 10, 20]}},
    "Salary": {"intervals": {"from": 0, "to": 199_999, "widths": [5_000, 10_000, 50_000]}},
    "Edu": {"tree": EDUCATION},
}


def uniform_table(shape: str, rows: int, seed: int) -> pl.DataFrame:
    """Return a table whose cells are uniform and independent."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            name: pl.Series(values, dtype=pl.String).gather(rng.integers(0, len(values), rows))
            for name, values in SHAPES[shape].items()
        }
    )


def policy_over(
    hierarchies: dict[str, Any],
    constraints: Sequence[tuple[tuple[str, ...], int]],
    rows: int,
    others: dict[str, str] | None = None,
) -> kveil.Policy:
    """Return a policy whose limit allows what the paper suppresses: fewer than k records per component."""
    used = {name for attributes, _ in constraints for name in attributes}
    attributes: dict[str, Any] = {name: {"role": role} for name, role in (others or {}).items()}
    for name, spec in hierarchies.items():
        if name in used:
            attributes[name] = {"role": "quasi-identifier"} | ({} if spec is None else {"hierarchy": spec})
    spec = {
        "kveil": 1,
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "attributes": list(over), "k": k} for over, k in constraints],
        "suppression": {"limit": f"{(_left_over(constraints) + 0.5) / rows:.9f}", "show": "star"},
        "release": {"order": "keep"},
        "loss": "precision",
    }
    return kveil.Policy(**spec)


def _left_over(constraints: Sequence[tuple[tuple[str, ...], int]]) -> int:
    """Return how many records the loop may leave over: the sum over components of the largest k less one."""
    parts: list[tuple[set[str], int]] = []
    for attributes, k in constraints:
        touched = [part for part in parts if part[0] & set(attributes)]
        parts = [part for part in parts if part not in touched]
        parts.append((set(attributes).union(*(p[0] for p in touched)), max([k, *(p[1] for p in touched)])))
    return sum(k - 1 for _, k in parts)


@dataclass(frozen=True)
class Run:
    """One run of one algorithm."""

    shape: str
    rows: int
    seed: int
    constraints: int
    algorithm: str
    precision: float
    ncp: float
    suppressed: int
    joined: int
    seconds: float
    nodes: bytes


def solve(table: Table, algorithm: str) -> tuple[Any, float]:
    """Return an algorithm's solution and its CPU seconds."""
    name, options = ALGORITHMS[algorithm]
    if algorithm == BY_NCP:
        table = replace(table, policy=table.policy.model_copy(update={"loss": "ncp"}))
    started = process_time()
    solution = run(find(name), table, options)
    return solution, process_time() - started


def measured(table: Table, algorithm: str, times: int = 1) -> dict[str, Any]:
    """Return the losses and the best CPU time of several runs."""
    best = float("inf")
    for _ in range(times):
        solution, seconds = solve(table, algorithm)
        best = min(best, seconds)
    losses = measure_solution(table, solution)
    return {
        "algorithm": algorithm,
        "precision": losses.precision,
        "ncp": losses.ncp,
        "suppressed": int(solution.suppressed_anywhere.sum()),
        "joined": int(solution.details.get("left_over_joined", 0)),
        "seconds": best,
        "nodes": b"".join(shown.codes.tobytes() for shown in solution.shown) + solution.suppressed.tobytes(),
    }


def experiments(rows: Sequence[int], seeds: Sequence[int]) -> Iterator[Run]:
    """Run every algorithm on every table and constraint set."""
    for shape in SHAPES:
        for number in rows:
            for seed in seeds:
                frame = uniform_table(shape, number, seed)
                for count in SETS:
                    policy = policy_over(HIERARCHIES, CONSTRAINTS[:count], number)
                    table = encode(from_frame(frame.select(policy.quasi_identifiers)), policy)
                    for algorithm in ALGORITHMS:
                        found = measured(table, algorithm, times=2)
                        yield Run(shape, number, seed, count, **found)
            print(f"{shape}, {number} rows", flush=True)


def of(runs: Iterable[Run], **wanted: Any) -> list[Run]:
    """Return the runs with the given properties."""
    return [one for one in runs if all(getattr(one, key) == value for key, value in wanted.items())]


def mean(runs: Iterable[Run], what: str = "precision") -> float:
    """Return the mean of a property."""
    return statistics.fmean(getattr(one, what) for one in runs)


# ---------------------------------------------------------------------------------------------- claims


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, what was found, and whether that is the same."""

    text: str
    found: str
    verdict: str


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"


def _verdict(share: float) -> str:
    return "reproduced" if share >= 0.95 else "partly" if share >= 0.4 else "not reproduced"


def _each_shape(text: str, check: Callable[[str], list[bool]], where: str) -> Claim:
    """Return a claim that is checked case by case, for each shape apart."""
    flags = {shape: check(shape) for shape in SHAPES}
    every = [flag for found in flags.values() for flag in found]
    found = "; ".join(f"{shape}: {_share(found)}" for shape, found in flags.items())
    return Claim(text, f"{found} {where}", _verdict(sum(every) / len(every)))


def claims(runs: list[Run], rows: Sequence[int]) -> list[Claim]:
    """Return the paper's claims of section 4 with what these runs say."""
    by_case: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    time: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for shape in SHAPES:
        for number in rows:
            for count in SETS:
                for algorithm in ALGORITHMS:
                    mine = of(runs, shape=shape, rows=number, constraints=count, algorithm=algorithm)
                    by_case[shape, number, count][algorithm] = mean(mine)
                    time[shape, number, count][algorithm] = min(one.seconds for one in mine)
    pairs = list(zip(of(runs, algorithm="complete"), of(runs, algorithm="partial"), strict=True))
    same = [one.precision == other.precision and one.nodes == other.nodes for one, other in pairs]
    found = [
        Claim(
            "complete and partial have the same precision",
            f"{_share(same)} runs, cell for cell",
            "reproduced" if all(same) else "not reproduced",
        ),
        _each_shape(
            "complete has the highest precision",
            lambda shape: [
                by_case[shape, n, c]["complete"] >= max(by_case[shape, n, c][a] for a in PAPER) - 1e-9
                for n in rows
                for c in SETS
            ],
            "cases (rows × constraint set)",
        ),
    ]
    gains = {
        (shape, count): statistics.fmean(
            by_case[shape, n, count]["complete"] / by_case[shape, n, count]["Datafly"] - 1 for n in rows
        )
        for shape in SHAPES
        for count in SETS
    }
    text = "; ".join(
        f"{shape}: {100 * gains[shape, 2]:.0f} % on {{C1,C2}}, {100 * gains[shape, 4]:.0f} % on {{C1..C4}}, "
        f"{100 * gains[shape, 8]:.0f} % on all eight"
        for shape in SHAPES
    )
    inside = [0.095 <= gains[shape, count] <= 0.205 for shape in SHAPES for count in (2, 4)]
    above = [gains[shape, count] > 0 for shape in SHAPES for count in SETS]
    found.append(
        Claim(
            "complete beats Datafly by 10–20 % on average",
            f"{text}; above Datafly in {_share(above)} sets on average",
            "reproduced" if all(inside) else "partly" if all(above) else "not reproduced",
        )
    )
    for count, text, better in (
        (2, "naive beats Datafly on {C1,C2}", True),
        (4, "naive loses to Datafly on {C1..C4}", False),
    ):
        found.append(
            _each_shape(
                text,
                lambda shape, count=count, better=better: [  # type: ignore[misc]
                    (by_case[shape, n, count]["naive"] > by_case[shape, n, count]["Datafly"]) is better for n in rows
                ],
                "numbers of rows",
            )
        )
    found += [
        _each_shape(
            f"precision of {algorithm} grows with the rows",
            lambda shape, algorithm=algorithm: [  # type: ignore[misc]
                by_case[shape, high, c][algorithm] > by_case[shape, low, c][algorithm] - 1e-9
                for c in SETS
                for low, high in pairwise(rows)
            ],
            "steps",
        )
        for algorithm in ("naive", "complete")
    ]
    found.append(
        _each_shape(
            "time grows with the rows",
            lambda shape: [time[shape, rows[-1], c][a] > time[shape, rows[0], c][a] for c in SETS for a in PAPER],
            f"from {rows[0]:,} to {rows[-1]:,} rows",
        )
    )
    found.append(
        _each_shape(
            "time grows with the constraints",
            lambda shape: [
                time[shape, rows[-1], high][a] > time[shape, rows[-1], low][a]
                for low, high in ((2, 4), (4, 6), (6, 8))
                for a in PAPER
            ],
            f"steps of two constraints at {rows[-1]:,} rows",
        )
    )
    ratio = [time[s, n, c]["partial"] / time[s, n, c]["complete"] for s in SHAPES for n in rows for c in SETS]
    found.append(
        Claim(
            "complete and partial take nearly the same time",
            f"partial takes {statistics.median(ratio):.1f} × in the median, {min(ratio):.1f} to {max(ratio):.1f} ×",
            "reproduced" if max(ratio) < 1.5 else "partly" if statistics.median(ratio) < 2 else "not reproduced",
        )
    )
    found.append(
        _each_shape(
            "naive is the slowest on {C1..C4}",
            lambda shape: [
                max(time[shape, n, 4], key=lambda a: time[shape, n, 4][a] if a in PAPER else 0.0) == "naive"
                for n in rows
            ],
            "numbers of rows",
        )
    )
    found.append(
        _each_shape(
            "Datafly is the fastest on all eight",
            lambda shape: [
                time[shape, n, 8]["Datafly"] == min(time[shape, n, 8][algorithm] for algorithm in PAPER) for n in rows
            ],
            "numbers of rows",
        )
    )
    return found


# ---------------------------------------------------------------------------------------------- Adult

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
ADULT_SETS: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {
    "overlapping": (
        (("age", "sex", "race"), 5),
        (("sex", "race", "education"), 10),
        (("education", "occupation", "workclass"), 4),
        (("occupation", "marital-status", "native-country"), 8),
    ),
    "disjoint": (
        (("age", "sex"), 10),
        (("education", "occupation"), 5),
        (("race", "native-country"), 20),
        (("workclass", "marital-status"), 3),
    ),
    "nested": (
        (QUASI, 2),
        (("age", "education", "occupation", "sex"), 5),
        (("age", "sex"), 25),
        (("sex",), 10),
    ),
    "age in all": (
        (("age", "workclass", "education"), 5),
        (("age", "marital-status", "occupation"), 3),
        (("age", "race", "sex"), 10),
        (("age", "native-country"), 15),
    ),
}


def adult() -> list[dict[str, Any]]:
    """Run every algorithm on Adult's constraint sets; empty where the data is not here."""
    if not ADULT.exists():
        return []
    frame = pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False)
    hierarchies = {name: str(ADULT / "hierarchies_arx" / f"adult_hierarchy_{name}.csv") for name in QUASI}
    found = []
    for name, constraints in ADULT_SETS.items():
        policy = policy_over(hierarchies, constraints, frame.height, {"salary-class": "sensitive"})
        table = encode(from_frame(frame), policy)
        found += [{"set": name, **measured(table, algorithm, times=3)} for algorithm in ALGORITHMS]
        print(f"Adult, {name}", flush=True)
    return found


# ---------------------------------------------------------------------------------------------- the slow twin


class _Enough(Exception):
    """Ends a twin that has taken long enough."""


def against_the_twin(rows: int, most: float | None = None) -> dict[str, float]:
    """Return the CPU seconds of kveil and of its slow twins, on all eight constraints.

    A twin is stopped once it has taken ``most`` times as long.
    """

    def over(number: int, frame: Any) -> None:
        raise _Enough

    frame = uniform_table("wide", rows, 1)
    policy = policy_over(HIERARCHIES, CONSTRAINTS, rows)
    table = encode(from_frame(frame), policy)
    solve(table, "complete")  # compiles what has to be compiled
    ours = min(solve(table, "complete")[1] for _ in range(7))
    texts = {
        "attributes": {
            n: {"role": "quasi-identifier"} | ({"hierarchy": h} if h else {}) for n, h in HIERARCHIES.items()
        },
        "privacy": [{"model": "k-anonymity", "attributes": list(over), "k": str(k)} for over, k in CONSTRAINTS],
    }
    twin = naive.Policy(_as_texts(texts), ROOT)
    found = {"kveil": ours}
    for kind, text in (("QuickPart", "the twin with a dictionary that counts"), ("Part", "the twin, record by record")):
        part = getattr(twins, kind)(twin, twin.components[0], frame.to_dicts())
        started = process_time()
        signal.signal(signal.SIGVTALRM, over)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0 if most is None else most * ours)
        with suppress(_Enough):
            part.run("complete")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        found[text] = process_time() - started
    return found


def _twin_table(seconds: dict[str, float]) -> list[str]:
    ours = seconds["kveil"]
    lines = [[text, f"{own:.3g}", f"{own / ours:,.0f} ×"] for text, own in seconds.items()]
    return _table(["by", "CPU seconds", "over kveil's"], lines)


def _as_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_texts(below) for key, below in value.items()}
    return [_as_texts(below) for below in value] if isinstance(value, list) else str(value)


# ---------------------------------------------------------------------------------------------- the paper's example


def rounds(variant: str) -> list[tuple[str, list[dict[str, str]]]]:
    """Return the paper's example after every half of a round, by the slow twin; checked against the golden file."""
    policy = naive.Policy.load(GOLDEN / "policy.yaml")
    with (GOLDEN / "input.csv").open(encoding="utf-8", newline="") as file:
        original = list(csv.DictReader(file))
    part = twins.Part(policy, policy.components[0], original)
    found: list[tuple[str, list[dict[str, str]]]] = []

    def look(title: str) -> None:
        rows = [
            {"record": row["id"], **shown, "mark": mark}
            for row, shown, mark in zip(original, part.shown, part.marks, strict=True)
        ]
        found.append((title, [dict(row) for row in rows]))

    filtering = getattr(part, variant)

    def watched() -> None:
        if part.rounds > 1:
            look(f"round {part.rounds}: the rest generalized")
        filtering()
        look(f"round {part.rounds}: set aside")

    look("before")
    setattr(part, variant, watched)
    part.run(variant)
    with (GOLDEN / f"expected-{'naive' if variant == 'naive' else 'complete'}.csv").open(encoding="utf-8") as file:
        expected = [[row[name] for name in part.names] for row in csv.DictReader(file)]
    last = [
        ["*"] * 3 if row["mark"] == twins.TO_BE_SUPPRESSED else [row[name] for name in part.names]
        for row in found[-1][1]
    ]
    assert last == expected
    after = [
        {**row, **dict(zip(part.names, cells, strict=True))} for row, cells in zip(found[-1][1], last, strict=True)
    ]
    found.append(("released", after))
    return found


# ---------------------------------------------------------------------------------------------- pictures

COLOURS = {"Datafly": "#888888", "naive": "#d95f02", "complete": "#1b6ca8", "partial": "#7fc4e8"}
OPTION_COLOURS = {"complete": "#1b6ca8", "complete, gain": "#2a9d3a", "complete, join": "#c2479b"}
MARKS = {"to_be_suppressed": "left", "satisfy_IndepCSet": "set aside"}


def _lines(
    altair: Any, values: list[dict[str, Any]], title: str, y: str, x: str, colours: dict[str, str], zero: bool
) -> Any:
    """Return a chart of lines, one panel a ``panel``."""
    base = altair.Chart(altair.Data(values=values))
    encoding = {
        "x": altair.X(f"{x}:Q", title=x, axis=altair.Axis(tickCount=6, grid=False)),
        "y": altair.Y("value:Q", title=y, scale=altair.Scale(zero=zero, nice=True)),
        "color": altair.Color(
            "algorithm:N",
            title=None,
            scale=altair.Scale(domain=list(colours), range=list(colours.values())),
            legend=altair.Legend(orient="top", symbolStrokeWidth=3),
        ),
        "strokeDash": altair.StrokeDash(
            "algorithm:N",
            title=None,
            scale=altair.Scale(domain=list(colours), range=[[5, 4] if a == "partial" else [1, 0] for a in colours]),
            legend=None,
        ),
    }
    lines = base.mark_line(strokeWidth=2.5).encode(**encoding)
    points = base.mark_point(filled=True, size=40).encode(x=encoding["x"], y=encoding["y"], color=encoding["color"])
    panels = list(dict.fromkeys(value["panel"] for value in values))
    return (
        (lines + points)
        .properties(width=300, height=190)
        .facet(altair.Facet("panel:N", title=None, sort=panels, header=altair.Header(labelFontSize=13)), columns=2)
        .resolve_scale(y="independent")
        .properties(title=altair.TitleParams(title, fontSize=15, anchor="start"))
        .configure_view(stroke="#dddddd")
        .configure_axis(labelFontSize=11, titleFontSize=12)
    )


def _series(
    runs: list[Run], what: str, over: Iterable[Any], key: str, panels: dict[str, dict[str, Any]], who: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the points of lines: the mean of a property for each algorithm, over one property, panel by panel."""
    found = []
    for panel, fixed in panels.items():
        for algorithm in who:
            for at in over:
                mine = of(runs, algorithm=algorithm, **fixed, **{key: at})
                value = mean(mine, what) if what != "seconds" else min(one.seconds for one in mine)
                found.append({"panel": panel, "algorithm": algorithm, key: at, "value": value})
    return found


def _rounds_picture(altair: Any) -> Any:
    """Return the paper's example as pictures of the table, before and after each round."""
    strips = []
    for variant in ("complete", "naive"):
        cells = []
        tables = rounds(variant)
        for title, table in tables:
            for row in table:
                for name in ("Race", "Birth", "ZIP"):
                    state = "suppressed" if row[name] == "*" else MARKS[row["mark"]]
                    cells.append(
                        {"panel": title, "record": row["record"], "column": name, "text": row[name], "state": state}
                    )
        base = altair.Chart(altair.Data(values=cells)).encode(
            x=altair.X(
                "column:N", sort=["Race", "Birth", "ZIP"], title=None, axis=altair.Axis(orient="top", labelAngle=0)
            ),
            y=altair.Y("record:N", title=None),
        )
        boxes = base.mark_rect(stroke="white").encode(
            color=altair.Color(
                "state:N",
                title=None,
                scale=altair.Scale(domain=["left", "set aside", "suppressed"], range=["#f6e3c5", "#bfe3c6", "#e3bfbf"]),
                legend=altair.Legend(orient="bottom"),
            )
        )
        words = base.mark_text(fontSize=11).encode(text="text:N")
        order = [title for title, _ in tables]
        strips.append(
            (boxes + words)
            .properties(width=200, height=190)
            .facet(altair.Facet("panel:N", title=None, sort=order, header=altair.Header(labelFontSize=12)), columns=3)
            .resolve_axis(x="independent")
            .properties(title=altair.TitleParams(f"classfly+{variant}", fontSize=14, anchor="start"))
        )
    return altair.vconcat(*strips).configure_view(stroke=None).configure_axis(domain=False, ticks=False)


def draw(runs: list[Run], rows: Sequence[int]) -> None:
    """Write the pictures."""
    import altair

    PICTURES.mkdir(parents=True, exist_ok=True)
    names = {2: "{C1,C2}", 4: "{C1..C4}", 8: "all eight"}
    three = {f"{shape}: {names[count]}": {"shape": shape, "constraints": count} for shape in SHAPES for count in (2, 4)}
    four_eight = {
        f"{shape}: {names[count]}": {"shape": shape, "constraints": count} for shape in SHAPES for count in (4, 8)
    }
    largest = {f"{shape}: {rows[-1]:,} rows": {"shape": shape, "rows": rows[-1]} for shape in SHAPES}
    pictures = {
        "precision": _lines(
            altair,
            _series(runs, "precision", rows, "rows", three, PAPER),
            "Precision over the number of rows (the paper's figure 3)",
            "precision",
            "rows",
            COLOURS,
            False,
        ),
        "precision-constraints": _lines(
            altair,
            _series(runs, "precision", SETS, "constraints", largest, PAPER),
            "Precision over the number of constraints",
            "precision",
            "constraints",
            COLOURS,
            False,
        ),
        "time": _lines(
            altair,
            _series(runs, "seconds", rows, "rows", four_eight, PAPER),
            "CPU time of the search over the number of rows (figure 5)",
            "seconds",
            "rows",
            COLOURS,
            True,
        ),
        "time-constraints": _lines(
            altair,
            _series(runs, "seconds", SETS, "constraints", largest, PAPER),
            "CPU time of the search over the number of constraints (figure 6)",
            "seconds",
            "constraints",
            COLOURS,
            True,
        ),
        "options": _lines(
            altair,
            _series(runs, "precision", rows, "rows", four_eight, OPTION_COLOURS),
            "What the options do to the precision of complete",
            "precision",
            "rows",
            OPTION_COLOURS,
            False,
        ),
        "rounds": _rounds_picture(altair),
    }
    for name, chart in pictures.items():
        chart.save(str(PICTURES / f"classfly-{name}.svg"))


# ---------------------------------------------------------------------------------------------- tables


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(line)} |" for line in lines)]


def _runs_table(runs: list[Run], what: str, digits: int, shape: str, rows: Sequence[int]) -> list[str]:
    lines = []
    for count in SETS:
        for algorithm in PAPER:
            mine = [of(runs, shape=shape, constraints=count, algorithm=algorithm, rows=number) for number in rows]
            values = [min(one.seconds for one in m) if what == "seconds" else mean(m, what) for m in mine]
            lines.append([str(count), algorithm, *(f"{value:.{digits}f}" for value in values)])
    return _table(["constraints", "algorithm", *(f"{number:,} rows" for number in rows)], lines)


def _options_table(runs: list[Run]) -> list[str]:
    """Return what the options do to plain complete: gain by what it minimizes, join by precision."""
    lines = []
    for shape in SHAPES:
        for count in SETS:
            plain = of(runs, shape=shape, constraints=count, algorithm="complete")
            line = [shape, str(count)]
            for option, what, sign in (
                ("complete, gain", "precision", 1),
                (BY_NCP, "ncp", -1),
                ("complete, join", "precision", 1),
            ):
                pairs = list(zip(plain, of(runs, shape=shape, constraints=count, algorithm=option), strict=True))
                more = [getattr(new, what) - getattr(old, what) for old, new in pairs]
                better, worse = sum(sign * m > 1e-12 for m in more), sum(sign * m < -1e-12 for m in more)
                time = statistics.median(new.seconds / old.seconds for old, new in pairs)
                line += [f"{100 * statistics.fmean(more):+.2f}", f"{better} / {worse}", f"{time:.1f} ×"]
            lines.append(line)
    head = ["table", "constraints", "gain: precision", "better / worse", "time"]
    head += ["gain by NCP: NCP", "better / worse", "time", "join: precision", "better / worse", "time"]
    tables = len(of(runs, shape="wide", constraints=2, algorithm="complete"))
    return [f"Points of percent against plain complete, means of {tables} tables per line.", "", *_table(head, lines)]


def _adult_table(found: list[dict[str, Any]]) -> list[str]:
    if not found:
        return ["Adult was not here when these tables were made."]
    lines = [
        [
            one["set"],
            one["algorithm"],
            f"{one['precision']:.4f}",
            f"{one['ncp']:.4f}",
            str(one["suppressed"]),
            f"{one['seconds']:.2f}",
        ]
        for one in found
    ]
    return _table(["constraint set", "algorithm", "precision", "NCP", "suppressed", "CPU seconds"], lines)


def _examples() -> list[str]:
    lines = []
    for variant in ("complete", "naive"):
        tables = rounds(variant)
        lines += [f"`classfly+{variant}`:", ""]
        head = ["record", *(f"{title}: {name}" for title, _ in tables for name in ("Race", "Birth", "ZIP"))]
        rows = []
        for position, first in enumerate(tables[0][1]):
            line = [first["record"]]
            for _, table in tables:
                bold = table[position]["mark"] == "satisfy_IndepCSet"
                line += [f"**{c}**" if bold else c for c in (table[position][n] for n in ("Race", "Birth", "ZIP"))]
            rows.append([cell.replace("*", r"\*") if cell.strip("*") == "" else cell for cell in line])
        lines += [*_table(head, rows), ""]
    return lines


def main() -> None:
    """Run everything and write pictures and tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows, one seed, no twin; writes nothing but prints")
    quick = parser.parse_args().quick
    rows, seeds = ((1024, 2048), (1,)) if quick else (ROWS, SEEDS)
    warm = policy_over(HIERARCHIES, CONSTRAINTS, 1024)
    table = encode(from_frame(uniform_table("wide", 1024, 0)), warm)
    for algorithm in ALGORITHMS:  # compiles what has to be compiled
        solve(table, algorithm)
    runs = list(experiments(rows, seeds))
    verdicts = claims(runs, rows)
    claimed = _table(["the paper says", "found", ""], [[c.text, c.found, f"**{c.verdict}**"] for c in verdicts])
    options = _options_table(runs)
    print("\n".join([*claimed, "", *options]))
    if quick:
        return
    on_adult = _adult_table(adult())
    print("\n".join(on_adult))
    twin = _twin_table(against_the_twin(ROWS[-1]))
    draw(runs, rows)
    fill(PAGE, "figures-classfly", "claims", claimed)
    for shape in SHAPES:
        fill(PAGE, "figures-classfly", f"precision, {shape}", _runs_table(runs, "precision", 3, shape, rows))
        fill(PAGE, "figures-classfly", f"time, {shape}", _runs_table(runs, "seconds", 3, shape, rows))
    fill(PAGE, "figures-classfly", "options", options)
    fill(PAGE, "figures-classfly", "Adult", on_adult)
    fill(PAGE, "figures-classfly", "twin", twin)
    fill(PAGE, "figures-classfly", "rounds", _examples())


if __name__ == "__main__":
    main()
