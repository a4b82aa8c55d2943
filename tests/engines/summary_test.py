"""What the whole has to know of a part survives as bytes."""

from __future__ import annotations

import pytest

from coded_tables import QUASI, coded, shown_as
from kveil.engines.summary import CODE, GONE, LABEL, LEAF, RECORDS, PartSummary, summarized
from kveil.errors import DataError, Unmeetable
from kveil.table.solution import Solution
from kveil.table.table import Table

ATTRIBUTES = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}},
}


def made() -> tuple[Table, Solution]:
    table = coded({"t": list("abca"), "n": ["1", "4", "9", "4"]}, ATTRIBUTES, limit=1)
    return table, shown_as(table, {"t": ["N", "N", "c", "N"], "n": ["1-4", "1-4", "9", "1-4"]}, [[2]])


def test_leaves_are_counted_with_what_is_shown_for_them() -> None:
    summary = summarized(3, *made())
    again = PartSummary.read(summary.as_bytes())
    assert again.part == 3
    assert sorted(again.counts.rows()) == sorted(summary.counts.rows())
    own = again.counts.filter(again.counts["name"] == "t")
    assert {(leaf, label): n for leaf, label, n in own.select(LEAF, LABEL, RECORDS).iter_rows()} == {
        (0, "N"): 2, (1, "N"): 1, (2, "c"): 1
    }  # fmt: skip
    assert own.filter(own[GONE])[LABEL].to_list() == ["c"]
    assert own[CODE].null_count() == 0


def test_what_went_wrong_in_a_part_is_raised_by_the_whole() -> None:
    table, solution = made()
    counts = summarized(0, table, solution).counts
    PartSummary(0, counts).raise_error()
    failed = PartSummary.read(PartSummary(0, counts, error=("Unmeetable", "no.", 7)).as_bytes())
    with pytest.raises(Unmeetable, match="no") as caught:
        failed.raise_error()
    assert caught.value.lost == 7
    with pytest.raises(DataError, match="wrong"):
        PartSummary(0, counts, error=("NoSuchError", "wrong.", 0)).raise_error()
