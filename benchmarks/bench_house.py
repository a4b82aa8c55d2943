"""Datafly, Mondrian, their models and the verifier: against the floor, against anjana and against anonypy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from adult import ANJANA, ARX, K10, QUASI, adult_policy, adult_rows
from made_up_data import floor_file, floor_policy
from measuring import Row, best, best_command, floor


def files(folder: Path) -> Iterator[Row]:
    """Datafly, verify and Mondrian on the floor file, 1M and 4M rows."""
    small, large = folder / "floor-1m.csv", folder / "floor-4m.csv"
    floor_file(small, 1_000_000)
    floor_file(large, 4_000_000)
    out = folder / "release.csv"
    base = best(lambda: floor(small, out), 4)
    policies = {
        (algorithm, data): floor_policy(folder, data, algorithm)
        for algorithm in ("datafly", "mondrian")
        for data in (small, large)
    }
    seconds, memory = best_command("anonymize", policies["datafly", small], "--output", out)
    yield Row("datafly, k 10, 1M rows, end to end", seconds / base, "× floor", "≤ 3", seconds <= 3 * base)
    yield Row("datafly, memory at 1M rows", memory, "GB", "≤ 1.5", memory <= 1.5)
    check, _ = best_command("verify", policies["datafly", small], "--release", out)
    yield Row("verify of its release", check / base, "× floor", "≤ 1.5", check <= 1.5 * base)
    many, _ = best_command("anonymize", policies["datafly", large], "--output", out, times=2)
    ratio = many / 4 / seconds
    yield Row("datafly, time per row at 4M rows against 1M", ratio, "×", "≤ 1.3", ratio <= 1.3)
    seconds, memory = best_command("anonymize", policies["mondrian", small], "--output", out)
    yield Row("mondrian, k 10, 1M rows, end to end", seconds / base, "× floor", "≤ 4", seconds <= 4 * base)
    yield Row("mondrian, memory at 1M rows", memory, "GB", "≤ 1.5", memory <= 1.5)
    many, _ = best_command("anonymize", policies["mondrian", large], "--output", out, times=2)
    yield Row("mondrian, 4M rows against 1M", many / seconds, "×", "≤ 5", many <= 5 * seconds)


def anjana(folder: Path) -> Iterator[Row]:
    """Datafly against anjana on Adult: 8 quasi-identifiers, k = 10, 2 % suppression, calls in one process."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    import kveil

    frame, home = adult_rows()
    pandas = frame.to_pandas()
    pandas["age"] = pandas["age"].astype(int)
    hierarchies = {}
    for name, path in ANJANA.items():
        table = pd.read_csv(home / path, header=None)
        hierarchies[name] = {level: table[level].to_numpy() for level in table.columns}
    policy = adult_policy(home, ANJANA, K10, "suppression: {limit: 0.02}", "datafly")
    texts = frame.to_pandas()
    kveil.anonymize(texts, policy)
    ours = best(lambda: kveil.anonymize(texts, policy))
    theirs: list[Any] = []

    def peer() -> None:
        theirs.append(k_anonymity(pandas.copy(), [], list(QUASI), 10, 2, hierarchies))

    seconds = best(peer, 1)
    yield Row("datafly against anjana, Adult, k 10", seconds / ours, "× faster", "≥ 20", seconds >= 20 * ours)
    mine = kveil.anonymize(texts, policy).account["loss"]["ncp"]
    released = theirs[0].astype(str)
    both = _ncp_of(released, frame, home)
    yield Row("NCP of datafly over anjana's", mine / both, "×", "≤ 1", mine <= both + 1e-12)


def _ncp_of(released: Any, original: pl.DataFrame, home: Path) -> float:
    """Return the NCP of anjana's release by kveil's own measure; its column `index` says which records are left."""
    from kveil.flow.measure import measure_sources
    from kveil.frames import from_frame
    from kveil.report.owner import Owner

    policy = adult_policy(home, ANJANA, K10, "suppression: {limit: 1}", "datafly")
    rows = released["index"].astype(int).to_numpy() if "index" in released else released.index.to_numpy()
    owner = Owner(rows, original.height, {})
    frame = pl.from_pandas(released.reset_index(drop=True)).with_columns(pl.all().cast(pl.String))
    shown = from_frame(frame.select(original.columns))
    return measure_sources(shown, policy, from_frame(original), owner).losses.ncp


def anonypy(folder: Path) -> Iterator[Row]:
    """Mondrian against anonypy on Adult, k = 10, calls in one process."""
    import warnings

    import anonypy as peer

    import kveil

    frame, home = adult_rows()
    texts = frame.to_pandas()
    categorical = texts.copy()
    categorical["age"] = categorical["age"].astype(int)
    for name in QUASI:
        if name != "age":
            categorical[name] = categorical[name].astype("category")
    policy = adult_policy(home, ARX, K10, "", "mondrian")
    kveil.anonymize(texts, policy)
    ours = best(lambda: kveil.anonymize(texts, policy))

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.Preserver(categorical, list(QUASI), "salary-class").anonymize_k_anonymity(k=10)

    seconds = best(run, 1)
    yield Row("mondrian against anonypy, Adult, k 10", seconds / ours, "× faster", "≥ 100", seconds >= 100 * ours)


def models(folder: Path) -> Iterator[Row]:
    """Measure what t-closeness and entropy l-diversity add to plain k in Mondrian, on Adult, solve time alone."""
    import kveil

    frame, home = adult_rows()
    wanted = {
        "k": K10,
        "entropy l-diversity": f"{K10}\n  - {{model: l-diversity, sensitive: salary-class, l: 1.2, variant: entropy}}",
        "t-closeness": f"{K10}\n  - {{model: t-closeness, sensitive: salary-class, t: 0.3}}",
    }
    seconds = {}
    for name, privacy in wanted.items():
        policy = adult_policy(home, ARX, privacy, "", "mondrian")
        kveil.anonymize(frame, policy)
        seconds[name] = min(kveil.anonymize(frame, policy).account["seconds"]["solve"] for _ in range(5))
    for name in list(wanted)[1:]:
        ratio = seconds[name] / seconds["k"]
        yield Row(f"mondrian with {name} against plain k", ratio, "×", "≤ 3", ratio <= 3)
