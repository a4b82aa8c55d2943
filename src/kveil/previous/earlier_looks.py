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
from kveil.policy.privacy import KAnonymity, TCloseness, single_sensitive
from kveil.previous.demands import Demand, never_given
from kveil.previous.new_columns import NO_COLUMNS, NewColumns, texts_in_rows
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

    ``demands`` are the models that must hold: the new policy's and those promised before. ``looks`` has, per demand, a
    number per person for what they showed in all earlier releases, as far as somebody knows it against whom the model
    protects, ``fixed`` one per row for that and for what the new release will show as it is; ``free`` are people whom
    nobody promised it. ``models`` has, per demand, how it is counted on each earlier release; ``changed`` the people
    whose value of a sensitive attribute is not what it was, per attribute. ``ties`` are the rows' ranks by their keyed
    hash, which says nothing about anybody.
    """

    demands: tuple[Demand, ...]
    rows: int
    people: int
    looks: tuple[Longs, ...]
    models: tuple[tuple[EarlierModel, ...], ...]
    changed: dict[str, Bools]
    _: KW_ONLY
    fixed: tuple[Longs, ...]
    free: tuple[Bools, ...]
    ties: Longs
    policies: tuple[Policy, ...] = ()
    now: NewColumns = NO_COLUMNS

    @classmethod
    def of(
        cls, demands: Sequence[Demand], hashes: pl.Series, archived: Sequence[Archived], now: dict[str, Sensitive],
        *, beside: NewColumns = NO_COLUMNS,
    ) -> Past:  # fmt: skip
        """Return the past of a table whose rows are people of the given hashes; ``now`` are its sensitive values.

        ``beside`` is what the new release shows that is no part of the search for it.
        """
        number = {person: row for row, person in enumerate(hashes.to_list())}
        for one in archived:
            for person in one.people.to_list():
                number.setdefault(person, len(number))
        earlier = [_earlier(one, number, demands) for one in archived]
        looks = tuple(_looks(demand, earlier, len(number)) for demand in demands)
        return cls(
            tuple(demands),
            len(hashes),
            len(number),
            looks,
            tuple(tuple(_models(demand, earlier, len(number))) for demand in demands),
            {name: _changed(name, values, earlier, len(hashes)) for name, values in now.items()},
            fixed=tuple(beside.apart(i, look[: len(hashes)]) for i, look in enumerate(looks)),
            free=tuple(_free(demand, earlier, len(number)) for demand in demands),
            ties=(hashes.rank("ordinal") - 1).cast(pl.Int64).to_numpy(),
            policies=tuple(one.policy for one in archived),
            now=beside,
        )

    @property
    def leavers(self) -> Bools:
        """The people who are in the table no more."""
        return np.arange(self.people) >= self.rows

    def among(self, people: Longs) -> Past:
        """Return the past of some people alone, numbered anew; whoever else there is counts no more."""
        own = tuple(tuple(model.among(people) for model in models) for models in self.models)
        looks = tuple(look[people] for look in self.looks)
        free = tuple(some[people] for some in self.free)
        return replace(
            self, rows=len(people), people=len(people), looks=looks, models=own, changed={}, fixed=looks, free=free
        )

    def good(self, position: int, group: Ints, number: int) -> Bools:
        """Tell which groups of people satisfy a model, by their size and by the values they had in earlier releases.

        ``group`` is -1 for people in none. A group whose members no earlier release shows is judged by its size.
        """
        model = self.demands[position].model
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


def _earlier(archived: Archived, number: dict[str, int], demands: Sequence[Demand]) -> EarlierRelease:
    policy = archived.policy
    rows = release_rows(archived.release, policy)
    person = np.array([number[person] for person in archived.people.to_list()], dtype=np.int64)
    hidden = rows.only_stars.to_numpy()
    shown = np.flatnonzero(~hidden)
    values: dict[str, tuple[Longs, pl.Series]] = {}
    for name in policy.released:
        if name in policy.quasi_identifiers:
            continue
        if name in rows.items:
            items = rows.items[name].filter(~pl.Series(hidden).gather(rows.items[name][ROW]))
            values[name] = person[items[ROW].to_numpy()], _known(items[ITEM], policy)
        else:
            values[name] = person[shown], _known(archived.release.texts(name).gather(rows.source[shown]), policy)
    named = dict.fromkeys(name for demand in demands for name in demand.fixed_in(policy))
    others = {name: texts_in_rows(archived.release, policy, rows, name) for name in named}
    return EarlierRelease(policy, person[shown], rows.texts.with_columns(**others)[shown], values)


def _known(texts: pl.Series, policy: Policy) -> pl.Series:
    """Return texts with null for what hides a value."""
    return texts.replace(dict.fromkeys((STAR, *policy.data.missing)))


def _looks(demand: Demand, earlier: Sequence[EarlierRelease], people: int) -> Longs:
    """Return a number per person for what they showed in all earlier releases; 0 for nothing in any."""
    groups = np.zeros((max(len(earlier), 1), people), dtype=np.int32)
    for line, one in zip(groups, earlier, strict=False):
        codes = [code_texts(one.texts[name]).codes for name in demand.known_before(one.policy)]
        group = group_rows(np.array(codes, dtype=np.int32))[0] if codes else np.zeros(len(one.person), dtype=np.int32)
        line[one.person] = group + 1
    look = group_rows(groups)[0].astype(np.int64) + 1
    look[~groups.any(axis=0)] = NEVER
    return look


def _free(demand: Demand, earlier: Sequence[EarlierRelease], people: int) -> Bools:
    """Return the people who counted as suppressed in every release that promised a demand, and showed them.

    They show `*` in all that the model's component has there, and something elsewhere.
    """
    free, kept = np.zeros(people, dtype=bool), np.zeros(people, dtype=bool)
    starred_over = never_given(demand, [one.policy for one in earlier])
    for number in demand.given or ():
        one = earlier[number]
        over = starred_over.get(number)
        if over is None:
            kept[one.person] = True
            continue
        stars = one.texts.select(pl.all_horizontal(pl.col(over) == STAR).alias("stars"))["stars"].to_numpy()
        free[one.person[stars]] = True
        kept[one.person[~stars]] = True
    return np.asarray(free & ~kept)


def _models(demand: Demand, earlier: Sequence[EarlierRelease], people: int) -> Iterator[EarlierModel]:
    name = single_sensitive(demand.model)
    for one in earlier:
        if name is not None and name in one.values:
            person, texts = one.values[name]
            coded = code_texts(texts)
            values = _encoded(demand, name, coded)
            codes = values.code.astype(np.int32)
            pairs = Pairs(person.astype(np.int32), codes, np.ones(len(codes), dtype=np.int64), values.known)
            shown = np.zeros(people, dtype=bool)
            shown[one.person] = True
            yield EarlierModel(distribution_model(demand.model, values), pairs, shown)


def _encoded(demand: Demand, name: str, coded: Coded) -> Sensitive:
    """Return values as codes; in the order and tree that distances need, where the model has distances."""
    if isinstance(demand.model, TCloseness):
        try:
            return encode_sensitive(coded, demand.policy, name, None, "an earlier release")
        except DataError:
            raise DataError(
                f"an earlier release shows values of {name} that its hierarchy in this policy does not know; add them."
                if demand.given is None
                else f"releases show values of {name} that its hierarchy in an earlier policy, which promised "
                "t-closeness, does not know; leave that archive out, or give --weaker."
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
