"""Rows of stars: who shows `*` in every attribute of a component, and what that is taken for.

Whoever shows nothing but `*` is suppressed. Rows that show `*` in every attribute of one component but not of all are,
in that component, either a group like any other, or suppressed: they are a group if together they satisfy every model
of the component. A suppressed row publishes no sensitive value that a model protects in that component, nor one that no
model protects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.components import Component, components
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness, sensitive_of
from kveil.verifier.guarantees import check_model, holds_as_one_group
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
        if rows.shows_items:
            return cls(parts, tuple(rows.starred for _ in parts))
        return cls(
            parts,
            tuple(
                rows.stars(part.attributes)
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
        return any_of(self.rows)

    def by_attribute(self) -> Iterator[tuple[str, pl.Series]]:
        """Give every quasi-identifier with the rows that are stars in its component."""
        for part, stars in zip(self.parts, self.rows, strict=True):
            yield from ((name, stars) for name in part.attributes)


@dataclass(frozen=True)
class Suppressed:
    """For every component the rows that count as suppressed in it, by the texts of a release."""

    parts: tuple[Component, ...]
    rows: tuple[pl.Series, ...]

    @cached_property
    def anywhere(self) -> pl.Series:
        """The rows that are suppressed in at least one component."""
        return any_of(self.rows)

    def taking_part(self) -> dict[int, pl.Series]:
        """Return for every model, by its position, the rows that take part in it."""
        return {i: ~gone for part, gone in zip(self.parts, self.rows, strict=True) for i in part.models}


def read_stars(
    policy: Policy, release: Source, rows: Rows, stars: Stars, impossible: tuple[pl.Series, ...]
) -> Suppressed:
    """Tell who is suppressed where; ``impossible`` are, per component, rows whose stars no generalization can give."""
    if rows.shows_items:
        return Suppressed(stars.parts, stars.rows)
    gone = []
    for part, shown, forced in zip(stars.parts, stars.rows, impossible, strict=True):
        certainly = shown & (stars.everywhere | forced)
        open_ones = shown & ~certainly
        if open_ones.any():
            hidden = _values_hidden(policy, part, release, rows)
            readings = [open_ones] if STAR in policy.data.missing else []  # where a hidden value may be a missing one
            kept = next(
                (
                    group
                    for group in (*readings, open_ones & ~hidden)
                    if _is_group(policy, part, rows, group, ~(shown & ~group))
                ),
                None,
            )
            certainly = shown if kept is None else shown & ~kept
        gone.append(certainly)
    return Suppressed(stars.parts, tuple(gone))


def _is_group(policy: Policy, part: Component, rows: Rows, group: pl.Series, everyone: pl.Series) -> bool:
    """Tell whether rows of stars satisfy all models of a component as a group, and leave those of others as they are.

    Whoever takes part moves the distribution that t-closeness compares with: where others would fail for that, the rows
    of stars are better taken as suppressed.
    """
    models = [policy.privacy[i] for i in part.models]
    if not group.any() or not all(holds_as_one_group(model, policy, rows, group, everyone) for model in models):
        return False
    return not any(
        check_model(model, policy, rows, everyone)[1] and not check_model(model, policy, rows, everyone & ~group)[1]
        for model in models
        if isinstance(model, TCloseness)
    )


def attributes_protected_in(policy: Policy, part: Component) -> set[str]:
    """Return the sensitive attributes that models of a component name."""
    return {name for i in part.models for name in sensitive_of(policy.privacy[i])}


def attributes_without_model(policy: Policy) -> set[str]:
    """Return the sensitive attributes that no model names."""
    return set(policy.with_role("sensitive")).difference(*(sensitive_of(model) for model in policy.privacy))


def shows_star(release: Source, rows: Rows, name: str) -> pl.Series:
    """Return the rows that show `*` in a column."""
    return (release.texts(name).gather(rows.source) == STAR).fill_null(value=False)


def _values_hidden(policy: Policy, part: Component, release: Source, rows: Rows) -> pl.Series:
    """Return the rows that show `*` for every sensitive value that a row suppressed in a component must not publish."""
    names = attributes_protected_in(policy, part) | attributes_without_model(policy)
    hidden = pl.Series(np.full(rows.height, bool(names)))
    for name in names:
        hidden &= shows_star(release, rows, name)
    return hidden


def any_of(columns: Sequence[pl.Series]) -> pl.Series:
    """Return the rows that one of some columns holds."""
    return pl.DataFrame(_numbered(columns)).select(pl.any_horizontal(pl.all()).alias("any"))["any"]


def _numbered(columns: Sequence[pl.Series]) -> list[pl.Series]:
    return [column.alias(str(number)) for number, column in enumerate(columns)]
