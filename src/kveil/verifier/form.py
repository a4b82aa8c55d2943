"""The one form of a release: what kveil would write for the same cells, so that nothing hides in how a cell is written.

The models count cells that mean the same as equal. Whoever writes them in different ways, one per person, tells more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.errors import PolicyError
from kveil.files import Source, as_texts, exact_values, item_texts
from kveil.files.texts import has_exact_values
from kveil.policy.attributes import STAR, Hierarchy, Intervals, Ranges
from kveil.policy.builders import build_lines
from kveil.policy.interval_scale import IntervalScale
from kveil.policy.lines import Line, in_preorder
from kveil.policy.model import Policy
from kveil.policy.numbers import EXACT, parse_number, parse_span, show_number, show_span
from kveil.verifier.alignment import VALUE, BesideOriginal
from kveil.verifier.rows import INDIVIDUAL, ROW, TIMES, CountedSource, Rows, is_text
from kveil.words import count

ITEMS_ONCE = "each item once, in the order of its hierarchy"
SETS = f"{ITEMS_ONCE}, joined by `|`"
RECORDS_SORTED = "a row per record, sorted by the cells of the sensitive columns"
SETS_AT_ONCE = 1 << 17  # sets whose items are laid side by side


@dataclass
class Form:
    """What is wrong with how cells are written, and what may be."""

    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_form(release: Source, rows: Rows, policy: Policy, aligned: BesideOriginal | None) -> Form:
    """Check that every cell of a release is in its one form."""
    form = Form()
    for name in policy.quasi_identifiers:
        form.findings += _missing_texts(release, rows, policy, name)
        spec = policy.attributes[name].hierarchy
        if not isinstance(spec, (Intervals, Ranges)):
            continue
        labels = set(rows.labels(name)) - {STAR, policy.data.missing[0]}
        if isinstance(spec, Ranges):
            form.findings += _spans(name, spec, rows, labels)
        else:
            form.findings += _notations(name, spec, labels)
    if rows.persons and policy.release.shape == "sets":
        for name in policy.with_role("sensitive"):
            form.findings += _sets(release, rows, policy, name, aligned)
    elif rows.persons:
        form.findings += _numbering(release, rows)
        form.findings += _constant(release, rows, policy)
        form.findings += _order_of_rows(release, rows, policy, aligned)
    for name in policy.released:
        _precision(_cells_of(release, rows, name), policy, name, aligned, form)
    return form


def _missing_texts(release: Source, rows: Rows, policy: Policy, name: str) -> list[str]:
    """Return a finding where missing is written in more than one way, or in another than the policy's first."""
    texts = release.held(name)
    others = [text for text in policy.data.missing[1:] if text != STAR]
    written = rows.count(texts.is_in(others).fill_null(value=False)) if others else 0
    absent = rows.count(texts.is_null())
    if absent and (written or is_text(texts, policy.data.missing[0]).any()):
        written += absent
    if not written:
        return []
    return [
        f"{name} writes missing in {count(written, 'cell')} otherwise than by {policy.data.missing[0]!r}, the first "
        "text of data.missing."
    ]


def _spans(name: str, spec: Ranges, rows: Rows, labels: set[str]) -> list[str]:
    """Return findings about spans that are not written as kveil writes them, or not rounded as the policy asks."""
    spans = {label: span for label in labels if (span := parse_span(label)) is not None}
    odd = [label for label, span in spans.items() if show_span(*span) != label]
    findings = []
    if odd:
        findings.append(f"{name} writes spans in another way than `low-high` in {_cells_with(rows, name, odd)}.")
    step = spec.grid
    if step is None:
        return findings
    ends = spec.within if spec.bounds == "midpoints" else ()
    rough = [
        label
        for label, span in spans.items()
        if span[0] != span[1] and any(bound not in ends and EXACT.remainder(bound, step) for bound in span)
    ]
    if rough:
        besides = " and no ends of the domain" if ends else ""
        findings.append(
            f"{name} shows bounds that are no multiples of {show_number(step)}{besides} in "
            f"{_cells_with(rows, name, rough)}."
        )
    return findings


def _cells_with(rows: Rows, name: str, labels: list[str]) -> str:
    return count(rows.count(rows.texts[name].is_in(labels)), "cell")


def _notations(name: str, spec: Intervals, labels: set[str]) -> list[str]:
    """Return a finding where some intervals are written for whole numbers (`60-69`) and others not (`[60,70)`)."""
    whole, any_number = IntervalScale(spec, real=False), IntervalScale(spec, real=True)
    known = {label for label in labels if whole.knows(label) or any_number.knows(label)}
    if all(map(whole.knows, known)) or all(map(any_number.knows, known)):
        return []
    return [f"{name} writes intervals of whole numbers and of others side by side; only one of the two is right."]


# ---------------------------------------------------------------------------------------------- sets of items


