"""Warming up compiles, and says so."""

from __future__ import annotations

import re

from support import (
    Outcome,
    run,
)


def test_warmup_compiles_and_says_so() -> None:
    outcome = run("warmup")
    assert (outcome.code, outcome.err) == (0, "")
    assert re.fullmatch(r"\d+ kernels are ready\.\n", outcome.out)
    assert run("warmup", "--quiet") == Outcome(0, "", "")
