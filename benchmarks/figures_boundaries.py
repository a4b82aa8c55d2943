"""The experiments of Miller, Campan and Truta (2008), section 5, run again: what boundaries cost on Adult.

`python benchmarks/figures_boundaries.py` writes docs/pictures/boundaries-*.svg, the tables of
docs/algorithms/greedy-cka.md and the comparison of docs/algorithms/k-member.md, between their marker comments. The
paper's trees of native-country and age are pictures that our copy lacks: see ``COUNTRY`` and ``AGE``. Times are CPU
seconds of the search alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import polars as pl

import kveil
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.measures import measure_solution
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.table.tree import Tree
from measuring import ADULT, ROOT, fill

PICTURES = ROOT / "docs" / "pictures"
PAGES = ROOT / "docs" / "algorithms"
KS = range(2, 11)
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary",
)  # fmt: skip

COUNTRY = {
    "*": {
        "America": {
            "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Mexico"],
            "Central America": [
                "Puerto-Rico", "Cuba", "Jamaica", "Haiti", "Dominican-Republic", "Trinadad&Tobago", "Honduras",
                "Guatemala", "Nicaragua", "El-Salvador",
            ],
            "South America": ["Columbia", "Ecuador", "Peru"],
        },
        "Asia": {
            "East Asia": ["Japan", "China", "Taiwan", "Hong"],
            "South-East Asia": ["Philippines", "Vietnam", "Laos", "Cambodia", "Thailand"],
            "South Asia": ["India", "Iran"],
        },
        "Europe": {
            "West Europe": ["England", "Germany", "France", "Ireland", "Scotland", "Holand-Netherlands"],
            "South Europe": ["Italy", "Portugal", "Greece"],
            "East Europe": ["Poland", "Yugoslavia", "Hungary"],
        },
        "Other": {"Unnamed": ["South"]},  # Adult has a country of that name
    }
}  # fmt: skip
AGE = {"intervals": {"from": 10, "to": 99, "widths": [5, 10, 20]}}
TREES: dict[str, Any] = {
    "education-num": {"intervals": {"from": 1, "to": 16, "widths": [2, 4, 8]}},
    "workclass": None,
    "marital-status": {
        "tree": {
            "*": {
                "Married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
                "Single": ["Never-married", "Divorced", "Separated", "Widowed"],
            }
        }
    },
    "occupation": None,
    "race": None,
    "sex": None,
    "age": AGE,
    "native-country": {"tree": COUNTRY},
}
BOUNDARIES: dict[str, dict[str, Any]] = {
    "native-country": {"native-country": ["America", "Asia", "Europe", "Other"]},
    "native-country, age": {"native-country": ["America", "Asia", "Europe", "Other"], "age": {"level": 2}},
}
PAPER_VIOLATIONS = {
    "native-country": (605, 991, 1377, 1657, 1906, 2198, 2354, 2550, 2728),
    "native-country, age": (2209, 3824, 5297, 6163, 6964, 7743, 8417, 8931, 9549),
}
PAPER_SUPPRESSED = {
    "native-country": (0,) * 9,
    "native-country, age": (5, 15, 24, 28, 48, 60, 81, 97, 106),
}


def sample(rows: int) -> pl.DataFrame:
    """Return so many random records of Adult, missing values included."""
    frame = pl.read_csv(ADULT / "adult.data", has_header=False, new_columns=list(COLUMNS), infer_schema=False)
    texts = frame.drop_nulls("age").select(pl.col(name).str.strip_chars() for name in TREES)
    return texts.sample(min(rows, texts.height), seed=2008)


def policy_over(k: int, boundaries: dict[str, Any]) -> kveil.Policy:
    """Return the paper's policy: eight quasi-identifiers, IL, no limit on suppression."""
    attributes: dict[str, Any] = {}
    for name, hierarchy in TREES.items():
        spec = hierarchy
        attributes[name] = {"role": "quasi-identifier"}
        attributes[name] |= {"hierarchy": spec} if spec is not None else {}
        attributes[name] |= {"boundary": boundaries[name]} if name in boundaries else {}
    return kveil.Policy(
        data={"missing": ["?"]},
        attributes=attributes,
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": 1},
        loss="il",
    )


@dataclass(frozen=True)
class Run:
    """One algorithm at one k: which boundaries it kept, and what it cost."""

    k: int
    boundaries: str
    il: float
    ncp: float
    seconds: float
    suppressed: int
    violations: dict[str, int]


def violations(table: Table, bounded: Table, solution: Any) -> int:
    """Return how many cells of kept records lie above their maximum allowed value."""
    kept = ~solution.suppressed_anywhere
    found = 0
    for position, tree in enumerate(bounded.trees):
        assert isinstance(tree, Tree)
        limit = tree.depth[tree.limit_of[table.leaves[position]]]
        found += int((tree.depth[solution.shown[position].codes] < limit)[kept].sum())
    return found


def experiments(rows: int, ks: Sequence[int]) -> list[Run]:
    """Run k-member without boundaries and greedy-cka with each set of them."""
    frame = from_frame(sample(rows))
    found = []
    for k in ks:
        tables = {name: encode(frame, policy_over(k, marked)) for name, marked in {"none": {}, **BOUNDARIES}.items()}
        for name, table in tables.items():
            started = process_time()
            solution = run(find("k-member" if name == "none" else "greedy-cka"), table, {})
            seconds = process_time() - started
            losses = measure_solution(table, solution)
            broken = {other: violations(table, tables[other], solution) for other in BOUNDARIES}
            suppressed = int(solution.suppressed_anywhere.sum())
            found.append(Run(k, name, losses.il, losses.ncp, seconds, suppressed, broken))
    return found


