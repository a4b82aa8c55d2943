"""The compiled loops that join codes and reckon what they cost; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes


@inner
def join(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what covers two codes of an attribute."""
    u, v = np.int64(u), np.int64(v)
    if u == v:
        return u
    kind = codes.about[a, field.KIND]
    size = codes.about[a, field.WIDTH]
    if kind == field.SMALL:
        return np.int64(codes.ints[codes.about[a, field.PAIR_AT] + u * size + v])
    if kind == field.LARGE:
        first, last = codes.about[a, field.NODE_AT], codes.about[a, field.NODE_AT] + size
        parent = last + size
        while codes.ints[first + u] > codes.ints[first + v] or codes.ints[last + u] < codes.ints[last + v]:
            if u == 0:  # the root covers everything, so this is never reached; a loop has an end of its own
                break
            u = np.int64(codes.ints[parent + u])
        return u
    return min(u // size, v // size) * size + max(u % size, v % size)


@inner
def cost_of(codes: Codes, a: int, u: int) -> int:
    """Return what showing a code costs per row."""
    u = np.int64(u)
    if codes.about[a, field.KIND] != field.SPAN:
        return codes.longs[codes.about[a, field.COST_AT] + u]
    size = codes.about[a, field.WIDTH]
    low, high = u // size, u % size
    if low == high:
        return np.int64(0)
    widest = codes.about[a, field.WIDEST]
    if high == codes.about[a, field.MISSING]:
        return codes.about[a, field.WHOLE] if widest < 0 else np.int64(field.FORBIDDEN)
    at = codes.about[a, field.SPAN_AT]
    width = codes.longs[at + size + high] - codes.longs[at + low]
    if widest >= 0 and width > widest:
        return np.int64(field.FORBIDDEN)
    return min(np.int64(width * codes.factor[a] + 0.5), codes.about[a, field.WHOLE])


@inner
def joined_cost(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what showing the cover of two codes costs per row."""
    if codes.about[a, field.KIND] == field.SMALL:
        return codes.longs[codes.about[a, field.LEAF_AT] + u * codes.about[a, field.WIDTH] + v]
    return cost_of(codes, a, join(codes, a, u, v))


@inner
def cover_cost(codes: Codes, ones: Ints, one: int, others: Ints, other: int, rows: int, most: int) -> int:
    """Return what the cover of two vectors of codes costs so many rows; ``most`` or more where it is not below that."""
    about, longs = codes.about, codes.longs
    total = np.int64(0)
    for a in range(ones.shape[1]):
        u, v = np.int64(ones[one, a]), np.int64(others[other, a])
        if about[a, field.KIND] == field.SMALL:
            total += longs[np.uint64(about[a, field.LEAF_AT] + u * about[a, field.WIDTH] + v)]
        else:
            if total * rows >= most:  # to stop at what a table tells costs more than it saves
                break
            total += cost_of(codes, a, join(codes, a, u, v))
    return total * rows


@inner
def vector_cost(codes: Codes, ones: Ints, one: int) -> int:
    """Return what a vector of codes costs per row."""
    total = np.int64(0)
    for a in range(ones.shape[1]):
        total += cost_of(codes, a, ones[one, a])
    return total


@inner
def cover_vector(codes: Codes, into: Ints, one: int, others: Ints, other: int) -> int:
    """Let a vector of codes cover another; return what it then costs."""
    about, ints, longs = codes.about, codes.ints, codes.longs
    total = np.int64(0)
    for a in range(into.shape[1]):
        u, v = np.int64(into[one, a]), np.int64(others[other, a])
        if about[a, field.KIND] == field.SMALL:
            at = u * about[a, field.WIDTH] + v
            into[one, a] = ints[np.uint64(about[a, field.PAIR_AT] + at)]
            total += longs[np.uint64(about[a, field.LEAF_AT] + at)]
        else:
            code = join(codes, a, u, v)
            into[one, a] = code
            total += cost_of(codes, a, code)
    return total


@inner
def copy_row(into: Ints, one: int, others: Ints, other: int) -> None:
    """Copy a vector of codes."""
    for a in range(into.shape[1]):
        into[one, a] = others[other, a]


@inner
def shows_nothing(codes: Codes, ones: Ints, one: int) -> bool:
    """Tell whether a vector of codes shows `*` everywhere."""
    for a in range(ones.shape[1]):
        u = np.int64(ones[one, a])
        if codes.about[a, field.KIND] != field.SPAN:
            if u != codes.about[a, field.STAR]:
                return False
        else:
            low, high = u // codes.about[a, field.WIDTH], u % codes.about[a, field.WIDTH]
            if low == high or high != codes.about[a, field.MISSING]:
                return False
    return True
