"""Several releases: somebody lays them side by side and keeps what is possible in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from kveil.attacker.attacks import SeveralReleases
from kveil.attacker.rate import Rate, rate_of
from kveil.attacker.world import World
from kveil.verifier.links import PERSON, KnownPeople, LinkedRelease
from kveil.verifier.possible import LEFT, values_left
from kveil.verifier.rows import ITEM


@dataclass(frozen=True)
class SideBySide:
    """What somebody has who kept earlier releases: them, the newest one, and who is who, to judge the guesses."""

    earlier: Sequence[LinkedRelease]
    newest: LinkedRelease
    known: KnownPeople


def several_releases(world: World, sensitive: str, releases: SideBySide) -> list[SeveralReleases]:
    """Play on a sensitive attribute: a value is guessed among those that rows which fit have in every release.

    The chance of a target is 1 over the number of values that are left where the true one is among them, else 0.
    """
    everything = [*releases.earlier, releases.newest]
    with_one = _rate(sensitive, [releases.newest], releases)
    with_all = _rate(sensitive, everything, releases)
    if with_one is None or with_all is None:
        return []
    names = tuple(world.policy.quasi_identifiers)
    return [
        SeveralReleases(
            attack="several releases",
            attributes=names,
            sensitive=sensitive,
            releases=len(everything),
            before=_in_the_original(world, sensitive, names),
            one=with_one,
            after=with_all,
        )
    ]


def _rate(sensitive: str, given: Sequence[LinkedRelease], releases: SideBySide) -> Rate | None:
    """Return the success over the people of the newest release."""
    attributes = [tuple(one.policy.quasi_identifiers) for one in given]
    left = values_left(sensitive, given, attributes, releases.known)
    if left is None:
        return None
    targets = releases.newest.shown.select(PERSON)
    right = left.own.join(left.values, on=[PERSON, ITEM], how="semi").select(PERSON).unique()
    chances = targets.join(left.people, on=PERSON, how="left").join(
        right.with_columns(pl.lit(value=True).alias("right")), on=PERSON, how="left"
    )
    chance = pl.when(pl.col("right") & (pl.col(LEFT) > 0)).then(1 / pl.col(LEFT)).otherwise(0.0)
    return rate_of(chances.select(chance.alias("chance"))["chance"].fill_null(0.0).to_numpy())


def _in_the_original(world: World, sensitive: str, names: tuple[str, ...]) -> Rate:
    """Return the success of somebody who has the original without its identifiers."""
    rows = world.before.select(names).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    items = world.items_before[sensitive].with_columns(pl.col("row").cast(pl.Int64))
    values = rows.join(items, on="row").group_by(names).agg(pl.col("item").n_unique().alias("values"))
    chances = rows.join(values, on=list(names), how="left", nulls_equal=True).join(
        items.select("row").unique().with_columns(pl.lit(value=True).alias("has")), on="row", how="left"
    )
    chance = pl.when(pl.col("has")).then(1 / pl.col("values")).otherwise(0.0)
    return rate_of(chances.select(chance.alias("chance"))["chance"].fill_null(0.0).to_numpy())
