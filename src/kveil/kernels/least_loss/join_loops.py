"""The compiled loops that join codes and reckon what they cost; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints, Words
from kveil.kernels.least_loss.neighbours import (
    COST_AT,
    FORBIDDEN,
    KIND,
    LARGE,
    LEAF_AT,
    MISSING,
    NODE_AT,
    PAIR_AT,
    SMALL,
    SPAN,
    SPAN_AT,
    STAR,
    WHOLE,
    WIDEST,
    WIDTH,
    Codes,
)

# What only loops call gets no door to Python: making those takes most of the compile time. Nor does it count references
# to arrays, which whoever calls it holds: counting took half the time, and threads waited for each other's counts.
inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


@inner
def draw(random: Words, below: int) -> int:
    """Return a number from 0 to below − 1 (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(33)) % np.uint64(below))


@inner
def join(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what covers two codes of an attribute."""
    u, v = np.int64(u), np.int64(v)
    if u == v:
        return u
    kind = codes.about[a, KIND]
    size = codes.about[a, WIDTH]
    if kind == SMALL:
        return np.int64(codes.ints[codes.about[a, PAIR_AT] + u * size + v])
    if kind == LARGE:
        first, last = codes.about[a, NODE_AT], codes.about[a, NODE_AT] + size
        parent = last + size
        while codes.ints[first + u] > codes.ints[first + v] or codes.ints[last + u] < codes.ints[last + v]:
            u = np.int64(codes.ints[parent + u])
        return u
    return min(u // size, v // size) * size + max(u % size, v % size)


@inner
def cost_of(codes: Codes, a: int, u: int) -> int:
    """Return what showing a code costs a row."""
    u = np.int64(u)
    if codes.about[a, KIND] != SPAN:
        return codes.longs[codes.about[a, COST_AT] + u]
    size = codes.about[a, WIDTH]
    low, high = u // size, u % size
    if low == high:
        return np.int64(0)
    widest = codes.about[a, WIDEST]
    if high == codes.about[a, MISSING]:
        return codes.about[a, WHOLE] if widest < 0 else np.int64(FORBIDDEN)
    at = codes.about[a, SPAN_AT]
    width = codes.longs[at + size + high] - codes.longs[at + low]
    if widest >= 0 and width > widest:
        return np.int64(FORBIDDEN)
    return min(np.int64(width * codes.factor[a] + 0.5), codes.about[a, WHOLE])


@inner
def joined_cost(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what showing the cover of two codes costs a row."""
    if codes.about[a, KIND] == SMALL:
        return codes.longs[codes.about[a, LEAF_AT] + u * codes.about[a, WIDTH] + v]
    return cost_of(codes, a, join(codes, a, u, v))


@inner
def cover_cost(codes: Codes, ones: Ints, one: int, others: Ints, other: int, rows: int, most: int) -> int:
    """Return what the cover of two vectors of codes costs so many rows; ``most`` or more where it is not below that."""
    about, longs = codes.about, codes.longs
    total = np.int64(0)
    for a in range(ones.shape[1]):
        u, v = np.int64(ones[one, a]), np.int64(others[other, a])
        if about[a, KIND] == SMALL:
            total += longs[about[a, LEAF_AT] + u * about[a, WIDTH] + v] * rows
        else:
            total += cost_of(codes, a, join(codes, a, u, v)) * rows
        if total >= most:
            break
    return total


@inner
def vector_cost(codes: Codes, ones: Ints, one: int) -> int:
    """Return what a vector of codes costs a row."""
    total = np.int64(0)
    for a in range(ones.shape[1]):
        total += cost_of(codes, a, ones[one, a])
    return total


@inner
def take_in(codes: Codes, into: Ints, one: int, others: Ints, other: int) -> int:
    """Let a vector of codes cover another; return what it then costs."""
    about, longs = codes.about, codes.longs
    total = np.int64(0)
    for a in range(into.shape[1]):
        u, v = np.int64(into[one, a]), np.int64(others[other, a])
        if about[a, KIND] == SMALL:
            at = u * about[a, WIDTH] + v
            into[one, a] = codes.ints[about[a, PAIR_AT] + at]
            total += longs[about[a, LEAF_AT] + at]
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
        if codes.about[a, KIND] != SPAN:
            if u != codes.about[a, STAR]:
                return False
        else:
            low, high = u // codes.about[a, WIDTH], u % codes.about[a, WIDTH]
            if low == high or high != codes.about[a, MISSING]:
                return False
    return True
