"""What somebody learns who runs kveil again on everything that a release leaves possible, on tables of a few people.

The attacker knows everybody's quasi-identifiers, the policy and kveil. Possible is every way to give people values
under which each released row is that of somebody whom it fits; people without a row may have any value. Those ways are
kept that kveil makes this very release of. Everything is counted, and bounded by counts: no clock has a say in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import polars as pl

import kveil

TABLES = 20  # for every algorithm and model
VALUES = ("HIV", "flu", "gout")
SHARES = (4 / 9, 3 / 9, 2 / 9)
CITIES = {"10": "1", "11": "1", "20": "2", "21": "2"}
# Each with how ages are shown: some only climb trees, and know no ranges.
SEARCHES = {
    "datafly": "intervals",
    "incognito": "intervals",
    "classfly+complete": "intervals",
    "mondrian": "ranges",
    "pk-clustering": "ranges",
    "least-loss": "ranges",
    "auto": "ranges",
    "auto, intervals": "intervals",
}
LEFT_OUT = ("distinct l 2", "frequency l 2")  # models that are played on once more where records may be left out
LIMIT = 0.4  # of records that may be left out, in the second half
MOST_DRAWN = 2_000  # tables, of which those are played on whose policy can be met
SLACK = 1e-9

Rows = Counter[tuple[str, ...]]
World = tuple[str, ...]  # a value for each person


@dataclass(frozen=True)
class Asked:
    """A model, how a table calls it, and the share of one value that it promises to stay below, if any."""

    title: str
    model: dict[str, Any]
    most: float | None = None


ASKED = (
    Asked("distinct l 2", {"model": "l-diversity", "l": 2}),
    Asked("entropy l 1.7", {"model": "l-diversity", "l": "1.7", "variant": "entropy"}),
    Asked("recursive l 2, c 2", {"model": "l-diversity", "l": 2, "c": 2, "variant": "recursive"}),
    Asked("frequency l 2", {"model": "l-diversity", "l": 2, "variant": "frequency"}, 1 / 2),
    Asked("alpha 0.5", {"model": "alpha-k", "alpha": "0.5", "k": 2}, 1 / 2),
    Asked("t 0.34", {"model": "t-closeness", "t": "0.34"}),
)


@dataclass
class Told:
    """Of so many tables in how many the attacker learns something, without rerunning and with it."""

    tables: int = 0
    certain: list[int] = field(default_factory=lambda: [0, 0])
    above: list[int] = field(default_factory=lambda: [0, 0])
    missing: int = 0
    certain_of_missing: int = 0


@dataclass(frozen=True)
class Release:
    """A table of a few people, a policy, and kveil's release of it."""

    table: pl.DataFrame
    policy: kveil.Policy
    rows: Rows
    released: frozenset[int]  # people

    @classmethod
    def of(cls, table: pl.DataFrame, policy: kveil.Policy) -> Release | None:
        """Return the release; None where the policy cannot be met."""
        try:
            result = kveil.anonymize(table, policy)
        except kveil.Unmeetable:
            return None
        assert result.owner is not None, "only a frame of Spark has no way back"
        return cls(table, policy, Counter(result.data.rows()), frozenset(result.owner.rows.tolist()))

    @cached_property
    def possible(self) -> list[World]:
        """Every way to give people values that the rows allow."""
        kinds = list(self.rows)
        fits = [[_fits(kind, age, city) for kind in kinds] for age, city, _ in self.table.iter_rows()]
        return [world for world in product(VALUES, repeat=self.table.height) if self._seated(world, kinds, fits)]

    def _seated(self, world: World, kinds: Sequence[tuple[str, ...]], fits: Sequence[Sequence[bool]]) -> bool:
        """Tell whether every row can be somebody's whom it fits and who has its value: by augmenting paths."""
        seats = [row for row, kind in enumerate(kinds) for _ in range(self.rows[kind])]
        whose: dict[int, int] = {}

        def seat(place: int, tried: set[int]) -> bool:
            row = seats[place]
            for person, value in enumerate(world):
                if person not in tried and value == kinds[row][-1] and fits[person][row]:
                    tried.add(person)
                    if person not in whose or seat(whose[person], tried):
                        whose[person] = place
                        return True
            return False

        return all(seat(place, set()) for place in range(len(seats)))

    @cached_property
    def left(self) -> list[World]:
        """Those of the possible ways under which kveil makes this release."""
        return [world for world in self.possible if self._same(world)]

    def _same(self, world: World) -> bool:
        made = Release.of(self.table.with_columns(d=pl.Series(world)), self.policy)
        return made is not None and made.rows == self.rows


