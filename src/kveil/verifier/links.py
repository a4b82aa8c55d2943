"""Releases linked to people: who stands behind each row is known, by the owner's files or an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.verifier.distances import GROUP
from kveil.verifier.rows import ITEM, ROW, Rows, known_items, release_rows, released_texts
from kveil.verifier.stars import Stars

PERSON = "person"


@dataclass(frozen=True)
class LinkedRelease:
    """A release of which it is known who each row is: ``people`` has a hash per record, or per person."""

    name: str
    policy: Policy
    release: Source
    people: pl.Series

    @cached_property
    def rows(self) -> Rows:
        """The rows of the release."""
        return release_rows(self.release, self.policy)

    @cached_property
    def shown(self) -> pl.DataFrame:
        """The people who are shown, each with the row; a row of nothing but `*` shows nobody."""
        rows = pl.DataFrame({PERSON: self.people, ROW: np.arange(self.rows.height, dtype=np.int64)})
        return rows.filter(~Stars.of(self.rows, self.policy).everywhere)

    def texts(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns as every row shows them, whatever their role; of a person's values all of them."""
        return pl.DataFrame({name: self._texts_of(name) for name in columns})

    def _texts_of(self, name: str) -> pl.Series:
        if name in self.rows.texts.columns:
            return self.rows.texts[name]
        if self.rows.persons and name in self.rows.items:
            shown = pl.col(ITEM).fill_null(self.policy.data.missing[0]).sort().str.join("\0")
            sets = self.rows.items[name].group_by(ROW).agg(shown).sort(ROW)
            return sets[ITEM]
        return released_texts(self.release, self.policy, name, stars=True).gather(self.rows.source)

    def starred_over(self, attributes: Sequence[str]) -> pl.Series:
        """Return the shown people who show `*` in all of some quasi-identifiers."""
        stars = self.rows.stars(attributes)
        return self.shown.filter(stars.gather(self.shown[ROW]))[PERSON]

    def groups(self, attributes: Sequence[str]) -> pl.DataFrame:
        """Return the groups of equal texts over some attributes: a number, and what each shows."""
        if not attributes:
            return pl.DataFrame({GROUP: pl.Series([0], dtype=pl.Int64)})
        different = self.texts(attributes).unique(maintain_order=True).with_row_index(GROUP)
        return different.with_columns(pl.col(GROUP).cast(pl.Int64))

    def group_of(self, attributes: Sequence[str]) -> pl.DataFrame:
        """Return every shown person's group over some attributes."""
        if not attributes:
            return self.shown.select(PERSON, pl.lit(0, dtype=pl.Int64).alias(GROUP))
        texts = self.texts(attributes).with_columns(pl.Series(ROW, np.arange(self.rows.height)))
        groups = self.groups(attributes)
        numbered = texts.join(groups, on=list(attributes), how="left", maintain_order="left", nulls_equal=True)
        return self.shown.join(numbered.select(ROW, GROUP), on=ROW, how="left").select(PERSON, GROUP)

    def items(self, sensitive: str) -> pl.DataFrame | None:
        """Return the shown people with what they have of a sensitive attribute, None where the release has it not.

        A `*` hides a value, as missing does: neither is a value that somebody has.
        """
        if sensitive in self.rows.items:
            items = self.rows.items[sensitive]
        elif sensitive in self.release.columns and not self.rows.persons:
            items = known_items(self.release, self.policy, sensitive)
        elif sensitive in self.policy.unchanged and sensitive in self.release.columns:  # the same in all of a person's
            texts = known_items(self.release, self.policy, sensitive)[ITEM].gather(self.rows.source)
            items = pl.DataFrame({ROW: np.arange(self.rows.height, dtype=np.int64), ITEM: texts})
        else:
            return None
        items = items.with_columns(pl.when(pl.col(ITEM) != STAR).then(pl.col(ITEM)).alias(ITEM))
        return self.shown.join(items, on=ROW, how="inner").select(PERSON, ITEM)


@dataclass(frozen=True)
class KnownPeople:
    """A table with people in it: who is in which line, by a hash, and the lines as they are.

    An attacker who knows a person's values finds the rows that fit them, which are more than the person's own group.
    """

    people: pl.Series
    source: Source
    lines: Longs

    def texts(self, policy: Policy, names: Sequence[str]) -> pl.DataFrame | None:
        """Return some attributes of everybody as a policy reads them, None where the table lacks one of them."""
        if any(name not in self.source.columns for name in names):
            return None
        return pl.DataFrame({name: released_texts(self.source, policy, name).gather(self.lines) for name in names})
