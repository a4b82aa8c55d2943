"""Greedy k-member clustering and GreedyCKA as their papers say it: every pair looked at, exact fractions, plain lists.

Only for policies with one k-anonymity constraint over all quasi-identifiers. Reads the policy as a text, like `naive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import yaml

from naive import release as naive

Span = tuple[int, int]


class Attribute:
    """One quasi-identifier: its values in leaf order, and what a group of them shows and costs."""

    def __init__(self, policy: naive.Policy, name: str, column: Sequence[str], loss: str) -> None:
        self.hierarchy = policy.hierarchy(name, column)
        self.weight = Fraction(1) if loss == "il" else policy.weight(name)
        self.loss = loss
        self.missing = policy.missing[0]
        spec = policy.attributes[name].get("hierarchy")
        if isinstance(self.hierarchy, naive.Ranges) or (isinstance(spec, dict) and "intervals" in spec):
            present = sorted({v for v in column if v != self.missing}, key=lambda v: (naive.number(v), v))
            order = [*present, self.missing]
        else:
            leaves = [leaf for leaf in self.hierarchy.in_order() if leaf != self.missing]
            order = [*leaves, self.missing]
        self.rank = {value: place for place, value in enumerate(order)}

    def key(self, value: str) -> Any:
        """A value's place among the leaves; numbers that are equal are one leaf of `ranges`."""
        if isinstance(self.hierarchy, naive.Ranges) and value != self.missing:
            return (0, naive.number(value))
        return (1, self.rank[value])

    def shows(self, values: Iterable[str]) -> str:
        distinct = set(values)
        if isinstance(self.hierarchy, naive.Ranges):
            return self.hierarchy.bounds(distinct)
        return self.hierarchy.lca(distinct)

    def cost(self, values: Iterable[str]) -> Fraction:
        shown = self.shows(values)
        if self.loss == "ncp" or isinstance(self.hierarchy, naive.Ranges):
            return self.weight * self.hierarchy.ncp(shown)
        if self.loss == "il":
            return self.weight * self.hierarchy.il(shown)
        under = [self.hierarchy.precision_loss(leaf, shown) for leaf in self.hierarchy.leaves(shown)]
        return self.weight * max(under)

    def limit(self, value: str) -> str:
        return "" if isinstance(self.hierarchy, naive.Ranges) else self.hierarchy.limit(value)


