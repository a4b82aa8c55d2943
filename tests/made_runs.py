"""Runs of the flow over the small table of `support`, before anything of them is told or written; no test."""

from __future__ import annotations

import polars as pl

from kveil.engines.memory import MemoryStore
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.make_release import make_release
from kveil.flow.steps.request import Request
from kveil.flow.steps.stages import Stages
from kveil.report.run import Run
from support import columns_of, make_policy

FRAME = pl.DataFrame(columns_of())


def made_run(*, bounded: bool = False, told: list[str] | None = None, **others: object) -> Run:
    """Return a verified run of a policy over the table; ``told`` gets the stages."""
    policy = make_policy(**others)  # type: ignore[arg-type]
    stages = Stages((lambda stage: None) if told is None else told.append)
    asked = Request.of(policy, bounded=bounded, previous=[])
    return make_release(table_of(FRAME, policy), asked, stages, MemoryStore(), None)
