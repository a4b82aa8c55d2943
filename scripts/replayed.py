"""A plug-in for pytest that holds the engines against each other: what is wrong with a release is so on all of them.

    pytest -p replayed tests/redteam_test.py tests/leaks_test.py tests/faults_test.py tests/wrong_test.py tests/verifier

Whenever a test verifies a release that does not hold, it is verified again: from CSV, where all of its cells are texts
(a CSV does not tell null from a text), from Parquet on the engines local and stream, with the original where the test
gave one, and without it on Spark, where KVEIL_NEEDS_SPARK is set. The findings have to be the same sentences. What an
engine refuses by name is counted. `make replay` runs it.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
import kveil.flow.verify as flow
from kveil.engines.memory import MemoryStore
from kveil.engines.store import Store
from kveil.engines.stream import StreamStore
from kveil.files import RepeatedSource, Source
from kveil.flow.verify import Checked
from kveil.policy.model import Policy
from kveil.report.owner import Owner

ON_SPARK = bool(os.environ.get("KVEIL_NEEDS_SPARK"))

verify_here = flow.verify_sources
tally: Counter[str] = Counter()
different: list[str] = []


def verify_everywhere(
    release: Source, policy: Policy, original: Source | None, owner: Owner | None, **more: Any
) -> Checked:
    """Verify a release, and where it does not hold, again on every engine."""
    checked = verify_here(release, policy, original, owner, **more)
    alone = not policy.previous and not more.get("previous")
    if not checked.verdict and alone and not isinstance(release, RepeatedSource):
        tally["bad releases"] += 1
        with tempfile.TemporaryDirectory() as folder:
            _replay(Path(folder), release, policy, original, owner)
    return checked


def _replay(folder: Path, release: Source, policy: Policy, original: Source | None, owner: Owner | None) -> None:
    frames = {"release": release.frame, **({} if original is None else {"original": original.frame})}
    expected = verify_here(release, policy, original, owner).verdict.findings
    ways: dict[str, Callable[[], list[str]]] = {}
    if all(cells.dtype == pl.String and not cells.null_count() for frame in frames.values() for cells in frame):
        for name, frame in frames.items():
            frame.write_csv(folder / f"{name}.csv", separator=policy.data.separator or ",")
        ways["csv"] = partial(_findings, MemoryStore(), folder, ".csv", policy, owner)
    for name, frame in frames.items():
        frame.write_parquet(folder / f"{name}.parquet")
    ways["parquet"] = partial(_findings, MemoryStore(), folder, ".parquet", policy, owner)
    ways["stream"] = partial(_findings, StreamStore(), folder, ".parquet", policy, owner)
    for way, findings in ways.items():
        _compare(way, findings, expected)
    if ON_SPARK:
        expected = verify_here(release, policy, None, None).verdict.findings
        _compare("spark", partial(_findings_on_spark, folder / "release.parquet", policy), expected)


def _findings(store: Store, folder: Path, suffix: str, policy: Policy, owner: Owner | None) -> list[str]:
    shown = store.read_release(policy, folder / f"release{suffix}")
    before = folder / f"original{suffix}"
    was = store.read(policy, before) if before.exists() else None
    return verify_here(shown, policy, was, owner).verdict.findings


def _findings_on_spark(release: Path, policy: Policy) -> list[str]:
    from kveil.flow.spark.spark_checks import verify_on_spark
    from on_spark import started

    started()
    return verify_on_spark(policy.model_copy(update={"engine": "spark"}), release, None, None).verdict.findings


def _compare(way: str, findings: Callable[[], list[str]], expected: list[str]) -> None:
    try:
        found = findings()
    except kveil.KveilError as error:
        tally[f"{way}: refused by name"] += 1
        found = [str(error)]
        if isinstance(error, kveil.Refused):
            return
    if found == expected:
        tally[f"{way}: the same findings"] += 1
        return
    tally[f"{way}: others"] += 1
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
    different.append(f"{test}\n  {way}: {found}\n  here: {expected}")


def pytest_configure() -> None:
    """Put every engine behind what tests call."""
    flow.verify_sources = verify_everywhere


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was replayed, and what was found otherwise."""
    for line in different:
        terminalreporter.write_line(line)
    terminalreporter.write_line("; ".join(f"{what} {number:,}" for what, number in sorted(tally.items())))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where an engine found something else."""
    if different:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
