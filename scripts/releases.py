"""Record or compare what runs write, byte for byte: what a change of the inside must not change.

    python scripts/releases.py --write FILE      record what runs write now
    python scripts/releases.py --compare FILE    say which differ; exit 1 if any does

Every case of `release_cases.py` is run in six ways: as a frame, from CSV, from Parquet on the engines local and stream,
and on Spark by tuples and by parts. Of each run the release, the receipt, the account without its times, the warnings,
the owner's file and the verdicts with and without the original are digested; of a refusal the exit code and sentence
are kept. A way that writes what the frame's does is recorded as such. Warnings are digested apart, so that one that is
new on an engine shows as nothing else.

Cases are chosen by `--only golden,hospital,random,adult,diabetes`, ways by `--ways frame,csv,…`. On Spark the random
tables are released by mondrian and by one more algorithm each, in turn: all of them would take hours. `--jobs N` runs
cases in N processes. `scripts/releases-changed.toml` names what differs for a reason: `make releases` compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import sys
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import kveil
from on_spark import plain, release_of, started
from recorded import asked_for, settle
from release_cases import ALGORITHMS, SETS, Case
from support import run

Digests = dict[str, str]
AS_FRAME = "as the frame"
ENGINES = {"csv": "local", "parquet": "local", "stream": "stream", "spark tuples": "spark", "spark parts": "spark"}
WAYS = ("frame", *ENGINES)


def digest(content: bytes | str) -> str:
    """Return a short digest: long enough to tell two runs apart, short enough for thousands of lines."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:12]


def digest_json(content: object) -> str:
    """Return the digest of plain data."""
    return digest(json.dumps(content, sort_keys=True, default=str))


def digest_rows(frame: pl.DataFrame) -> str:
    """Return the digest of a release as CSV, sets joined: the same for every format that holds it."""
    columns = [
        pl.col(name).list.eval(pl.element().cast(pl.String)).list.join("|") if kind == pl.List else pl.col(name)
        for name, kind in frame.schema.items()
    ]
    return digest(frame.select(columns).write_csv())


def digest_account(account: Mapping[str, Any], receipt: Mapping[str, Any]) -> Digests:
    """Return the digests of an account and a receipt, and apart from them of what both warn of.

    Times differ from run to run, and the engine's name, the hash of the release's file and what the driver of Spark
    alone tells from way to way: a release is digested by its rows.
    """
    digests = {}
    for name, whole in (("account", account), ("receipt", receipt)):
        kept = {key: value for key, value in whole.items() if key not in ("seconds", "warnings", "engine", "sha256")}
        digests[name] = digest_json({**kept, "policy": whole["sha256"]["policy"]})
    return digests | {"warnings": digest_json([account["warnings"], receipt["warnings"]])}


def digest_verdict(verdict: Mapping[str, Any]) -> str:
    """Return the digest of a verdict, whichever file it is about."""
    return digest_json({key: value for key, value in verdict.items() if key != "sha256"})


def of_frame(case: Case, folder: Path) -> Digests:
    """Return what a run on a frame gives."""
    policy = kveil.Policy.load(case.policy_in(folder, "data.csv"))
    result = kveil.anonymize(case.frame, policy)
    beside = kveil.verify(result.data, policy, original=case.frame, owner=result.owner)
    assert result.owner is not None
    return {
        "release": digest_rows(result.data),
        **digest_account(result.account, result.receipt),
        "owner": digest_owner(json.loads(json.dumps(result.owner.as_json(), default=int))),
        "verdict": digest_verdict(beside.as_json()),
        "alone": digest_verdict(kveil.verify(result.data, policy).as_json()),
    }


def digest_owner(content: Mapping[str, Any]) -> str:
    """Return the digest of an owner's file without the hashes of the files that it is about."""
    return digest_json({**content, "input": content["input"]["rows"], "release": content["release"]["rows"]})


