"""Several releases together: what somebody learns who has all of them and knows everybody's quasi-identifiers.

People who show the same in every release look alike; not to be shown in a release is something to show, too. Such
classes lie inside the groups of each single release, and every model is judged on them: on their size, and, for every
release that shows the sensitive attribute, on the values that their members have in it. Whoever knows, beside all
releases, how many of a class have which value still finds the models kept, so nobody who knows less learns more.
The models are those of the newest release and of every earlier one: what was promised once is promised still.

Beside that, the values are counted that remain possible for somebody who only has the texts: those that occur in the
person's group in every release. They are more than those of the class, and what an attack would go by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.guarantee import EarlierGuarantee, Guarantee, SetFigures
from kveil.policy.model import Policy
from kveil.policy.privacy import KAnonymity, single_sensitive
from kveil.verifier.distances import COUNT, GROUP
from kveil.verifier.given_promises import GivenPromise, check_several, given_promises
from kveil.verifier.guarantees import as_guarantee, in_one_order, judge, name_of
from kveil.verifier.links import PERSON, KnownPeople, LinkedRelease
from kveil.verifier.possible import possible_values
from kveil.verifier.rows import ITEM
from kveil.verifier.verdict import PossibleValues, TogetherCheck
from kveil.words import count, listing, model_in_words


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

    def all_among(self, people: pl.Series) -> Bools:
        """Tell which classes have no members but some people."""
        others = self.members.filter(~pl.col(PERSON).is_in(people.implode()))[GROUP].to_numpy()
        return np.asarray(np.bincount(others, minlength=len(self.sizes)) == 0)

    def people_in(self, classes: Bools) -> pl.Series:
        """Return the people of some classes."""
        return self.members.filter(pl.Series(classes).gather(self.members[GROUP]))[PERSON]


@dataclass(frozen=True)
class Together:
    """What several releases show together: what was counted, what breaks the policy, and what is the owner's to know.

    ``lapsed`` says what earlier releases promised and these do not keep, where that is allowed; ``fallen`` are the
    people for whom any promise does not hold.
    """

    check: TogetherCheck
    findings: list[str]
    lapsed: list[str]
    fallen: pl.Series


def verify_together(
    policy: Policy, releases: Sequence[LinkedRelease], *, known: KnownPeople | None = None, weaker: bool = False
) -> Together:
    """Judge what a policy asks for, and what earlier releases promised, on what several releases show together.

    The last release is the newest. ``known`` are people whose own values are at hand, so that it can be told which rows
    fit them. Where a ``weaker`` release is allowed, promises of earlier ones are counted, and no finding. Returns how
    many people, never who. O(people · releases · promises).
    """
    unjudged = check_several(policy, [(one.name, one.policy) for one in releases[:-1]], weaker=weaker)
    now = releases[-1].shown[PERSON]
    before = pl.concat([now.head(0), *(one.shown[PERSON] for one in releases[:-1])]).unique()
    seen: dict[tuple[tuple[str, ...], ...], _LookAlikes] = {}
    judged: list[_JudgedPromise] = []
    possible: dict[str, PossibleValues] = {}
    shown = _ReleasesTogether(releases, before, now)
    for promise in given_promises(policy, releases):
        attributes = tuple(promise.known_in(one.policy) for one in releases)
        if attributes not in seen:
            seen[attributes] = _LookAlikes.of(releases, attributes)
        free = _never_promised(promise, releases)
        one = shown.judge(promise, seen[attributes], free)
        sensitive = single_sensitive(promise.model)
        if sensitive is not None:
            values, few = possible_values(promise.model, sensitive, releases, attributes, known, free=free)
            former = possible.get(sensitive)
            possible[sensitive] = values if former is None or values["one"] > former["one"] else former
            one.findings.extend(few)
        judged.append(one)
    own = [one for one in judged if one.promise.given is None]
    earlier = [one for one in judged if one.promise.given is not None]
    fallen = pl.concat([now.head(0), *(one.below for one in earlier)]).n_unique()
    told = [sentence for one in earlier for sentence in one.findings]
    check: TogetherCheck = {
        "releases": len(releases),
        "people": pl.concat([before, now]).n_unique(),
        "newcomers": _not_among(now, before),
        "leavers": _not_among(before, now),
        "guarantees": [one.guarantee for one in own],
        "promised": [one.as_earlier(releases) for one in earlier],
        "weaker": weaker,
        "below": fallen,
        "unjudged": unjudged,
        "possible": list(possible.values()),
    }
    findings = [sentence for one in own for sentence in one.findings]
    lapsed = _lapsed_in_words(check, told) if weaker else []
    everybody = pl.concat([now.head(0), *(one.people for one in judged)]).unique()
    return Together(check, findings if weaker else [*findings, *told], lapsed, everybody)


@dataclass(frozen=True)
class _JudgedPromise:
    """A promise as it is counted on all releases, for whom it does not hold, and what was found.

    ``below`` are those of them to whom it was given.
    """

    promise: GivenPromise
    guarantee: Guarantee
    people: pl.Series
    below: pl.Series
    findings: list[str]

    def as_earlier(self, releases: Sequence[LinkedRelease]) -> EarlierGuarantee:
        given = [releases[number].name for number in self.promise.given or ()]
        return {**self.guarantee, "releases": given, "below": len(self.below)}


def _lapsed_in_words(check: TogetherCheck, told: list[str]) -> list[str]:
    """Return what a release takes back that was promised before; without it, that some of it cannot be judged."""
    sentences = [
        f"{promise} is a promise about sets of items, and was not held against this release, which --weaker allows."
        for promise in check["unjudged"]
    ]
    if not told:
        return sentences
    broken = [
        f"{model_in_words(own)} over {listing(own['attributes']) or 'everyone'}, promised by "
        f"{listing(own['releases'])}, for {count(own['below'], 'person')}"
        for own in check["promised"]
        if not own["holds"]
    ]
    fallen = check["below"]
    verb = "gets" if fallen == 1 else "get"
    return [
        f"{count(fallen, 'person')} of earlier releases {verb} less than was promised then, "
        f"which --weaker allows: {'; '.join(broken or told).rstrip('.')}.",
        *sentences,
    ]


@dataclass(frozen=True)
class _ReleasesTogether:
    """Several releases, with the people whom the earlier ones and the newest one show."""

    releases: Sequence[LinkedRelease]
    before: pl.Series
    now: pl.Series

    def judge(self, promise: GivenPromise, classes: _LookAlikes, free: pl.Series | None) -> _JudgedPromise:
        """Judge a promise on classes, but for those of ``free`` people alone, to whom it was not given."""
        guarantee, broken = _counted_on(promise, self.releases, classes)
        if free is not None:
            broken = broken & ~classes.all_among(free)
            guarantee["holds"] = not broken.any()
        people = classes.people_in(broken)
        given = range(len(self.releases)) if promise.given is None else promise.given
        told = pl.concat([self.releases[number].shown[PERSON] for number in given]).unique()
        below = people.filter(people.is_in(told.implode()))
        if not broken.any():
            return _JudgedPromise(promise, guarantee, people, below, [])
        return _JudgedPromise(
            promise, guarantee, people, below, [self._in_words(promise, guarantee, people, below, broken)]
        )

    def _in_words(
        self, promise: GivenPromise, guarantee: Guarantee, people: pl.Series, below: pl.Series, broken: Bools
    ) -> str:
        new, gone = _not_among(people, self.before), _not_among(people, self.now)
        parts = [count(new, "newcomer")] * (new > 0) + [f"{gone:,} no longer shown"] * (gone > 0)
        worst = guarantee["worst"]
        given = [self.releases[number].name for number in promise.given or ()]
        told = f" ({listing(parts)})" if parts and len(self.before) else ""
        return (
            f"{name_of(promise.model)} over {', '.join(promise.attributes) or 'everyone'}"
            f"{f', promised by {listing(given)},' if given else ''} does not hold over all releases together for "
            f"{count(len(people), 'person')}{told}{f', {len(below):,} of whom were promised it,' if given else ''} in "
            f"{count(int(broken.sum()), 'group')} of people who look alike in all of them; the worst is "
            f"{'unbounded' if worst is None else f'{worst:.6g}'}."
        )


def _never_promised(promise: GivenPromise, releases: Sequence[LinkedRelease]) -> pl.Series | None:
    """Return the people who counted as suppressed wherever an earlier promise was given, though some cells are shown.

    None where there are none: nearly always.
    """
    free: pl.Series | None = None
    kept: list[pl.Series] = []
    for number in promise.given or ():
        one = releases[number]
        over = promise.component_in(one.policy)
        starred = one.shown[PERSON].head(0) if over is None else one.starred_over(over)
        kept.append(one.shown[PERSON].filter(~one.shown[PERSON].is_in(starred.implode())))
        if len(starred):
            free = starred if free is None else pl.concat([free, starred]).unique()
    if free is None:
        return None
    free = free.filter(~free.is_in(pl.concat(kept).implode()))
    return free if len(free) else None


def _not_among(people: pl.Series, others: pl.Series) -> int:
    return int((~people.is_in(others.implode())).sum())


def _counted_on(
    promise: GivenPromise, releases: Sequence[LinkedRelease], classes: _LookAlikes
) -> tuple[Guarantee, Bools]:
    """Return a model as it is counted on classes, and the classes that break it."""
    model, policy, attributes = promise.model, promise.policy, promise.attributes
    if isinstance(model, KAnonymity):
        broken = classes.sizes < model.k
        smallest = int(classes.sizes.min()) if len(classes.sizes) else None
        holds = not broken.any()
        return as_guarantee(model, attributes, smallest, len(classes.sizes), {}, holds=holds), np.asarray(broken)
    broken = np.zeros(len(classes.sizes), dtype=bool)
    told: tuple[int, float | int | None, SetFigures] | None = None
    for number, one in enumerate(releases):
        # Labels of a quasi-identifier are no values: they are known, and those who show the same are a class.
        items = None if model.sensitive in one.policy.quasi_identifiers else one.items(str(model.sensitive))
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
