"""What the whole has to know of a part survives as bytes."""

from __future__ import annotations

import pytest

from coded_tables import tree_and_range
from kveil.engines.summary import GONE, LABEL, LEAF, SHOWN_CODE, SHOWN_RECORDS, PartSummary, add_parts, summarize
from kveil.errors import DataError, Unmeetable


def test_leaves_are_counted_with_what_is_shown_for_them() -> None:
    summary = summarize(3, *tree_and_range())
    again = PartSummary.read(summary.as_bytes())
    assert again.part == 3
    assert sorted(again.counts.rows()) == sorted(summary.counts.rows())
    own = again.counts.filter(again.counts["name"] == "t")
    assert {(leaf, label): n for leaf, label, n in own.select(LEAF, LABEL, SHOWN_RECORDS).iter_rows()} == {
        (0, "N"): 2, (1, "N"): 1, (2, "c"): 1
    }  # fmt: skip
    assert own.filter(own[GONE])[LABEL].to_list() == ["c"]
    assert own[SHOWN_CODE].null_count() == 0


def test_what_went_wrong_in_a_part_is_raised_by_the_whole() -> None:
    table, solution = tree_and_range()
    counts = summarize(0, table, solution).counts
    PartSummary(0, counts).raise_error()
    failed = PartSummary.read(PartSummary(0, counts, error=("Unmeetable", "no.", 7)).as_bytes())
    with pytest.raises(Unmeetable, match="no") as caught:
        failed.raise_error()
    assert caught.value.lost == 7
    with pytest.raises(DataError, match="wrong"):
        PartSummary(0, counts, error=("NoSuchError", "wrong.", 0)).raise_error()


def test_counts_of_several_parts_are_added_up_line_by_line() -> None:
    counts = summarize(0, *tree_and_range()).counts
    both = add_parts([counts, counts])
    assert both.height == counts.height
    assert both.columns == counts.columns
    assert both.equals(counts.with_columns(counts[SHOWN_RECORDS] * 2).sort(both.columns))
    assert add_parts([]).schema == counts.schema
