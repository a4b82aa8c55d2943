"""Compare a release with its original: truth, boundaries, unchanged cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.errors import count, listing
from kveil.files import Source
from kveil.policy.constraints import Component
from kveil.policy.hierarchy import Line, climber, fixed_lines, label_test, marked_nodes
from kveil.policy.model import STAR, Attribute, MaxWidth, Policy, Ranges
from kveil.policy.numbers import parse_number, parse_span
from kveil.verify.texts import released_texts

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """How a release differs from its original; ``starred`` are rows whose stars only suppression can give."""

    untrue: int
    beyond: int
    changed: int
    starred: pl.Series
    findings: list[str]


@dataclass(frozen=True)
class Judgement:
    """What an original value allows to be shown for it."""

    known: Callable[[str], bool]
    true: Callable[[str, str], bool]
    within: Callable[[str, str], bool]


def unknown_labels(
    texts: pl.DataFrame, policy: Policy, parts: tuple[Component, ...], starred: pl.DataFrame
) -> list[str]:
    """Return a finding for every attribute that shows what its hierarchy cannot know, without any original."""
    findings = []
    for c, part in enumerate(parts):
        for name in part.attributes:
            spec = policy.attributes[name].hierarchy
            shown = texts[name].filter(~starred[str(c)])
            counts = shown.value_counts(name="cells")
            if isinstance(spec, Ranges):
                known: Callable[[str], bool] = lambda text: text == STAR or parse_span(text) is not None  # noqa: E731
            else:
                known = label_test(spec, fixed_lines(policy, name))
            strange = {
                label: cells
                for label, cells in counts.iter_rows()
                if label != policy.data.missing[0] and not known(label)
            }
            findings += _strangers(name, strange)
    return findings


def _strangers(name: str, strange: dict[str, int]) -> list[str]:
    if not strange:
        return []
    shown = [repr(label[:40]) for label in sorted(strange)[:3]]
    return [
        f"{name} shows {count(len(strange), 'label')} that its hierarchy does not know "
        f"({listing(shown)}{' and more' if len(strange) > 3 else ''}), in {count(sum(strange.values()), 'cell')}."
    ]


def impossible_stars(policy: Policy, parts: tuple[Component, ...], starred: pl.DataFrame) -> pl.Series:
    """Return the rows with a component whose stars no generalization can give, as far as texts alone tell.

    That is where the hierarchy's root is not `*`, or where every leaf has its limit below the root.
    """
    found = pl.Series(np.zeros(starred.height, dtype=bool))
    for c, part in enumerate(parts):
        for name in part.attributes:
            lines = fixed_lines(policy, name)
            if lines is None:
                continue
            ways = {line[0]: line for line in lines.lines if line[0] not in policy.data.missing}
            attribute = policy.attributes[name]
            judge = _judge_tree(attribute, ways.get, list(ways), lines.root, policy.data.missing, has_missing=False)
            if lines.root != STAR or not any(judge.within(leaf, STAR) for leaf in ways):
                found |= starred[str(c)]
    return found


def _pairs(was: pl.Series, shown: pl.Series, star: pl.Series, rows: Rows) -> pl.LazyFrame:
    """Return the distinct pairs (original, shown) of an attribute with how many cells have each."""
    frame = pl.LazyFrame({"was": was}).select(pl.col("was").gather(pl.Series(rows)), shown.alias("shown"))
    if star.any():
        return frame.with_columns(star.alias("star")).group_by("was", "shown", "star").len()
    return frame.group_by("was", "shown").len().select("was", "shown", pl.lit(False).alias("star"), "len")


def compare(
    release: Source,
    original: Source,
    rows: Rows,
    policy: Policy,
    texts: pl.DataFrame,
    parts: tuple[Component, ...],
    starred: pl.DataFrame,
) -> Comparison:
    """Compare every cell of a release with the original's, row by row as ``rows`` aligns them.

    Works on the distinct pairs (original, shown) of each attribute: O(rows) to find them, then O(pairs).
    """
    findings: list[str] = []
    untrue = beyond = changed = 0
    impossible = np.zeros(release.rows, dtype=bool)
    originals = {name: released_texts(original, policy, name) for name in policy.quasi_identifiers}
    owned = [(name, starred[str(c)]) for c, part in enumerate(parts) for name in part.attributes]
    counted = pl.collect_all(_pairs(originals[name], texts[name], star, rows) for name, star in owned)
    for (name, star), pairs in zip(owned, counted, strict=True):
        judge = _judge(policy, name, originals[name])
        strange: dict[str, int] = {}
        wrong = over = 0
        cannot: set[str] = set()
        for was, shown, is_star, cells in pairs.iter_rows():
            if is_star:
                if not (judge.known(STAR) and judge.true(was, STAR) and judge.within(was, STAR)):
                    cannot.add(was)
            elif not judge.true(was, shown):
                if judge.known(shown):
                    wrong += cells
                else:
                    strange[shown] = strange.get(shown, 0) + cells
            elif not judge.within(was, shown):
                over += cells
        if cannot:
            impossible |= (star & originals[name].gather(rows).is_in(list(cannot))).to_numpy()
        findings += _strangers(name, strange)
        if wrong:
            findings.append(f"{name} shows what is not true of the original in {count(wrong, 'cell')}.")
        if over:
            findings.append(f"{name} is generalized beyond its boundary in {count(over, 'cell')}.")
        untrue += wrong + sum(strange.values())
        beyond += over
    for name in policy.released:
        if policy.attributes[name].role == "quasi-identifier":
            continue
        differing = int((release.texts(name).ne_missing(original.texts(name).gather(rows))).sum())
        if differing:
            role = policy.attributes[name].role
            findings.append(f"{name} ({role}) differs from the original in {count(differing, 'cell')}.")
            changed += differing
    return Comparison(untrue, beyond, changed, pl.Series(impossible), findings)


def _judge(policy: Policy, name: str, values: pl.Series) -> Judgement:
    """Return what may be shown for an attribute's values, given all of them as the original has them."""
    attribute = policy.attributes[name]
    missing = policy.data.missing
    if isinstance(attribute.hierarchy, Ranges):
        return _judge_ranges(attribute, missing[0])
    fixed = fixed_lines(policy, name)
    distinct = values.unique().to_list()
    if fixed is not None:
        lines = {line[0]: line for line in fixed.lines}
        return _judge_tree(attribute, lines.get, list(lines), fixed.root, missing, missing[0] in distinct)
    known = [value for value in distinct if value not in missing]
    climb = climber(attribute.hierarchy, known)
    return _judge_tree(attribute, climb, known, STAR, missing, missing[0] in distinct)


