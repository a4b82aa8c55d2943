"""Compare quasi-identifiers of a release with its original: truth, and boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from kveil.policy.attributes import STAR, Attribute, Intervals, MaxWidth, Ranges
from kveil.policy.builders import label_test, label_writer
from kveil.policy.hierarchy import WaysUp, marked_nodes
from kveil.policy.lines import Line
from kveil.policy.model import Policy
from kveil.policy.numbers import EXACT, parse_number, parse_span
from kveil.stopping import check_cancelled
from kveil.verifier.alignment import SHOWN, WAS, BesideOriginal
from kveil.verifier.rows import ITEM, ROW, SIZE, Rows, is_text
from kveil.verifier.stars import Stars
from kveil.words import count, listing


@dataclass(frozen=True)
class Differences:
    """How a release differs from its original.

    ``impossible`` are, per component, the rows whose stars only suppression can give.
    """

    untrue: int
    beyond: int
    changed: int
    impossible: tuple[pl.Series, ...]
    findings: list[str]


@dataclass(frozen=True)
class Allowed:
    """What an original value allows to be shown for it; ``stars`` is False where no group would show `*`."""

    known: Callable[[str], bool]
    true: Callable[[str, str], bool]
    within: Callable[[str, str], bool]
    stars: bool = True


def unknown_labels(rows: Rows, policy: Policy, stars: Stars) -> list[str]:
    """Return findings for attributes that show what their hierarchy cannot know or allow, without any original."""
    findings = []
    for name, star in stars.by_attribute():
        counts = dict(rows.counts(name))
        counts[STAR] = counts.get(STAR, 0) - rows.count(star)  # stars of suppression are no labels
        if not counts[STAR]:
            del counts[STAR]
        spec = policy.attributes[name].hierarchy
        if isinstance(spec, Ranges):
            known: Callable[[str], bool] = lambda text: text == STAR or parse_span(text) is not None  # noqa: E731
        else:
            known = label_test(spec, policy.fixed_lines(name))
        strange = {
            label: cells for label, cells in counts.items() if label != policy.data.missing[0] and not known(label)
        }
        findings += _strangers(name, strange)
        beyond = counts.get(STAR, 0)
        if beyond and STAR not in strange and _stars_are_beyond(policy, name, whole_column=len(counts) == 1):
            findings.append(f"{name} is generalized beyond its boundary in {count(beyond, 'cell')}.")
    return findings


def _stars_are_beyond(policy: Policy, name: str, *, whole_column: bool) -> bool:
    """Tell whether the boundary of an attribute allows no `*`, or only where all of a whole column was missing."""
    return _never_star(policy, name) or (whole_column and _never_star(policy, name, missing_too=False))


def unknown_items(rows: Rows, policy: Policy) -> list[str]:
    """Return a finding for every sensitive attribute that shows a value its hierarchy does not know."""
    findings = []
    for name, items in rows.items.items():
        lines = policy.fixed_lines(name)
        if name in policy.generalized:
            known = label_test(policy.attributes[name].hierarchy, lines)
            shown = items if not rows.starred.any() else items.filter(~rows.starred.gather(items[ROW]))
            counts = rows.tally(shown, [ITEM], SIZE, rows=shown[ROW].to_numpy()).drop_nulls(ITEM)
            findings += _strangers(name, {item: cells for item, cells in counts.iter_rows() if not known(item)})
        elif lines is not None:
            leaves = {line[0] for line in lines.lines} | {STAR}
            strange = {item: cells for item, cells in rows.counts(name).items() if item not in leaves}
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


def impossible_stars(policy: Policy, stars: Stars) -> tuple[pl.Series, ...]:
    """Return per component the rows whose stars no generalization can give, as far as texts alone tell.

    That is where the hierarchy's root is not `*`, or where no value may reach it. Missing hangs under the root, so
    a boundary below it limits missing only if it is drawn at the leaves themselves.
    """
    nobody = pl.Series(np.zeros(len(stars.everywhere), dtype=bool))
    return tuple(
        starred if any(_never_star(policy, name) for name in part.attributes) else nobody
        for part, starred in zip(stars.parts, stars.rows, strict=True)
    )


def _never_star(policy: Policy, name: str, *, missing_too: bool = True) -> bool:
    """Tell whether no value can be shown as `*`, missing (which hangs under the root) counted or not."""
    attribute, missing = policy.attributes[name], policy.data.missing
    boundary = attribute.boundary
    if isinstance(boundary, MaxWidth) or (boundary is not None and boundary.form == "level" and boundary.level == 0):
        return True
    lines = policy.fixed_lines(name)
    if lines is None:
        return False
    ways = policy.ways_up(name, ())
    judge = _judge_tree(attribute, ways, missing[0], has_missing=True)
    return lines.root != STAR or not any(judge.within(leaf, STAR) for leaf in (*ways.leaves, *missing[:missing_too]))


def compare_generalized(aligned: BesideOriginal, policy: Policy, stars: Stars) -> Differences:
    """Compare the quasi-identifiers: truth, boundaries, and stars that only suppression can give.

    Works on the distinct pairs (original, shown) of each attribute: O(records) to find them, then O(pairs). A
    person's cell must be true of every record the person has.
    """
    before, rows = aligned.before, aligned.rows
    findings: list[str] = []
    untrue = beyond = 0
    impossible = {part: np.zeros(rows.height, dtype=bool) for part in stars.parts}
    part_of = {name: part for part in stars.parts for name in part.attributes}
    for column in aligned.generalized(policy, stars):
        check_cancelled()
        name, pairs = column.name, column.pairs
        if not pairs.height:
            continue
        # Intervals are of whole numbers if all values are that a row shows something of.
        judge = _judge(policy, name, column.values, pairs.filter(pl.col(SHOWN) != STAR)[WAS])
        cells = _judge_pairs(judge, pairs)
        if cells.cannot_be_star and not before.persons:
            impossible[part_of[name]] |= aligned.starred_with(name, column.star, cells.cannot_be_star)
        findings += _strangers(name, cells.strange)
        if cells.wrong:
            findings.append(f"{name} shows what is not true of the original in {count(cells.wrong, 'cell')}.")
        if cells.beyond:
            findings.append(f"{name} is generalized beyond its boundary in {count(cells.beyond, 'cell')}.")
        untrue += cells.wrong + sum(cells.strange.values())
        beyond += cells.beyond
    per_part = tuple(pl.Series(rows_of) for rows_of in impossible.values())
    return Differences(untrue, beyond, 0, per_part, findings)


@dataclass(frozen=True)
class _Cells:
    """What is wrong with an attribute's cells: unknown labels with their number, untrue ones, those beyond a boundary.

    ``cannot_be_star`` are original values that no generalization may show as `*`, and that are shown so.
    """

    strange: dict[str, int]
    wrong: int
    beyond: int
    cannot_be_star: set[str]


def _judge_pairs(judge: Allowed, pairs: pl.DataFrame) -> _Cells:
    strange: dict[str, int] = {}
    wrong = beyond = 0
    cannot: set[str] = set()
    true, within = judge.true, judge.within
    for was, shown, is_star, cells in zip(*(column.to_list() for column in pairs), strict=True):
        if is_star:
            if not (judge.stars and judge.known(STAR) and judge.true(was, STAR) and judge.within(was, STAR)):
                cannot.add(was)
        elif not true(was, shown):
            if judge.known(shown):
                wrong += cells
            else:
                strange[shown] = strange.get(shown, 0) + cells
        elif not within(was, shown):
            beyond += cells
    return _Cells(strange, wrong, beyond, cannot)


def _judge(policy: Policy, name: str, values: pl.Series, decisive: pl.Series) -> Allowed:
    """Return what may be shown for an attribute's values, given all of them as the original has them.

    ``decisive`` are the values that say how `intervals` are written.
    """
    attribute, missing = policy.attributes[name], policy.data.missing
    has_missing = bool(is_text(values, missing[0]).any())
    if isinstance(attribute.hierarchy, Ranges):
        return _judge_ranges(attribute, missing[0], has_missing=has_missing)
    ways = policy.ways_up(name, _distinct(values))
    writer = None
    if isinstance(attribute.hierarchy, Intervals):
        writer = label_writer(attribute.hierarchy, decisive.to_list())
    return _judge_tree(attribute, ways, missing[0], has_missing=has_missing, writer=writer)


def _distinct(values: pl.Series) -> Iterator[str]:
    """Give a column's distinct values, found only once somebody asks for them."""
    yield from values.unique().to_list()


