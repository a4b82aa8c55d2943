"""Counts of limits and spans, however many machines count them, and parts packed by neighbours."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.splitting.first_cuts import Cut, LeafSpans, PartCuts, StartGroups, bounded_attributes, limits_of
from kveil.algorithms.splitting.span_counts import (
    ATTRIBUTE,
    CODE,
    CONFLICT_COUNT,
    KEY,
    PART,
    RECORD_COUNT,
    ROW_COUNT,
    SPAN_COUNT,
    SPAN_VALUE,
    CutTable,
    count_limits,
    count_spans,
    packs_of_parts,
    read_counts,
    smallest_rows,
)
from kveil.table.table import Table

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}, "boundary": ["N", "S"]}
P = {"model": "p-sensitive", "sensitive": "s", "p": 1}


def table(seed: int) -> Table:
    random = np.random.default_rng(seed)
    columns = {
        "t": random.choice(list("abc"), 25),
        "u": random.choice(list("xyz"), 25),
        "s": random.choice(list("12"), 25),
    }
    own = coded(columns, {"t": TREE, "u": QUASI, "s": "sensitive"}, privacy=[P])
    return own.changed(times=random.integers(1, 4, 25))


def test_groups_of_equal_limits_are_counted_with_their_values() -> None:
    own = table(0)
    frame = count_limits(own, ["s"], bounded_attributes(own))
    tree = own.trees[0]
    limit = tree.limit_of[own.leaves[0]]
    code = own.sensitive["s"].code
    for value, weights in ((ROW_COUNT, np.ones(25)), (RECORD_COUNT, own.weights)):
        counts = sorted(frame.filter(pl.col(SPAN_VALUE) == value)[SPAN_COUNT].to_list())
        assert counts == sorted(np.bincount(limit, weights=weights)[np.unique(limit)].astype(int).tolist())
    pairs: Counter[tuple[int, int]] = Counter()
    for row in range(25):
        pairs[int(limit[row]), int(code[row])] += int(own.weights[row])
    assert sorted(frame.filter(pl.col(SPAN_VALUE) == 0)[SPAN_COUNT].to_list()) == sorted(pairs.values())


def test_people_whose_records_disagree_are_counted_by_attribute() -> None:
    columns = {"who": ["p", "p", "q"], "t": ["a", "b", "c"], "u": ["x", "x", "y"]}
    attributes = {"who": "individual", "t": TREE, "u": QUASI}
    own = coded(columns, attributes, individual={"conflicts": "generalize"})
    frame = count_limits(own, [], bounded_attributes(own)).filter(pl.col(SPAN_VALUE) == CONFLICT_COUNT)
    assert dict(frame.select(CODE, SPAN_COUNT).iter_rows()) == {0: 1, -1: 1}


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_counted_part_by_part_and_read_again(seed: int) -> None:
    own = table(seed)
    spans = LeafSpans.of(own)
    start = StartGroups((), np.zeros((0, 1), dtype=np.int64), np.zeros(1, dtype=np.int32))
    keys = np.unique(spans.keys(1))
    cut = Cut(1, keys, (1 + np.arange(len(keys)) % 2).astype(np.int32))
    cuts = PartCuts(limits_of(own), start, 3, {0: cut})
    part = cuts.part_of(spans)
    frame = count_spans(own, ["s"], cuts, [1, 2])
    for number in (1, 2):
        here = part == number
        told = frame.filter((pl.col(PART) == number) & (pl.col(ATTRIBUTE) == 0))
        counted = read_counts(told, ["s"], [own.sensitive["s"].known])
        low, _ = spans.read(0, counted.keys)
        expected = np.bincount(own.leaves[0][here], weights=own.weights[here], minlength=3)
        assert counted.weights.tolist() == [int(expected[leaf]) for leaf in low]
        pairs = counted.pairs["s"]
        for at, code, times in zip(pairs.tuples, pairs.codes, pairs.counts, strict=True):
            rows = here & (own.leaves[0] == low[at]) & (own.sensitive["s"].code == code)
            assert int(times) == int(own.weights[rows].sum())
    assert count_spans(own, ["s"], cuts, []).height == 0


def test_the_first_row_of_a_part_is_the_first_in_canonical_order() -> None:
    own = table(1)
    part = (np.arange(25) % 3).astype(np.int32)
    first = dict(smallest_rows(own, part).select(PART, KEY).iter_rows())
    for number in range(3):
        rows = [[int(leaf) for leaf in own.leaves[:, row] for _ in range(2)] for row in np.flatnonzero(part == number)]
        assert first[number] == min(rows)


def test_neighbours_are_packed_as_long_as_they_are_few() -> None:
    first = pl.DataFrame({PART: [0, 1, 2, 3], KEY: [[5], [1], [3], [9]]})
    # In the order of their first rows: 1, 2, 0, 3.
    assert packs_of_parts({0: 2, 1: 2, 2: 2, 3: 9}, first, 4) == {1: 0, 2: 0, 0: 1, 3: 2}
    assert packs_of_parts({0: 2, 1: 2, 2: 2, 3: 9}, first, 6) == {1: 0, 2: 0, 0: 0, 3: 1}


def test_parts_that_were_cut_are_none_any_more() -> None:
    start = StartGroups((), np.zeros((0, 1), dtype=np.int64), np.zeros(1, dtype=np.int32))
    nothing = Cut(0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
    cut_table = CutTable(PartCuts(limits_of(table(0)), start, 3, {0: nothing}), {0: 9, 1: 4, 2: 5, -1: 3})
    assert cut_table.parts == [1, 2]