def of_file(case: Case, folder: Path, way: str) -> Digests:
    """Return what a run of the command line writes, and what `verify` says of it."""
    engine = ENGINES[way]
    data = folder / ("data.csv" if way == "csv" else "data.parquet")
    if way == "csv":
        case.frame.write_csv(data)
    else:
        case.frame.write_parquet(data)
    policy = case.policy_in(folder, data.name)
    release = folder / ("release" if engine == "spark" else f"release{data.suffix}")
    account, receipt, owner = folder / "account.json", folder / "receipt.json", folder / "owner"
    rows = (
        () if engine == "spark" else ("--owner", owner)
    )  # rows on Spark have no numbers, so no way back without a key
    made = run(
        *("anonymize", policy, "--input", data, "-o", release, "--engine", engine, "--quiet"),
        *("--account", account, "--receipt", receipt, *rows),
    )
    if made.code:
        return {"refused": f"exit {made.code}: {made.err.strip().replace(str(folder), 'HERE')}"}
    read = json.loads(account.read_text()), json.loads(receipt.read_text())
    digests = digest_account(*read)
    digests["release"] = digest_rows(_rows(release))
    checked: list[tuple[str, tuple[object, ...]]] = [("alone", ())]
    if rows:
        digests["owner"] = digest_owner(json.loads(owner.read_text()))
        checked.append(("verdict", ("--original", data, "--owner", owner)))
    for name, more in checked:
        told = run("verify", policy, "--release", release, "--engine", engine, "--json", *more)
        digests[name] = f"exit {told.code}" if told.code == 2 else digest_verdict(told.json)
    return digests


def _rows(release: Path) -> pl.DataFrame:
    if release.is_dir():
        return plain(release_of(release))
    if release.suffix == ".csv":
        return pl.read_csv(release, infer_schema=False, empty_string_is_null=False)
    return pl.read_parquet(release)


def on_spark(case: Case, folder: Path, way: str) -> Digests:
    """Return what a run on Spark writes, by tuples or by parts: settings of the session say which."""
    session = started()
    settings = {"spark.kveil.most_tuples": "0", "spark.kveil.part_tuples": "20"} if way == "spark parts" else {}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        return of_file(case, folder, way)
    finally:
        for name in settings:
            session.conf.unset(name)


def goes_on_spark(case: Case) -> bool:
    """Return whether a case is run on Spark, too."""
    kind, number, algorithm = case.name.split("/", 2)
    return kind != "random" or algorithm in ("mondrian", ALGORITHMS[int(number) % len(ALGORITHMS)])


def record(case: Case, ways: Iterable[str]) -> dict[str, str]:
    """Run a case in several ways, and return a line for each."""
    lines: dict[str, str] = {}
    for way in ways:
        if ENGINES.get(way) == "spark" and not goes_on_spark(case):
            continue
        with tempfile.TemporaryDirectory() as place:
            made = run_way(case, Path(place), way)
        line = "; ".join(f"{name} {made[name]}" for name in sorted(made))
        same = way != "frame" and line == lines.get(f"{case.name}: frame")
        lines[f"{case.name}: {way}"] = AS_FRAME if same else line
    return lines


def run_way(case: Case, folder: Path, way: str) -> Digests:
    """Return what a run in one way gives, or the exit code and the sentence of its refusal."""
    if ENGINES.get(way) == "spark":
        return on_spark(case, folder, way)
    if way != "frame":
        return of_file(case, folder, way)
    try:
        return of_frame(case, folder)
    except kveil.KveilError as error:
        return {"refused": f"exit {error.exit_code}: kveil: {error}"}


def main() -> int:
    """Record or compare, as the command line says."""
    options = asked_for(__doc__, SETS, more=_more_options)
    ways = options.ways.split(",")
    cases = [case for part in options.only.split(",") for case in SETS[part]()]
    seen: dict[str, str] = {}
    # Processes of their own, not forks: threads of Polars and Java do not survive one.
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for lines in pool.imap(partial(record, ways=ways), cases):
            seen |= lines
            print(*lines.items(), sep="\n", file=sys.stderr, flush=True)
    return settle(options, seen, "runs", lambda name, was, now: print(f"{name}\n  was {was}\n  is  {now}"))


def _more_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--jobs", type=int, default=1)


if __name__ == "__main__":
    raise SystemExit(main())
