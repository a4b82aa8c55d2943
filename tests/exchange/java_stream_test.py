"""Java's serialization as plain data: what the grammar has, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from arx_settings import (
    BOUNDS,
    SET,
    dates,
    in_order,
    intervals,
    settings,
)
from kveil.errors import KveilError
from kveil.flow.exchange import import_hierarchy


def test_bytes_that_are_cut_off_or_changed_never_fail_otherwise(tmp_path: Path) -> None:
    for whole in (
        intervals([(0, 5, BOUNDS), (5, 7, BOUNDS)], [[(2, BOUNDS)]], upper=(7, 8, 9)),
        in_order([[(2, SET)]], ("a", "b", "c")),
        dates("YEAR"),
    ):
        for at in range(0, len(whole), 7):
            for raw in (whole[:at], whole[:at] + b"\x71" + whole[at + 1 :], whole[:at] + b"\xff" + whole[at + 1 :]):
                with suppress(KveilError):  # and nothing else
                    import_hierarchy(settings(tmp_path, raw))
