"""The sensitive values that remain possible for people, once all releases are laid side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import polars as pl

from kveil.policy.privacy import LDiversity, PrivacyModel, PSensitive
from kveil.verifier.distances import GROUP
from kveil.verifier.fitting import KNOWN, groups_that_fit
from kveil.verifier.links import PERSON, KnownPeople, LinkedRelease
from kveil.verifier.rows import ITEM
from kveil.verifier.verdict import PossibleValues
from kveil.words import count

TIMES, LEFT = "times", "left"


@dataclass(frozen=True)
class ValuesLeft:
    """What remains possible: ``people`` with how many values are left, these ``values``, and those each ``own``s.

    ``own`` has, per person and value, in how many releases the person has it; people are shown in so many ``times``.
    """

    people: pl.DataFrame
    values: pl.DataFrame
    own: pl.DataFrame


def possible_values(
    model: PrivacyModel,
    sensitive: str,
    releases: Sequence[LinkedRelease],
    attributes: Sequence[tuple[str, ...]],
    known: KnownPeople | None,
    *,
    free: pl.Series | None = None,
) -> tuple[PossibleValues, list[str]]:
    """Count whom how many values remain possible for, and say for how many people these are too few.

    Possible is what occurs, in every release that shows the person, among the rows that may be the person's: all that
    fit the person's own values, where these are ``known``, else those of the person's own group. People whose value is
    not the same in all releases are counted apart: nobody can tell that it changed, but the releases do not agree.
    ``free`` are people to whom the model promises nothing.
    """
    told = [i for i, one in enumerate(releases) if sensitive not in one.policy.quasi_identifiers]
    left = values_left(sensitive, [releases[i] for i in told], [attributes[i] for i in told], known)
    entry: PossibleValues = {"sensitive": sensitive, "one": 0, "right": 0, "changed": 0}
    if left is None:
        return entry, []
    people, remaining, mine = left.people, left.values, left.own
    constant = mine.group_by(PERSON).agg((pl.col("n") == pl.col(TIMES)).all().alias("constant"), pl.col(LEFT).first())
    entry["one"] = people.filter(pl.col(LEFT) == 1).height
    entry["right"] = mine.filter(pl.col(LEFT) == 1).join(remaining, on=[PERSON, ITEM], how="semi")[PERSON].n_unique()
    entry["changed"] = constant.filter(~pl.col("constant")).height
    least = _least_values(model)
    below = constant.filter(pl.col("constant") & (pl.col(LEFT) < least))
    few = below.height if free is None else below.filter(~pl.col(PERSON).is_in(free.implode())).height
    if not few:
        return entry, []
    right = f", one for {entry['one']:,}, which is right for {entry['right']:,} of them" if entry["one"] else ""
    return entry, [
        f"over all releases together fewer than {least} values of {sensitive} remain possible for "
        f"{count(few, 'person')}{right}."
    ]


def values_left(
    sensitive: str,
    releases: Sequence[LinkedRelease],
    attributes: Sequence[tuple[str, ...]],
    known: KnownPeople | None,
) -> ValuesLeft | None:
    """Return the values that remain possible for everybody who is shown; None where no release shows the attribute."""
    agreed, own = [], []
    for one, names in zip(releases, attributes, strict=True):
        items = one.items(sensitive)
        if items is not None:
            own.append(items)
            agreed.append(_possible_in(one, names, items, known))
    if not own:
        return None
    times = pl.concat([items.select(PERSON).unique() for items in own]).group_by(PERSON).len(TIMES)
    pairs = pl.concat(agreed).group_by(PERSON, ITEM).len("n").join(times, on=PERSON)
    remaining = pairs.filter(pl.col("n") == pl.col(TIMES)).select(PERSON, ITEM)
    people = times.join(remaining.group_by(PERSON).len(LEFT), on=PERSON, how="left").with_columns(
        pl.col(LEFT).fill_null(0)
    )
    mine = pl.concat(own).drop_nulls().group_by(PERSON, ITEM).len("n").join(people, on=PERSON)
    return ValuesLeft(people, remaining, mine)


def _least_values(model: PrivacyModel) -> int:
    """Return how many values must remain possible for anybody, as far as a model says so."""
    if isinstance(model, PSensitive):
        return model.p
    return ceil(model.l) if isinstance(model, LDiversity) and model.variant == "distinct" else 1


def _possible_in(
    one: LinkedRelease, names: tuple[str, ...], items: pl.DataFrame, known: KnownPeople | None
) -> pl.DataFrame:
    """Return the values that each person who is shown may have by one release."""
    own = one.group_of(names)
    values = items.drop_nulls().join(own, on=PERSON).select(GROUP, ITEM).unique()
    texts = None if known is None else known.texts(one.policy, names)
    if known is None or texts is None or not names:
        return own.join(values, on=GROUP).select(PERSON, ITEM)
    different = texts.unique(maintain_order=True)
    numbered = different.with_row_index(KNOWN).with_columns(pl.col(KNOWN).cast(pl.Int64))
    who = texts.join(numbered, on=list(names), how="left", maintain_order="left").select(KNOWN)
    who = who.with_columns(known.people.alias(PERSON)).join(own.select(PERSON), on=PERSON, how="semi")
    fitting = groups_that_fit(one.policy, one.groups(names), different)
    by_values = fitting.join(values, on=GROUP).select(KNOWN, ITEM).unique()
    possible = who.join(by_values, on=KNOWN).select(PERSON, ITEM)
    # The person's own group counts in any case: the values at hand may be later ones than those that were released.
    return pl.concat([possible, own.join(values, on=GROUP).select(PERSON, ITEM)]).unique()
