"""The risk of a raw table, before anything is done to it: who is alone, why, and what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TypedDict

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.files import Source
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.policy.attributes import Ranges
from kveil.policy.model import Policy
from kveil.policy.privacy import named_k
from kveil.table.columns import Coded, code_texts
from kveil.verifier.rows import original_rows
from kveil.words import count, listing, plural_of, row_noun

MOST_SETS = 400  # sets of attributes that are looked at
LARGEST_SET = 4
DENSE = 8  # cells per distinct row up to which groups are counted in a table of all that could be
OTHER_K = (2, 3, 5, 10, 20, 50)


class UniqueRows(TypedDict):
    """Rows that nobody shares over some attributes."""

    attributes: list[str]
    rows: int
    share: float


class ConstraintRisk(TypedDict):
    """How many rows break a model as they are; ``drivers``: how many of them would not without one attribute."""

    constraint: int
    model: str
    attributes: list[str]
    k: int
    below_k: int
    share: float
    drivers: dict[str, int]
    below_other_k: dict[str, int]


class AttributeRisk(TypedDict):
    """How many values an attribute has, and how many rows it singles out alone and with others."""

    attribute: str
    values: int
    unique_alone: int
    unique_through_it: int


class TellingSet(TypedDict):
    """A set of attributes, and the share of rows that it singles out."""

    attributes: list[str]
    share: float


class TellingSets(TypedDict):
    """The smallest sets that single out more than a share of the rows, and the best of each size."""

    threshold: float
    sets: list[TellingSet]
    best: list[TellingSet]
    looked_at: int
    complete: bool


class LevelRisk(TypedDict):
    """How many rows still break a model when one attribute alone goes up, level by level."""

    attribute: str
    below_k: list[int]


class RawRisk(TypedDict):
    """The risk of a table as it is; ``counts`` says whether rows are records or people."""

    counts: str
    rows: int
    unique: UniqueRows
    constraints: list[ConstraintRisk]
    attributes: list[AttributeRisk]
    smallest_sets: TellingSets
    levels: list[LevelRisk]


class _EqualOver:
    """The distinct rows as integer codes, with how many rows have each, and the groups of equal rows over attributes.

    Everything is reckoned on distinct rows, of which a long table has few; whatever is counted is counted in rows.
    """

    def __init__(self, texts: pl.DataFrame, *, times: Longs | None = None) -> None:
        columns = [code_texts(texts[name]) for name in texts.columns]
        member, first = group_rows(np.array([column.codes for column in columns], dtype=np.int32))
        self.rows = texts.height if times is None else int(times.sum())
        self.weights = np.bincount(member, times, minlength=len(first)).astype(np.int64)
        self.columns = {
            name: Coded(column.texts, column.codes[first]) for name, column in zip(texts.columns, columns, strict=True)
        }
        self._known: dict[frozenset[str], Ints] = {}

    def count(self, chosen: Bools) -> int:
        """Return how many rows the chosen distinct ones stand for."""
        return int(self.weights[chosen].sum())

    def share(self, chosen: Bools) -> float:
        """Return the share of all rows that the chosen distinct ones stand for."""
        return self.count(chosen) / self.rows if self.rows else 0.0

    def sizes(self, names: Sequence[str]) -> Ints:
        """Return for every distinct row how many rows are equal to it over the names.

        Those over many names are kept: they are few, and asked for again.
        """
        key = frozenset(names)
        if key in self._known:
            return self._known[key]
        sizes = self._sizes([self.columns[name].codes for name in names])
        if len(key) > LARGEST_SET:
            self._known[key] = sizes
        return sizes

    def sizes_with(self, names: Sequence[str], other: str, codes: Ints) -> Ints:
        """Return the same where one of the names has other codes."""
        return self._sizes([codes if name == other else self.columns[name].codes for name in names])

    def _sizes(self, columns: list[Ints]) -> Ints:
        if not columns or not self.rows:
            return np.full(len(self.weights), self.rows, dtype=np.int32)
        spans = [int(codes.max()) + 1 for codes in columns]
        if math.prod(spans) <= DENSE * len(self.weights):
            group = columns[0]
            for codes, span in zip(columns[1:], spans[1:], strict=True):
                group = group * np.int32(span) + codes
        else:
            group, _ = group_rows(np.array(columns, dtype=np.int32))
        return np.bincount(group, weights=self.weights).astype(np.int32)[group]


def raw_risk(source: Source, policy: Policy, *, times: Longs | None = None) -> RawRisk:
    """Return the risk of a table as it is, as plain data without a value of it.

    ``times`` says how many records, or individuals, each row stands for, where equal ones were counted together.

    ``unique`` are rows nobody shares; ``below_k`` rows in groups smaller than a model's k. A row is a record, or a
    person where the policy names individuals.
    """
    rows = original_rows(source, policy)
    groups = _EqualOver(rows.texts, times=times)
    names = tuple(policy.quasi_identifiers)
    return {
        "counts": plural_of(row_noun(people=bool(rows.persons))),
        "rows": groups.rows,
        "unique": _unique(groups, names),
        "constraints": _constraints(groups, policy),
        "attributes": _attributes(groups, names),
        "smallest_sets": smallest_sets(groups, names),
        "levels": _levels(groups, policy),
    }


def _unique(groups: _EqualOver, names: tuple[str, ...]) -> UniqueRows:
    alone = groups.sizes(names) == 1
    return {"attributes": list(names), "rows": groups.count(alone), "share": groups.share(alone)}


def _constraints(groups: _EqualOver, policy: Policy) -> list[ConstraintRisk]:
    """Return for every model with a k how many rows break it as they are, and what another k would save.

    ``drivers`` has for each of its attributes how many of those rows would keep it if that attribute were `*`: the
    attribute with most is what drives the loss.
    """
    found: list[ConstraintRisk] = []
    for position, model in enumerate(policy.privacy):
        k = named_k(model)
        if k is None:
            continue
        names = policy.attributes_of(model)
        sizes = groups.sizes(names)
        bad = sizes < k
        drivers = {name: groups.count(bad & (groups.sizes([n for n in names if n != name]) >= k)) for name in names}
        found.append(
            {
                "constraint": position,
                "model": model.model,
                "attributes": list(names),
                "k": k,
                "below_k": groups.count(bad),
                "share": groups.share(bad),
                "drivers": dict(sorted(drivers.items(), key=lambda pair: -pair[1])),
                "below_other_k": {str(other): groups.count(sizes < other) for other in sorted({*OTHER_K, k})},
            }
        )
    return found


def _attributes(groups: _EqualOver, names: tuple[str, ...]) -> list[AttributeRisk]:
    """Return for each attribute how many rows it singles out alone, and how many only with its help."""
    alone = groups.sizes(names) == 1
    found: list[AttributeRisk] = []
    for name in names:
        others = [other for other in names if other != name]
        without = groups.sizes(others) == 1 if others else np.zeros(len(alone), dtype=bool)
        found.append(
            {
                "attribute": name,
                "values": len(groups.columns[name].texts),
                "unique_alone": groups.count(groups.sizes([name]) == 1),
                "unique_through_it": groups.count(alone & ~without),
            }
        )
    found.sort(key=lambda entry: -entry["unique_through_it"])
    return found


def smallest_sets(groups: _EqualOver, names: tuple[str, ...], *, most: float = 0.5) -> TellingSets:
    """Return the smallest sets of attributes that single out more than a share of the rows.

    Sets are looked at by growing size, those of attributes with many values first; the search ends with the first
    size that has such a set, at four attributes, or after a fixed number of sets. ``best`` has the most telling
    sets of each size.
    """
    values = {name: len(groups.columns[name].texts) for name in names}
    ordered = sorted(names, key=lambda name: -values[name])
    looked = 0
    best: list[TellingSet] = []
    enough: list[TellingSet] = []
    for size in range(1, min(LARGEST_SET, len(names)) + 1):
        found: list[TellingSet] = []
        for chosen in combinations(ordered, size):
            if looked >= MOST_SETS:
                break
            looked += 1
            share = groups.share(groups.sizes(chosen) == 1)
            found.append({"attributes": [name for name in names if name in chosen], "share": share})
        found.sort(key=lambda entry: -entry["share"])
        best += found[:3]
        enough = [entry for entry in found if entry["share"] > most]
        if enough or looked >= MOST_SETS:
            break
    return {"threshold": most, "sets": enough[:5], "best": best, "looked_at": looked, "complete": looked < MOST_SETS}


def _levels(groups: _EqualOver, policy: Policy) -> list[LevelRisk]:
    """Return for each attribute how many rows still break a model when it alone goes up, level by level."""
    asked = [(k, policy.attributes_of(model)) for model in policy.privacy if (k := named_k(model)) is not None]
    nobody = np.zeros(len(groups.weights), dtype=bool)
    broken = [groups.sizes(names) < k for k, names in asked]

    def still_broken(name: str, rung: Ints) -> int:
        bad = nobody.copy()
        for own, (k, names) in zip(broken, asked, strict=True):
            bad |= groups.sizes_with(names, name, rung) < k if name in names else own
        return groups.count(bad)

    as_it_is = groups.count(np.logical_or.reduce([nobody, *broken]))
    return [
        {
            "attribute": name,
            "below_k": [as_it_is, *(still_broken(name, rung) for rung in _rungs(policy, name, groups.columns[name]))],
        }
        for name in policy.quasi_identifiers
    ]


def _rungs(policy: Policy, name: str, column: Coded) -> list[Ints]:
    """Return a column's codes at every level above its leaves; `ranges` has one, `*`."""
    distinct, codes = column.texts, column.codes
    spec = policy.attributes[name].hierarchy
    if isinstance(spec, Ranges):
        return [np.zeros(len(codes), dtype=np.int32)]
    up = policy.ways_up(name, distinct)
    ways = [way if len(way := up.of(value)) > 1 else (value, up.root) for value in distinct]
    height = max((len(way) for way in ways), default=1) - 1
    rungs = []
    for level in range(1, height + 1):
        # Full-domain level n shows each leaf's ancestor at depth at most height - n.
        labels = [way[max(len(way) - 1 - (height - level), 0)] for way in ways]
        number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        rungs.append(np.array([number[label] for label in labels], dtype=np.int32)[codes])
    return rungs


