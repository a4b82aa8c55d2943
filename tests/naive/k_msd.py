"""Slow twins for K-MSD: the text of Huang et al. 2014 and of docs/algorithms/k-msd.md, on labels and dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

Way = tuple[str, ...]  # a label, its parent, …, the root


def mdg(values: Counter[str], way: Callable[[str], Way], order: Sequence[str], k: int) -> dict[str, str]:
    """Minimal distance generalization inside one group: every value's new value.

    ``way`` gives a label's way up as far as it may climb, ``order`` all labels in leaf order, ancestors first.
    """
    counts = Counter(values)
    shown = {value: value for value in values}
    place = {label: i for i, label in enumerate(order)}
    while True:
        violating = [value for value in sorted(counts, key=place.__getitem__) if counts[value] < k]
        if not violating:
            return shown
        value = violating[0]
        choices = []
        for own, ancestor in enumerate(way(value)):
            steps = [way(w).index(ancestor) for w in counts if w != value and ancestor in way(w)]
            if steps:
                choices.append((max(own, min(steps)), own, ancestor))
        distance, _, ancestor = min(choices)
        others = [w for w in counts if w != value and ancestor in way(w) and way(w).index(ancestor) <= distance]
        others.sort(key=lambda w: (w != ancestor, counts[w] >= k, counts[w], place[w]))
        joined, total = [value], counts[value]
        for other in others:
            if total >= k:
                break
            joined.append(other)
            total += counts[other]
        for w in joined:
            del counts[w]
        counts[ancestor] += total
        shown = {first: ancestor if now in joined else now for first, now in shown.items()}


def anonymous(rows: Sequence[dict[str, str]], names: Sequence[str], k: int) -> bool:
    return all(size >= k for size in Counter(tuple(row[name] for name in names) for row in rows).values())


def imkas(rows: Sequence[dict[str, str]], names: Sequence[str], k: int) -> tuple[str, ...]:
    """A largest k-anonymous set of attributes by the whole power set: most groups, then policy order."""
    for size in range(len(names), 0, -1):
        found = [own for own in combinations(names, size) if anonymous(rows, own, k)]
        if found:
            return max(
                found,
                key=lambda own: (len({tuple(row[n] for n in own) for row in rows}), [-names.index(n) for n in own]),
            )
    return ()


def kmsd(
    rows: Sequence[dict[str, str]],
    names: Sequence[str],
    ways: dict[str, Callable[[str], Way]],
    orders: dict[str, Sequence[str]],
    k: int,
) -> list[dict[str, str]]:
    """K-MSD without boundaries, record by record."""
    shown = [dict(row) for row in rows]
    done = list(imkas(rows, names, k))
    while len(done) < len(names):
        groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in shown:
            groups.setdefault(tuple(row[name] for name in done), []).append(row)
        violating = {
            name: sum(size < k for group in groups.values() for size in Counter(row[name] for row in group).values())
            for name in names
            if name not in done
        }
        name = min(violating, key=violating.__getitem__)
        for group in groups.values():
            new = mdg(Counter(row[name] for row in group), ways[name], orders[name], k)
            for row in group:
                row[name] = new[row[name]]
        done.append(name)
    return shown
