"""Compare quasi-identifiers of a release with its original: truth, and boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.files import Source
from kveil.policy.attributes import STAR, Attribute, Intervals, MaxWidth, Ranges
from kveil.policy.builders import label_test, label_writer
from kveil.policy.hierarchy import WaysUp, marked_nodes
from kveil.policy.lines import Line
from kveil.policy.model import Policy
from kveil.policy.numbers import EXACT, parse_number, parse_span
from kveil.verifier.rows import ITEM, ROW, Rows, is_text, released_texts
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
        counts[STAR] = counts.get(STAR, 0) - int(star.sum())  # stars of suppression are no labels
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
            counts = shown[ITEM].drop_nulls().value_counts(name="cells")
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


def _star_is_free(policy: Policy, name: str) -> bool:
    """Tell whether `*` is true of every value of an attribute, and within its boundary since it has none."""
    lines = policy.fixed_lines(name)
    return policy.attributes[name].boundary is None and (lines is None or lines.root == STAR)


@dataclass(frozen=True)
class _Asked:
    """Which cells are asked about: `*` unless it is ``free``, values that show ``themselves`` or not."""

    free: bool
    themselves: bool


def _asked(policy: Policy, name: str) -> _Asked:
    """Return which cells of an attribute need a judgement, or say how others are written."""
    return _Asked(_star_is_free(policy, name), isinstance(policy.attributes[name].hierarchy, Intervals))


def _pairs(was: pl.Series, shown: pl.Series, star: pl.Series, aligned: Aligned, asked: _Asked) -> pl.LazyFrame:
    """Return the distinct pairs (original, shown) of an attribute with how many records have each."""
    if asked.free and not star.any() and is_text(shown, STAR).all():
        return pl.LazyFrame(schema={"was": pl.String, "shown": pl.String, "star": pl.Boolean, "len": pl.UInt32})
    frame = pl.LazyFrame({"was": was}).select(pl.col("was").gather(pl.Series(aligned.records)))
    if aligned.row_of is not None:
        shown, star = shown.gather(aligned.row_of), star.gather(aligned.row_of)
    frame = frame.with_columns(shown.alias("shown"))
    if was.dtype != shown.dtype:  # categories of their own: compared by what they mean, once equal pairs are counted
        frame = frame.with_columns(star.alias("star")).group_by("was", "shown", "star").len()
        frame = frame.with_columns(pl.col("was", "shown").cast(pl.String))
        return frame.filter(_cells(asked) | pl.col("star")).select("was", "shown", "star", "len")
    cells = _cells(asked)
    if star.any():
        return (
            frame.with_columns(star.alias("star")).filter(cells | pl.col("star")).group_by("was", "shown", "star").len()
        )
    return frame.filter(cells).group_by("was", "shown").len().select("was", "shown", pl.lit(False).alias("star"), "len")


def _cells(asked: _Asked) -> pl.Expr:
    """Return which pairs of an original and a shown text are asked about, rows of stars aside."""
    cells = pl.lit(asked.themselves) | (pl.col("shown") != pl.col("was"))
    return cells & (pl.col("shown") != STAR) if asked.free else cells


@dataclass(frozen=True)
class Aligned:
    """A release beside its original: ``places`` gives each released row's row among the rows ``before``.

    ``records`` are the original's records of released rows, ``row_of`` the released row of each, None where these are
    the rows in order.
    """

    release: Source
    rows: Rows
    original: Source
    before: Rows
    places: Longs
    records: Longs
    row_of: Longs | None

    @classmethod
    def of(cls, release: Source, rows: Rows, original: Source, before: Rows, places: Longs) -> Aligned:
        """Lay a release beside its original."""
        return cls(release, rows, original, before, places, *_record_alignment(before, places))

    def items_released(self, name: str) -> list[str]:
        """Return the different values of a sensitive attribute that released persons have, those starred left out."""
        here = self.places[~self.rows.starred.to_numpy()]
        pairs = self.before.items[name].filter(pl.col(ROW).is_in(here))
        return pairs[ITEM].drop_nulls().unique().sort().to_list()


def _record_texts(aligned: Aligned, policy: Policy) -> dict[str, pl.Series]:
    """Return the quasi-identifiers of the original's records; of persons, the rows have those of one record alone."""
    if not aligned.before.persons:
        return {name: aligned.before.texts[name] for name in policy.quasi_identifiers}
    return {name: released_texts(aligned.original, policy, name) for name in policy.quasi_identifiers}


