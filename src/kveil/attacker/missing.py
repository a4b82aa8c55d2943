"""Who is missing: whoever fits no released row was left out, and everybody who looks for them sees it."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.arrays import Floats, Longs
from kveil.attacker.attacks import MissingPeople
from kveil.attacker.link import knowledge, most_targets
from kveil.attacker.match import matches
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World


def who_is_missing(world: World, sensitive: str, names: tuple[str, ...]) -> list[MissingPeople]:
    """Play somebody who looks for people by the named attributes, finds no row, and guesses what they have.

    The guess is the value that the release shows most often: right for as many of those left out as of everybody if
    nobody is left out for their value. ``at_most`` is the best single guess, which nobody can know beforehand.
    """
    shown = world.told_items(sensitive)
    left_out = np.flatnonzero(world.row_of < 0)
    if not len(left_out) or not world.items_before[sensitive].height or not shown.height:
        return []
    was = world.true_items(sensitive, shown["item"].unique().sort().to_list())
    groups = world.equal("after", names)
    targets = world.sample(most_targets(len(groups.sizes), len(names)), among=left_out)
    known = knowledge(world, names, targets, shown=groups)
    seen = np.bincount(groups.member[~world.hidden(names)], minlength=len(groups.sizes)).astype(np.float64)
    fitting = matches(known.clues, len(known.tuples.first), seen[:, None])[:, 0][known.tuples.member]
    missing = targets[fitting == 0]
    values = shown["item"].value_counts(name="len").sort("len", "item", descending=[True, False])["item"]
    having = was.filter(pl.col("row").is_in(missing))
    chances = [_has(was, value, missing) for value in having["item"].unique().sort().to_list()]
    most = max(chances, key=lambda has: float(has.mean()), default=np.zeros(len(missing)))
    return [
        MissingPeople(
            attack="who is missing",
            attributes=names,
            sensitive=sensitive,
            left_out=len(left_out),
            before=rate_of(_has(was, values[0], np.arange(world.people, dtype=np.int64))),
            after=rate_of(_has(was, values[0], missing), most=most),
        )
    ]


def _has(items: pl.DataFrame, value: str, rows: Longs) -> Floats:
    """Return 1 for the rows that have a value, 0 for the others."""
    holders = items.filter(pl.col("item") == value)["row"].to_numpy()
    return np.isin(rows, holders).astype(np.float64)
