"""A release that is too large to look at row by row: an engine counts, and the verifier judges what was counted.

`questions(policy, types)` says what to count, and `verify_counts(policy, counts)` gives the verdict that `verify_rows`
gives on the rows themselves, to the last digit. Whoever counts needs two tables. J has one line per released row (of a
record, or of a person where the policy names individuals), with its original cells (`was`) and those that are released
for it (`shown`). R is the release as it was written. All answers are groups with counts, in a column `TIMES`, in any
order; equal groups may come several times, as from slices:

1. `rows`, from J: grouped by the shown cells of `Questions.rows`; by the original cells of `Questions.beside`, in
   columns `was_of(name)`; and, in such columns, too, for every attribute of `Questions.where_starred` by the
   original cell where all attributes given there show a star, else null. Sensitive columns of `Questions.apart` enter
   with shown and original cell where a row shows stars in all attributes of one of `Questions.parts`, and are null in
   both columns elsewhere; they may be absent where no row does. Sets of items are lists, an original set with each
   item once and without missing ones.
2. `read_back`, from R: grouped by the cells of `Questions.rows`. What the models are judged on is what was written.
3. `left_out`, from the original: of rows that are not released, grouped by the cells of `Questions.beside`.
4. `pairs`, from J with all records of its rows: for every quasi-identifier, grouped by the original cell (`WAS`), the
   shown cell (`SHOWN`) and `STARRED`: whether all attributes of its component show a star. Where persons have sensitive
   columns, that is whether all quasi-identifiers and all items of the row are stars, and none is missing.
5. `values`, from the original: for every quasi-identifier, how many rows (records, or persons with at least one such
   record) have each cell (`VALUE`).
6. `images`, from the original: for every set of columns in `Questions.images` the different combinations, not counted.
7. `apart`, from J: for every column of `Questions.apart` what `ApartColumn` holds.
8. `written`, from R, and `joined`, from the shown side of J: the number of rows, and sums of hashes of all cells. They
   show that cells which stand apart were written as they were compared, too. And the number of rows of the original.

A cell shows a star where its text is one of `Questions.star_texts`; None there stands for no value. Cells come typed as
their tables have them: texts are made here, so that no engine has a say in how a number or a date reads. Cells are
different where their bits are: 0.0 and -0.0, or moments that differ by a nanosecond, are two groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.errors import Refused
from kveil.files import Source
from kveil.files.texts import has_exact_values
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.components import components
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.verifier.alignment import (
    CELLS,
    PAIRS,
    PEOPLE,
    SHOWN,
    STARRED,
    VALUE,
    WAS,
    Asked,
    GeneralizedColumn,
    KeptCells,
    star_is_free,
)
from kveil.verifier.narrowing import rule_columns
from kveil.verifier.release import checkable_rows, verify_rows
from kveil.verifier.rows import (
    ITEM,
    ROW,
    TIMES,
    ApartColumn,
    CountedSource,
    Rows,
    known_items,
    released_texts,
    set_items,
)
from kveil.verifier.stars import Stars
from kveil.verifier.verdict import Verdict
from kveil.words import count


def was_of(name: str) -> str:
    """Return the name of the column that holds the original cell beside a shown one."""
    return f"{name}\0was"


@dataclass(frozen=True)
class Questions:
    """What is counted for a policy; see the head of this module for what each of these stands for."""

    rows: tuple[str, ...]
    beside: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    where_starred: Mapping[str, tuple[str, ...]]
    images: tuple[tuple[str, ...], ...]
    apart: tuple[str, ...]
    _: KW_ONLY
    exact: tuple[str, ...]
    star_texts: tuple[str | None, ...]


def questions(policy: Policy, types: Mapping[str, pl.DataType]) -> Questions:
    """Return what to count of a release with such columns; raise Refused where that would not be enough."""
    persons = policy.individual_column is not None
    if persons and policy.release.shape == "long":
        raise Refused("a long release is verified row by row, not by counts; take release.shape sets, or engine local.")
    parts = tuple(part.attributes for part in components(policy))
    named = {name for rule in policy.dependencies for name in rule_columns(rule)}
    counted = {name for model in policy.privacy for name in sensitive_of(model)}
    sensitive = set(policy.with_role("sensitive"))
    inside = {*policy.quasi_identifiers, *(sensitive if persons else counted), *named}
    released = [name for name in types if name in policy.attributes and name in policy.released]
    apart = tuple(name for name in released if name not in inside)
    kept = inside - set(policy.quasi_identifiers)
    return Questions(
        rows=tuple(name for name in released if name in inside),
        beside=tuple(name for name in released if name in kept),
        parts=parts,
        where_starred=_where_starred(policy, parts),
        images=tuple(tuple(rule_columns(rule)) for rule in policy.dependencies if not rule.multivalued),
        apart=apart,
        exact=tuple(name for name in apart if has_exact_values(types[name])),
        star_texts=(STAR,) if policy.data.missing[0] != STAR else (None, *policy.data.missing),
    )


def _where_starred(policy: Policy, parts: Iterable[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the attributes of which some value may never be shown as `*`, with those of their component.

    A tree without a boundary allows `*` for all, spans for nobody unless some are missing. A person's stars are read by
    the items.
    """
    if policy.individual_column is not None:
        return {}
    spans = {name for name in policy.quasi_identifiers if isinstance(policy.attributes[name].hierarchy, Ranges)}
    return {name: part for part in parts for name in part if name in spans or not star_is_free(policy, name)}


