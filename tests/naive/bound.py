"""Plain evaluators for the bound and the optimum, from their definitions: nothing of kveil is imported.

Costs are fractions of a row's whole loss, by NCP with equal weights. Trees are given as the ways of leaves to the root.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

Way = tuple[str, ...]  # leaf first, root last
Row = tuple[str, ...]
Node = tuple[str, ...]


class PlainTree:
    def __init__(self, ways: Sequence[Way]) -> None:
        self.way = {way[0]: way for way in ways}
        self.leaves = {label: {w[0] for w in ways if label in w} for way in ways for label in way}

    def cost(self, label: str) -> Fraction:
        covered = len(self.leaves[label])
        return Fraction(0) if covered == 1 else Fraction(covered, len(self.way))


def nodes_over(trees: Sequence[PlainTree], row: Row) -> list[Node]:
    return list(itertools.product(*(tree.way[value] for tree, value in zip(trees, row, strict=True))))


def cost(trees: Sequence[PlainTree], node: Node) -> Fraction:
    return sum((tree.cost(label) for tree, label in zip(trees, node, strict=True)), Fraction(0)) / len(trees)


def covers(trees: Sequence[PlainTree], node: Node, row: Row) -> bool:
    return all(label in tree.way[value] for tree, label, value in zip(trees, node, row, strict=True))


def covers_of(trees: Sequence[PlainTree], rows: Sequence[Row]) -> dict[frozenset[int], Fraction]:
    """Return the rows that nodes cover, with the cost of the lowest node over just these."""
    seen = {node for row in set(rows) for node in nodes_over(trees, row)}
    found: dict[frozenset[int], Fraction] = {}
    for node in seen:
        members = frozenset(i for i, row in enumerate(rows) if covers(trees, node, row))
        value = cost(trees, node)
        found[members] = min(found.get(members, value), value)
    return found


def lagrange(
    trees: Sequence[PlainTree],
    rows: Sequence[Row],
    k: int,
    price: dict[Row, Fraction],
    tolls: Sequence[tuple[frozenset[int], Fraction]] = (),
    payers_alone: bool = False,
) -> Fraction:
    """Return Σ a(r) − Σ over nodes, each lowest over its rows, of max(0, best set of k or more).

    A node pays the ``tolls`` of all sets of rows that it lies inside of, each of which takes its toll off the sum as
    often as k rows fit into it. With ``payers_alone``, the rows of a node are its payers alone.
    """
    total = sum((price[row] for row in rows), Fraction(0))
    total -= sum((toll * (len(inside) // k) for inside, toll in tolls), Fraction(0))
    nodes = payers_of(trees, rows, k, price) if payers_alone else list(covers_of(trees, rows).items())
    for members, value in nodes:
        gains = sorted((price[rows[i]] - value for i in members), reverse=True)
        if len(gains) >= k:
            best = sum(gains[:k], Fraction(0)) + sum((gain for gain in gains[k:] if gain > 0), Fraction(0))
            best -= sum((toll for inside, toll in tolls if members <= inside), Fraction(0))
            total -= max(best, Fraction(0))
    return total


def payers_of(
    trees: Sequence[PlainTree], rows: Sequence[Row], k: int, price: dict[Row, Fraction]
) -> list[tuple[frozenset[int], Fraction]]:
    """Return the payers and the cost of every node that is the lowest over its payers.

    Those are its rows in sets of k or more that pay more than its cost together.
    """
    found = []
    for node in {node for row in set(rows) for node in nodes_over(trees, row)}:
        value, members = cost(trees, node), [i for i, row in enumerate(rows) if covers(trees, node, row)]
        payers = []
        for i in members:
            beside = sorted((price[rows[j]] - value for j in members if j != i), reverse=True)
            best = sum(beside[: k - 1], Fraction(0)) + sum((gain for gain in beside[k - 1 :] if gain > 0), Fraction(0))
            if len(members) >= k and price[rows[i]] - value + best > 0:
                payers.append(i)
        if payers and lowest(trees, [rows[i] for i in payers]) == node:
            found.append((frozenset(payers), value))
    return found


def lowest(trees: Sequence[PlainTree], rows: Sequence[Row]) -> Node:
    found = []
    for a, tree in enumerate(trees):
        values = {row[a] for row in rows}
        found.append(next(label for label in tree.way[rows[0][a]] if values <= tree.leaves[label]))
    return tuple(found)


def optimum(trees: Sequence[PlainTree], rows: Sequence[Row], k: int) -> Fraction:
    """Return the least summed cost of rows in groups of k or more, over all ways to group them."""
    found = least_grouping(len(rows), k, lambda group: cost(trees, lowest(trees, [rows[i] for i in group])))
    assert found is not None
    return found


def least_grouping(number: int, k: int, cost_of: Callable[[Sequence[int]], Fraction | None]) -> Fraction | None:
    """Return the least sum of what groups of k or more cost each of their rows; a cost of None forbids a group.

    By dynamic programming over sets of rows: the first row that is left goes with some others. Groups of 2k or more are
    never needed.
    """
    least: dict[int, Fraction] = {0: Fraction(0)}

    def solve(left: int) -> Fraction | None:
        if left in least:
            return least[left]
        members = [i for i in range(number) if left >> i & 1]
        best: Fraction | None = None
        for size in range(k, min(2 * k, len(members) + 1)):
            for others in itertools.combinations(members[1:], size - 1):
                group = (members[0], *others)
                rest = left
                for i in group:
                    rest &= ~(1 << i)
                below = solve(rest)
                own = None if below is None else cost_of(group)
                if below is not None and own is not None and (best is None or own * size + below < best):
                    best = own * size + below
        if best is not None:
            least[left] = best
        return best

    return solve((1 << number) - 1)


# ---------------------------------------------------------------------------------------------- numbers


def windows(
    numbers: Sequence[int], within: int, widths: Sequence[Fraction], parts: int
) -> list[tuple[Fraction, frozenset[int]]]:
    """Return sets of numbers with what a group inside costs at least, as `bound._span_levels` describes them.

    ``widths`` are those between classes, as shares of the spread.
    """
    values = sorted(set(numbers))
    found = [(Fraction(1), frozenset(values)), *((Fraction(0), frozenset({n})) for n in values)]
    if len(values) < 2:
        return found
    wide = values[-1] - values[0]
    gap = min(b - a for a, b in itertools.pairwise(values))
    for c, (most, above) in enumerate(itertools.pairwise(widths)):
        step = most * wide / parts
        for begin in range(-parts, int(wide / step) + 1):
            start = values[0] + begin * step
            own = frozenset(n for n in values if c == 0 or start <= n < start + (parts + 1) * step)
            if own:
                found.append((max(above * wide, Fraction(gap)) / within, own))
    return found


def lagrange_spans(
    tree: PlainTree,
    rows: Sequence[tuple[str, int]],
    spans: Sequence[tuple[Fraction, frozenset[int]]],
    k: int,
    price: dict[Row, Fraction],
) -> tuple[Fraction, Fraction]:
    """Return the sum over all pairs of a node and a window, and over those that no cheaper one covers alone.

    The bound's own value lies between: it leaves out some that others cover.
    """
    by_cover: dict[frozenset[int], Fraction] = {}
    for label, leaves in tree.leaves.items():
        for least, values in spans:
            members = frozenset(i for i, row in enumerate(rows) if row[0] in leaves and row[1] in values)
            own = (tree.cost(label) + least) / 2
            by_cover[members] = min(by_cover.get(members, own), own)
    every = alone = sum((price[row] for row in rows), Fraction(0))  # type: ignore[index]
    for members, own in by_cover.items():
        gains = sorted((price[rows[i]] - own for i in members), reverse=True)  # type: ignore[index]
        if len(gains) < k:
            continue
        best = max(sum(gains[:k], Fraction(0)) + sum((g for g in gains[k:] if g > 0), Fraction(0)), Fraction(0))
        every -= best
        if not any(members < others and less <= own for others, less in by_cover.items()):
            alone -= best
    return every, alone


# ---------------------------------------------------------------------------------------------- grown cuts


def grown(
    nodes: Sequence[frozenset[int]], often: Sequence[int], sums: int, weight: Sequence[int], k: int, groups: int
) -> list[frozenset[int]]:
    """Return sets of tuples grown from every node that was used, as `grown_cuts` describes them, each once.

    From a node on, a set takes in the node used most often per row that it lacks, while (n + 1) · k − 1 rows hold both.
    """

    def rows(own: frozenset[int]) -> int:
        return sum(weight[t] for t in own)

    active = [i for i, own in enumerate(nodes) if often[i] * 50 > sums and rows(own) < (groups + 1) * k]
    found: dict[frozenset[int], None] = {}
    for seed in active:
        for fits in range(1, groups + 1):
            own = nodes[seed]
            if rows(own) >= (fits + 1) * k:
                continue
            while True:
                near = [i for i in active if nodes[i] & own and not nodes[i] <= own]
                near = [i for i in near if rows(own | nodes[i]) < (fits + 1) * k]
                if not near:
                    break
                own |= nodes[max(near, key=lambda i: (Fraction(often[i], rows(nodes[i] - own)), -i))]
            uses = sum(often[i] for i in active if nodes[i] <= own)
            if rows(own) // k == fits and uses - fits * sums > sums // 20:
                found[own] = None
    return list(found)
