"""Several threads that share the parts of Mondrian find what one finds."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kveil
from kveil.algorithms.splitting.mondrian import split_kept
from kveil.errors import Unmeetable
from kveil.frames import from_frame
from kveil.kernels.splitting import mondrian, mondrian_loops
from kveil.table.encode import encode
from strategies import examples

QUASI: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": "0", "to": "99", "widths": ["5", "25"]}}},
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {"keep": ["2", "1"]}}},
    "weight": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": ["0", "200"]}}},
    "illness": {"role": "sensitive"},
}
MODELS: list[list[dict[str, str]]] = [
    [{"model": "k-anonymity", "k": "3"}],
    [{"model": "k-anonymity", "k": "2"}, {"model": "l-diversity", "sensitive": "illness", "l": "2"}],
    [{"model": "t-closeness", "sensitive": "illness", "t": "0.4"}],
]


def table_of(seed: int, rows: int) -> pl.DataFrame:
    """A table with missing numbers, in which some rows are equal."""
    draw = np.random.default_rng(seed)
    ages = [str(age) if age else "" for age in draw.integers(0, 40, rows).tolist()]
    zips = [f"{zip_code:03}" for zip_code in draw.integers(100, 130, rows).tolist()]
    weights = draw.integers(50, 70, rows).astype(str).tolist()
    return pl.DataFrame({"age": ages, "zip": zips, "weight": weights, "illness": draw.choice(list("abc"), rows)})


@given(st.integers(0, 10**6), st.integers(4, 120), st.sampled_from(MODELS), st.sampled_from(["widest", "gain"]))
@examples(40)
def test_any_number_of_threads_makes_the_same_parts(seed: int, rows: int, models: list[Any], choose: str) -> None:
    algorithm = {"name": "mondrian", "options": {"choose": choose}}
    policy = kveil.Policy(kveil="1", attributes=QUASI, privacy=models, algorithm=algorithm)
    frame = table_of(seed, rows)
    releases = []
    for several in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mondrian, "MANY", 1)
            patch.setattr(mondrian, "threads", lambda own=several: own)
            try:
                releases.append(kveil.anonymize(frame, policy).data.rows())
            except Unmeetable:
                releases.append([])
    assert releases[0] == releases[1] == releases[2]


def test_threads_share_what_one_of_them_has_copied_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    rows = 70_000  # more than are copied at once, and parts of it are fewer
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":  # the same ways with less to do; compiled loops know their own bound
        rows //= 16
        monkeypatch.setattr(mondrian, "MANY", mondrian.MANY // 16)
        for bound in ("MOST_NEAR", "MOST_CLOSE"):
            monkeypatch.setattr(mondrian_loops, bound, getattr(mondrian_loops, bound) // 16)
    frame = pl.DataFrame({f"q{a}": draw.integers(0, 60, rows).astype(str) for a in range(4)})
    number = {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": "0", "to": "60", "widths": ["5", "20"]}}}
    models = [{"model": "k-anonymity", "k": "5"}]
    policy = kveil.Policy(kveil="1", attributes=dict.fromkeys(frame.columns, number), privacy=models)
    table = encode(from_frame(frame), policy)
    shown = []
    for several in (1, 2):
        monkeypatch.setattr(mondrian, "threads", lambda own=several: own)
        solution, _ = split_kept(table, np.ones(rows, dtype=bool), by_gain=False)
        assert not solution.suppressed.any()
        shown.append([column.codes.tolist() for column in solution.shown])
    assert shown[0] == shown[1]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_runs_of_parts_lie_side_by_side_and_leave_none_out(size: int) -> None:
    starts = np.array([0, 1, 2, 9, 10, 10, 14], dtype=np.int64)
    runs = [run.tolist() for run in mondrian._runs(starts, size)]
    assert [start for run in runs for start in run[:-1]] + [14] == starts.tolist()
    assert all(one[-1] == next_one[0] for one, next_one in pairwise(runs))
    assert all(run[-1] - run[0] >= size for run in runs[:-1])


def test_a_small_table_is_split_without_further_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    # A process that ends early, as with bad data, cannot start one while it loads this in the background.
    begun: list[object] = []
    monkeypatch.setattr(mondrian, "ThreadPoolExecutor", lambda *given, **more: begun.append(given))
    mondrian.split_nothing()
    assert begun == []