class Twin:
    """A policy and its table, to be clustered slowly."""

    def __init__(self, path: Path, records: Sequence[naive.Row]) -> None:
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        plain = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
        self.policy = naive.Policy.load(path)
        self.quasi = self.policy.quasi
        loss = plain.get("loss", "ncp")
        self.records = [{n: self.policy.text(r[n]) if n in self.quasi else r[n] for n in r} for r in records]
        self.attributes = {
            name: Attribute(self.policy, name, [r[name] for r in self.records], loss) for name in self.quasi
        }
        self.k = max(model.k for model in self.policy.models)
        roles = {name: a["role"] for name, a in self.policy.attributes.items()}
        self.rest = [n for role in ("sensitive", "insensitive") for n in roles if roles[n] == role]
        self.costs: dict[tuple[tuple[str, ...], ...], Fraction] = {}

    def canonical(self, i: int) -> Any:
        record = self.records[i]
        return (
            [self.attributes[name].key(record[name]) for name in self.quasi],
            [record[name] for name in self.rest],
        )

    def cost(self, rows: Iterable[int]) -> Fraction:
        """What each of some records loses if they show the same."""
        total = Fraction(0)
        rows = list(rows)
        for name, attribute in self.attributes.items():
            key = (name, *sorted({self.records[i][name] for i in rows}))
            if key not in self.costs:
                self.costs[key] = attribute.cost(key[1:])
            total += self.costs[key]
        return total

    def k_member(self, rows: Iterable[int]) -> list[list[int]]:
        """Byun et al. 2006 on some records, in canonical order; at least k of them."""
        waiting = sorted(rows, key=self.canonical)
        clusters: list[list[int]] = []
        seed = waiting[0]
        while len(waiting) >= self.k:
            seed = max(waiting, key=lambda i, last=seed: self.cost([i, last]))  # the first of equals
            waiting.remove(seed)
            cluster = [seed]
            while len(cluster) < self.k:
                best = min(waiting, key=lambda i, grown=cluster: self.cost([*grown, i]))
                waiting.remove(best)
                cluster.append(best)
            clusters.append(cluster)
        for i in waiting:
            min(clusters, key=lambda c, i=i: self.growth(c, i)).append(i)
        return clusters

    def growth(self, cluster: list[int], i: int) -> Fraction:
        return self.cost([*cluster, i]) * (len(cluster) + 1) - self.cost(cluster) * len(cluster)

    def groups(self) -> list[list[int]]:
        """The records by their maximum allowed values."""
        found: dict[tuple[str, ...], list[int]] = {}
        for i, record in enumerate(self.records):
            limits = tuple(self.attributes[name].limit(record[name]) for name in self.quasi)
            found.setdefault(limits, []).append(i)
        return list(found.values())

    def stars(self, rows: Iterable[int]) -> bool:
        rows = list(rows)
        return all(a.shows({self.records[i][name] for i in rows}) == "*" for name, a in self.attributes.items())

    def solve(self) -> tuple[list[list[int]], set[int], set[int]]:
        """The clusters, OUT, and what would show nothing but stars."""
        out: set[int] = set()
        hidden: set[int] = set()
        clusters: list[list[int]] = []
        for group in self.groups():
            if len(group) < self.k:
                out |= set(group)
                continue
            found = self.k_member(group)
            good = [cluster for cluster in found if not self.stars(cluster)]
            waiting = sorted((i for cluster in found if cluster not in good for i in cluster), key=self.canonical)
            while waiting:
                rest = [i for i in waiting if not self.join(good, i)]
                equal: dict[Any, list[int]] = {}
                for i in rest:
                    equal.setdefault(self.canonical(i)[0].__repr__(), []).append(i)
                fresh = [alike for alike in equal.values() if len(alike) >= self.k and not self.stars(alike)]
                good += fresh
                waiting = [i for i in rest if not any(i in alike for alike in fresh)]
                if not fresh:
                    break
            hidden |= set(waiting)
            clusters += good
        return clusters, out, hidden

    def join(self, clusters: list[list[int]], i: int) -> bool:
        """Let a record join the cluster that grows least and shows something still."""
        open_to = [cluster for cluster in clusters if not self.stars([*cluster, i])]
        if not open_to:
            return False
        min(open_to, key=lambda c: self.growth(c, i)).append(i)
        return True

    def shown(self, cluster: list[int]) -> dict[str, str]:
        return {name: a.shows({self.records[i][name] for i in cluster}) for name, a in self.attributes.items()}


# ---------------------------------------------------------------------------------------------- cells of numbers


def divisions(number: int) -> Iterable[list[tuple[int, int]]]:
    """Every division of 0..number into runs, as (begin, end)."""
    for cuts in (c for size in range(number) for c in combinations(range(1, number), size)):
        edges = [0, *cuts, number]
        yield list(pairwise(edges))


def best_cells(
    values: Sequence[Fraction], counts: Sequence[int], k: int, widest: Fraction, step: Fraction | None
) -> list[tuple[int, int]]:
    """The fewest records in cells below k, then the fewest cells, then the lowest cuts; every division looked at."""

    def width(begin: int, end: int) -> Fraction:
        low, high = values[begin], values[end - 1]
        if low < high and step is not None:
            low, high = low // step * step, -(-high // step) * step
        return high - low

    allowed = [d for d in divisions(len(values)) if all(width(*cell) <= widest for cell in d)]

    def bad(division: list[tuple[int, int]]) -> int:
        totals = [sum(counts[begin:end]) for begin, end in division]
        return sum(total for total in totals if total < k)

    return min(allowed, key=lambda d: (bad(d), len(d), [end for _, end in d]))
