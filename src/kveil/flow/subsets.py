"""The maximal anonymous subset of records, and of attributes, as functions of their own, for tables as they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kveil.algorithms.sequential.k_msd import largest_anonymous_columns
from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.frames import from_frame
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.models.groups import AtLeastK
from kveil.models.subset import Requirement
from kveil.models.subset import maximal_anonymous_subset as largest_subset
from kveil.policy.privacy import KAnonymity
from kveil.table.columns import code_texts
from kveil.words import did_you_mean


def _pair(constraint: KAnonymity | tuple[Sequence[str], int], columns: list[str]) -> tuple[list[str], int]:
    if isinstance(constraint, KAnonymity):
        names, k = list(constraint.attributes or columns), constraint.k
    else:
        names, k = list(constraint[0]), int(constraint[1])
    if (isinstance(constraint, tuple) and isinstance(constraint[0], str)) or not names or k < 1:
        raise PolicyError('a constraint is a list of attributes and a k of at least 1, as in (["zip", "birth"], 5).')
    for name in names:
        if name not in columns:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, columns) or '.'}")
    return names, k


def _coded(source: Source, names: Iterable[str]) -> dict[str, NDArray[np.int32]]:
    """Return columns as numbers from 0; missing is a value of its own."""
    return {name: code_texts(source.texts(name)).codes + np.int32(1) for name in names}


def maximal_anonymous_subset(
    frame: Any, constraints: Iterable[KAnonymity | tuple[Sequence[str], int]]
) -> NDArray[np.int64]:
    """Return the positions of the largest set of records that satisfies every constraint, as they stand.

    ``frame`` is a pandas, Polars or PyArrow table; a constraint is `KAnonymity(attributes=[…], k=…)` or a pair of
    attributes and k. Missing is a value of its own. The set is unique (Yang et al. 2006, theorem 4): drop every record
    whose projection is too rare for some constraint, recount, repeat. O(records · constraints) per round.
    """
    source = from_frame(frame)
    wanted = [_pair(constraint, source.frame.columns) for constraint in constraints]
    names = sorted({name for attributes, _ in wanted for name in attributes})
    codes = _coded(source, names)
    requirements = []
    for attributes, k in wanted:
        group, first = group_rows(np.array([codes[name] for name in attributes], dtype=np.int32))
        requirements.append(Requirement(AtLeastK(k), group, len(first)))
    everyone = np.ones(source.rows, dtype=bool)
    return np.flatnonzero(largest_subset(requirements, np.ones(source.rows, dtype=np.int64), {}, everyone))


def maximal_anonymous_attributes(frame: Any, k: int, attributes: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return a largest set of attributes over which a table is k-anonymous as it stands (IMKAS, Huang et al. 2014).

    ``frame`` is a pandas, Polars or PyArrow table; ``attributes`` are those to choose from, all by default. Of
    equally large sets the one with most groups, then the first in the order of the attributes. Empty where no single
    attribute is k-anonymous. Missing is a value of its own.
    """
    source = from_frame(frame)
    names = list(source.frame.columns if attributes is None else attributes)
    if isinstance(attributes, str) or k < 1:
        raise PolicyError('k is at least 1 and attributes are a list, as in (frame, 5, ["zip", "birth"]).')
    for name in names:
        if name not in source.frame.columns:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, source.frame.columns) or '.'}")
    if not names:
        return ()
    columns = np.array(list(_coded(source, names).values()), dtype=np.int32)
    member, first = group_rows(columns)
    weights = np.bincount(member, minlength=len(first)).astype(np.int64)
    return tuple(names[a] for a in largest_anonymous_columns(np.take(columns, first, axis=1), weights, k))
