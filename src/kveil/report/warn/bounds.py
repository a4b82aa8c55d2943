"""Spans that show exact extremes: each bound is, or tells, the value of somebody in the group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.policy.attributes import Ranges
from kveil.policy.model import Policy
from kveil.policy.numbers import multiple_above, multiple_below, parse_number, parse_span, show_number
from kveil.report.warn.evidence import Evidence

TELLING = 0.5  # of the bounds on a grid: from here on it hides nobody


def span_columns(policy: Policy) -> dict[str, Ranges]:
    """Return the attributes whose groups show spans of numbers."""
    specs = ((name, policy.attributes[name].hierarchy) for name in policy.quasi_identifiers)
    return {name: spec for name, spec in specs if isinstance(spec, Ranges)}


def bound_warning(name: str, share: float, when: str) -> str:
    """Return the warning about an attribute with the share of cells that are one of their span's bounds."""
    return (
        f"{name} shows exact extremes: {when}, {share:.0%} of the cells that show a span are one of its two bounds. "
        "Give `ranges` a `round` that is several times as coarse as the numbers, or `bounds: midpoints`."
    )


def grid_warning(name: str, step: Decimal, share: float, when: str) -> str:
    """Return the warning about bounds on a grid that is too fine, with the share of them that tell an extreme."""
    return (
        f"{name} shows exact extremes: {when}, {share:.0%} of the bounds, moved inward to the next possible number, "
        f"are the smallest or the largest number of their group. Multiples of {show_number(step)} are no coarser than "
        "the numbers; give `ranges` a `round` that is several times as coarse."
    )


@dataclass(frozen=True)
class SpanOfValues:
    """A span as it is shown, and the smallest and the largest of the numbers that show it."""

    shown: tuple[Decimal, Decimal]
    smallest: Decimal
    largest: Decimal


def share_told(spans: Sequence[SpanOfValues], unit: Decimal) -> float:
    """Return the share of bounds that, moved inward to multiples of a unit, are the extremes of their spans."""
    told = sum(
        (multiple_above(span.shown[0], unit) == span.smallest) + (multiple_below(span.shown[1], unit) == span.largest)
        for span in spans
    )
    return told / (2 * len(spans)) if spans else 0.0


def unit_of(numbers: Iterable[Decimal]) -> Decimal:
    """Return the last decimal place that any of some numbers has: 1 where all are whole."""
    places = (number.normalize().as_tuple().exponent for number in numbers)
    return Decimal(1).scaleb(min((place for place in places if isinstance(place, int) and place < 0), default=0))


def expected_bounds(values: Longs, k: int) -> float | None:
    """Return the share of cells that would be a bound if runs of k, in the order of the values, were the groups.

    ``values`` are ranks of numbers. A release groups by other attributes too, so that its groups are wider; with k
    members each, they have no fewer bounds. None where no run would show a span.
    """
    ordered, low, high = _runs(values, k)
    wide = low < high
    return float(((ordered == low) | (ordered == high))[wide].mean()) if wide.any() else None


def expected_told(values: Longs, numbers: Sequence[Decimal], step: Decimal, k: int) -> float:
    """Return the share of bounds on a grid that would tell an extreme if such runs were the groups."""
    _, low, high = _runs(values, k)
    different = np.unique(np.array([low, high])[:, low < high], axis=1).T.tolist()
    extremes = [(numbers[first], numbers[last]) for first, last in different]
    spans = [SpanOfValues((multiple_below(a, step), multiple_above(b, step)), a, b) for a, b in extremes]
    return share_told(spans, unit_of(numbers))


def _runs(values: Longs, k: int) -> tuple[Longs, Longs, Longs]:
    """Return values in order, and the first and the last of each one's run of k; what is left over joins the last."""
    ordered = np.sort(values)
    starts = np.arange(0, max(len(ordered) - k + 1, 1), k)
    if not len(ordered):
        return ordered, ordered, ordered
    run = np.minimum(np.arange(len(ordered)) // k, len(starts) - 1)
    return ordered, np.minimum.reduceat(ordered, starts)[run], np.maximum.reduceat(ordered, starts)[run]


def exact_bounds(evidence: Evidence) -> list[str]:
    """Warn of spans whose bounds are values, or tell them, with the share of their cells, or bounds, that do."""
    warnings = []
    for name, spec in span_columns(evidence.policy).items():
        shown = evidence.column(name)
        spans = [parse_span(text) for text in shown.texts]
        wide: Bools = np.array([span is not None and span[0] != span[1] for span in spans], dtype=bool)[shown.codes]
        if not wide.any():
            continue
        was = evidence.original.texts(name).gather(evidence.records).fill_null("")
        times = np.ones(len(shown.codes), dtype=np.int64) if evidence.times is None else evidence.times
        cells_of = pl.DataFrame({"code": shown.codes, "was": was, "times": times}).filter(pl.Series(wide))
        pairs = cells_of.group_by("code", "was").agg(pl.col("times").sum())
        if spec.grid is None:
            exact = sum(cells for code, text, cells in pairs.iter_rows() if parse_number(text) in (spans[code] or ()))
            warnings.append(bound_warning(name, exact / evidence.count(wide), "in this release"))
            continue
        numbers: defaultdict[int, list[Decimal]] = defaultdict(list)
        for code, text, _ in pairs.iter_rows():
            if (number := parse_number(text)) is not None:
                numbers[code].append(number)
        groups = [SpanOfValues(span, min(own), max(own)) for code, own in numbers.items() if (span := spans[code])]
        share = share_told(groups, unit_of(number for own in numbers.values() for number in own))
        if share > TELLING:
            warnings.append(grid_warning(name, spec.grid, share, "in this release"))
    return warnings
