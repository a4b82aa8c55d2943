"""What a kept dependency tells whoever knows it: left sides are only those whose right side fits what is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from kveil.files import Source
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.builders import label_writer
from kveil.policy.dependencies import Dependency
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_span
from kveil.policy.privacy import KAnonymity
from kveil.verifier.alignment import BesideOriginal
from kveil.verifier.fitting import SortedNumbers
from kveil.verifier.rows import SIZE, released_texts
from kveil.words import count

MOST_PAIRS = 3_000_000  # of a shown left side and a value below it; beyond, nothing is counted
SET = "\0set"
WAS = "\0was"
NOW = "\0shown"


@dataclass(frozen=True)
class NarrowedGroup:
    """The smallest group of a k-anonymity model, once declared rules are used to tell rows apart."""

    attributes: tuple[str, ...]
    k: int
    smallest: int


def narrowed_groups(
    policy: Policy, release: Source, aligned: BesideOriginal, taking_part: dict[int, pl.Series]
) -> list[NarrowedGroup]:
    """Return for every k-anonymity model the smallest group after left sides are told apart by what fits them.

    A shown left side is replaced by those of the original's left sides below it whose right side lies below the shown
    one. Rules count that are functional, and models that hold an attribute of a left side. ``taking_part`` gives for
    every model's position the rows it counts.
    """
    rows = aligned.rows
    rules = [rule for rule in policy.dependencies if not rule.multivalued]
    used = {name for rule in rules for name in rule.left + rule.right}
    shown = rows.texts.with_columns(
        released_texts(release, policy, name, stars=True).gather(rows.source).alias(name)
        for name in policy.released
        if name in used and name not in rows.texts.columns and release.dtype(name) != pl.List
    )
    shown = shown.cast(pl.String)
    sets = [
        (rule, found)
        for rule in rules
        if set(rule.left + rule.right) <= set(shown.columns)
        and (found := _fitting(rule, policy, shown, aligned)) is not None
    ]
    narrowed = []
    for position, model in enumerate(policy.privacy):
        if not isinstance(model, KAnonymity):
            continue
        attributes = policy.attributes_of(model)
        keys = shown.select(attributes)
        replaced: set[str] = set()
        extra: list[pl.Series] = []
        for rule, possible in sets:
            mine = [name for name in rule.left if name in attributes]
            if mine:
                extra.append(possible.told_apart(mine).alias(f"{SET}{len(extra)}"))
                replaced.update(mine)
        if not extra:
            continue
        part = taking_part[position]
        frame = keys.drop(replaced).with_columns(extra).filter(part)
        sizes = rows.tally(frame, frame.columns, SIZE, rows=np.flatnonzero(part.to_numpy()))
        smallest = sizes[SIZE].min()
        if isinstance(smallest, int):
            narrowed.append(NarrowedGroup(attributes, model.k, smallest))
    return narrowed


def rule_columns(rule: Dependency) -> list[str]:
    """Return the columns of a rule, each once."""
    return list(dict.fromkeys(rule.left + rule.right))


def narrowing_warnings(narrowed: list[NarrowedGroup], noun: str) -> list[str]:
    """Warn of groups that fall below k for whoever knows the declared rules."""
    return [
        f"whoever knows the declared dependencies can tell groups over {', '.join(entry.attributes)} apart down to "
        f"{count(entry.smallest, noun)}, fewer than k = {entry.k}."
        for entry in narrowed
        if entry.smallest < entry.k
    ]


@dataclass(frozen=True)
class _Fits:
    """Every row's number of a pair (left, right) as shown, and for every number the original left sides that fit."""

    number: pl.Series
    fitting: pl.DataFrame

    def told_apart(self, names: list[str]) -> pl.Series:
        """Return a number for every row's set of values of some attributes of the left side."""
        values = self.fitting.select(names).unique().sort(names).with_row_index("\0value")
        placed = self.fitting.select(SET, *names).unique().join(values, on=names).select(SET, "\0value")
        sets = placed.group_by(SET).agg(pl.col("\0value").sort()).sort(SET)
        of_set: dict[tuple[int, ...], int] = {}
        number = {pair: of_set.setdefault(tuple(found), len(of_set)) for pair, found in sets.iter_rows()}
        # Nothing fits where a release does not keep the rule, or is untrue: such pairs stay apart.
        numbers = [number.get(pair, -1 - pair) for pair in range(int(cast(int, self.number.max() or 0)) + 1)]
        return pl.Series(numbers, dtype=pl.Int64).gather(self.number)


def _fitting(rule: Dependency, policy: Policy, shown: pl.DataFrame, aligned: BesideOriginal) -> _Fits | None:
    """Return the original left sides that fit what is shown, None where there would be too many."""
    names = rule_columns(rule)
    cells = shown.select(names)
    pairs = cells.unique().sort(names).with_row_index(SET)
    images = aligned.images(policy, names)
    found = images.rename({name: f"{name}\0was" for name in names})
    for name in names:
        ways = _ways(policy, name, images[name].unique().to_list(), pairs[name].unique().to_list())
        if ways is None:
            return None
        found = found.join(ways, left_on=f"{name}\0was", right_on=WAS, how="inner").rename({NOW: name})
        if found.height > MOST_PAIRS:
            return None
    fitting = pairs.join(found, on=names, how="inner").select(SET, *(f"{name}\0was" for name in rule.left))
    fitting = fitting.rename({f"{name}\0was": name for name in rule.left})
    number = cells.join(pairs, on=names, how="left", maintain_order="left")[SET]
    return _Fits(number, fitting)


def _ways_into_spans(values: list[str], labels: list[str], missing: tuple[str, ...]) -> pl.DataFrame | None:
    """Return which spans each number lies in; None where pairs would be too many. O(pairs + values log values)."""
    numbers = SortedNumbers(value for value in values if value not in missing)
    known = set(values)
    pairs: list[pl.DataFrame] = []
    room = MOST_PAIRS
    for label in labels:
        if label == STAR:
            below = pl.Series(values, dtype=pl.String)
        else:
            span = None if label in missing else parse_span(label)
            below = pl.Series(dtype=pl.String) if span is None else numbers.inside(span)
            if label in known and not (below == label).any():
                below = pl.concat([below, pl.Series([label])])
        room -= len(below)
        if room < 0:
            return None
        pairs.append(pl.DataFrame({WAS: below, NOW: pl.Series([label]).new_from_index(0, len(below))}))
    return pl.concat([pl.DataFrame(schema={WAS: pl.String, NOW: pl.String}), *pairs])


def _ways(policy: Policy, name: str, values: list[str], labels: list[str]) -> pl.DataFrame | None:
    """Return which of the labels shown for an attribute lie above each of its original values, None if too many do."""
    missing = policy.data.missing
    spec = policy.attributes[name].hierarchy
    wanted = set(labels)
    found: list[tuple[str, str]] = []
    if policy.attributes[name].role != "quasi-identifier":
        found = [(value, value) for value in values if value in wanted]
    elif isinstance(spec, Ranges):
        return _ways_into_spans(values, labels, missing)
    else:
        ways, writer = policy.ways_up(name, values), label_writer(spec, labels)
        for value in values:
            above = {value, *map(writer, ways.of(value)), ways.root, STAR} & wanted
            found += [(value, label) for label in sorted(above)]
    return pl.DataFrame(found, schema={WAS: pl.String, NOW: pl.String}, orient="row")
