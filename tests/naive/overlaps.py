"""The exact optimum of tiny tables under two overlapping constraints, by trying everything."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

from naive.bound import PlainTree, Row

NAMES = ("city", "sex", "job")
CITIES = [("Oslo", "North", "*"), ("Bergen", "North", "*"), ("Rome", "South", "*"), ("Pisa", "South", "*")]
TREES = [
    PlainTree(CITIES),
    PlainTree([("f", "*"), ("m", "*")]),
    PlainTree([("cook", "*"), ("clerk", "*"), ("pilot", "*")]),
]
CONSTRAINTS = (((0, 1), 2), ((1, 2), 3))
POLICY = """
kveil: 1
attributes:
  city: {role: quasi-identifier, hierarchy: {tree: {"*": {North: [Oslo, Bergen], South: [Rome, Pisa]}}}}
  sex: {role: quasi-identifier, hierarchy: {tree: {"*": [f, m]}}}
  job: {role: quasi-identifier, hierarchy: {tree: {"*": [cook, clerk, pilot]}}}
privacy:
  - {model: k-anonymity, attributes: [city, sex], k: 2}
  - {model: k-anonymity, attributes: [sex, job], k: 3}
algorithm: {name: least-loss, refine: best}
"""


def tiny_rows(chance: Random, number: int) -> list[Row]:
    return [tuple(chance.choice(sorted(tree.way)) for tree in TREES) for _ in range(number)]


def holds(shown: tuple[Row, ...]) -> bool:
    for over, k in CONSTRAINTS:
        sizes = Counter(tuple(row[a] for a in over) for row in shown)
        if any(size < k for size in sizes.values()):
            return False
    return True


def options_of(rows: list[Row], kind: Row) -> list[Row]:
    """Return what a row may show: every projection must cover enough rows, and not all of it may be stars."""
    found = []
    for way in itertools.product(*(tree.way[value] for tree, value in zip(TREES, kind, strict=True))):
        enough = all(
            sum(all(way[a] in TREES[a].way[row[a]] for a in over) for row in rows) >= k for over, k in CONSTRAINTS
        )
        if enough and set(way) != {"*"}:
            found.append(way)
    return found


def optimum(rows: list[Row]) -> float:
    """Return the least mean NCP of any release that suppresses nobody, 1 where there is none.

    Equal rows show the same vectors in any order, so their choices are taken as sets.
    """
    kinds = sorted(set(rows))
    priced = []
    for kind in kinds:
        cost = {
            way: sum(float(tree.cost(label)) for tree, label in zip(TREES, way, strict=True)) / len(TREES)
            for way in options_of(rows, kind)
        }
        together = itertools.combinations_with_replacement(cost, rows.count(kind))
        priced.append(sorted((sum(cost[way] for way in ways), ways) for ways in together))
    best = float(len(rows))
    if not all(priced):
        return best / len(rows)
    least = [own[0][0] for own in priced]

    def solve(number: int, spent: float, shown: tuple[Row, ...]) -> None:
        nonlocal best
        if number == len(priced):
            if holds(shown):
                best = spent
            return
        rest = sum(least[number + 1 :])
        for price, ways in priced[number]:
            if spent + price + rest >= best - 1e-12:
                break
            solve(number + 1, spent + price, shown + ways)

    solve(0, 0.0, ())
    return best / len(rows)