def _fits(row: Sequence[str], age: str, city: str) -> bool:
    """Tell whether a released row may be that of somebody of an age and a city."""
    low, _, high = row[0].partition("-")
    ages = row[0] == "*" or int(low) <= int(age) <= int(high or low)
    return ages and row[1] in ("*", city, CITIES[city])


def _table(seed: int) -> pl.DataFrame:
    """Return five or six people with two values at least."""
    draw = np.random.default_rng(seed)
    number = 5 + seed % 2
    values = draw.choice(VALUES, number, p=SHARES).tolist()
    while len(set(values)) < 2:
        values = draw.choice(VALUES, number, p=SHARES).tolist()
    ages = [str(age) for age in draw.integers(20, 70, number)]
    return pl.DataFrame({"age": ages, "zip": draw.choice(list(CITIES), number).tolist(), "d": values})


def _policy(search: str, asked: Asked, limit: float) -> kveil.Policy:
    ages: dict[str, Any] = {"ranges": {"within": [20, 69]}}
    if SEARCHES[search] == "intervals":
        ages = {"intervals": {"from": 20, "to": 69, "widths": [10, 20]}}
    cities: dict[str, list[str]] = {}
    for city, area in CITIES.items():
        cities.setdefault(area, []).append(city)
    return kveil.Policy(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": ages},
            "zip": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": cities}}},
            "d": {"role": "sensitive"},
        },
        privacy=[{"model": "k-anonymity", "k": 2}, {**asked.model, "sensitive": "d"}],
        suppression={"limit": str(limit)},
        algorithm=search.partition(",")[0],
    )


def attacked(search: str, asked: Asked, limit: float, tables: int) -> Told:
    """Return what is learnt of the first so many tables whose policy can be met."""
    told = Told()
    policy = _policy(search, asked, limit)
    for seed in range(MOST_DRAWN):
        if told.tables == tables:
            break
        release = Release.of(_table(seed), policy)
        if release is None or not release.rows:
            continue
        told.tables += 1
        shown = sorted(release.released)
        for i, worlds in enumerate((release.possible, release.left)):
            surest = [max(Counter(world[person] for world in worlds).values()) / len(worlds) for person in shown]
            told.certain[i] += max(surest) == 1
            told.above[i] += asked.most is not None and max(surest) > asked.most + SLACK
        for person in set(range(release.table.height)) - release.released:
            told.missing += 1
            told.certain_of_missing += len({world[person] for world in release.left}) == 1
    return told


def _cell(seen: Sequence[int], tables: int) -> str:
    """Return in how many of the tables something is learnt; in parentheses, without rerunning where not in none."""
    return f"{seen[1]}/{tables}" + (f" ({seen[0]})" if seen[0] else "")


def print_reruns(searches: Sequence[str] = (), tables: int = TABLES) -> None:
    """Print what is learnt, per algorithm and model, as tables in Markdown; each line as soon as it is known."""
    for limit, models in ((0.0, ASKED), (LIMIT, tuple(one for one in ASKED if one.title in LEFT_OUT))):
        heads = [f"certain: {one.title}" for one in models]
        heads += [f"above: {one.title}" for one in models if one.most is not None]
        print(f"\nlimit: {limit:g}\n")
        print("| algorithm | " + " | ".join([*heads, *(["missing, certain of"] * (limit > 0))]) + " |")
        print("| --- " * (len(heads) + 1 + (limit > 0)) + "|")
        for search in searches or SEARCHES:
            told = [attacked(search, one, limit, tables) for one in models]
            cells = [_cell(one.certain, one.tables) for one in told]
            cells += [_cell(one.above, one.tables) for one, asked in zip(told, models, strict=True) if asked.most]
            if limit:
                cells.append(f"{sum(one.missing for one in told)}, {sum(one.certain_of_missing for one in told)}")
            print(f"| {search} | " + " | ".join(cells) + " |", flush=True)
