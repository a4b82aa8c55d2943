"""Every command on a census-like table of a million rows, as multiples of the floor of the same file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from adult import ARX, adult_rows
from measuring import Row, best, best_command, floor

REDRAWN = 0.15  # of all cells


def census_file(path: Path, rows: int, seed: int = 1) -> None:
    """Write Adult drawn with replacement, some cells drawn anew from their column: a fifth of the rows distinct."""
    source, _ = adult_rows()
    rng = np.random.default_rng(seed)
    row = rng.integers(0, source.height, rows)
    columns = {}
    for name in source.columns:
        again = rng.random(rows) < REDRAWN
        columns[name] = source[name].gather(np.where(again, rng.integers(0, source.height, rows), row))
    pl.DataFrame(columns).write_csv(path)


def census_policy(folder: Path, data: Path, algorithm: str) -> Path:
    """Write a policy over the census-like table, with the trees of ARX."""
    _, home = adult_rows()
    lines = "".join(f"  {name}: {{role: quasi-identifier, hierarchy: {home / path}}}\n" for name, path in ARX.items())
    path = folder / f"{data.stem}-{algorithm}.yaml"
    path.write_text(
        f"kveil: 1\ndata: {{path: {data.name}}}\nattributes:\n{lines}  salary-class: {{role: sensitive}}\n"
        f"privacy:\n  - {{model: k-anonymity, k: 10}}\nalgorithm: {algorithm}\n"
    )
    return path


def census(folder: Path) -> Iterator[Row]:
    """Run every command on a million rows; a report and a bound are what they add to the run without them."""
    data, out, owner = folder / "census-1m.csv", folder / "census-release.csv", folder / "owner.json"
    census_file(data, 1_000_000)
    base = best(lambda: floor(data, out), 4)
    policy = census_policy(folder, data, "mondrian")
    peaks = []

    def row(what: str, seconds: float, most: int) -> Row:
        return Row(f"{what}, census, 1M rows", seconds / base, "× floor", f"≤ {most}", seconds <= most * base)

    for command, most, given in (("init", 6, data), ("check", 8, policy), ("dependencies", 15, policy)):
        seconds, memory = best_command(command, given)
        peaks.append(memory)
        yield row(command, seconds, most)
    made = ("anonymize", policy, "--output", out, "--owner", owner)
    plain, memory = best_command(*made)
    peaks.append(memory)
    seconds, memory = best_command("attack", policy, "--original", data, "--release", out, "--owner", owner)
    peaks.append(memory)
    yield row("attack", seconds, 10)
    seconds, memory = best_command(*made, "--report", folder / "report.html")
    peaks.append(memory)
    yield row("a report beside the release", seconds - plain, 10)
    seconds, memory = best_command(*made, "--bound", times=1)
    peaks.append(memory)
    yield row("a bound beside the release", seconds - plain, 60)
    seconds, memory = best_command("anonymize", census_policy(folder, data, "least-loss"), "--output", out, times=1)
    peaks.append(memory)
    yield row("least-loss normal", seconds, 150)
    yield Row("the most memory of all these", max(peaks), "GB", "≤ 1.5", max(peaks) <= 1.5)