@dataclass(frozen=True)
class Totals:
    """How many rows a table has, and sums of hashes of their cells, whichever hash that is."""

    rows: int
    sums: tuple[int, ...] = ()


@dataclass(frozen=True)
class OriginalCounts:
    """What was counted of a release and its original together, and of the original alone."""

    rows: int
    left_out: pl.DataFrame
    pairs: Mapping[str, pl.DataFrame]
    values: Mapping[str, pl.DataFrame]
    images: Mapping[tuple[str, ...], pl.DataFrame]
    joined: Totals


@dataclass(frozen=True)
class ReleaseCounts:
    """What was counted of a release, whose columns have such ``types``; ``original`` is None where there is none."""

    types: Mapping[str, pl.DataType]
    rows: pl.DataFrame
    read_back: pl.DataFrame
    written: Totals
    apart: Mapping[str, ApartColumn] = field(default_factory=dict)
    original: OriginalCounts | None = None


def verify_counts(policy: Policy, counts: ReleaseCounts) -> Verdict:
    """Return the verdict on a release by what was counted of it."""
    laid = lay_counts(policy, counts)
    verdict = verify_rows(laid.release, laid.rows, policy, aligned=laid.aligned)
    return verdict.with_findings(incomplete(policy, counts))


@dataclass(frozen=True)
class CountedRelease:
    """A release of distinct rows as the checks take it, and its original where there is one."""

    release: CountedSource
    rows: Rows
    aligned: CountedSides | None


def lay_counts(policy: Policy, counts: ReleaseCounts) -> CountedRelease:
    """Return what was counted as the checks take it."""
    asked = questions(policy, counts.types)
    here = [name for name in asked.apart if name in policy.with_role("sensitive")]
    absent = [pl.lit(None, counts.types[name]).alias(name) for name in here if name not in counts.rows.columns]
    frame = counts.rows.with_columns(absent).select(*asked.rows, *here)
    release = CountedSource("the release", frame, "frame", types=counts.types, apart=counts.apart)
    rows = checkable_rows(release, policy, times=counts.rows[TIMES].cast(pl.Int64).to_numpy())
    aligned = None
    if counts.original is not None:
        aligned = CountedSides.of(policy, counts, counts.original, release, rows)
    return CountedRelease(release, rows, aligned)


