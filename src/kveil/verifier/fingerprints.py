"""Sets of items on released texts: coverage of the originals, shared fingerprints, shared combinations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.guarantee import SetFigures
from kveil.policy.builders import label_writer
from kveil.policy.model import Policy
from kveil.policy.privacy import KKmAnonymity, KLDiversity, sensitive_of
from kveil.verifier.exact import above
from kveil.verifier.rows import ITEM, ROW, Rows
from kveil.words import count

NEAR = 1 << 16  # items that are compared together
MOST_AT_ONCE = 4_000_000  # combinations that are counted together

# ---------------------------------------------------------------------------------------------- coverage


@dataclass(frozen=True)
class Coverage:
    """Original items that no shown label covers, and shown labels with no original item below."""

    uncovered: int
    unfounded: int


def compare_items(policy: Policy, name: str, before: Rows, after: Rows, places: Longs) -> Coverage:
    """Compare people's generalized items with those they had; a starred person's are not compared.

    ``places`` gives each released row's original row. Works on numbers for labels: O(items · height).
    """
    labels, shown = _coded(after.items[name][ITEM])
    values, had = _coded(before.items[name][ITEM])
    row_before = before.items[name][ROW].to_numpy()
    kept = np.zeros(int(row_before.max(initial=-1)) + 1, dtype=bool)
    kept[places[~after.starred.to_numpy()]] = True
    row_after = places[after.items[name][ROW].to_numpy()]
    keep_after = kept[row_after]
    width = len(labels)
    key = np.sort(row_after[keep_after] * width + shown[keep_after])
    keep_before = kept[row_before]
    row_before, had = row_before[keep_before], had[keep_before]
    number = {label: position for position, label in enumerate(labels)}
    lines = _lines(policy, name, values, [label for label in labels if label is not None])
    steps = [
        np.array([number.get(line[level], -1) if level < len(line) else -1 for line in lines], dtype=np.int64)
        for level in range(max(map(len, lines), default=0))
    ]
    covered = np.zeros(len(had), dtype=bool)
    founded = np.zeros(len(key), dtype=bool)
    for begin in range(0, len(had), NEAR):  # by pieces whose arrays stay in the cache
        here = slice(begin, begin + NEAR)
        first = int(np.searchsorted(key, row_before[here].min() * width))
        last = int(np.searchsorted(key, (row_before[here].max() + 1) * width))
        _look_up(key[first:last], row_before[here] * width, had[here], steps, (covered[here], founded[first:last]))
    times = _times(before)
    return Coverage(int(times[row_before[~covered]].sum()), int(times[key[~founded] // max(width, 1)].sum()))


def _look_up(key: Longs, row: Longs, had: Longs, steps: list[Longs], found: tuple[Bools, Bools]) -> None:
    """Mark the items of rows that a label shown for the row covers, and these labels.

    ``key`` are the labels shown, each as a number of its row and itself, sorted; ``row`` is the former's part of it.
    ``steps`` give the label above an item, level by level, -1 where none is shown.
    """
    covered, founded = found
    for step in steps:
        above_it = step[had]
        asked = np.flatnonzero(above_it >= 0)
        wanted = row[asked] + above_it[asked]
        place = np.searchsorted(key, wanted)
        hit = place < len(key)
        hit[hit] = key[place[hit]] == wanted[hit]
        covered[asked[hit]] = True
        founded[place[hit]] = True


def _coded(items: pl.Series) -> tuple[list[str | None], Longs]:
    """Return a column's distinct texts, null for missing, and every item's position among them."""
    distinct: list[str | None] = sorted(items.drop_nulls().unique().to_list())
    codes = items.cast(pl.Enum([str(text) for text in distinct])).to_physical().cast(pl.Int64)
    if items.null_count():
        codes = codes.fill_null(len(distinct))
        distinct = [*distinct, None]
    return distinct, codes.to_numpy()


def _lines(policy: Policy, name: str, values: list[str | None], shown: list[str]) -> list[tuple[str | None, ...]]:
    """Return the labels that are true of each original item, from itself up to the root; missing is under the root."""
    ways = policy.ways_up(name, [value for value in values if value is not None])
    writer = label_writer(policy.attributes[name].hierarchy, shown)
    return [(None, ways.root) if value is None else (value, *map(writer, ways.of(value)[1:])) for value in values]


# ---------------------------------------------------------------------------------------------- sets as numbers


@dataclass(frozen=True)
class _ItemSets:
    """Rows' sets of items as numbers, laid end to end in growing order; ``start`` has the end as last entry."""

    start: Longs
    item: Longs
    items: int