def _sets(release: Source, rows: Rows, policy: Policy, name: str, aligned: BesideOriginal | None) -> list[str]:
    """Return a finding about sets of items that are not in their one form."""
    column = release.column(name)
    shown = policy.data.missing[0]
    if column.dtype == pl.List:
        lists = item_texts(column)
        odd = pl.Series(np.zeros(len(lists), dtype=bool))
        if column.null_count() and (column.list.len() == 0).any():
            odd |= column.is_null()  # nothing is written in two ways
    else:
        texts = release.texts(name)
        nothing = (texts == shown) | texts.is_null()
        lists = texts.str.split("|").to_frame("set").select(pl.when(~nothing).then("set").alias("set"))["set"]
        odd = texts.is_in([text for text in policy.data.missing[1:] if text != STAR]).fill_null(value=False)
    pieces = [lists.slice(begin, SETS_AT_ONCE) for begin in range(0, len(lists), SETS_AT_ONCE)]
    different = {item for piece in pieces for item in piece.explode(empty_as_null=True).drop_nulls().unique().to_list()}
    place = _places(policy, name, sorted(different), aligned)
    missing = [text for text in policy.data.missing if text != STAR]
    wrong = [_oddly_written(piece, place, missing) for piece in pieces]
    number = rows.count((odd | pl.Series(np.concatenate([np.zeros(0, dtype=bool), *wrong]))).fill_null(value=False))
    return [f"{name} shows {count(number, 'set')} in another form than {SETS}."] if number else []


def _oddly_written(lists: pl.Series, place: Mapping[str, int], missing: list[str]) -> Bools:
    """Return which sets name missing as an item, or have items out of their order or twice."""
    laid = pl.DataFrame({ROW: np.arange(len(lists)), "item": lists}).explode("item", empty_as_null=True)
    laid = laid.filter(~pl.Series(lists.list.len().fill_null(0) == 0).gather(laid[ROW]))
    at = pl.col("item").replace_strict(list(place), list(place.values()), default=None, return_dtype=pl.Int64)
    if not place:  # nothing is known of their order
        at = pl.struct(ROW, "item").is_first_distinct().cum_sum().cast(pl.Int64)
    again = (at <= at.shift(1)) & (pl.col(ROW) == pl.col(ROW).shift(1))
    barred = pl.col("item").is_null() | pl.col("item").is_in(missing)
    wrong = laid.select(ROW, (barred | again).fill_null(value=False).alias("odd"))
    found = np.zeros(len(lists), dtype=bool)
    found[wrong.filter(pl.col("odd"))[ROW].to_numpy()] = True
    return found


def _built(spec: Hierarchy, values: list[str]) -> tuple[Line, ...]:
    """Return a tree over values; none where these are labels already, which is found elsewhere."""
    try:
        return build_lines(spec, values, "")[0].lines
    except PolicyError:
        return ()


def _places(policy: Policy, name: str, items: list[str], aligned: BesideOriginal | None) -> dict[str, int]:
    """Return the place of every shown item in the order of its hierarchy, children after their parents.

    Without a hierarchy numbers stand by size and texts by code point. A tree that is built over values is one over
    those of released persons, which for generalized items only the original tells; without it items must only not
    repeat. Stars of suppression have no say in it.
    """
    spec = policy.attributes[name].hierarchy
    items = [item for item in items if item not in policy.data.missing]
    if spec is None:
        items = [item for item in items if item != STAR]
        numbers = {item: parse_number(item) for item in items}
        if all(number is not None for number in numbers.values()):
            items.sort(key=lambda item: (numbers[item], item))
        else:
            items.sort()
        return {item: place for place, item in enumerate(items)}
    fixed = policy.fixed_lines(name)
    lines: tuple[Line, ...] = ()
    if fixed is not None:
        lines = fixed.lines
    elif name not in policy.generalized:
        lines = _built(spec, [item for item in items if item != STAR])
    elif aligned is not None:
        lines = _built(spec, aligned.items_released(name))
    order = {label: place for place, label in enumerate(in_preorder(lines))}
    if not lines:
        return {}
    beyond = [item for item in sorted(items) if item not in order]  # unknown items are found elsewhere
    return order | {item: len(order) + place for place, item in enumerate(beyond)}


# ---------------------------------------------------------------------------------------------- long releases


def _numbering(release: Source, rows: Rows) -> list[str]:
    """Return a finding where the column that numbers persons does anything else."""
    expected = pl.Series(rows.row_of + 1).cast(pl.String)
    ids = release.texts(INDIVIDUAL)
    if (ids == expected).all() and bool((np.diff(rows.row_of) >= 0).all()):
        return []
    return [f"{INDIVIDUAL} does not number the people from 1 on in the order of the release, each one's rows together."]


