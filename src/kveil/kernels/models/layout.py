"""The arrays in which compiled loops find models and the sensitive values that these count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs

# The kinds of models.
AT_LEAST_K, DISTINCT, ENTROPY, RECURSIVE, FREQUENCY, ALPHA, EQUAL, ORDERED, HIERARCHICAL = range(9)

TOLERANCE = 1e-9  # for logarithms and distances; counts are compared exactly


class Needs(NamedTuple):
    """What every part must satisfy; ``kind`` is one of the constants of this module."""

    kind: Ints
    sensitive: Ints
    k: Longs
    numerator: Longs
    denominator: Longs
    bound: Floats


class SensitiveCodes(NamedTuple):
    """The sensitive values of tuples, per attribute in CSR form laid end to end, and the whole's distribution.

    ``start`` is attribute × (tuple + 1) into ``code`` and ``times``; ``known`` the code of missing; ``whole``
    attribute × code the reference shares; ``ancestor`` attribute × code × depth the nodes above a value, -1 past
    the root; ``edge`` attribute × node the weight of the edge above; ``mass`` the reference share below a node.
    """

    start: Longs
    code: Ints
    times: Longs
    known: Ints
    whole: Floats
    ancestor: Ints
    edge: Floats
    mass: Floats


class Models(NamedTuple):
    """What every group must satisfy beside its size, and room to count in."""

    needs: Needs
    values: SensitiveCodes
    tally: Longs
    touched: Ints
    used: Ints
    below: Floats
    nodes: Ints


def new_models(needs: Needs, values: SensitiveCodes) -> Models:
    """Return models with room to count in."""
    shape, nodes = values.whole.shape, values.edge.shape[1]
    return Models(
        needs,
        values,
        np.zeros(shape, dtype=np.int64),
        np.empty(shape, dtype=np.int32),
        np.zeros(shape[0], dtype=np.int32),
        np.zeros(nodes),
        np.empty(nodes, dtype=np.int32),
    )


def no_models() -> Models:
    """Return models that ask for nothing: of the same types as others, so that the loops are compiled once."""
    none, far, flat = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros((0, 1))
    start, above = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1, 1), dtype=np.int32)
    needs = Needs(none, none, far, far, far, np.zeros(0))
    return new_models(needs, SensitiveCodes(start, none, far, none, flat, above, flat, flat))
