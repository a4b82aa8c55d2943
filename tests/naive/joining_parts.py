"""Tuples of stars that join parts one at a time, on lists: every part is looked at anew for every tuple."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def join_parts(
    tuples: Sequence[Sequence[int]],
    weights: Sequence[int],
    part: list[int],
    moving: Sequence[int],
    node_over: Callable[[int, int, int], int],
    loss: Callable[[int, int], float],
) -> list[int]:
    """Return the part of every tuple after those ``moving`` joined, in this order, the part whose loss grows least.

    ``node_over`` is the lowest node of an attribute over two leaves, 0 where that is the root, which shows a star.
    """
    attributes, parts = range(len(tuples[0])), range(max(part) + 1)
    members = [[at for at, own in enumerate(part) if own == number] for number in parts]
    lost = [not any(_nodes(tuples, own, attributes, node_over)) for own in members]
    weight = [float(sum(weights[at] for at in own)) for own in members]
    found = list(part)
    for at in moving:
        best, least = -1, math.inf
        for target in parts:
            shown = _nodes(tuples, [*members[target], at], attributes, node_over)
            if lost[target] or not any(shown):
                continue
            before = _nodes(tuples, members[target], attributes, node_over)
            more = 0.0
            for a in attributes:
                more += loss(a, shown[a]) * (weight[target] + weights[at]) - loss(a, before[a]) * weight[target]
            if more < least:
                best, least = target, more
        if best >= 0:
            members[best].append(at)
            weight[best] += weights[at]
            found[at] = best
    return found


def _nodes(
    tuples: Sequence[Sequence[int]],
    members: Sequence[int],
    attributes: range,
    node_over: Callable[[int, int, int], int],
) -> list[int]:
    """Return the lowest nodes over some tuples."""
    spans = [(min(tuples[at][a] for at in members), max(tuples[at][a] for at in members)) for a in attributes]
    return [node_over(a, low, high) for a, (low, high) in enumerate(spans)]
