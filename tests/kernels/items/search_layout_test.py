"""A search over sets that has not begun."""

from __future__ import annotations

from kveil.kernels.items import search_layout as field
from kveil.kernels.items.search_layout import new_search, set_rows


def test_sets_of_people_groups_units_and_scratch_do_not_overlap() -> None:
    groups, units, behind, last = set_rows(10, 4)
    assert (groups, units) == (10, 14)
    assert behind - units >= field.MOST_POOLED
    assert last - behind >= field.MOST_POOLED


def test_a_search_begins_without_members() -> None:
    search = new_search(10, 4, 3, 2, 7)
    assert search.limits == (10, 4, 2)
    assert all((part == -1).all() for part in search.people)
    assert not any(part.any() for part in (*search.groups, *search.counts))
    assert search.random.tolist() == [7]
    assert search.value.shape == (field.MOST_POOLED, field.MOST_POOLED)
    assert len(search.stack) > 3
    assert min(len(part) for part in search.pool) >= max(field.MOST_POOLED, field.CANDIDATES)
