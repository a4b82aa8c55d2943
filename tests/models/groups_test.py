"""Groups of tuples: sizes, histograms and merged pairs, beside counting them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kveil.models.groups import AtLeastK, Groups, Pairs, one_group

KNOWN = 3


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, Pairs]:
    """Tuples with a group and a weight each, some of them out, and pairs of tuples and values."""
    random = np.random.default_rng(seed)
    tuples = int(random.integers(1, 12))
    group = random.integers(0, 4, tuples).astype(np.int32)
    weights = random.integers(0, 4, tuples)
    keys = np.unique(random.integers(0, tuples * (KNOWN + 1), 3 * tuples))
    owner, code = np.divmod(keys, KNOWN + 1)
    order = random.permutation(len(keys))
    pairs = Pairs(owner[order].astype(np.int32), code[order].astype(np.int32), random.integers(1, 5, len(keys)), KNOWN)
    return group, weights, pairs


def counted(pairs: Pairs) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for own, code, number in zip(pairs.tuples.tolist(), pairs.codes.tolist(), pairs.counts.tolist(), strict=True):
        found[own, code] += number
    return found


@pytest.mark.parametrize("number", [4, 10**6])  # few groups, and more than a table of all values has room for
@pytest.mark.parametrize("seed", range(10))
def test_a_histogram_counts_the_values_of_tuples_that_are_in(seed: int, number: int) -> None:
    group, weights, pairs = drawn(seed)
    groups = Groups(group, number, weights, {"s": pairs})
    expected: Counter[tuple[int, int]] = Counter()
    for (own, code), times in counted(pairs).items():
        if weights[own] > 0:
            expected[int(group[own]), code] += times
    found = groups.histogram("s")
    entries = list(zip(found.group.tolist(), found.code.tolist(), strict=True))
    assert entries == sorted(expected)
    assert found.count.tolist() == [expected[entry] for entry in entries]
    assert found.is_known.tolist() == [code < KNOWN for _, code in entries]
    assert groups.sizes[:4].tolist() == [int(weights[group == g].sum()) for g in range(4)]


@pytest.mark.parametrize("seed", range(10))
def test_merged_tuples_have_the_values_of_both(seed: int) -> None:
    group, _, pairs = drawn(seed)
    expected: Counter[tuple[int, int]] = Counter()
    for (own, code), number in counted(pairs).items():
        expected[int(group[own]), code] += number
    moved = pairs.moved(group)
    assert counted(moved) == expected
    assert len(moved.tuples) == len(expected)


@pytest.mark.parametrize("seed", range(10))
def test_one_group_is_what_it_is_among_others(seed: int) -> None:
    group, weights, pairs = drawn(seed)
    weights = weights + 1
    everyone = Groups(group, 4, weights, {"s": pairs})
    for g in range(4):
        members = np.flatnonzero(group == g)
        alone = one_group(members, weights, {"s": pairs})
        assert alone.sizes.tolist() == [everyone.sizes[g]]
        whole, own = everyone.histogram("s"), alone.histogram("s")
        here = whole.group == g
        assert own.code.tolist() == whole.code[here].tolist()
        assert own.count.tolist() == whole.count[here].tolist()
        codes, counts = pairs.of(members)
        assert int(counts.sum()) == int(own.count.sum())
        assert set(codes.tolist()) == set(own.code.tolist())


def test_empty_groups_satisfy_k() -> None:
    groups = Groups(np.array([0, 0, 2], dtype=np.int32), 4, np.array([1, 1, 1]), {})
    assert AtLeastK(2).good(groups).tolist() == [True, True, False, True]
    assert AtLeastK(5).least_members() == 5