def _order_of_rows(release: Source, rows: Rows, policy: Policy, aligned: BesideOriginal | None) -> list[str]:
    """Return a finding where the rows of a person stand in an order that tells something, or an item is repeated.

    One sensitive attribute: each item once, in the order of its hierarchy. Several: records by the cells of the first
    one, then of the next, missing last.
    """
    names = [name for name in release.columns if name in policy.with_role("sensitive")]
    keys: dict[str, pl.Series] = {}
    for name in names:
        texts = release.texts(name).fill_null(policy.data.missing[0])
        place = _places(policy, name, texts.unique().to_list(), aligned)
        if place:
            ranks = pl.Series(list(place), dtype=pl.String), list(place.values())
            keys[f"place {name}"] = texts.replace_strict(*ranks, default=len(place), return_dtype=pl.Int64)
            keys[f"text {name}"] = texts
    laid = pl.DataFrame({ROW: rows.row_of, **keys}).sort(ROW, maintain_order=True)
    ordered = laid.sort(ROW, *keys)
    differs = pl.any_horizontal([laid[key] != ordered[key] for key in keys] or [pl.lit(False)])
    people = set(laid.filter(differs)[ROW].to_list())
    form = RECORDS_SORTED
    if len(names) == 1:
        form = ITEMS_ONCE
        nothing = texts.is_in([text for text in policy.data.missing if text != STAR])
        items = pl.DataFrame({ROW: rows.row_of, "text": texts, "nothing": nothing})
        repeated = items.is_duplicated() | (items["nothing"] & items[ROW].is_duplicated())
        people.update(items[ROW].filter(repeated).to_list())
    return [f"the rows of {count(len(people), 'person')} are in another form than {form}."] if people else []


def _constant(release: Source, rows: Rows, policy: Policy) -> list[str]:
    """Return findings about insensitive cells that differ within a person."""
    findings = []
    for name in policy.with_role("insensitive"):
        texts, exact = release.texts(name), exact_values(release.column(name))
        differs = texts.ne_missing(texts.gather(rows.source).gather(rows.row_of))
        differs |= exact.ne_missing(exact.gather(rows.source).gather(rows.row_of))
        if differs.any():
            findings.append(f"{name} (insensitive) differs within one person in {count(int(differs.sum()), 'row')}.")
    return findings


# ---------------------------------------------------------------------------------------------- typed columns


def _precision(cells: _TypedCells, policy: Policy, name: str, aligned: BesideOriginal | None, form: Form) -> None:
    """Tell of cells of a typed column that hold more than their texts show: nanoseconds, or a minus before 0.

    With the original, the cells of records are compared with their own; see `truth`.
    """
    column = cells.values
    hidden = cells.count(below_text(column))
    if not hidden:
        return
    told = more_than_text(name, hidden)
    role = policy.attributes[name].role
    if role == "quasi-identifier":
        form.findings.append(f"{told}; write them as texts.")
    elif aligned is None:
        form.warnings.append(f"{told}; only the original says whether that is its own.")
    elif role == "sensitive" and policy.individual_column is not None:
        before = aligned.original_cells(name)
        shown = pl.DataFrame({"text": as_texts(column), "value": exact_values(column)}).unique()
        own = (
            before.dtype == column.dtype
            and shown["value"].is_in(exact_values(before).to_list(), nulls_equal=True).all()
        )
        if not own or shown["text"].is_duplicated().any():
            form.findings.append(f"{told}, which the original does not have.")


@dataclass(frozen=True)
class _TypedCells:
    """A column's cells, items of sets one by one, with how many there are of each where equal ones count together."""

    values: pl.Series
    times: Longs | None

    def count(self, chosen: pl.Series) -> int:
        return int(chosen.sum()) if self.times is None else int(self.times[chosen.to_numpy()].sum())


def _cells_of(release: Source, rows: Rows, name: str) -> _TypedCells:
    if isinstance(release, CountedSource) and name in release.apart:
        values = release.apart[name].values
        return _TypedCells(values[VALUE], values[TIMES].to_numpy())
    column = release.column(name)
    if column.dtype != pl.List:
        return _TypedCells(column, rows.times)
    laid = pl.DataFrame({ROW: np.arange(len(column)), "item": column}).explode("item", empty_as_null=True)
    return _TypedCells(laid["item"], None if rows.times is None else rows.times[laid[ROW].to_numpy()])


def more_than_text(name: str, cells: int) -> str:
    """Return the beginning of a sentence about cells that hold more than their texts show."""
    return f"{name} has {count(cells, 'cell')} with more than their texts show (nanoseconds, or a minus before 0)"


def below_text(column: pl.Series) -> pl.Series:
    """Return which cells hold more than their texts show."""
    if not has_exact_values(column.dtype):
        return pl.Series([False]).new_from_index(0, len(column))
    exact = exact_values(column)
    if column.dtype.is_float():
        numbers = column.cast(pl.Float64)
        zero, no_number = pl.Series([0.0]), pl.Series([float("nan")])
        plain = pl.select(pl.when(numbers == 0).then(zero).when(numbers.is_nan()).then(no_number).otherwise(numbers))
        return (exact != exact_values(plain.to_series())).fill_null(value=False)
    return (exact % 1000 != 0).fill_null(value=False)