def risk_sentences(risk: RawRisk) -> list[str]:
    """Return the risk in sentences a steward can repeat."""
    noun = row_noun(people=risk["counts"] == plural_of(row_noun(people=True)))
    rows = risk["rows"]
    unique = risk["unique"]
    if not unique["attributes"]:
        return ["There is no quasi-identifier: what could be known of somebody is what the items tell."]
    one = unique["rows"] == 1
    told = [
        f"{count(unique['rows'], noun)} of {rows:,} ({unique['share']:.1%}) {'is' if one else 'are'} alone with "
        f"{'its' if one and noun == 'record' else 'their'} {listing(unique['attributes'], 12)}: whoever knows these "
        f"finds {'it' if one and noun == 'record' else 'them'} in the raw table."
    ]
    through = [entry for entry in risk["attributes"] if entry["unique_through_it"]][:3]
    if through:
        parts = [f"{entry['unique_through_it']:,} only through {entry['attribute']}" for entry in through]
        told.append(f"Of them, {listing(parts)}.")
    sets = risk["smallest_sets"]["sets"]
    if sets:
        told.append(
            f"To single out {sets[0]['share']:.1%} of the {risk['counts']} it is enough to know "
            f"{listing(sets[0]['attributes'])}."
        )
    for entry in risk["constraints"]:
        if entry["below_k"]:
            driver = next(iter(entry["drivers"]))
            are = "is" if entry["below_k"] == 1 else "are"
            told.append(
                f"{count(entry['below_k'], noun)} ({entry['share']:.1%}) {are} in groups below k {entry['k']} over "
                f"{listing(entry['attributes'], 12)}"
                + (
                    f"; {driver} drives it: without it {entry['drivers'][driver]:,} of them would not be."
                    if entry["drivers"][driver]
                    else "; no attribute alone drives it."
                )
            )
        else:
            told.append(f"The raw table keeps k {entry['k']} over {listing(entry['attributes'], 12)} already.")
    return told
