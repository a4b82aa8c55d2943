"""What earlier releases showed of people: how they looked, and what values they had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
import polars as pl

from kveil.archive import Archived
from kveil.arrays import Bools, Ints, Longs
from kveil.errors import DataError
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.models.distributions import distribution_model
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import KAnonymity, PrivacyModel, TCloseness, single_sensitive
from kveil.table.columns import Coded, code_texts
from kveil.table.sensitive import Sensitive, encode_sensitive
from kveil.verifier.rows import ITEM, ROW, release_rows

NEVER = 0  # the look of somebody whom no earlier release shows


@dataclass(frozen=True)
class EarlierRelease:
    """One earlier release as far as it shows people: who each row is, its texts, and the values of each person.

    ``values`` has, per sensitive attribute, pairs of a person and a value; `*` and missing are the value missing.
    """

    policy: Policy
    person: Longs
    texts: pl.DataFrame
    values: dict[str, tuple[Longs, pl.Series]]


@dataclass(frozen=True)
class EarlierModel:
    """A model of the policy on the values that people had in one earlier release."""

    model: GroupModel
    pairs: Pairs
    shown: Bools

    def among(self, people: Longs) -> EarlierModel:
        """Return the same model on some people alone."""
        parts = [self.pairs.of(people[i : i + 1]) for i in range(len(people))]
        tuples = np.repeat(np.arange(len(people), dtype=np.int32), [len(codes) for codes, _ in parts])
        codes = np.concatenate([codes for codes, _ in parts]) if parts else np.zeros(0, dtype=np.int32)
        counts = np.concatenate([counts for _, counts in parts]) if parts else np.zeros(0, dtype=np.int64)
        return EarlierModel(self.model, Pairs(tuples, codes, counts, self.pairs.known), self.shown[people])


@dataclass(frozen=True)
class Past:
    """People of a table and of earlier releases: the table's rows first, then who is in the table no more.

    ``looks`` has, per model of the policy, a number per person for what they showed in all earlier releases, as far as
    somebody knows it against whom the model protects. ``models`` has, per model, how it is counted on each earlier
    release; ``changed`` the people whose value of a sensitive attribute is not what it was, per attribute. ``ties`` are
    the rows' ranks by their keyed hash, which says nothing about anybody.
    """

    policy: Policy
    rows: int
    people: int
    looks: tuple[Longs, ...]
    models: tuple[tuple[EarlierModel, ...], ...]
    changed: dict[str, Bools]
    _: KW_ONLY
    ties: Longs

    @classmethod
    def of(cls, policy: Policy, hashes: pl.Series, archived: Sequence[Archived], now: dict[str, Sensitive]) -> Past:
        """Return the past of a table whose rows are people of the given hashes; ``now`` are its sensitive values."""
        number = {person: row for row, person in enumerate(hashes.to_list())}
        for one in archived:
            for person in one.people.to_list():
                number.setdefault(person, len(number))
        earlier = [_earlier(one, number) for one in archived]
        return cls(
            policy,
            len(hashes),
            len(number),
            tuple(_looks(model, policy, earlier, len(number)) for model in policy.privacy),
            tuple(tuple(_models(model, policy, earlier, len(number))) for model in policy.privacy),
            {name: _changed(name, values, earlier, len(hashes)) for name, values in now.items()},
            ties=(hashes.rank("ordinal") - 1).cast(pl.Int64).to_numpy(),
        )

    @property
    def leavers(self) -> Bools:
        """The people who are in the table no more."""
        return np.arange(self.people) >= self.rows

    def among(self, people: Longs) -> Past:
        """Return the past of some people alone, numbered anew; whoever else there is counts no more."""
        own = tuple(tuple(model.among(people) for model in models) for models in self.models)
        looks = tuple(look[people] for look in self.looks)
        return replace(self, rows=len(people), people=len(people), looks=looks, models=own, changed={})

    def good(self, position: int, group: Ints, number: int) -> Bools:
        """Tell which groups of people satisfy a model, by their size and by the values they had in earlier releases.

        ``group`` is -1 for people in none. A group whose members no earlier release shows is judged by its size.
        """
        model = self.policy.privacy[position]
        apart = np.where(group < 0, number, group).astype(np.int32)
        fine = np.ones(number + 1, dtype=bool)
        if isinstance(model, KAnonymity):
            everyone = np.ones(self.people, dtype=np.int64)
            fine &= AtLeastK(model.k).good(Groups(apart, number + 1, everyone, {}))
        for earlier in self.models[position]:
            name = earlier.model.sensitive
            pairs = {} if name is None else {name: earlier.pairs}
            fine &= earlier.model.good(Groups(apart, number + 1, earlier.shown.astype(np.int64), pairs))
        return fine[:number]


def attributes_known_before(model: PrivacyModel, policy: Policy, other: Policy) -> list[str]:
    """Return the quasi-identifiers of another release that an attacker of a model knows.

    Those that the policy does not have, and of its own those that the model names: what it leaves out, it promises
    nothing about. The verifier has this rule a second time.
    """
    own = policy.quasi_identifiers
    named = policy.attributes_of(model)
    return [name for name in other.quasi_identifiers if name in named or name not in own]


def _earlier(archived: Archived, number: dict[str, int]) -> EarlierRelease:
    rows = release_rows(archived.release, archived.policy)
    person = np.array([number[person] for person in archived.people.to_list()], dtype=np.int64)
    hidden = rows.only_stars.to_numpy()
    shown = np.flatnonzero(~hidden)
    values: dict[str, tuple[Longs, pl.Series]] = {}
    for name in archived.policy.released:
        if name in rows.items:
            items = rows.items[name].filter(~pl.Series(hidden).gather(rows.items[name][ROW]))
            values[name] = person[items[ROW].to_numpy()], _known(items[ITEM], archived.policy)
        elif not rows.persons and name not in archived.policy.quasi_identifiers:
            values[name] = person[shown], _known(archived.release.texts(name).gather(shown), archived.policy)
    return EarlierRelease(archived.policy, person[shown], rows.texts[shown], values)


def _known(texts: pl.Series, policy: Policy) -> pl.Series:
    """Return texts with null for what hides a value."""
    return texts.replace(dict.fromkeys((STAR, *policy.data.missing)))


def _looks(model: PrivacyModel, policy: Policy, earlier: Sequence[EarlierRelease], people: int) -> Longs:
    """Return a number per person for what they showed in all earlier releases; 0 for nothing in any."""
    groups = np.zeros((max(len(earlier), 1), people), dtype=np.int32)
    for line, one in zip(groups, earlier, strict=False):
        names = attributes_known_before(model, policy, one.policy)
        codes = [code_texts(one.texts[name]).codes for name in names]
        group = group_rows(np.array(codes, dtype=np.int32))[0] if codes else np.zeros(len(one.person), dtype=np.int32)
        line[one.person] = group + 1
    look = group_rows(groups)[0].astype(np.int64) + 1
    look[~groups.any(axis=0)] = NEVER
    return look


def _models(
    model: PrivacyModel, policy: Policy, earlier: Sequence[EarlierRelease], people: int
) -> Iterator[EarlierModel]:
    name = single_sensitive(model)
    for one in earlier:
        if name is not None and name in one.values:
            person, texts = one.values[name]
            coded = code_texts(texts)
            values = _encoded(model, policy, name, coded)
            codes = values.code.astype(np.int32)
            pairs = Pairs(person.astype(np.int32), codes, np.ones(len(codes), dtype=np.int64), values.known)
            shown = np.zeros(people, dtype=bool)
            shown[one.person] = True
            yield EarlierModel(distribution_model(model, values), pairs, shown)


def _encoded(model: PrivacyModel, policy: Policy, name: str, coded: Coded) -> Sensitive:
    """Return values as codes; in the order and tree that distances need, where the model has distances."""
    if isinstance(model, TCloseness):
        try:
            return encode_sensitive(coded, policy, name, None, "an earlier release")
        except DataError:
            raise DataError(
                f"an earlier release shows values of {name} that its hierarchy in this policy does not know; add them."
            ) from None
    known = len(coded.texts)
    codes = np.where(coded.codes < 0, known, coded.codes).astype(np.int32)
    return Sensitive(name, tuple(coded.texts), np.arange(len(codes), dtype=np.int32), codes, None)


def _changed(name: str, now: Sensitive, earlier: Sequence[EarlierRelease], rows: int) -> Bools:
    """Return the rows whose values of an attribute are not those of some earlier release that shows them."""
    known = now.code < now.known
    own = _sets(now.row[known].tolist(), [now.values[code] for code in now.code[known].tolist()], rows)
    changed = np.zeros(rows, dtype=bool)
    for one in earlier:
        if name not in one.values:
            continue
        person, texts = one.values[name]
        here = np.unique(one.person[one.person < rows])
        told = texts.is_not_null().to_numpy() & (person < rows)
        before = _sets(person[told].tolist(), texts.filter(pl.Series(told)).to_list(), rows)
        for row in here.tolist():
            changed[row] |= own.get(row) != before.get(row)
    return changed


def _sets(rows: list[int], values: list[str], number: int) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for row, value in zip(rows, values, strict=True):
        found.setdefault(row, set()).add(value)
    return {row: frozenset(own) for row, own in found.items() if row < number}