def _judge_tree(
    attribute: Attribute,
    climb: Callable[[str], Line | None],
    leaves: list[str],
    root: str,
    missing: tuple[str, ...],
    has_missing: bool,
) -> Judgement:
    """Return what a tree allows; lines are climbed when they are asked for, all of them only where it must be."""
    texts = set(missing)

    def line(was: str) -> Line:
        return (was, root) if was in texts else climb(was) or (was,)

    @cache
    def labels() -> frozenset[str]:
        return frozenset().union((root,), *(line(leaf) for leaf in leaves if leaf not in texts))

    marked = set(marked_nodes(attribute))
    if attribute.boundary is not None and attribute.boundary.form == "level":
        level = attribute.boundary.level
        ways = [line(leaf) for leaf in leaves if leaf not in texts] + [line(missing[0])] * has_missing
        marked = {way[level] for way in ways if len(way) > level}

    def within(was: str, shown: str) -> bool:
        if not marked:
            return True
        for label in line(was):
            if label == shown:
                return True
            if label in marked:
                return False
        return False

    return Judgement(
        known=lambda text: text in labels() or (has_missing and text == missing[0]),
        true=lambda was, shown: shown == was or shown in line(was),
        within=within,
    )


def _judge_ranges(attribute: Attribute, missing: str) -> Judgement:
    widest = attribute.boundary.max_width if isinstance(attribute.boundary, MaxWidth) else None

    def true(was: str, shown: str) -> bool:
        if shown in (STAR, was):
            return True
        number, span = parse_number(was), parse_span(shown)
        return was != missing and number is not None and span is not None and span[0] <= number <= span[1]

    def within(was: str, shown: str) -> bool:
        if widest is None or shown == was:
            return True
        span = parse_span(shown)
        return span is not None and span[1] - span[0] <= widest

    return Judgement(
        known=lambda text: text in (STAR, missing) or parse_span(text) is not None, true=true, within=within
    )
