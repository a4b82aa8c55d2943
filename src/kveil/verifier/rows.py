"""The rows of a release, or of an original, as the verifier compares them: texts, and sets of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.errors import DataError
from kveil.files import Source, frame_of, item_texts, number_texts
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.stopping import check_cancelled
from kveil.words import count, listing, row_noun

ROW = "\0row"
ITEM = "\0item"
SIZE = "\0size"
TIMES = "\0times"
EVERYONE = "\0everyone"
INDIVIDUAL = "individual"
LONG = 4  # rows per run of equal ones from which on runs are counted in place of rows


@dataclass(frozen=True)
class WholeRelease:
    """What a whole release has, where rows are a slice of it.

    ``labels`` are the different texts of every quasi-identifier, where they are known; ``items`` says of sensitive
    attributes how many of all that take part have each value, in columns `ITEM` and `SIZE`.
    """

    labels: Mapping[str, Set[str]] = field(default_factory=dict)
    items: Mapping[str, pl.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """One row per record, or per person where the policy names individuals.

    ``texts`` are the quasi-identifiers, with everything that means missing as the one text that is written for
    it. ``items`` has a frame per sensitive attribute: the row, and a value it has (null for missing, which a person
    has only if there is nothing else). ``source`` gives each row's first line in the file, ``row_of`` the row of each
    line of the file. ``starred`` are persons who show nothing but `*`, items included. ``counted_over`` are the sets of
    attributes whose groups the models count. ``times`` says how many records or persons each row stands for, where
    equal ones were taken together; None where that is one each. ``whole`` is what the whole release has, where these
    are only some of its rows.
    """

    texts: pl.DataFrame
    items: dict[str, pl.DataFrame]
    source: Longs
    row_of: Longs
    starred: pl.Series
    persons: bool
    _: KW_ONLY
    findings: tuple[str, ...] = ()
    counted_over: tuple[tuple[str, ...], ...] = ()
    times: Longs | None = None
    whole: WholeRelease | None = None
    _counts: dict[str, dict[str, int]] = field(default_factory=dict, repr=False, compare=False)
    _groups: dict[frozenset[str], pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)
    _stars: dict[frozenset[str], pl.Series] = field(default_factory=dict, repr=False, compare=False)

    def groups(self, attributes: Sequence[str]) -> pl.DataFrame:
        """Return the groups of rows that show the same in some quasi-identifiers: its texts, and the number of rows."""
        key = frozenset(attributes)
        if key not in self._groups:
            check_cancelled()
            runs = self._runs
            if runs is None:
                self._groups[key] = self.tally(self.texts, attributes, SIZE)
            else:
                self._groups[key] = runs.group_by(attributes).agg(pl.col(TIMES).sum().alias(SIZE))
        return self._groups[key]

    @cached_property
    def _runs(self) -> pl.DataFrame | None:
        """One row for every run of rows that show the same texts, with how many these are; None where runs are short.

        A release in order has few. Columns are compared only where they are categories, by their numbers.
        """
        texts = self.texts
        if self.times is not None or not texts.height or not all(isinstance(d, pl.Categorical) for d in texts.dtypes):
            return None
        differs = np.zeros(texts.height, dtype=bool)
        differs[0] = True
        for column in texts.get_columns():
            if column.null_count():
                return None
            codes = column.to_physical().to_numpy()
            differs[1:] |= codes[1:] != codes[:-1]
        starts = np.flatnonzero(differs)
        if len(starts) * LONG > texts.height:
            return None
        return texts[starts].with_columns(pl.Series(TIMES, np.diff(starts, append=texts.height)))

    def tally(self, frame: pl.DataFrame, by: Sequence[str], name: str, *, rows: Longs | None = None) -> pl.DataFrame:
        """Return how many records or persons have each combination of some columns of a frame.

        The frame has one line per row, or lines of the ``rows`` that are given by position.
        """
        check_cancelled()
        if self.times is None:
            return frame.group_by(by).len(name)
        times = pl.Series(TIMES, self.times if rows is None else self.times[rows])
        return frame.with_columns(times).group_by(by).agg(pl.col(TIMES).sum().alias(name))

    def count(self, chosen: pl.Series | Bools) -> int:
        """Return how many records or persons some rows stand for."""
        if self.times is None:
            return int(chosen.sum())
        return int(self.times[np.asarray(chosen, dtype=bool)].sum())

    def stars(self, attributes: Sequence[str]) -> pl.Series:
        """Return the rows that show `*` in all of some quasi-identifiers."""
        key = frozenset(attributes)
        if key not in self._stars:
            shows_star = pl.all_horizontal(pl.col(attributes) == STAR).alias("star")
            self._stars[key] = self.texts.select(shows_star)["star"]
        return self._stars[key]

    @property
    def shows_items(self) -> bool:
        """Whether rows are persons whose items are shown: stars in the quasi-identifiers are then not all they show."""
        return self.persons and bool(self.items)

    @property
    def only_stars(self) -> pl.Series:
        """The rows that show nothing but `*`, items of persons included."""
        if self.shows_items or not self.texts.columns:
            return self.starred
        return self.stars(self.texts.columns)

    def counts(self, name: str) -> dict[str, int]:
        """Return the different texts of a quasi-identifier, or items of a sensitive attribute: how many rows have each.

        Texts are counted on the groups of a model, which are few, and which the model's check needs anyway.
        """
        if name not in self._counts:
            if name in self.texts.columns:
                over = next((attributes for attributes in self.counted_over if name in attributes), (name,))
                laid = self.groups(over).select(pl.col(name).alias(ITEM), SIZE)
            else:
                laid = self.tally(self.items[name], [ITEM], SIZE, rows=self.items[name][ROW].to_numpy())
            counts = laid.drop_nulls(ITEM).group_by(ITEM).agg(pl.col(SIZE).sum())
            self._counts[name] = dict(zip(counts[ITEM].to_list(), counts[SIZE].to_list(), strict=True))
        return self._counts[name]

    def labels(self, name: str) -> Set[str]:
        """Return the different texts of a quasi-identifier, or the different items of a sensitive attribute."""
        if self.whole is not None and name in self.whole.labels:
            return self.whole.labels[name]
        return self.counts(name).keys()

    @property
    def noun(self) -> str:
        """What a row is called: a record, or an individual."""
        return row_noun(people=bool(self.persons))

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.source)

    @property
    def number(self) -> int:
        """The number of records or persons that the rows stand for."""
        return self.height if self.times is None else int(self.times.sum())


@dataclass(frozen=True)
class ApartColumn:
    """What was counted of a column that is no part of the distinct rows of a release.

    ``changed`` has the pairs ``was`` and ``shown`` of cells that are not exactly the original's, typed, with how many
    there are. Sensitive cells of rows that show stars in all of some component are no part of it, nor of ``stars``,
    which are the cells that show `*`: such rows are counted whole. ``two_ways`` says whether the column writes missing
    both as no value and as the first text of data.missing. ``values`` are the different cells, each a ``value``, with
    how many there are, where their type may hold more than texts show; else it is empty.
    """

    changed: pl.DataFrame
    stars: int
    two_ways: bool
    values: pl.DataFrame


@dataclass(frozen=True)
class CountedSource(Source):
    """A table of which ``frame`` has the distinct rows, and every other column, by its ``types``, stands apart."""

    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    apart: Mapping[str, ApartColumn] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.types)

    def dtype(self, name: str) -> pl.DataType:
        return self.types[name]


def stars_apart(release: Source, name: str) -> int:
    """Return how many cells of a column that stands apart show `*` in rows that show stars in no component."""
    return release.apart[name].stars if isinstance(release, CountedSource) and name in release.apart else 0


def is_text(texts: pl.Series, text: str) -> pl.Series:
    """Return the rows with a text, of a column of texts or of categories."""
    return texts.to_frame("text").select(pl.col("text") == text)["text"]


def released_texts(source: Source, policy: Policy, name: str, *, stars: bool = False) -> pl.Series:
    """Return a column as texts; everything that means missing becomes the one text that is written for it.

    In a release ``stars`` are stars, even where the policy reads a `*` of the input as missing.
    """
    shown = policy.data.missing[0]
    texts = source.held(name).fill_null(shown)
    others = [text for text in policy.data.missing if text != shown and not (stars and text == STAR)]
    is_other = texts.is_in(others)
    return texts.replace(dict.fromkeys(others, shown)) if is_other.any() else texts


def rule_texts(source: Source, policy: Policy, *, stars: bool = False) -> pl.DataFrame:
    """Return the columns that dependencies are tested on: quasi-identifiers and what rules name; a set is one text."""
    named = {name for rule in policy.dependencies for name in rule.left + rule.right}.union(policy.quasi_identifiers)
    texts = {}
    for name in (name for name in policy.released if name in named):
        column = source.column(name) if name in source.columns else None
        if column is not None and column.dtype == pl.List:
            texts[name] = item_texts(column).list.join("|")
        else:
            texts[name] = released_texts(source, policy, name, stars=stars)
    return pl.DataFrame(texts)


def _texts(source: Source, policy: Policy, *, stars: bool) -> pl.DataFrame:
    if not policy.quasi_identifiers:  # plain sets of items: a column that tells nothing, since a frame needs one
        return pl.DataFrame({EVERYONE: pl.Series([STAR], dtype=pl.String).new_from_index(0, source.rows)})
    return pl.DataFrame({name: released_texts(source, policy, name, stars=stars) for name in policy.quasi_identifiers})


def _known(texts: pl.Series, policy: Policy, *, stars: bool) -> pl.Series:
    """Return a sensitive column with null for missing."""
    frame = texts.to_frame(ITEM)
    missing = [text for text in policy.data.missing if not (stars and text == STAR)]
    return frame.select(pl.when(pl.col(ITEM).is_in(missing)).then(None).otherwise(pl.col(ITEM)).alias(ITEM))[ITEM]


def _items(rows: pl.Series, texts: pl.Series, height: int) -> pl.DataFrame:
    """Return distinct (row, item), sorted by rows, with one null for every row that has no item.

    Items are compared by their numbers among the different ones, which is several times faster than by their texts.
    """
    different = texts.drop_nulls().unique()
    known = texts.is_not_null().to_numpy()
    row = rows.cast(pl.Int64).to_numpy()[known]
    item = texts.filter(pl.Series(known)).cast(pl.Enum(different)).to_physical().cast(pl.Int64).to_numpy()
    without = np.ones(height, dtype=bool)
    without[row] = False
    width = len(different) + 1  # the last number is that of having no item
    key = np.concatenate([row * width + item, np.flatnonzero(without) * width + len(different)])
    key = np.unique(key)
    own = key // width
    number = key - own * width  # half of the time of divmod
    labels = pl.concat([different.cast(pl.String), pl.Series([None], dtype=pl.String)])
    return pl.DataFrame({ROW: own, ITEM: labels.gather(number)})


def known_items(source: Source, policy: Policy, name: str) -> pl.DataFrame:
    """Return every record with its value of a column, null for missing."""
    number = pl.Series(ROW, np.arange(source.rows, dtype=np.int64))
    return frame_of([number, _known(source.texts(name), policy, stars=False)])


def plain_rows(source: Source, policy: Policy, *, stars: bool = False) -> Rows:
    """Return the rows of a table in which a row is a record."""
    number = pl.Series(ROW, np.arange(source.rows, dtype=np.int64))
    used = {name for model in policy.privacy for name in sensitive_of(model)}
    items = {name: known_items(source, policy, name) for name in sorted(used)}
    nobody = pl.Series(np.zeros(source.rows, dtype=bool))
    each = number.to_numpy()
    over = tuple(policy.attributes_of(model) for model in policy.privacy)
    return Rows(_texts(source, policy, stars=stars), items, each, each, nobody, persons=False, counted_over=over)


def original_rows(source: Source, policy: Policy) -> Rows:
    """Return the rows of an original; persons in the order of their first record."""
    if policy.individual_column is None:
        return plain_rows(source, policy)
    return _grouped(source, policy, source.texts(policy.individual_column), stars=False)


def _grouped(source: Source, policy: Policy, ids: pl.Series, *, stars: bool) -> Rows:
    """Return one row per person, told apart by their ids."""
    row_of, at = number_texts(ids)
    items = {
        name: _items(pl.Series(row_of), _known(source.texts(name), policy, stars=stars), len(at))
        for name in policy.with_role("sensitive")
    }
    texts = _texts(source, policy, stars=stars)[at]
    return Rows(texts, items, at, row_of, _starred(items, texts), persons=True)


def _starred(items: dict[str, pl.DataFrame], texts: pl.DataFrame) -> pl.Series:
    if not items:
        return pl.Series(np.zeros(texts.height, dtype=bool))
    found = texts.select(pl.all_horizontal(pl.all() == STAR).alias("star"))["star"].to_numpy().copy()
    for pairs in items.values():
        others = pairs.filter(pl.col(ITEM).ne_missing(pl.lit(STAR)))[ROW].to_numpy()
        found[others] = False
    return pl.Series(found)


def release_rows(source: Source, policy: Policy) -> Rows:
    """Return the rows of a release, in sets or long as the policy says where there are individuals."""
    if policy.individual_column is None:
        return plain_rows(source, policy, stars=True)
    if policy.release.shape == "long":
        return _long_rows(source, policy)
    items = {name: set_items(source, policy, name, stars=True) for name in policy.with_role("sensitive")}
    texts = _texts(source, policy, stars=True)
    each = np.arange(source.rows, dtype=np.int64)
    return Rows(texts, items, each, each, _starred(items, texts), persons=True)


def set_items(source: Source, policy: Policy, name: str, *, stars: bool) -> pl.DataFrame:
    """Return every row with the items of its set; see `Rows.items`."""
    column = source.column(name)
    number = pl.Series(np.arange(len(column), dtype=np.int64))
    sets = (
        item_texts(column)
        if column.dtype == pl.List
        else _known(source.texts(name), policy, stars=stars).str.split("|")
    )
    pairs = pl.DataFrame({ROW: number, ITEM: sets}).explode(ITEM, empty_as_null=True)
    return _items(pairs[ROW], _known(pairs[ITEM].cast(pl.String), policy, stars=stars), len(column))


def _long_rows(source: Source, policy: Policy) -> Rows:
    if INDIVIDUAL not in source.columns:
        raise DataError(f"{source.name} lacks the column {INDIVIDUAL!r}, which numbers the people of a long release.")
    rows = _grouped(source, policy, source.texts(INDIVIDUAL), stars=True)
    record_texts = _texts(source, policy, stars=True)
    differing = [
        name for name in record_texts.columns if (record_texts[name] != rows.texts[name].gather(rows.row_of)).any()
    ]
    if not differing:
        return rows
    finding = f"{count(len(differing), 'quasi-identifier')} ({listing(differing)}) differ within one person."
    return replace(rows, findings=(finding,))