def _sets(rows: Rows, names: tuple[str, ...], *, missing: bool) -> _ItemSets:
    """Return the items of some attributes together; having none is an item of its own where ``missing`` says so."""
    row, item, offset = [], [], 0
    for name in names:
        pairs = rows.items[name] if missing else rows.items[name].filter(pl.col(ITEM).is_not_null())
        distinct, codes = _coded(pairs[ITEM])
        row.append(pairs[ROW].to_numpy())
        item.append(codes + offset)
        offset += len(distinct)
    width = max(offset, 1)
    key = np.sort(np.concatenate(row) * width + np.concatenate(item))
    owner, code = np.divmod(key, width)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows.height))]).astype(np.int64)
    return _ItemSets(start, code, width)


def _same_sets(sets: _ItemSets) -> Longs:
    """Return a number for every row that is the same for equal sets: the place in the trie of all sets."""
    length = np.diff(sets.start)
    place = np.zeros(len(length), dtype=np.int64)
    deeper = np.flatnonzero(length > 0)
    used, at = 1, 0
    while len(deeper):
        key = place[deeper] * sets.items + sets.item[sets.start[deeper] + at]
        different, inverse = np.unique(key, return_inverse=True)
        place[deeper] = used + inverse.reshape(-1)
        used += len(different)
        at += 1
        deeper = deeper[length[deeper] > at]
    return place


def _times(rows: Rows) -> Longs:
    """Return how many persons each row stands for."""
    return np.ones(rows.height, dtype=np.int64) if rows.times is None else rows.times


