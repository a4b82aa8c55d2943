"""Compiled loops that judge whether a group of rows satisfies every model; behind `mondrian` and the clusterings."""

from __future__ import annotations

import numpy as np

from kveil.kernels.jit import inner
from kveil.kernels.models import layout as kinds
from kveil.kernels.models.layout import TOLERANCE, Models


@inner
def count_values(models: Models, row: int) -> None:
    """Add a row's sensitive values to the histograms. ``used`` counts the touched codes per attribute."""
    values, tally, touched, used = models.values, models.tally, models.touched, models.used
    for s in range(values.start.shape[0]):
        for p in range(values.start[s, row], values.start[s, row + 1]):
            code = values.code[p]
            if tally[s, code] == 0:
                touched[s, used[s]] = code
                used[s] += 1
            tally[s, code] += values.times[p]


@inner
def clear(models: Models) -> None:
    """Empty the histograms."""
    tally, touched, used = models.tally, models.touched, models.used
    for s in range(tally.shape[0]):
        for i in range(used[s]):
            tally[s, touched[s, i]] = 0
        used[s] = 0


@inner
def holds(models: Models, first_need: int, last_need: int, total: int) -> bool:
    """Tell whether the tallied rows, so many in all, satisfy the needs from the first up to the last (exclusive)."""
    needs, values, tally, touched, used = models.needs, models.values, models.tally, models.touched, models.used
    for m in range(first_need, last_need):
        if total < needs.k[m]:
            return False
    for m in range(first_need, last_need):
        kind = needs.kind[m]
        if kind == kinds.AT_LEAST_K:
            continue
        s = needs.sensitive[m]
        known = values.known[s]
        different = 0
        largest = 0
        largest_known = 0
        members = np.int64(0)
        members_known = 0
        for i in range(used[s]):
            code = touched[s, i]
            count = tally[s, code]
            members += count
            largest = max(largest, count)
            if code < known:
                different += 1
                members_known += count
                largest_known = max(largest_known, count)
        if kind == kinds.DISTINCT:
            if different < needs.numerator[m]:
                return False
        elif kind == kinds.ENTROPY:
            weighted = 0.0
            for i in range(used[s]):
                code = touched[s, i]
                if code < known:
                    weighted += tally[s, code] * np.log(tally[s, code])
            entropy = np.log(members_known) - weighted / members_known if members_known > 0 else 0.0
            if entropy < needs.bound[m] - TOLERANCE:
                return False
        elif kind == kinds.RECURSIVE:
            # All but the l − 1 most frequent, which are brought to the front: no array may be made in these loops.
            tail = members_known
            for first in range(int(needs.bound[m]) - 1):
                most = -1
                for i in range(first, used[s]):
                    code = touched[s, i]
                    if code < known and (most < 0 or tally[s, code] > tally[s, touched[s, most]]):
                        most = i
                if most < 0:
                    break
                code = touched[s, most]
                touched[s, most] = touched[s, first]
                touched[s, first] = code
                tail -= tally[s, code]
            if not largest_known * needs.denominator[m] < tail * needs.numerator[m]:
                return False
        elif kind == kinds.FREQUENCY:
            if largest_known * needs.numerator[m] > total * needs.denominator[m]:
                return False
        elif kind == kinds.ALPHA:
            if largest * needs.denominator[m] > total * needs.numerator[m]:
                return False
        else:
            if distance(models, s, kind, members) > needs.bound[m] + TOLERANCE:
                return False
    return True


@inner
def distance(models: Models, s: int, kind: int, members: int) -> float:
    """Return the distance of the tallied distribution to the whole's; entries absent from it cost their share."""
    values, tally, touched, used = models.values, models.tally, models.touched, models.used
    below, nodes = models.below, models.nodes
    if kind == kinds.EQUAL:
        total = 1.0
        for i in range(used[s]):
            code = touched[s, i]
            whole = values.whole[s, code]
            total += abs(tally[s, code] / members - whole) - whole
        return 0.5 * total
    if kind == kinds.ORDERED:
        present = 0
        ahead = 0.0
        total = 0.0
        for code in range(values.known[s] + 1):
            if values.whole[s, code] > 0:
                present += 1
                ahead += tally[s, code] / members - values.whole[s, code]
                total += abs(ahead)
        return total / max(present - 1, 1)
    reached = 0
    total = 0.0
    for node in range(values.edge.shape[1]):
        total += values.edge[s, node] * values.mass[s, node]
    for i in range(used[s]):
        code = touched[s, i]
        for level in range(values.ancestor.shape[2]):
            node = values.ancestor[s, code, level]
            if node < 0:
                break
            if below[node] == 0.0:
                nodes[reached] = node
                reached += 1
            below[node] += tally[s, code] / members
    for i in range(reached):
        node = nodes[i]
        total += values.edge[s, node] * (abs(below[node] - values.mass[s, node]) - values.mass[s, node])
        below[node] = 0.0
    return total