def incomplete(policy: Policy, counts: ReleaseCounts) -> list[str]:
    """Return findings about counts that do not add up: something was lost, doubled or changed on the way."""
    released = _sum(counts.rows)
    findings = []
    if released != counts.written.rows:
        findings.append(f"the release has {count(counts.written.rows, 'row')}, and {released:,} of them were counted.")
    differing = _differing(counts, questions(policy, counts.types).rows)
    if differing:
        findings.append(f"{count(differing, 'row')} of the release as written are not those that were counted.")
    original = counts.original
    if original is None:
        return findings
    if original.joined != counts.written:
        findings.append(
            "the release as written is not what was compared with the original: "
            f"{count(counts.written.rows, 'row')} against {original.joined.rows:,}, or other cells."
        )
    everyone = released + _sum(original.left_out)
    if everyone != original.rows:
        findings.append(f"{everyone:,} released or left out, and {original.rows:,} in the original.")
    records = {_sum(pairs) for pairs in original.pairs.values()}
    if policy.individual_column is None:
        records |= {released} if original.pairs else set()
        people = {_sum(values) for values in original.values.values()}
        if people - {original.rows}:
            findings.append("the original's values were counted in other records than it has.")
    if len(records) > 1:
        findings.append("the cells of some quasi-identifiers were compared in other records than those of others.")
    return findings


def _differing(counts: ReleaseCounts, names: Sequence[str]) -> int:
    """Return by how many rows a release as it was read back differs from the one that was counted."""
    if not names:
        return abs(_sum(counts.rows) - _sum(counts.read_back))
    more = pl.col(TIMES).cast(pl.Int64)
    counted, read = counts.rows.select(*names, -more), counts.read_back.select(*names, more)
    left = pl.concat([counted, read]).group_by(names).agg(pl.col(TIMES).sum())
    return int(left[TIMES].abs().sum())


def _sum(frame: pl.DataFrame) -> int:
    return int(frame[TIMES].sum())


def _texts(frame: pl.DataFrame, policy: Policy, column: str, *, stars: bool = False) -> pl.Series:
    """Return a column of typed cells as the texts that the policy reads them as."""
    return released_texts(Source("the counts", frame, "frame"), policy, column, stars=stars)


def _merged(frame: pl.DataFrame, policy: Policy, *, shown: Sequence[str] = (), times: str = TIMES) -> pl.DataFrame:
    """Return groups of typed cells as groups of texts: cells of one text together."""
    names = [name for name in frame.columns if name not in (TIMES, STARRED)]
    texts = frame.with_columns(_texts(frame, policy, name, stars=name in shown).cast(pl.String) for name in names)
    return texts.group_by(pl.exclude(TIMES)).agg(pl.col(TIMES).cast(pl.Int64).sum().alias(times))