def _judge_tree(
    attribute: Attribute, ways: WaysUp, missing: str, *, has_missing: bool, writer: Callable[[str], str] | None = None
) -> Allowed:
    """Return what a tree allows; lines are climbed when they are asked for, all of them only where it must be.

    ``writer`` says how the release writes the labels of the lines, where that is not how the tree has them.
    """
    line = cache(ways.of if writer is None else _written(ways, cache(writer)))

    @cache
    def labels() -> frozenset[str]:
        return frozenset().union((ways.root,), *(line(leaf) for leaf in ways.leaves))

    marked = set(marked_nodes(attribute))
    if attribute.boundary is not None and attribute.boundary.form == "level":
        level = attribute.boundary.level
        lines = [line(leaf) for leaf in ways.leaves] + [line(missing)] * has_missing
        marked = {way[level] for way in lines if len(way) > level}

    def within(was: str, shown: str) -> bool:
        if not marked:
            return True
        for label in line(was):
            if label == shown:
                return True
            if label in marked:
                return False
        return False

    return Allowed(
        known=lambda text: text in labels() or (has_missing and text == missing),
        true=lambda was, shown: shown == was or shown in line(was),
        within=within,
    )


def _written(ways: WaysUp, writer: Callable[[str], str]) -> Callable[[str], Line]:
    """Return the function from a value to its way up, with labels as a release writes them."""

    def line(value: str) -> Line:
        leaf, *above = ways.of(value)
        return (leaf, *map(writer, above))

    return line


def _judge_ranges(attribute: Attribute, missing: str, *, has_missing: bool) -> Allowed:
    widest = attribute.widest

    def true(was: str, shown: str) -> bool:
        if shown in (STAR, was):
            return True
        number, span = parse_number(was), parse_span(shown)
        return was != missing and number is not None and span is not None and span[0] <= number <= span[1]

    def within(was: str, shown: str) -> bool:
        if widest is None or shown == was:
            return True
        span = parse_span(shown)
        return span is not None and EXACT.subtract(span[1], span[0]) <= widest

    return Allowed(
        known=lambda text: text in (STAR, missing) or parse_span(text) is not None,
        true=true,
        within=within,
        stars=has_missing,  # a group shows `*` only where it mixes numbers and missing
    )
