"""The price of releases that hold together, and of using one again, on Adult.

`python benchmarks/figures_previous.py` splits Adult into months by a seeded draw, with people who join and who leave,
releases each month with and without a look at the months before, and writes the tables of docs/several-releases.md
between its marker comments, and its picture. Every month is counted again by the slow twin of tests/naive/together.py.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from adult_data import attributes_of, complete_rows
from kveil.archive import Archive
from kveil.errors import Unmeetable
from kveil.flow.anonymize import anonymize_file
from kveil.flow.apply import Application, apply_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from measuring import ROOT, fill, where_and_when
from naive.together import below

PAGE = ROOT / "docs" / "several-releases.md"
PICTURE = ROOT / "docs" / "pictures" / "several-releases.svg"
QUASI = ("sex", "age", "race", "marital-status", "education")
SENSITIVE = "occupation"
K, L = 5, 3


@dataclass(frozen=True)
class Month:
    """One month: how many people, who came, who left; loss and people left out, alone and with the months before."""

    number: int
    people: int
    joined: int
    left: int
    alone: float
    together: float
    withheld: int


def write_policy(folder: Path, algorithm: str) -> Policy:
    """Write a policy over five of Adult's quasi-identifiers, and load it."""
    known = attributes_of()
    attributes: dict[str, Any] = {"id": {"role": "identifier"}, SENSITIVE: {"role": "sensitive"}}
    attributes |= {name: known[name] for name in QUASI}
    content = {
        "kveil": 1,
        "data": {"key": "id"},
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "k": K}, {"model": "l-diversity", "sensitive": SENSITIVE, "l": L}],
        "suppression": {"limit": 0.9},
        "algorithm": algorithm,
    }
    path = folder / "policy.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return Policy.load(path)


def people(rows: int) -> pl.DataFrame:
    """Return some rows of Adult with a number for each person, in a seeded order."""
    frame = complete_rows().select(*QUASI, SENSITIVE).sample(rows, seed=1, shuffle=True)
    return frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("id"))


def months_of(everyone: pl.DataFrame, number: int, turnover: float) -> Iterator[tuple[pl.DataFrame, int, int]]:
    """Return every month's table, with how many joined and how many left; half of all are there at the beginning."""
    rng = random.Random(1)
    here, waiting = list(range(everyone.height // 2)), list(range(everyone.height // 2, everyone.height))
    yield everyone[here], 0, 0
    for _ in range(number - 1):
        step = round(turnover * len(here))
        gone = set(rng.sample(here, step))
        joined, waiting = waiting[: 2 * step], waiting[2 * step :]
        here = [person for person in here if person not in gone] + joined
        yield everyone[sorted(here)], len(joined), len(gone)


def measured(folder: Path, rows: int, number: int, turnover: float, algorithm: str) -> Iterator[Month]:
    """Release month after month, alone and together with those before, and count again."""
    policy, kept = write_policy(folder, algorithm), folder / "kept"
    for month, (frame, joined, left) in enumerate(months_of(people(rows), number, turnover), 1):
        table = folder / "month.csv"
        frame.write_csv(table)
        alone = anonymize_file(Request.of(policy), table, Targets(folder / "alone.csv"))
        previous = [kept] if month > 1 else []
        try:
            done = anonymize_file(Request.of(policy, previous=previous), table, Targets(folder / "r.csv", archive=kept))
        except Unmeetable as error:
            raise SystemExit(f"month {month}: {error}") from None
        assert below(shown(kept), K, L) == (0, 0)
        losses = alone["loss"]["ncp"], done["loss"]["ncp"]
        yield Month(month, frame.height, joined, left, *losses, done["records"]["suppressed"])


def shown(kept: Path) -> list[dict[str, tuple[tuple[str, ...], str]]]:
    """Return what every archived release shows of whom."""
    found = []
    for archived in Archive.open(kept).releases():
        rows = archived.release.frame.select(*QUASI, SENSITIVE).iter_rows()
        found.append({p: (row[:-1], row[-1]) for p, row in zip(archived.people.to_list(), rows, strict=True)})
    return found


def applied(folder: Path, rows: int, algorithm: str) -> list[str]:
    """Archive 80 % of the people, apply that release to the others, and compare with solving all again."""
    policy, everyone = write_policy(folder, algorithm), people(rows)
    old = everyone.height * 4 // 5
    for name, part in (("old", everyone[:old]), ("new", everyone[old:]), ("all", everyone)):
        part.write_csv(folder / f"{name}.csv")
    kept = folder / "fifths"
    anonymize_file(Request.of(policy), folder / "old.csv", Targets(folder / "r.csv", archive=kept))
    whole = anonymize_file(Request.of(policy), folder / "all.csv", Targets(folder / "whole.csv"))["loss"]["ncp"]
    lines = ["| | covered | in new groups | left out | NCP of the new |", "|---|---|---|---|---|"]
    for words, extend in (("apply", False), ("apply --extend", True)):
        told = apply_file(Application(kept, extend=extend), folder / "new.csv", folder / "n.csv")
        assert told["records"] is not None, "Adult has no individuals"
        counts = told["covered"], told["extended"], told["records"]["suppressed"]
        lines.append(f"| {words} | {counts[0]:,} | {counts[1]:,} | {counts[2]:,} | {told['loss']['ncp'] * 100:.2f} % |")
    return [*lines, f"| all solved again | – | – | 0 | {whole * 100:.2f} % (of all) |"]


def picture(found: list[Month]) -> None:
    """Draw the loss of every month, alone and together with the months before."""
    import vl_convert

    values = [
        {"month": month.number, "NCP (%)": 100 * loss, "release": name}
        for month in found
        for name, loss in (("alone", month.alone), ("together with all before", month.together))
    ]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": 260,
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "month", "type": "ordinal", "axis": {"labelAngle": 0}},
            "y": {"field": "NCP (%)", "type": "quantitative"},
            "color": {"field": "release", "type": "nominal"},
        },
    }
    PICTURE.write_text(vl_convert.vegalite_to_svg(vl_spec=spec, vl_version="5.20"), encoding="utf-8")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--turnover", type=float, default=0.02)
    parser.add_argument("--algorithm", default="least-loss")
    asked = parser.parse_args()
    lines = [
        "| month | people | joined | left | NCP alone | NCP together | left out |",
        "|---|---|---|---|---|---|---|",
    ]
    found = []
    with tempfile.TemporaryDirectory() as name:
        for month in measured(Path(name), asked.rows, asked.months, asked.turnover, asked.algorithm):
            found.append(month)
            lines.append(
                f"| {month.number} | {month.people:,} | {month.joined:,} | {month.left:,} | {month.alone * 100:.2f} % "
                f"| {month.together * 100:.2f} % | {month.withheld:,} |"
            )
            print(lines[-1], flush=True)
        again = applied(Path(name), asked.rows, asked.algorithm)
    picture(found)
    fill(PAGE, "figures-previous", "months", [*lines, "", where_and_when()])
    fill(PAGE, "figures-previous", "apply", again)


if __name__ == "__main__":
    main()
