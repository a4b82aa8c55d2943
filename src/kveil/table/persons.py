"""One person, many records: who has which records, and the sets of what they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.errors import DataError, Disagreement
from kveil.files import Source, exact_values, number_texts
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.model import Policy
from kveil.words import count, listing


@dataclass(frozen=True)
class Persons:
    """The individuals of a table, numbered in the order of their first record."""

    of_record: Ints  # every record's person
    first: Longs  # every person's first record
    order: Longs  # the records sorted by person, stable
    starts: Longs  # where each person begins in that order

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.first)

    def lowest(self, leaves: Ints) -> Ints:
        """Return the smallest leaf of every person, per row of leaves."""
        return (
            np.minimum.reduceat(np.take(leaves, self.order, axis=1), self.starts, axis=1)
            if self.number
            else leaves[:, :0]
        )

    def highest(self, leaves: Ints) -> Ints:
        """Return the largest leaf of every person, per row of leaves."""
        return (
            np.maximum.reduceat(np.take(leaves, self.order, axis=1), self.starts, axis=1)
            if self.number
            else leaves[:, :0]
        )

    def with_any(self, records: Bools) -> Bools:
        """Return the persons who have one of some records."""
        return np.bincount(self.of_record[records], minlength=self.number) > 0

    def records_of(self, chosen: Longs) -> Longs:
        """Return the records of some persons."""
        here = np.zeros(self.number, dtype=bool)
        here[chosen] = True
        return np.flatnonzero(here[self.of_record])

    def set_codes(self, codes: Ints, missing: int) -> Ints:
        """Return a number for every person's set of codes, missing left out; the same number for the same set."""
        sets = [tuple(sorted({*part.tolist()} - {missing})) for part in np.split(codes[self.order], self.starts[1:])]
        number = {own: i for i, own in enumerate(sorted(set(sets)))}
        return np.array([number[own] for own in sets[: self.number]], dtype=np.int32)


def nobody() -> Persons:
    """Return the individuals of a table that has none, which is one of individuals all the same."""
    nothing = np.zeros(0, dtype=np.int64)
    return Persons(nothing.astype(np.int32), nothing, nothing, nothing)


def find_persons(source: Source, policy: Policy) -> Persons | None:
    """Return the individuals of a table, None where the policy names no column for them."""
    column = policy.individual_column
    if column is None:
        return None
    texts = source.texts(column)
    absent = int((texts.is_null() | texts.is_in(list(policy.data.missing))).sum())
    if absent:
        raise records_of_nobody(source.name, column, absent)
    number, first = number_texts(texts)
    of_record = number.astype(np.int32)
    records = members_by_group(of_record, len(first))
    return Persons(of_record, first, records.rows, records.starts[:-1])


def records_of_nobody(where: str, column: str, records: int) -> DataError:
    """Return the error about records that do not say whose they are."""
    return DataError(
        f"{where}: {column} says whose record it is, but is missing in {count(records, 'record')}; "
        "fill it in or take those records out."
    )


def check_conflicts(names: tuple[str, ...], low: Ints, high: Ints, where: str, *, times: Longs | None = None) -> None:
    """Raise DataError where records of one person disagree on a quasi-identifier.

    ``times`` says how many people each entry stands for, one where it is not given.
    """
    differs = low != high
    if differs.any():
        disagreeing = differs.any(axis=0)
        people = int(disagreeing.sum() if times is None else times[disagreeing].sum())
        raise disagreeing_records(where, [n for n, row in zip(names, differs, strict=True) if row.any()], people)


def disagreeing_records(where: str, attributes: list[str], people: int) -> Disagreement:
    """Return the error about people whose records disagree on quasi-identifiers."""
    return Disagreement(
        f"{where}: the records of {count(people, 'person')} disagree on {listing(attributes)}; correct them, "
        "or set individual: {conflicts: generalize}.",
        columns=attributes,
        generalizable=True,
    )


def check_constant(source: Source, policy: Policy, persons: Persons) -> None:
    """Raise DataError where an insensitive attribute varies within a person: one row per person cannot show it."""
    varying, people = [], np.zeros(len(persons.first), dtype=bool)
    for name in policy.with_role("insensitive"):
        texts, exact = source.texts(name), exact_values(source.column(name))
        first = persons.first[persons.of_record]
        varies = (texts.ne_missing(texts.gather(first)) | exact.ne_missing(exact.gather(first))).to_numpy()
        if varies.any():
            varying.append(name)
            people[persons.of_record[varies]] = True
    if varying:
        raise varying_cells(source.name, varying, int(people.sum()))


def varying_cells(where: str, names: Sequence[str], people: int) -> Disagreement:
    """Return the error about insensitive attributes of which some have more than one value."""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    varies = "varies" if len(names) == 1 else "vary"
    return Disagreement(
        f"{where}: {listing(list(names))} {verb} insensitive and {varies} within {count(people, 'person')}; a release "
        f"about people can only show what each has one of. Give {them} role sensitive or identifier.",
        columns=names,
    )
