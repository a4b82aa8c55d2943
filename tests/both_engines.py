"""Runs on the engines `local` and `stream`, which have to write the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

import kveil
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy

Told = tuple[bytes, dict[str, Any], dict[str, Any], dict[str, Any]] | str


def run(policy: Policy, data: Path, engine: str, folder: Path) -> Told:
    """What a run writes: release, account, receipt and owner's file; or what it says instead."""
    beside = {name: folder / f"{engine}-{name[0]}.json" for name in ("receipt", "account", "owner")}
    targets = Targets(folder / f"{engine}.parquet", **beside)
    try:
        account = anonymize_file(Request.of(policy.model_copy(update={"engine": engine})), data, targets)
    except kveil.KveilError as error:
        assert not targets.release.exists()
        return f"{type(error).__name__}: {error}"
    assert account["engine"] == engine
    told = [json.loads(path.read_bytes()) for path in (targets.receipt, targets.account, targets.owner) if path]
    for content in told:
        content.pop("engine", None)
        content.pop("seconds", None)
    return targets.release.read_bytes(), told[0], told[1], told[2]


def same_on_both(policy: Policy, data: Path, folder: Path) -> Told:
    local, streamed = run(policy, data, "local", folder), run(policy, data, "stream", folder)
    assert streamed == local
    return streamed


def as_parquet(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "data.parquet")
    return folder / "data.parquet"