@dataclass(frozen=True)
class CountedSides:
    """A release beside its original, by counts; see `BesideOriginal`."""

    policy: Policy
    counts: ReleaseCounts
    original: OriginalCounts
    release: CountedSource
    rows: Rows
    before: Rows
    _: KW_ONLY
    places: Longs
    cells: Source  # the original's, of columns that stand beside the release's rows; those of rows left out come last
    slice_of_rows: bool = False  # whether the release has more rows than these

    @classmethod
    def of(
        cls, policy: Policy, counts: ReleaseCounts, original: OriginalCounts, release: CountedSource, rows: Rows
    ) -> CountedSides:
        """Return the comparison for a release's rows."""
        beside = questions(policy, counts.types).beside
        had = counts.rows.select(pl.col(was_of(name)).alias(name) for name in beside)
        frame = pl.concat([had, original.left_out.select(beside)]) if beside else pl.DataFrame()
        cells = Source("the original", frame, "frame")
        times = np.concatenate([counts.rows[TIMES].to_numpy(), original.left_out[TIMES].to_numpy()]).astype(np.int64)
        before = _before(policy, cells, times, persons=rows.persons)
        return cls(policy, counts, original, release, rows, before, places=np.arange(rows.height), cells=cells)

    def generalized(self, policy: Policy, stars: Stars) -> Iterator[GeneralizedColumn]:
        for name, star in stars.by_attribute():
            pairs = _merged(self.original.pairs[name], policy, shown=(SHOWN,), times=CELLS).select(*PAIRS)
            pairs = pairs.filter(Asked.of(policy, name).cells() | pl.col(STARRED))
            yield GeneralizedColumn(name, star, pairs, _texts(self.original.values[name], policy, VALUE))

    def starred_with(self, name: str, star: pl.Series, values: Iterable[str]) -> Bools:
        value = _texts(self.counts.rows, self.policy, was_of(name))
        return (star & value.is_in(list(values))).to_numpy()

    def people_with(self, policy: Policy, name: str, values: set[str]) -> pl.DataFrame:
        if name in self.before.items:
            items = self.before.items[name]
            people = self.before.tally(items, [ITEM], PEOPLE, rows=items[ROW].to_numpy()).rename({ITEM: VALUE})
        else:
            people = _merged(self.original.values[name], policy, times=PEOPLE)
        return people.filter(pl.col(VALUE).is_in(values))

    def different(self, policy: Policy, name: str) -> list[str]:
        if name in self.before.items:
            return self.before.items[name][ITEM].unique().to_list()
        return _texts(self.original.values[name], policy, VALUE).unique().to_list()

    def images(self, policy: Policy, names: Sequence[str]) -> pl.DataFrame:
        frame = self.original.images[tuple(names)]
        return pl.DataFrame({name: _texts(frame, policy, name).cast(pl.String) for name in names}).unique()

    def items_released(self, name: str) -> list[str]:
        released = ~self.rows.starred
        pairs = self.before.items[name].filter(pl.col(ROW) < self.rows.height)
        here = pairs.filter(released.gather(pairs[ROW]))
        return here[ITEM].drop_nulls().unique().sort().to_list()

    def original_cells(self, name: str) -> pl.Series:
        cells = self.cells.column(name)
        return cells.explode(empty_as_null=True) if cells.dtype == pl.List else cells

    def kept(self, policy: Policy, name: str) -> KeptCells:
        times, rows = self.counts.rows[TIMES].to_numpy(), np.arange(self.rows.height)
        laid = self.counts.rows
        if name not in self.counts.apart:
            # A slice does not tell whether the column writes missing in two ways: then each cell must be as it was.
            return KeptCells(laid[was_of(name)], laid[name], rows, times, True if self.slice_of_rows else None)
        apart = self.counts.apart[name]
        was, shown, more = apart.changed[WAS], apart.changed[SHOWN], apart.changed[TIMES].to_numpy()
        if name not in laid.columns:
            return KeptCells(was, shown, np.full(len(was), -1), more, apart.two_ways)
        return KeptCells(
            pl.concat([laid[was_of(name)].rename(WAS), was]),
            pl.concat([laid[name].rename(SHOWN), shown]),
            np.concatenate([rows, np.full(len(was), -1)]),
            np.concatenate([times, more]),
            apart.two_ways,
        )


def _before(policy: Policy, cells: Source, times: Longs, *, persons: bool) -> Rows:
    """Return the rows of an original, distinct ones with counts, with the items that checks ask for."""
    if persons:
        items = {name: set_items(cells, policy, name, stars=False) for name in policy.with_role("sensitive")}
    else:
        used = sorted({name for model in policy.privacy for name in sensitive_of(model)})
        items = {name: known_items(cells, policy, name) for name in used}
    each = np.arange(len(times), dtype=np.int64)
    nobody = pl.Series(np.zeros(len(times), dtype=bool))
    return Rows(pl.DataFrame(), items, each, each, nobody, persons=persons, times=times)