def _tallied(numbers: Longs, times: Longs) -> tuple[Longs, Longs, Longs]:
    """Return the different numbers, everybody's place among them, and how many persons have each."""
    different, place = np.unique(numbers, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    people = np.zeros(len(different), dtype=np.int64)
    np.add.at(people, place, times)
    return different, place, people


def _classes(rows: Rows, attributes: tuple[str, ...]) -> tuple[Longs, int]:
    """Return every row's class of equal texts, and how many classes there are."""
    if not attributes:
        return np.zeros(rows.height, dtype=np.int64), min(rows.height, 1)
    texts = rows.texts.select(attributes)
    found = texts.unique(maintain_order=True).with_row_index("\0class")
    numbered = texts.join(found, on=list(attributes), how="left", maintain_order="left", nulls_equal=True)
    return numbered["\0class"].cast(pl.Int64).to_numpy(), found.height


# ---------------------------------------------------------------------------------------------- models


@dataclass(frozen=True)
class Figures:
    """What a model of sets comes to: the worst figure, how many classes there are, further figures, findings."""

    worst: Any
    groups: int
    extra: SetFigures
    findings: list[str]


def check_kl(model: KLDiversity, policy: Policy, rows: Rows, taking_part: Bools) -> Figures:
    """Check that k people share every fingerprint, and that none has more than 1/l of a class.

    The set of somebody who has no item is a fingerprint like any other.
    """
    place = _same_sets(_sets(rows, sensitive_of(model), missing=True))[taking_part]
    times = _times(rows)[taking_part]
    _, bucket, shared = _tallied(place, times)
    classes, of_class, size = _tallied(_classes(rows, policy.attributes_of(model))[0][taking_part], times)
    pairs, _, together = _tallied(of_class * max(len(shared), 1) + bucket, times)
    most = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(most, pairs // max(len(shared), 1), together)
    bad = above(most, 1 / Fraction(str(model.l)), size)
    rare = shared < model.k
    findings = []
    asked = f"kl-diversity (k {model.k}, l {model.l}) of {', '.join(sensitive_of(model))}"
    if rare.any():
        findings.append(
            f"{asked} does not hold: {count(int(rare.sum()), 'fingerprint')} shared by fewer than {model.k} "
            f"people, with {count(int(shared[rare].sum()), 'person')}; the worst by {int(shared.min())}."
        )
    if bad.any():
        findings.append(
            f"{asked} does not hold in {count(int(bad.sum()), 'group')} with "
            f"{count(int(size[bad].sum()), 'person')}, where one fingerprint has more than 1/{model.l}."
        )
    some = len(classes) > 0
    return Figures(
        worst=float((size / most).min()) if some else None,
        groups=len(classes),
        extra={"fingerprints": len(shared), "shared": int(shared.min()) if some else None},
        findings=findings,
    )


def one_set_is_too_frequent(model: KLDiversity, rows: Rows, taking_part: Bools) -> bool:
    """Tell whether one fingerprint has more than 1/l of some people, taken as one class."""
    place = _same_sets(_sets(rows, sensitive_of(model), missing=True))[taking_part]
    times = _times(rows)[taking_part]
    most = np.array([_tallied(place, times)[2].max(initial=0)], dtype=np.int64)
    return bool(above(most, 1 / Fraction(str(model.l)), np.array([times.sum()], dtype=np.int64))[0])


def check_kkm(model: KKmAnonymity, policy: Policy, rows: Rows, taking_part: Bools) -> Figures:
    """Check that classes have k people, and that k of a class share every combination of at most m items in it."""
    sets = _sets(rows, sensitive_of(model), missing=False)
    place = _same_sets(sets)[taking_part]
    of_class = _classes(rows, policy.attributes_of(model))[0][taking_part]
    who = np.flatnonzero(taking_part)
    times = _times(rows)[taking_part]
    _, of_class, size = _tallied(of_class, times)
    # People of one class with the same set count together.
    width = int(place.max(initial=0)) + 1
    different, alike, people = _tallied(of_class * width + place, times)
    first = np.zeros(len(different), dtype=np.int64)
    first[alike[::-1]] = np.arange(len(alike))[::-1]
    least, rare, where = _least_shared(sets, who[first], of_class[first], people, model.m, model.k)
    small = size < model.k
    findings = []
    asked = f"k-km-anonymity (k {model.k}, m {model.m}) of {', '.join(sensitive_of(model))}"
    if small.any():
        findings.append(
            f"{asked} does not hold: {count(int(small.sum()), 'group')} with fewer than {model.k} people; "
            f"the worst has {int(size.min())}."
        )
    if rare:
        findings.append(
            f"{asked} does not hold in {count(where, 'group')}: {count(rare, 'combination')} of at most {model.m} "
            f"items shared by fewer than {model.k} people, the worst by {least}."
        )
    smallest = int(size.min()) if len(size) else None
    return Figures(least if least is not None else smallest, len(size), {"smallest": smallest}, findings)


def _least_shared(
    sets: _ItemSets, row: Longs, of_class: Longs, times: Longs, m: int, k: int
) -> tuple[int | None, int, int]:
    """Return by how few a combination is shared, how many are by fewer than k, and in how many classes.

    ``row`` are rows with different sets in their classes, sorted by class; ``times`` how many people have each.
    """
    length = sets.start[row + 1] - sets.start[row]
    work = np.array([_combinations(int(n), m) for n in length.tolist()], dtype=np.float64)
    least: int | None = None
    rare = 0
    bad_classes: set[int] = set()
    begin = 0
    ends = np.flatnonzero(np.append(np.diff(of_class) != 0, True)) + 1 if len(row) else np.zeros(0, dtype=np.int64)
    total = 0.0
    before = 0
    for position, end in enumerate(ends.tolist()):
        total += float(work[before:end].sum())
        before = end
        if total < MOST_AT_ONCE and position + 1 < len(ends):
            continue
        for classes, support in _supports(sets, row[begin:end], of_class[begin:end], times[begin:end], m):
            if len(support):
                least = int(support.min()) if least is None else min(least, int(support.min()))
                few = support < k
                rare += int(few.sum())
                bad_classes.update(classes[few].tolist())
        begin, total = end, 0.0
    return least, rare, len(bad_classes)


def _combinations(items: int, m: int) -> int:
    found, term = 0, 1
    for size in range(1, min(m, items) + 1):
        term = term * (items - size + 1) // size
        found += term
    return found


def _supports(sets: _ItemSets, row: Longs, of_class: Longs, times: Longs, m: int) -> list[tuple[Longs, Longs]]:
    """Return, for 1 to m items, the class and the support of every combination that occurs."""
    start, end = sets.start[row], sets.start[row + 1]
    entry = np.arange(len(row))
    after = start.copy()  # where the next item of an entry's combination may stand
    combination = of_class.astype(np.int64)
    found = []
    for _ in range(m):
        more = end[entry] - after
        source = np.repeat(np.arange(len(entry)), more)
        place = np.arange(len(source)) - np.repeat(np.cumsum(more) - more, more) + after[source]
        entry = entry[source]
        if not len(entry):
            break
        _, first, combination = np.unique(
            combination[source] * sets.items + sets.item[place], return_index=True, return_inverse=True
        )
        combination = combination.reshape(-1).astype(np.int64)
        support = np.bincount(combination, weights=times[entry], minlength=len(first)).astype(np.int64)
        found.append((of_class[entry[first]], support))
        after = place + 1
    return found
