"""Rows of stars: who shows `*` in every attribute of a component."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from kveil.policy.attributes import STAR
from kveil.policy.components import Component, components
from kveil.policy.model import Policy
from kveil.verifier.rows import Rows


@dataclass(frozen=True)
class Stars:
    """For every component of a policy the rows that show nothing but `*` in it.

    Where persons' items are shown, a person is starred only where these are stars, too, and then in every component.
    """

    parts: tuple[Component, ...]
    rows: tuple[pl.Series, ...]

    @classmethod
    def of(cls, rows: Rows, policy: Policy) -> Stars:
        """Return who shows stars where, by the texts of a release."""
        parts = components(policy)
        if rows.persons and rows.items:
            return cls(parts, tuple(rows.starred for _ in parts))
        return cls(
            parts,
            tuple(
                rows.texts.select(pl.all_horizontal(pl.col(part.attributes) == STAR).alias("star"))["star"]
                if part.attributes
                else rows.starred  # plain sets of items: there is nothing else to show
                for part in parts
            ),
        )

    @cached_property
    def everywhere(self) -> pl.Series:
        """The rows that are stars in all components."""
        return pl.DataFrame(_numbered(self.rows)).select(pl.all_horizontal(pl.all()).alias("star"))["star"]

    @cached_property
    def anywhere(self) -> pl.Series:
        """The rows that are stars in at least one component."""
        return pl.DataFrame(_numbered(self.rows)).select(pl.any_horizontal(pl.all()).alias("star"))["star"]

    def by_attribute(self) -> Iterator[tuple[str, pl.Series]]:
        """Give every quasi-identifier with the rows that are stars in its component."""
        for part, stars in zip(self.parts, self.rows, strict=True):
            yield from ((name, stars) for name in part.attributes)


def _numbered(columns: tuple[pl.Series, ...]) -> list[pl.Series]:
    return [column.alias(str(number)) for number, column in enumerate(columns)]
