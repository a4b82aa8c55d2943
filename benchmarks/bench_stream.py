"""Engine `stream` against `local` on ten million rows: nearly all tuples different, and few of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from bench_census import census_file, census_policy
from made_up_data import floor_file, floor_policy
from measuring import Row, command

ROWS = 10_000_000
TURNS = 3  # in which both engines run; the best time of each counts, and the most memory


def as_parquet(made: Path) -> Path:
    """Turn a CSV into a Parquet file beside it, as texts, and let it go."""
    path = made.with_suffix(".parquet")
    pl.scan_csv(made, infer_schema=False).sink_parquet(path)
    made.unlink()
    return path


def floor_parquet(folder: Path, rows: int) -> Path:
    """Return a floor file as Parquet, which is made unless another benchmark has made it."""
    path = folder / f"floor-{rows}.parquet"
    if not path.exists():
        floor_file(path.with_suffix(".csv"), rows)
        as_parquet(path.with_suffix(".csv"))
    return path


def stream(folder: Path) -> Iterator[Row]:
    """Mondrian with both engines on the floor file and on a census-like table; the releases must be the same."""
    census_csv = folder / "census-10m.csv"
    data = floor_parquet(folder, ROWS)
    yield from _compared(folder, data, floor_policy(folder, data, "mondrian"), "floor file", (1.5, 0.6))
    census_file(census_csv, ROWS)
    data = as_parquet(census_csv)
    yield from _compared(folder, data, census_policy(folder, data, "mondrian"), "census", (1.5, 0.25))


def _compared(folder: Path, data: Path, policy: Path, what: str, most: tuple[float, float]) -> Iterator[Row]:
    outs = {engine: folder / f"{engine}.parquet" for engine in ("local", "stream")}
    took: dict[str, list[tuple[float, float]]] = {engine: [] for engine in outs}
    for _ in range(TURNS):
        for engine, out in outs.items():
            took[engine].append(command("anonymize", policy, "--input", data, "--engine", engine, "--output", out))
    if outs["local"].read_bytes() != outs["stream"].read_bytes():
        raise SystemExit(f"stream and local made different releases of the {what}")
    seconds = {engine: min(run[0] for run in runs) for engine, runs in took.items()}
    memory = {engine: max(run[1] for run in runs) for engine, runs in took.items()}
    for engine in outs:
        yield Row(f"{engine}, {what}, 10M rows, time", seconds[engine], "s", "told", True)
        yield Row(f"{engine}, {what}, 10M rows, memory", memory[engine], "GB", "told", True)
    longer, more = (took["stream"] / took["local"] for took in (seconds, memory))
    yield Row(f"stream against local, {what}, 10M rows, time", longer, "×", f"≤ {most[0]}", longer <= most[0])
    yield Row(f"stream against local, {what}, 10M rows, memory", more, "×", f"≤ {most[1]}", more <= most[1])
