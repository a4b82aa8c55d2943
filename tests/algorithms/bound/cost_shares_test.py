"""Costs shared out among constraints: parts stay the whole, and what they prove stays below any release."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.bound import bound
from kveil.algorithms.bound.cost_shares import SharedConstraint, even_shares, share_out, sum_of_simple
from kveil.algorithms.bound.covers import SCALE, WHOLE_SHARE
from kveil.algorithms.bound.prices import prices
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.stopping import Stop
from kveil.table.encode import encode
from kveil.table.table import Table
from naive import overlaps as naive
from places import ROOT


def table_of(rows: list[tuple[str, ...]]) -> Table:
    frame = pl.DataFrame(rows, schema=list(naive.NAMES), orient="row")
    return encode(from_frame(frame), Policy.parse(naive.POLICY, "tiny", ROOT))


def constraints_of(table: Table) -> list[SharedConstraint]:
    return [SharedConstraint(table, tuple(over), k) for over, k in naive.CONSTRAINTS]


@pytest.mark.parametrize("seed", range(30))
def test_bounds_at_any_shares_add_up_to_no_more_than_the_optimum(seed: int) -> None:
    chance = Random(seed)
    rows = naive.tiny_rows(chance, chance.randint(5, 7))
    table = table_of(rows)
    best = naive.optimum(rows) * len(rows) * SCALE
    constraints = constraints_of(table)
    sex = chance.randint(0, WHOLE_SHARE)
    constraints[0].shares = {0: chance.randint(0, WHOLE_SHARE), 1: sex}
    constraints[1].shares = {1: WHOLE_SHARE - sex, 2: chance.randint(0, WHOLE_SHARE)}
    assert sum_of_simple(constraints) <= best
    total = 0
    for own in constraints:
        laid = own.lattice(own.shares)
        if laid is not None:
            total += prices(laid[0], own.k, laid[1], Stop(), lambda best: None)[1]
    assert total <= best


@pytest.mark.parametrize("seed", range(12))
def test_parts_are_moved_never_made_and_the_sum_only_rises(seed: int) -> None:
    table = table_of(naive.tiny_rows(Random(seed), 30))
    constraints = constraints_of(table)
    for own, shares in zip(constraints, even_shares(constraints), strict=True):
        own.shares = shares
    before = sum_of_simple(constraints)
    share_out(constraints, Stop())
    assert sum_of_simple(constraints) >= before
    for position in range(len(naive.NAMES)):
        parts = [own.shares.get(position, 0) for own in constraints if position in own.over]
        assert sum(parts) == WHOLE_SHARE
        assert min(parts) >= 0


def test_a_bound_by_shares_is_no_lower_than_one_by_disjoint_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, "least_cost", lambda component, costs, left: 0)
    tables = [table_of(naive.tiny_rows(Random(seed), 8 + seed % 5)) for seed in range(40)]
    found = [bound.lower_bound(table, silent) for table in tables]
    assert all(np.isclose(sum(part["at_least"] for part in own.parts), own.at_least) for own in found)
    monkeypatch.setattr(bound, "_shared_out", lambda component, apart, share, tell: None)
    apart = [bound.lower_bound(table, silent) for table in tables]
    assert all(own.at_least >= other.at_least for own, other in zip(found, apart, strict=True))
    assert any(own.at_least > other.at_least for own, other in zip(found, apart, strict=True))


def test_what_is_no_multiple_goes_to_the_first() -> None:
    table = table_of(naive.tiny_rows(Random(1), 10))
    three = [SharedConstraint(table, (0, 1), 2), SharedConstraint(table, (1, 2), 2), SharedConstraint(table, (1,), 2)]
    assert even_shares(three) == [{0: 16, 1: 6}, {1: 5, 2: 16}, {1: 5}]