def compare_generalized(aligned: Aligned, policy: Policy, stars: Stars) -> Differences:
    """Compare the quasi-identifiers: truth, boundaries, and stars that only suppression can give.

    Works on the distinct pairs (original, shown) of each attribute: O(records) to find them, then O(pairs). A
    person's cell must be true of every record the person has.
    """
    before, rows = aligned.before, aligned.rows
    findings: list[str] = []
    untrue = beyond = 0
    impossible = {part: np.zeros(rows.height, dtype=bool) for part in stars.parts}
    part_of = {name: part for part in stars.parts for name in part.attributes}
    originals = _record_texts(aligned, policy)
    owned = list(stars.by_attribute())
    intervals = [name for name, _ in owned if isinstance(policy.attributes[name].hierarchy, Intervals)]
    counted = pl.collect_all(
        [_pairs(originals[name], rows.texts[name], star, aligned, _asked(policy, name)) for name, star in owned]
        + [pl.LazyFrame({"value": originals[name]}).unique() for name in intervals]
    )
    pairs_of = zip(owned, counted[: len(owned)], strict=True)
    distinct = {name: frame["value"] for name, frame in zip(intervals, counted[len(owned) :], strict=True)}
    for (name, star), pairs in pairs_of:
        if not pairs.height:
            continue
        # Intervals are of whole numbers if all values are that a row shows something of.
        values = distinct.get(name, originals[name])
        judge = _judge(policy, name, values, pairs.filter(pl.col("shown") != STAR)["was"])
        cells = _judge_pairs(judge, pairs)
        if cells.cannot_be_star and not before.persons:
            value = originals[name].gather(aligned.places)
            impossible[part_of[name]] |= (star & value.is_in(list(cells.cannot_be_star))).to_numpy()
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
    for was, shown, is_star, cells in pairs.iter_rows():
        if is_star:
            if not (judge.stars and judge.known(STAR) and judge.true(was, STAR) and judge.within(was, STAR)):
                cannot.add(was)
        elif not judge.true(was, shown):
            if judge.known(shown):
                wrong += cells
            else:
                strange[shown] = strange.get(shown, 0) + cells
        elif not judge.within(was, shown):
            beyond += cells
    return _Cells(strange, wrong, beyond, cannot)


def _record_alignment(before: Rows, places: Longs) -> tuple[Longs, Longs | None]:
    """Return the records to compare and the released row of each, None where they are the rows in order."""
    if not before.persons:
        return places, None
    row_of = np.full(before.height, -1, dtype=np.int64)
    row_of[places] = np.arange(len(places))
    records = np.flatnonzero(row_of[before.row_of] >= 0)
    return records, row_of[before.row_of[records]]


def _judge(policy: Policy, name: str, values: pl.Series, decisive: pl.Series) -> Allowed:
    """Return what may be shown for an attribute's values, given all of them as the original has them.

    ``decisive`` are the values that say how `intervals` are written.
    """
    attribute, missing = policy.attributes[name], policy.data.missing
    has_missing = bool(is_text(values, missing[0]).any())
    if isinstance(attribute.hierarchy, Ranges):
        return _judge_ranges(attribute, missing[0], has_missing)
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


def _judge_ranges(attribute: Attribute, missing: str, has_missing: bool) -> Allowed:
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
        return span is not None and EXACT.subtract(span[1], span[0]) <= widest

    return Allowed(
        known=lambda text: text in (STAR, missing) or parse_span(text) is not None,
        true=true,
        within=within,
        stars=has_missing,  # a group shows `*` only where it mixes numbers and missing
    )
