"""Promises of a policy that no release of a table keeps, one by one, with why."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kveil.algorithms.limits import is_bounded
from kveil.algorithms.proofs import count_breaking
from kveil.arrays import Longs
from kveil.kernels.models.layout import TOLERANCE
from kveil.policy.components import most_suppressed
from kveil.policy.privacy import (
    AlphaK,
    LDiversity,
    PrivacyModel,
    PSensitive,
    distinct_values,
    named_k,
    sensitive_of,
)
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.words import count, listing, plural_of


@dataclass(frozen=True)
class ImpossiblePromise:
    """A promise that no release of a table keeps: its position in `privacy`, and one sentence that says why."""

    position: int
    why: str


def too_few_rows(where: str, table: Table, k: int) -> str:
    """Return what is said of a table with fewer rows than k."""
    return (
        f"{where} has {count(table.records, table.noun)}, fewer than k = {k}: no group can have {k} members; "
        "lower k or add records."
    )


def promises_beyond_rows(where: str, table: Table) -> list[ImpossiblePromise]:
    """Return the promises with a k above the number of rows."""
    ks = ((position, named_k(model)) for position, model in enumerate(table.policy.privacy))
    return [
        ImpossiblePromise(position, too_few_rows(where, table, k))
        for position, k in ks
        if k is not None and table.records < k
    ]


def promises_beyond_values(where: str, table: Table) -> list[ImpossiblePromise]:
    """Return the promises that a sensitive attribute's values rule out, even if all rows were one group.

    What groups satisfy, all of them together satisfy; so it is enough to look at what is left of the whole table when
    as many rows as may be suppressed are left out, always of the most frequent values.
    """
    allowed = most_suppressed(table.policy, table.records)
    if allowed >= table.records:  # nobody need be released
        return []
    found = []
    for position, model in enumerate(table.policy.privacy):
        why = _beyond_values(model, table, allowed)
        if why is not None:
            found.append(ImpossiblePromise(position, f"{where} has {why}"))
    return found


def promises_beyond_limits(table: Table) -> list[ImpossiblePromise]:
    """Return the promises that more rows than allowed break with every value at its limit, each taken alone.

    Of k, distinct l and p these can never be kept. What breaks another promise counts only where nobody may be
    suppressed: else a part of a group might be kept. Cells of a largest width are chosen, so that others might keep
    more; and labels of generalized items may be more than their values.
    """
    policy = table.policy
    allowed = most_suppressed(policy, table.records)
    if any(is_bounded(table, p) for p, tree in enumerate(table.trees) if isinstance(tree, Scale)):
        return []
    bounded = any(is_bounded(table, position) for position in range(len(table.names)))
    found = []
    for position, model in enumerate(policy.privacy):
        certain = allowed > 0 or not set(policy.generalized).isdisjoint(sensitive_of(model))
        out = count_breaking(table, position, certain=certain)
        if out > allowed:
            over = listing(policy.attributes_of(model)) or "everyone"
            shown = "as general as its boundary allows" if bounded else "as general as it can be"
            breaking = "stands in a group that breaks it" if out == 1 else "stand in groups that break it"
            why = (
                f"{_named(model)} over {over} cannot be kept: with every value {shown}, {count(out, table.noun)} of "
                f"{table.records:,} {breaking}, and the suppression limit allows {allowed:,}; "
                f"{'relax a boundary, ' if bounded else ''}ask for less, or raise suppression.limit."
            )
            found.append(ImpossiblePromise(position, why))
    return found


@dataclass(frozen=True)
class WhyImpossible:
    """Why no release of a table keeps a policy: the promises that cannot be kept, or one sentence on all together."""

    promises: tuple[ImpossiblePromise, ...]
    together: str | None = None

    @classmethod
    def of(cls, where: str, table: Table, *, out: int, falling: int) -> WhyImpossible:
        """Ask; ``out`` can never be kept, and ``falling`` are in groups that break something with values at limits."""
        allowed = most_suppressed(table.policy, table.records)
        found = {each.position: each for each in promises_beyond_values(where, table)}
        found |= {each.position: each for each in promises_beyond_rows(where, table)}
        if out > allowed or (allowed == 0 and falling):
            found = {each.position: each for each in promises_beyond_limits(table)} | found
        if out <= allowed or found:
            return cls(tuple(found[position] for position in sorted(found)))
        bounded = any(is_bounded(table, position) for position in range(len(table.names)))
        return cls(
            (),
            f"{count(out, table.noun)} of {table.records:,} can never be kept, and the suppression limit allows "
            f"{allowed:,}; {'relax a boundary, ' if bounded else ''}ask for less, or raise suppression.limit.",
        )

    @property
    def sentences(self) -> list[str]:
        """What a steward is told."""
        return [*(each.why for each in self.promises), *([] if self.together is None else [self.together])]


def _named(model: PrivacyModel) -> str:
    """Return what a promise is called, with its numbers."""
    keys = ("k", "l", "c", "p", "alpha", "t", "m")
    shown = [f"{key} {value}" for key in keys if (value := getattr(model, key, None)) is not None]
    variant = f"{model.variant} " if isinstance(model, LDiversity) and model.variant != "distinct" else ""
    of = f" of {listing(names)}" if (names := sensitive_of(model)) else ""
    return f"{variant}{model.model}{of} ({', '.join(shown)})"


def _beyond_values(model: PrivacyModel, table: Table, allowed: int) -> str | None:
    """Return what a table has that rules a promise out, after the words that name it; None where nothing does."""
    if not isinstance(model, (PSensitive, LDiversity, AlphaK)):
        return None
    name = model.sensitive
    known = table.sensitive[name].known
    least = distinct_values(model)
    if least is not None:
        sign = "p" if isinstance(model, PSensitive) else "l"
        if known >= least:
            return None
        return (
            f"{count(known, 'value')} of {name}, fewer than {sign} = {least}: no group can have {least} different "
            f"ones; lower {sign}."
        )
    if name in table.policy.generalized:  # labels of several levels may be more, and more even, than values are
        return None
    if isinstance(model, LDiversity) and model.variant != "frequency" and known < model.l:
        diverse = f"{model.variant} l-diverse"
        return f"{count(known, 'value')} of {name}, fewer than l = {model.l}: no group can be {diverse}; lower l."
    held = _Held.of(table, name, allowed)
    if isinstance(model, AlphaK):
        return held.above_share(
            Fraction(str(model.alpha)), f"the share alpha = {model.alpha}", "raise alpha", missing=True
        )
    if isinstance(model, LDiversity) and model.variant == "frequency":
        limit = 1 / Fraction(str(model.l))
        return held.above_share(limit, f"the share 1/l = {float(limit):.3g}", "lower l", missing=False)
    return None if isinstance(model, PSensitive) else held.too_uneven(model)


@dataclass(frozen=True)
class _Held:
    """How many rows have each value of a sensitive attribute, missing last, and how many rows may be suppressed."""

    name: str
    noun: str
    counts: Longs
    rows: int
    allowed: int
    most_per_row: int

    @classmethod
    def of(cls, table: Table, name: str, allowed: int) -> _Held:
        """Count who has which value."""
        own, distinct = table.sensitive[name], table.distinct
        _, codes, counts = table.pairs(name, distinct.member, len(distinct.weights))
        tally = np.zeros(own.known + 1, dtype=np.int64)
        np.add.at(tally, codes, counts)
        return cls(name, table.noun, tally, table.records, allowed, own.most_per_row)

    def above_share(self, limit: Fraction, shown: str, remedy: str, *, missing: bool) -> str | None:
        """Return what rules out a largest share of a value in every group: one is had by more of all rows."""
        most = int((self.counts if missing else self.counts[:-1]).max(initial=0))
        if most - self.allowed <= limit * (self.rows - self.allowed):
            return None
        return (
            f"one value of {self.name} in {count(most, self.noun)} of {self.rows:,}, more than {shown} of them"
            f"{self._although()}: some group has no less of it; {remedy}, or raise suppression.limit."
        )

    def too_uneven(self, model: LDiversity) -> str | None:
        """Return what rules out entropy or recursive l: all rows together are less diverse than any group may be."""
        counts = self._levelled()
        if not any(counts):
            return None
        values = f"{count(len(counts), 'value')} of {self.name}, too unevenly spread"
        if model.variant == "entropy":
            shares = np.array([float(each) for each in counts]) / float(sum(counts))
            reached = float(np.exp(-(shares * np.log(shares)).sum()))
            if np.log(reached) >= np.log(float(model.l)) - TOLERANCE:
                return None
            return (
                f"{values} for entropy l = {model.l}: all {self.rows:,} {plural_of(self.noun)} together reach "
                f"{reached:.3g}{self._although()}, and some group is no more even; lower l, or raise suppression.limit."
            )
        tail = sum(counts[int(model.l) - 1 :], Fraction(0))
        if counts[0] < Fraction(str(model.c)) * tail:
            return None
        return (
            f"{values} for recursive l = {model.l} with c = {model.c}: of all {self.rows:,} {plural_of(self.noun)} "
            f"together the most frequent value has {float(counts[0]):.6g}, those from the l-th on "
            f"{float(tail):.6g}{self._although()}; lower l, raise c, or raise suppression.limit."
        )

    def _levelled(self) -> list[Fraction]:
        """Return the counts of known values, falling, after as much was left out as may be, of the most frequent.

        A row of several values takes them all along. Counts that need not be whole are no less even than whole ones.
        """
        counts = sorted((Fraction(int(each)) for each in self.counts[:-1] if each), reverse=True)
        spare = Fraction(self.allowed * self.most_per_row)
        level, taken = (counts[0] if counts else Fraction(0)), Fraction(0)
        for number, each in enumerate(counts, start=1):
            below = counts[number] if number < len(counts) else Fraction(0)
            step = min(each - below, (spare - taken) / number)
            level, taken = each - step, taken + step * number
            if step < each - below:
                break
        return [min(each, level) for each in counts]

    def _although(self) -> str:
        return f", even without {self.allowed:,} that may be suppressed" if self.allowed else ""
