"""The compiled check of all models, beside reckoning each on the rows themselves."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.models import layout as kinds
from kveil.kernels.models import models_loops as loops
from kveil.kernels.models.layout import Needs, SensitiveCodes, new_models

KNOWN = 3  # the code of missing


@numba.njit
def judged(models: Any, rows: Any) -> bool:
    for row in rows:
        loops.count_values(models, row)
    good = loops.holds(models, 0, len(models.needs.kind), len(rows))
    loops.clear(models)
    return good


def laid(values: list[int], kind: int, k: int, share: tuple[int, int], bound: float) -> Any:
    """One value per row; for distances the values stand in a line, the first two below a node of their own."""
    whole = np.bincount(values, minlength=KNOWN + 1)[None, :] / len(values)
    ancestor = np.array([[[2, 1, 0], [3, 1, 0], [4, 0, -1], [5, 0, -1]]], dtype=np.int32)
    edge = np.array([[0.0, 0.25, 0.25, 0.25, 0.5, 0.5]])
    mass = np.zeros((1, 6))
    for code in range(KNOWN + 1):
        for node in ancestor[0, code]:
            if node >= 0:
                mass[0, node] += whole[0, code]
    needs = Needs(
        np.array([kind], dtype=np.int32), np.zeros(1, dtype=np.int32), np.array([k], dtype=np.int64),
        np.array([share[0]], dtype=np.int64), np.array([share[1]], dtype=np.int64), np.array([bound]),
    )  # fmt: skip
    codes = SensitiveCodes(
        np.arange(len(values) + 1, dtype=np.int64)[None, :], np.array(values, dtype=np.int32),
        np.ones(len(values), dtype=np.int64), np.array([KNOWN], dtype=np.int32), whole, ancestor, edge, mass,
    )  # fmt: skip
    return new_models(needs, codes)


def slowly(values: list[int], group: list[int], kind: int, k: int, share: tuple[int, int], bound: float) -> bool:
    if len(group) < k:
        return False
    counts = Counter(values[row] for row in group)
    known = sorted((n for code, n in counts.items() if code < KNOWN), reverse=True)
    up, down = share
    if kind == kinds.AT_LEAST_K:
        return True
    if kind == kinds.DISTINCT:
        return len(known) >= up
    if kind == kinds.ENTROPY:
        total = sum(known)
        return total > 0 and -sum(n / total * log(n / total) for n in known) >= bound - 1e-9
    if kind == kinds.RECURSIVE:
        return bool(known) and known[0] * down < sum(known[int(bound) - 1 :]) * up
    if kind == kinds.FREQUENCY:
        return max(known, default=0) * up <= len(group) * down
    if kind == kinds.ALPHA:
        return max(counts.values()) * down <= len(group) * up
    whole, here = Counter(values), [Counter(values)[code] / len(values) for code in range(KNOWN + 1)]
    own = [counts[code] / len(group) for code in range(KNOWN + 1)]
    apart = [p - q for p, q in zip(own, here, strict=True)]
    if kind == kinds.EQUAL:
        return sum(map(abs, apart)) / 2 <= bound + 1e-9
    if kind == kinds.ORDERED:
        present = [code for code in range(KNOWN + 1) if whole[code]]
        running = [sum(apart[code] for code in present[: i + 1]) for i in range(len(present))]
        return sum(map(abs, running)) / max(len(present) - 1, 1) <= bound + 1e-9
    crossing = 0.25 * abs(apart[0] + apart[1]) + sum(
        w * abs(d) for w, d in zip([0.25, 0.25, 0.5, 0.5], apart, strict=True)
    )
    return crossing <= bound + 1e-9


@pytest.mark.parametrize(
    ("kind", "k", "share", "bound"),
    [
        (kinds.AT_LEAST_K, 3, (0, 1), 0.0),
        (kinds.DISTINCT, 1, (2, 1), 0.0),
        (kinds.ENTROPY, 1, (0, 1), log(1.8)),
        (kinds.RECURSIVE, 1, (3, 2), 2.0),
        (kinds.FREQUENCY, 1, (3, 2), 0.0),
        (kinds.ALPHA, 2, (1, 2), 0.0),
        (kinds.EQUAL, 1, (0, 1), 0.3),
        (kinds.ORDERED, 1, (0, 1), 0.25),
        (kinds.HIERARCHICAL, 1, (0, 1), 0.3),
    ],
)
def test_a_group_is_good_where_its_rows_say_so(kind: int, k: int, share: tuple[int, int], bound: float) -> None:
    random = np.random.default_rng(kind)
    verdicts = set()
    for _ in range(60):
        values = random.integers(0, KNOWN + 1, 8).tolist()
        group = random.choice(8, int(random.integers(1, 7)), replace=False)
        models = laid(values, kind, k, share, bound)
        expected = (
            len(group) >= k if kind == kinds.AT_LEAST_K else slowly(values, group.tolist(), kind, k, share, bound)
        )
        assert bool(judged(models, group.astype(np.int64))) == expected, (values, group)
        assert not models.tally.any()
        assert not models.used.any()
        assert not models.below.any()
        verdicts.add(expected)
    assert verdicts == {True, False}


def test_nothing_is_asked_where_there_are_no_models() -> None:
    assert judged(kinds.no_models(), np.array([0, 0, 0], dtype=np.int64)[:0])
