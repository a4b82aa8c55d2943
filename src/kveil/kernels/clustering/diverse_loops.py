"""The compiled loops behind `diverse`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering.boxes_loops import cover
from kveil.kernels.clustering.greedy_loops import copy_box, enter_cluster, place_rest
from kveil.kernels.clustering.layout import BUCKET, ClusterArrays, ClusterRoom, Costs, DistinctTuples, DiverseRoom, Heap
from kveil.kernels.clustering.search_tree_loops import drop_first, next_tuple, plant, push, take
from kveil.kernels.jit import door, inner
from kveil.kernels.models.layout import ALPHA, AT_LEAST_K, DISTINCT, ENTROPY, FREQUENCY, RECURSIVE, Models
from kveil.kernels.models.models_loops import clear, holds

PLANNED = 4096  # different values up to which it is planned which of them a cluster may take


@inner
def count_in(models: Models, t: int, sign: int) -> None:
    """Add one row of a tuple to the histograms, or take it out; `count_values` adds all rows of the tuple."""
    values, tally, touched, used = models.values, models.tally, models.touched, models.used
    for s in range(values.start.shape[0]):
        for p in range(values.start[s, t], values.start[s, t + 1]):
            code = values.code[p]
            if tally[s, code] == 0 and sign > 0:
                touched[s, used[s]] = code
                used[s] += 1
            tally[s, code] += sign


@inner
def first_failing(models: Models, total: int) -> int:
    """Return the first need over sensitive values that the tallied rows fail, -1 where there is none."""
    for m in range(len(models.needs.kind)):
        if models.needs.kind[m] != AT_LEAST_K and not holds(models, m, m + 1, total):
            return m
    return -1


@inner
def helps(models: Models, m: int, t: int) -> bool:
    """Tell whether a row of a tuple brings a cluster nearer to a need it fails."""
    needs, values, tally, touched, used = models.needs, models.values, models.tally, models.touched, models.used
    s, kind = needs.sensitive[m], needs.kind[m]
    known = values.known[s]
    members, largest = np.int64(0), np.int64(0)
    for i in range(used[s]):
        count = tally[s, touched[s, i]]
        members += count
        if touched[s, i] < known or kind == ALPHA:
            largest = max(largest, count)
    for p in range(values.start[s, t], values.start[s, t + 1]):
        code = values.code[p]
        count = tally[s, code]
        if kind == DISTINCT:
            if code < known and count == 0:
                return True
        elif kind == ENTROPY or kind == RECURSIVE:  # noqa: SIM109
            if code < known and (count < largest or largest == 0):
                return True
        elif kind == FREQUENCY:
            if code == known or count < largest:
                return True
        elif kind == ALPHA:
            if count < largest:
                return True
        elif count < values.whole[s, code] * max(members, 1):
            return True
    return False


@inner
def fits(models: Models, t: int, size: int) -> bool:
    """Tell whether a row of a tuple leaves every value's share small enough in a cluster that gets so many rows."""
    needs, values, tally = models.needs, models.values, models.tally
    for m in range(len(needs.kind)):
        kind, s = needs.kind[m], needs.sensitive[m]
        if kind == FREQUENCY or kind == ALPHA:  # noqa: SIM109
            up, down = needs.denominator[m], needs.numerator[m]
            if kind == ALPHA:
                up, down = down, up
            for p in range(values.start[s, t], values.start[s, t + 1]):
                code = values.code[p]
                counted = kind == ALPHA or code < values.known[s]
                if counted and (tally[s, code] + 1) * down > size * up:
                    return False
    return True


