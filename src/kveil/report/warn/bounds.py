"""Spans that show exact extremes: each bound is the value of somebody in the group."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.policy.attributes import Ranges
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span
from kveil.report.warn.evidence import Evidence


def exact_ranges(policy: Policy) -> list[str]:
    """Return the attributes whose spans show the smallest and the largest value of a group as they are."""
    specs = {name: policy.attributes[name].hierarchy for name in policy.quasi_identifiers}
    return [
        name
        for name, spec in specs.items()
        if isinstance(spec, Ranges) and spec.round is None and spec.bounds == "values"
    ]


def bound_warning(name: str, share: float, when: str) -> str:
    """Return the warning about an attribute with the share of cells that are one of their span's bounds."""
    return (
        f"{name} shows exact extremes: {when}, {share:.0%} of the cells that show a span are one of its two bounds. "
        "Give `ranges` a `round`, or `bounds: midpoints`."
    )


def expected_bounds(values: Longs, k: int) -> float | None:
    """Return the share of cells that would be a bound if runs of k, in the order of the values, were the groups.

    ``values`` are ranks of numbers. A release groups by other attributes too, so that its groups are wider; with k
    members each, they have no fewer bounds. None where no run would show a span.
    """
    ordered = np.sort(values)
    starts = np.arange(0, max(len(ordered) - k + 1, 1), k)
    if not len(ordered):
        return None
    run = np.minimum(np.arange(len(ordered)) // k, len(starts) - 1)
    low, high = np.minimum.reduceat(ordered, starts)[run], np.maximum.reduceat(ordered, starts)[run]
    wide = low < high
    return float(((ordered == low) | (ordered == high))[wide].mean()) if wide.any() else None


def exact_bounds(evidence: Evidence) -> list[str]:
    """Warn of spans whose bounds are values, with the share of their cells that have exactly one of the two."""
    warnings = []
    for name in exact_ranges(evidence.policy):
        shown = evidence.column(name)
        spans = [parse_span(text) for text in shown.texts]
        wide: Bools = np.array([span is not None and span[0] != span[1] for span in spans], dtype=bool)[shown.codes]
        if not wide.any():
            continue
        was = evidence.original.texts(name).gather(evidence.records).fill_null("")
        times = np.ones(len(shown.codes), dtype=np.int64) if evidence.times is None else evidence.times
        cells_of = pl.DataFrame({"code": shown.codes, "was": was, "times": times}).filter(pl.Series(wide))
        pairs = cells_of.group_by("code", "was").agg(pl.col("times").sum())
        exact = sum(cells for code, text, cells in pairs.iter_rows() if parse_number(text) in (spans[code] or ()))
        warnings.append(bound_warning(name, exact / evidence.count(wide), "in this release"))
    return warnings
