"""A table cut into parts that hold by themselves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.splitting.cutting import component_to_cut, cut
from kveil.errors import Unmeetable
from kveil.table.table import Table

AGES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}}


def table(ages: list[int], k: int = 2, limit: float = 0.0, **age: object) -> Table:
    return coded({"age": [str(own) for own in ages]}, {"age": {**AGES, **age}}, k=k, limit=limit)


@pytest.mark.parametrize("most", [4, 10, 25])
def test_parts_have_no_more_records_than_asked_and_each_holds(most: int) -> None:
    random = np.random.default_rng(most)
    own = table(random.integers(0, 99, 60).tolist(), k=2)
    parts = cut(own, most, "k-member")
    assert sorted(row for rows in parts.rows for row in rows.tolist()) == list(range(60))
    assert len(parts.left_out) == 0
    sizes = [len(rows) for rows in parts.rows]
    assert max(sizes) <= most
    assert min(sizes) >= 2
    # Neighbours that have no more together are one.
    assert all(one + other > most for one, other in pairwise(sizes))
    ages = [own.leaves[0][rows] for rows in parts.rows]
    assert all(before.max() <= after.min() for before, after in pairwise(ages))


def test_a_small_table_is_one_part() -> None:
    parts = cut(table([1, 2, 3]), 3, "k-member")
    assert [rows.tolist() for rows in parts.rows] == [[0, 1, 2]]


def test_rows_whose_limits_can_never_hold_are_left_out_within_the_limit() -> None:
    ages = [1, 2, 3, 4, 5, 6, 95]
    parts = cut(table(ages, limit=0.2, boundary={"level": 1}), 3, "k-member")
    assert parts.left_out.tolist() == [6]
    assert "too rare" in parts.why
    with pytest.raises(Unmeetable, match="k-member cannot meet the policy: 1 record of 7"):
        cut(table(ages, limit=0.1, boundary={"level": 1}), 3, "k-member")


def test_fingerprints_count_by_sizes_alone() -> None:
    items = {"role": "sensitive", "hierarchy": {"tree": {"*": ["x", "y"]}}}
    model = {"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 3}
    attributes = {"who": "individual", "age": AGES, "s": items}
    own = coded({"who": list("pqr"), "age": ["1", "2", "3"], "s": ["x", "y", "x"]}, attributes, privacy=[model])
    assert component_to_cut(own).counts_only
    assert component_to_cut(own).least_members == 3  # one fingerprint is to have no more than a third
