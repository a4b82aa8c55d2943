"""The canonical order of rows, beside Python's own sort."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.table.order import ranks_of_sets, ranks_of_texts, sorted_rows
from kveil.table.sensitive import Sensitive


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_sorted_by_the_first_key_first_and_equal_ones_stay_as_they_are(seed: int) -> None:
    chance = Random(seed)
    rows = chance.randint(0, 30)
    # Keys of up to 2^40: two of them do not fit one word, several small ones do.
    keys = [
        [chance.randrange(most) for _ in range(rows)]
        for most in chance.choices([1, 2, 3, 1 << 20, 1 << 40], k=chance.randint(1, 6))
    ]
    expected = sorted(range(rows), key=lambda row: [key[row] for key in keys])
    assert sorted_rows([np.array(key, dtype=np.int64) for key in keys]).tolist() == expected


def test_keys_at_the_edge_of_a_word_are_not_packed_over_it() -> None:
    # 2^31 - 1 and 2^31 - 1 fit 62 bits together, one more value does not.
    most = (1 << 31) - 1
    high, low = [most, most - 1, most, 0], [0, most, most, 1]
    for third in ([0, 0, 0, 0], [1, 0, 1, 0]):
        keys = [np.array(key, dtype=np.int64) for key in (high, low, third)]
        expected = sorted(range(4), key=lambda row: (high[row], low[row], third[row]))
        assert sorted_rows(keys).tolist() == expected


def test_no_keys_and_no_rows_are_an_empty_order() -> None:
    assert sorted_rows([]).tolist() == []
    assert sorted_rows([np.zeros(0, dtype=np.int32)]).tolist() == []


def test_missing_comes_before_every_text_and_equal_texts_are_equal() -> None:
    ranks = ranks_of_texts(pl.Series(["b", None, "", "a", "b"], dtype=pl.String)).tolist()
    assert ranks[1] < ranks[2] < ranks[3] < ranks[0] == ranks[4]


def sensitive_of(sets: list[list[int]], known: int) -> Sensitive:
    pairs = [(row, code) for row, own in enumerate(sets) for code in own]
    row, code = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in range(2))
    return Sensitive("s", tuple(f"v{i}" for i in range(known)), row, code, None)


@pytest.mark.parametrize("seed", range(40))
def test_sets_rank_by_their_values_in_order_whatever_order_they_came_in(seed: int) -> None:
    chance = Random(seed)
    known = chance.choice([3, 9, 12, 120])  # codes of one, two and three digits: 10 comes after 9
    sets = [chance.sample(range(known + 1), chance.randint(0, 3)) for _ in range(12)]
    sets.append([])  # somebody without any: no longer one value per row
    ranks = ranks_of_sets(sensitive_of(sets, known), len(sets)).tolist()
    for one, own in zip(ranks, sets, strict=True):
        for other, others in zip(ranks, sets, strict=True):
            assert (one < other) == (sorted(own) < sorted(others))
            assert (one == other) == (sorted(own) == sorted(others))


def test_one_value_per_row_is_its_own_rank() -> None:
    assert ranks_of_sets(sensitive_of([[2], [0], [1], [0]], 3), 4).tolist() == [2, 0, 1, 0]
