"""Group equal rows of integer columns. Numba is imported when the first group is asked for, not before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


def group_rows(columns: Ints) -> tuple[Ints, Ints]:
    """Return every row's group and every group's first row; ``columns`` is (columns, rows).

    The numbers of the groups depend on the rows' contents and order alone. O(rows · columns) time, 20 bytes a
    row beside the result.
    """
    from kveil.kernels.groups_loops import group_hashed, hash_rows

    columns = np.ascontiguousarray(_varying(columns), dtype=np.int32)
    parts = min(max(columns.shape[1].bit_length() - 14, 0), 10)
    return group_hashed(columns, hash_rows(columns), parts)


def sample_of_groups(columns: Ints, bits: int) -> Ints:
    """Return about one row in ``2**bits``, chosen so that equal rows are taken all together or not at all."""
    from kveil.kernels.groups_loops import hash_rows, pick_groups

    return pick_groups(hash_rows(np.ascontiguousarray(_varying(columns), dtype=np.int32)), bits)


def _varying(columns: Ints) -> Ints:
    """Return the columns that tell rows apart: after much generalizing many show the same in all rows."""
    rows = columns.shape[1]
    if not rows:
        return columns
    # Most columns differ in their first rows: the whole of one is looked at only where those are equal.
    varying = [c for c in columns if (c[:64] != c[0]).any() or (c != c[0]).any()]
    return columns if len(varying) == len(columns) else np.array(varying, dtype=np.int32).reshape(-1, rows)
