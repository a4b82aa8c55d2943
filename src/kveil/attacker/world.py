"""What an attack is played on: the original and the release, row beside row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.attacker.cover import Cover, covered_values
from kveil.attacker.match import CodedTexts, EqualRows, code_column, group
from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.verifier.rows import ITEM, ROW, Rows, original_rows, release_rows, released_texts
from kveil.words import row_noun


@dataclass(frozen=True)
class World:
    """Both tables as texts, one row per record, or per person where the policy names individuals.

    ``places`` gives every released row's row in the original; ``items`` the sensitive values of each row.
    """

    policy: Policy
    before: pl.DataFrame
    after: pl.DataFrame
    items_before: dict[str, pl.DataFrame]
    items_after: dict[str, pl.DataFrame]
    places: Longs
    _: KW_ONLY
    persons: bool
    _coded: dict[tuple[str, str], CodedTexts] = field(default_factory=dict)
    _equal: dict[tuple[str, tuple[str, ...]], EqualRows] = field(default_factory=dict)

    @property
    def people(self) -> int:
        """How many records, or persons, the original has."""
        return self.before.height

    @property
    def noun(self) -> str:
        """What a row is."""
        return row_noun(people=bool(self.persons))

    @cached_property
    def row_of(self) -> Longs:
        """Every original row's released row, -1 where it was left out."""
        found = np.full(self.people, -1, dtype=np.int64)
        found[self.places] = np.arange(len(self.places))
        return found

    def column(self, side: str, name: str) -> CodedTexts:
        """Return a column of ``before`` or ``after`` as codes."""
        key = (side, name)
        if key not in self._coded:
            self._coded[key] = code_column((self.before if side == "before" else self.after)[name])
        return self._coded[key]

    def equal(self, side: str, names: tuple[str, ...]) -> EqualRows:
        """Return the groups of rows of ``before`` or ``after`` that are equal over the names."""
        key = (side, names)
        if key not in self._equal:
            rows = self.people if side == "before" else self.after.height
            self._equal[key] = group([self.column(side, name) for name in names], rows)
        return self._equal[key]

    def cover(self, name: str, values: Sequence[str], shown: Sequence[str]) -> Cover:
        """Return for values and shown texts of an attribute which may stand for which."""
        return covered_values(self.policy, name, values, shown, domain=self.column("before", name).texts)

    def item_cover(self, sensitive: str, values: Sequence[str], shown: Sequence[str]) -> Cover:
        """Return for items of a sensitive attribute which of the shown ones may stand for which."""
        return covered_values(self.policy, sensitive, values, shown)

    def told_items(self, sensitive: str) -> pl.DataFrame:
        """Return the items of the release that say anything: no `*`, nor the root of a hierarchy."""
        lines = self.policy.fixed_lines(sensitive)
        nothing = [STAR, *([] if lines is None else [lines.root])]
        return self.items_after[sensitive].filter(~pl.col("item").is_in(nothing))

    def true_items(self, sensitive: str, labels: Sequence[str]) -> pl.DataFrame:
        """Return what is true of each row of the original: its items, and those of some labels that stand for one."""
        was = self.items_before[sensitive]
        values = was["item"].unique().sort().to_list()
        if set(labels) <= set(values):  # nothing is generalized
            return was
        above = [[labels[i] for i in own] for own in self.item_cover(sensitive, values, labels).lists()]
        pairs = pl.DataFrame({"item": values, "label": above}, schema={"item": pl.String, "label": pl.List(pl.String)})
        pairs = pairs.explode("label", empty_as_null=True).drop_nulls()
        more = was.join(pairs, on="item").select("row", pl.col("label").alias("item"))
        return pl.concat([was, more]).unique(maintain_order=True)

    def sample(self, most: int, *, among: Longs | None = None) -> Longs:
        """Return the targets of an attack: everybody, or ``most`` of them drawn by the policy's seed.

        ``among`` are those to choose from, all of the original by default.
        """
        everyone = np.arange(self.people, dtype=np.int64) if among is None else among
        if len(everyone) <= most:
            return everyone
        rng = np.random.default_rng(self.policy.seed)
        return np.sort(rng.choice(everyone, size=most, replace=False)).astype(np.int64)

    def promises(self, names: Sequence[str]) -> bool:
        """Tell whether some model of the policy covers all of the named attributes together."""
        return any(set(names) <= set(self.policy.attributes_of(model)) for model in self.policy.privacy)

    def hidden(self, names: tuple[str, ...]) -> Bools:
        """Return the released rows that show `*` in all of the names: they tell an attacker nothing."""
        if not self.after.height:
            return np.zeros(0, dtype=bool)
        return self.after.select(pl.all_horizontal(pl.col(names) == STAR).alias("star"))["star"].to_numpy()


def _texts(source: Source, policy: Policy, rows: Rows, *, stars: bool) -> pl.DataFrame:
    """Return the texts of all released columns; where a row is a person, sensitive ones are compared as items."""
    skip = set(policy.with_role("sensitive")) if rows.persons else set()
    others = [name for name in policy.released if name not in skip and name not in rows.texts.columns]
    texts = (released_texts(source, policy, name, stars=stars).alias(name) for name in others)
    return rows.texts.with_columns(column.gather(rows.source) if rows.persons else column for column in texts)


def world_of(policy: Policy, original: Source, release: Source, places: Longs) -> World:
    """Return both tables as an attacker, and whoever judges the attacker, sees them."""
    was = original_rows(original, policy)
    shown = release_rows(release, policy)
    return World(
        policy,
        _texts(original, policy, was, stars=False),
        _texts(release, policy, shown, stars=True),
        _items(was.items, original, policy, was.height),
        _items(shown.items, release, policy, shown.height),
        places,
        persons=was.persons,
    )


def _items(found: dict[str, pl.DataFrame], source: Source, policy: Policy, rows: int) -> dict[str, pl.DataFrame]:
    """Return the items of every sensitive attribute, also of those that no model counts: row, item."""
    items: dict[str, pl.DataFrame] = {}
    for name in policy.with_role("sensitive"):
        if name in found:
            frame = found[name]
        else:
            frame = pl.DataFrame({ROW: np.arange(rows, dtype=np.int64), ITEM: source.texts(name)})
        known = pl.col(ITEM).is_not_null() & ~pl.col(ITEM).is_in(list(policy.data.missing))
        items[name] = frame.filter(known).select(pl.col(ROW).alias("row"), pl.col(ITEM).alias("item"))
    return items
