"""Prices and tolls: what they prove is what the definition says, and never above the optimum."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from kveil.algorithms.bound import covers
from kveil.algorithms.bound import prices as climbing
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.stopping import Stop
from kveil.table.encode import encode
from naive.bound import PlainTree, covers_of, lagrange, optimum
from strategies import examples

PLACES = PlainTree([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*")])
AGES = PlainTree([("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")])
POLICY = """
kveil: 1
attributes:
  place: {role: quasi-identifier, hierarchy: {tree: {"*": {ab: [a, b], cde: [c, d, e]}}}}
  age: {role: quasi-identifier, hierarchy: {tree: {"*": {low: ["1", "2"], high: ["3", "4"]}}}}
privacy: [{model: k-anonymity, k: %d}]
"""
TREES = [PLACES, AGES]
ROWS = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("1234")), min_size=4, max_size=10)


@given(ROWS, st.sampled_from([2, 3]), st.sampled_from([climbing.ROOM, 12]), st.sampled_from([climbing.CUT_ROOM, 3]))
@examples(60)
def test_what_is_found_proves_what_the_definition_says(
    rows: list[tuple[str, str]], k: int, room: int, cut_room: int
) -> None:
    frame = pl.DataFrame({"place": [row[0] for row in rows], "age": [row[1] for row in rows]})
    table = encode(from_frame(frame), Policy.parse(POLICY % k, "policy.yaml", Path()))
    lattice, whole = covers.lattice_of(table, [0, 1], covers.FINENESS[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(climbing, "ROOM", room)
        patch.setattr(climbing, "CUT_ROOM", cut_room)
        found, bound = climbing.prices(lattice, k, whole, Stop(100.0), lambda best: None)
    first = lattice.first.tolist()
    price = {rows[first[t]]: Fraction(int(p), covers.SCALE) for t, p in enumerate(found.price)}
    cuts = found.cuts
    of_tuple = [{i for i, row in enumerate(rows) if row == rows[first[t]]} for t in range(len(first))]
    tolls = [
        (
            frozenset[int]().union(*(of_tuple[t] for t in cuts.member[cuts.start[c] : cuts.start[c + 1]])),
            Fraction(int(toll), covers.SCALE),
        )
        for c, toll in enumerate(found.toll)
    ]
    event("with tolls" if found.toll.any() else "without tolls")
    assert [len(inside) // k for inside, _ in tolls] == cuts.most.tolist()
    least = Fraction(bound, covers.SCALE)
    slow, rounding = lagrange(TREES, rows, k, price, tolls), Fraction(len(rows) * 64, covers.SCALE)
    # A node has the rows that pay at the highest prices of the box it was found in: between all and those that do here.
    if room == climbing.ROOM and cut_room == climbing.CUT_ROOM:
        assert slow - rounding < least
    assert least < lagrange(TREES, rows, k, price, tolls, payers_alone=True) + rounding
    assert least <= optimum(TREES, rows, k)


@given(ROWS, st.sampled_from([2, 3]), st.data())
@examples(60)
def test_any_prices_and_tolls_stay_below_the_optimum(rows: list[tuple[str, str]], k: int, data: st.DataObject) -> None:
    share = st.integers(0, 40).map(lambda n: Fraction(n, 40))
    price = {row: data.draw(share) for row in rows}
    sets = st.sampled_from(sorted(covers_of(TREES, rows), key=sorted)) | st.frozensets(
        st.integers(0, len(rows) - 1), min_size=1
    )
    tolls = data.draw(st.lists(st.tuples(sets, share), max_size=6))
    alone = lagrange(TREES, rows, k, price, tolls, payers_alone=True)
    assert lagrange(TREES, rows, k, price, tolls) <= alone <= optimum(TREES, rows, k)