@inner
def plan_needs(left: Models, waiting: int, k: int, room: DiverseRoom) -> None:
    """Plan, for every need of different values, how many clusters come later and how many rows they can spare.

    Clusters can be so many that Σ min(count, clusters) over the values is enough for each (Truta et al. 2007, their
    bound in another form). If a value has more rows than clusters come later, one of them can go anywhere; all other
    rows are needed, and counted. Where shares are limited, later clusters need rows of other values than the most
    frequent one. ``left`` has tallied the rows that are in no cluster.
    """
    needs, values, rest = left.needs, left.values, left.tally
    later, spare, frequent = room.later, room.spare, room.frequent
    for m in range(len(needs.kind)):
        later[m] = -1
        s, kind = needs.sensitive[m], needs.kind[m]
        if kind == FREQUENCY or kind == ALPHA:  # noqa: SIM109
            up, down = needs.denominator[m], needs.numerator[m]
            if kind == ALPHA:
                up, down = down, up
            size = max(k, -(-down // up))
            others = size - size * up // down  # as many of other values as a cluster of that size needs
            frequent[m] = 0
            for code in range(1, values.known[s] + (1 if kind == ALPHA else 0)):
                if rest[s, code] > rest[s, frequent[m]]:
                    frequent[m] = code
            if others > 0:
                stock = max(waiting - rest[s, frequent[m]], 0)
                later[m] = max(min(waiting // size - 1, stock // others - 1), 0)
                spare[m] = stock - later[m] * others
            continue
        if kind != DISTINCT or values.known[s] > PLANNED:
            continue
        low, high = 0, waiting // k
        while low < high:
            middle = (low + high + 1) >> 1
            enough = np.int64(0)
            for code in range(values.known[s]):
                enough += min(rest[s, code], middle)
            if enough >= needs.numerator[m] * middle:
                low = middle
            else:
                high = middle - 1
        later[m] = max(low - 1, 0)
        enough = np.int64(0)
        for code in range(values.known[s]):
            enough += min(rest[s, code], later[m])
        spare[m] = enough - needs.numerator[m] * later[m]


@inner
def spare_row(left: Models, room: DiverseRoom, t: int, spend: bool) -> bool:
    """Tell whether later clusters can spare a row of a tuple; ``spend`` it."""
    needs, values, rest = left.needs, left.values, left.tally
    later, spare, frequent = room.later, room.spare, room.frequent
    for m in range(len(needs.kind)):
        if later[m] < 0:
            continue
        s = needs.sensitive[m]
        for p in range(values.start[s, t], values.start[s, t + 1]):
            code = values.code[p]
            if needs.kind[m] == DISTINCT:
                wanted = code < values.known[s] and rest[s, code] <= later[m]
            else:
                wanted = code != frequent[m]
            if wanted:
                if spend:
                    spare[m] -= 1
                elif spare[m] <= 0:
                    return False
    return True


@inner
def restore(heap: Heap, size: int, aside: Heap, parked: int) -> int:
    """Put everything that was set aside back into the heap; return the heap's size."""
    for at in range(parked):
        index, ref, version = np.int64(aside.lowest[at]), np.int64(aside.ref[at]), np.int64(aside.version[at])
        size = push(heap, size, aside.key[at], index, ref, version)
    return size


@inner
def undo_cluster(distinct: DistinctTuples, left: Longs, label: Ints, taken: Ints, number: int) -> None:
    """Take the rows of an unfinished cluster out of it again; the last taken of a tuple first."""
    for i in range(number - 1, -1, -1):
        t = np.int64(taken[i])
        left[t] += 1
        label[distinct.start[t + 1] - left[t]] = -1


@door
def cluster_all(
    costs: Costs,
    distinct: DistinctTuples,
    models: Models,
    outside: Models,
    groups: Longs,
    k: int,
    more_is_safe: bool,
    clusters: ClusterArrays,
    room: ClusterRoom,
    plans: DiverseRoom,
) -> int:
    """Cluster every group; return how many clusters there are. See `kveil.kernels.clustering.diverse`.

    ``models`` tallies the cluster in the making, ``outside`` the rows that are in none.
    """
    left, forest, heap, origin, box = room.left, room.forest, room.heap, room.origin, room.box
    aside, later = plans.aside, plans.later
    made = 0
    for g in range(len(groups) - 1):
        begin, end, first = groups[g], groups[g + 1], made
        waiting = distinct.start[end] - distinct.start[begin]
        clear(outside)
        for t in range(begin, end):
            for _ in range(left[t]):
                count_in(outside, t, 1)
        plant(costs, distinct, room, begin, end, BUCKET)
        cover(costs, origin, distinct, begin, True)
        while waiting >= k and not room.halt[0]:
            plan_needs(outside, waiting, k, plans)
            clear(models)
            total, version, parked, failing, whole = 0, -1, 0, 0, False
            size = push(heap, 0, 0, 0, -1, version)
            # Between two rows that are taken, every tuple is set aside at most twice: by the plan, and without it.
            for _ in range((waiting + 1) * (2 * (end - begin) + 2)):
                size = next_tuple(costs, distinct, forest, heap, origin if version < 0 else box, size, version)
                if room.halt[0]:
                    break
                if size == 0:
                    planned = False
                    for m in range(len(later)):
                        planned = planned or later[m] >= 0
                        later[m] = -1  # no row is left that the plan lets in: go on without a plan
                    if parked == 0 or not planned:
                        break
                    size = restore(heap, size, aside, parked)
                    parked = 0
                    continue
                t = np.int64(heap.ref[0])
                if version >= 0:
                    key = heap.key[0]
                    size = drop_first(heap, size)
                    good = helps(models, failing, t) if failing >= 0 else fits(models, t, max(total + 1, k))
                    if not (good and spare_row(outside, plans, t, False)):
                        parked = push(aside, parked, key, t, t, version)
                        continue
                spare_row(outside, plans, t, True)
                take(distinct, forest, left, clusters.label, t, 1, made)
                plans.taken[total] = t
                total += 1
                count_in(models, t, 1)
                count_in(outside, t, -1)
                wider = cover(costs, origin if version < 0 else box, distinct, t, version < 0)
                if version < 0:
                    copy_box(box, origin)
                    version = 0
                    size = push(heap, 0, 0, 0, -1, version)
                else:
                    version += wider
                    if left[t] > 0:
                        size = push(heap, size, key, t, t, version - 1)
                failing = first_failing(models, total)
                if failing < 0 and total >= k:
                    whole = True
                    break
                size = restore(heap, size, aside, parked)
                parked = 0
            if not whole:
                undo_cluster(distinct, left, clusters.label, plans.taken, total)
                break
            enter_cluster(clusters, made, box, total, g)
            made += 1
            waiting -= total
        if more_is_safe and made > first:
            place_rest(costs, distinct, room, begin, end, clusters, first, made)
    return made
