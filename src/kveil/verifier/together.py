"""Several releases together: what somebody learns who has all of them and knows everybody's quasi-identifiers.

People who show the same in every release look alike; not to be shown in a release is something to show, too. Such
classes lie inside the groups of each single release, and every model is judged on them: on their size, and, for every
release that shows the sensitive attribute, on the values that their members have in it. Whoever knows, beside all
releases, how many of a class have which value still finds the models kept, so nobody who knows less learns more.

Beside that, the values are counted that remain possible for somebody who only has the texts: those that occur in the
person's group in every release. They are more than those of the class, and what an attack would go by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.errors import Refused
from kveil.guarantee import Guarantee, SetFigures
from kveil.policy.model import Policy
from kveil.policy.privacy import GENERALIZING, KAnonymity, PrivacyModel, single_sensitive
from kveil.verifier.distances import COUNT, GROUP
from kveil.verifier.guarantees import as_guarantee, in_one_order, judge, name_of
from kveil.verifier.links import PERSON, KnownPeople, LinkedRelease, known_attributes
from kveil.verifier.possible import possible_values
from kveil.verifier.rows import ITEM
from kveil.verifier.verdict import PossibleValues, TogetherCheck
from kveil.words import count, listing


@dataclass(frozen=True)
class _LookAlikes:
    """People who show the same in every release, over what one model is about.

    ``members`` has every person's class; ``groups`` a row per class with its group in every release, null where its
    members are not shown.
    """

    members: pl.DataFrame
    groups: pl.DataFrame
    sizes: Longs

    @classmethod
    def of(cls, releases: Sequence[LinkedRelease], attributes: Sequence[tuple[str, ...]]) -> _LookAlikes:
        """Put everybody who is shown in one of the releases into classes."""
        everyone = pl.concat([one.shown.select(PERSON) for one in releases]).unique(maintain_order=True)
        names = [f"in {number}" for number in range(len(releases))]
        for name, one, known in zip(names, releases, attributes, strict=True):
            own = one.group_of(known).select(PERSON, pl.col(GROUP).alias(name))
            everyone = everyone.join(own, on=PERSON, how="left", maintain_order="left")
        groups = everyone.group_by(names, maintain_order=True).len(COUNT).with_row_index(GROUP)
        numbered = groups.with_columns(pl.col(GROUP).cast(pl.Int64))
        members = everyone.join(numbered.drop(COUNT), on=names, how="left", maintain_order="left", nulls_equal=True)
        return cls(members.select(PERSON, GROUP), numbered.drop(COUNT), groups[COUNT].cast(pl.Int64).to_numpy())

    def shown_in(self, number: int) -> pl.Series:
        """Return the classes whose members are shown in a release."""
        return self.groups[f"in {number}"].is_not_null()

    def people_in(self, classes: Bools) -> pl.Series:
        """Return the people of some classes."""
        return self.members.filter(pl.Series(classes).gather(self.members[GROUP]))[PERSON]


def check_several(policy: Policy) -> None:
    """Raise Refused for models that are about sets of items as shown, which differ from release to release."""
    sets = sorted({model.model for model in policy.privacy if model.model in GENERALIZING})
    if sets:
        raise Refused(
            f"{sets[0]} generalizes sets of items, which this version of kveil cannot hold against earlier releases; "
            "leave previous out, or ask for l-diversity."
        )


def verify_together(
    policy: Policy, releases: Sequence[LinkedRelease], *, known: KnownPeople | None = None
) -> tuple[TogetherCheck, list[str]]:
    """Judge a policy's models on what several releases show together, the last one being the newest.

    ``known`` are people whose own values are at hand, so that it can be told which rows fit them. Returns what was
    counted, and what was found against it: how many people, never who. O(people · releases).
    """
    check_several(policy)
    now = releases[-1].shown[PERSON]
    before = pl.concat([now.head(0), *(one.shown[PERSON] for one in releases[:-1])]).unique()
    seen: dict[tuple[tuple[str, ...], ...], _LookAlikes] = {}
    guarantees: list[Guarantee] = []
    findings: list[str] = []
    possible: dict[str, PossibleValues] = {}
    for model in policy.privacy:
        attributes = tuple(known_attributes(model, policy, one.policy) for one in releases)
        if attributes not in seen:
            seen[attributes] = _LookAlikes.of(releases, attributes)
        guarantee, broken = _judged(model, policy, releases, seen[attributes])
        guarantees.append(guarantee)
        if broken.any():
            people = seen[attributes].people_in(broken)
            findings.append(_broken_in_words(model, guarantee, people, int(broken.sum()), (before, now)))
        sensitive = single_sensitive(model)
        if sensitive is not None:
            values, few = possible_values(model, sensitive, releases, attributes, known)
            former = possible.get(sensitive)
            possible[sensitive] = values if former is None or values["one"] > former["one"] else former
            findings += few
    check: TogetherCheck = {
        "releases": len(releases),
        "people": pl.concat([before, now]).n_unique(),
        "newcomers": _not_among(now, before),
        "leavers": _not_among(before, now),
        "guarantees": guarantees,
        "possible": list(possible.values()),
    }
    return check, findings


def _not_among(people: pl.Series, others: pl.Series) -> int:
    return int((~people.is_in(others.implode())).sum())


def _judged(
    model: PrivacyModel, policy: Policy, releases: Sequence[LinkedRelease], classes: _LookAlikes
) -> tuple[Guarantee, Bools]:
    """Return a model as it is counted on classes, and the classes that break it."""
    attributes = policy.attributes_of(model)
    if isinstance(model, KAnonymity):
        broken = classes.sizes < model.k
        smallest = int(classes.sizes.min()) if len(classes.sizes) else None
        holds = not broken.any()
        return as_guarantee(model, attributes, smallest, len(classes.sizes), {}, holds=holds), np.asarray(broken)
    broken = np.zeros(len(classes.sizes), dtype=bool)
    told: tuple[int, float | int | None, SetFigures] | None = None
    for number, one in enumerate(releases):
        items = one.items(str(model.sensitive))
        shown = classes.shown_in(number).to_numpy()
        if items is None or not shown.any():
            continue
        renumber = pl.Series(np.cumsum(shown) - 1)
        inside = items.join(classes.members, on=PERSON, how="inner")
        inside = inside.with_columns(renumber.gather(inside[GROUP]).alias(GROUP))
        histogram = _counted(inside)
        judgement = judge(
            model, policy, classes.sizes[shown], histogram, everyone=_counted(inside.with_columns(GROUP_OF_ALL))
        )
        broken[np.flatnonzero(shown)[judgement.broken]] = True
        number_broken = int(judgement.broken.sum())
        if told is None or number_broken >= told[0]:
            told = number_broken, judgement.worst, judgement.extra
    _, worst, extra = told or (0, None, SetFigures())
    return as_guarantee(model, attributes, worst, len(classes.sizes), extra, holds=not broken.any()), broken


GROUP_OF_ALL = pl.lit(0, dtype=pl.Int64).alias(GROUP)


def _counted(items: pl.DataFrame) -> pl.DataFrame:
    """Return how many people of every class have each value."""
    return in_one_order(items.group_by(GROUP, ITEM).len(COUNT))


def _broken_in_words(
    model: PrivacyModel, guarantee: Guarantee, people: pl.Series, groups: int, known: tuple[pl.Series, pl.Series]
) -> str:
    before, now = known
    new, gone = _not_among(people, before), _not_among(people, now)
    parts = [count(new, "newcomer")] * (new > 0) + [f"{gone:,} no longer shown"] * (gone > 0)
    worst = guarantee["worst"]
    return (
        f"{name_of(model)} over {', '.join(guarantee['attributes'])} does not hold over all releases together for "
        f"{count(len(people), 'person')}{f' ({listing(parts)})' if parts and len(before) else ''} in "
        f"{count(groups, 'group')} of people who look alike in all of them; the worst is "
        f"{'unbounded' if worst is None else f'{worst:.6g}'}."
    )
