"""The steps of hash tables, each beside its slow twin, and a table that they make beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from called_loops import from_python
from kveil.kernels.grouping import hash_slots_loops as loops
from kveil.kernels.grouping.hash_slots import slots_for
from naive import hash_slots as slow
from strategies import examples

empty_slots, mix, seek = from_python(loops.empty_slots), from_python(loops.mix), from_python(loops.seek)
WORDS = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(("entries", "slots"), [(0, 16), (1, 16), (8, 16), (9, 32), (16, 32), (17, 64), (1000, 2048)])
def test_half_of_the_slots_stay_empty(entries: int, slots: int) -> None:
    table = np.zeros(slots + 1, dtype=np.int32)
    assert slots_for(entries) == slots
    assert int(empty_slots(table, entries)) == slots - 1
    assert table.tolist() == [-1] * slots + [0]  # what is not in use is left alone


@given(WORDS, st.integers(-(2**31), 2**31 - 1))
@examples(60)
def test_a_value_is_mixed_into_a_hash(h: int, value: int) -> None:
    assert int(mix(np.uint64(h), np.int32(value))) == slow.mix(h, value)


@given(st.lists(st.integers(0, 20), max_size=8), st.integers(0, 20), st.integers(0, 40))
@examples(60)
def test_a_slot_is_sought_around_the_table(entries: list[int], h: int, begin: int) -> None:
    slots, hashes = np.full(16, -1, dtype=np.int32), np.array([*entries, 0], dtype=np.uint64)
    for entry, own in enumerate(entries):
        at = own % 16
        while slots[at] >= 0:
            at = (at + 1) % 16
        slots[at] = entry
    found = int(seek(slots, hashes, np.uint64(h), np.uint64(begin), np.uint64(15)))
    assert found == slow.seek(slots.tolist(), hashes.tolist(), h, begin)


def test_a_full_table_is_sought_once_around() -> None:
    slots, hashes = np.zeros(16, dtype=np.int32), np.array([5], dtype=np.uint64)
    assert 0 <= int(seek(slots, hashes, np.uint64(4), np.uint64(3), np.uint64(15))) < 16