def table_of(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> list[str]:
    """Return a table for a page: texts to the left in the first column, numbers to the right."""
    marks = ["---", *["---:"] * (len(head) - 1)]
    return ["| " + " | ".join(map(str, line)) + " |" for line in (head, marks, *lines)]


def tables(runs: list[Run]) -> dict[str, list[str]]:
    """Return the tables of the page, beside the paper's."""
    by = {(entry.boundaries, entry.k): entry for entry in runs}
    ks = sorted({entry.k for entry in runs})
    first, second = BOUNDARIES

    def pair(name: str, k: int, ours: int, paper: Mapping[str, Sequence[int]]) -> str:
        return f"{ours:,} ({paper[name][k - 2]:,})"

    return {
        "loss": table_of(
            ["k", "IL free", "IL, country", "IL, country and age", "s free", "s, country", "s, country and age"],
            [
                [
                    k,
                    *(f"{by[name, k].il:,.0f}" for name in ("none", first, second)),
                    *(f"{by[name, k].seconds:.2f}" for name in ("none", first, second)),
                ]
                for k in ks
            ],
        ),
        "violations": table_of(
            ["k", "violations, country (paper)", "violations, country and age (paper)"],
            [[k, *(pair(n, k, by["none", k].violations[n], PAPER_VIOLATIONS) for n in BOUNDARIES)] for k in ks],
        ),
        "suppressed": table_of(
            ["k", "suppressed, country (paper)", "suppressed, country and age (paper)", "violations of greedy-cka"],
            [
                [
                    k,
                    *(pair(n, k, by[n, k].suppressed, PAPER_SUPPRESSED) for n in BOUNDARIES),
                    sum(by[n, k].violations[n] for n in BOUNDARIES),
                ]
                for k in ks
            ],
        ),
    }


def comparison(ks: Sequence[int]) -> list[str]:
    """Compare algorithms at equal guarantees on Adult with ARX's trees: NCP and IL per cell."""
    from adult import ARX, adult_policy, adult_rows

    frame, home = adult_rows()
    lines = []
    for name in ("k-member", "mondrian", "datafly", "classfly"):
        line: list[Any] = [f"`{name}`"]
        for k in ks:
            table = encode(from_frame(frame), adult_policy(home, ARX, f"  - {{model: k-anonymity, k: {k}}}", "", name))
            losses = measure_solution(table, run(find(name), table, {}))
            line += [f"{losses.ncp * 100:.2f} %", f"{losses.il_per_cell * 100:.2f} %"]
        lines.append(line)
    head = ["algorithm", *(f"{what}, k = {k}" for k in ks for what in ("NCP", "IL per cell"))]
    return table_of(head, lines)


def draw(runs: list[Run]) -> None:
    """Draw what the paper's figures 8 and 9 and tables 1 and 2 show."""
    import altair

    names = {"none": "no boundaries"} | {name: f"boundaries on {name}" for name in BOUNDARIES}
    for what, title in (("il", "information loss (IL)"), ("seconds", "CPU seconds"), ("suppressed", "suppressed")):
        values = [
            {"k": entry.k, "value": getattr(entry, what), "run": names[entry.boundaries]}
            for entry in runs
            if what != "suppressed" or entry.boundaries != "none"
        ]
        chart = (
            altair.Chart(altair.Data(values=values), width=420, height=260)
            .mark_line(point=True)
            .encode(
                x=altair.X("k:O", title="k"),
                y=altair.Y("value:Q", title=title),
                color=altair.Color("run:N", title=None, scale=altair.Scale(scheme="dark2")),
            )
        )
        chart.save(str(PICTURES / f"boundaries-{what}.svg"))
    values = [
        {"k": entry.k, "value": entry.violations[name], "run": f"of {name}"}
        for entry in runs
        for name in BOUNDARIES
        if entry.boundaries == "none"
    ]
    chart = (
        altair.Chart(altair.Data(values=values), width=420, height=260)
        .mark_line(point=True)
        .encode(
            x=altair.X("k:O", title="k"),
            y=altair.Y("value:Q", title="violations without boundaries"),
            color=altair.Color("run:N", title=None, scale=altair.Scale(scheme="dark2")),
        )
    )
    chart.save(str(PICTURES / "boundaries-violations.svg"))


def main() -> None:
    """Run everything and write pictures and tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few records, two k; writes nothing but prints")
    quick = parser.parse_args().quick
    if not ADULT.exists():
        raise SystemExit(f"{ADULT} is not there: these figures need Adult.")
    experiments(1_000, (2,))  # compiles what has to be compiled
    runs = experiments(2_000, (2, 10)) if quick else experiments(10_000, KS)
    written = tables(runs)
    compared = comparison((10,) if quick else (5, 10))
    for lines in (*written.values(), compared):
        print("\n".join([*lines, ""]))
    if quick:
        return
    draw(runs)
    for name, lines in written.items():
        fill(PAGES / "greedy-cka.md", "figures-boundaries", name, lines)
    fill(PAGES / "k-member.md", "figures-boundaries", "comparison", compared)


if __name__ == "__main__":
    main()
