"""Every figure of the attacker, of the report and of the risk of a raw table, beside a plain count on random tables.

Tables of all formats and roles: CSV, Parquet and Arrow; decimal commas, typed numbers, dates, categories, several texts
for missing; records and people; hierarchies on columns that nothing generalizes; engines local and stream.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from attacked_tables import check_attacks, check_frames, check_risk, check_several, check_story, released
from strategies import EXPLORE

PER_TEST = 20
TABLES = 2_000 * EXPLORE or 60
SEVERAL = 300 * EXPLORE or 20
near = partial(pytest.approx, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("start", range(0, TABLES, PER_TEST))
def test_every_figure_is_that_of_a_plain_count(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + PER_TEST):
        one = released(seed, tmp_path / str(seed))
        check_attacks(one, near)
        check_risk(one, near)
        check_story(one)
        if seed % 4 == 0:
            check_frames(one, near)


def test_several_releases_leave_what_is_possible_in_all_of_them(tmp_path: Path) -> None:
    judged = 0
    for seed in range(SEVERAL):
        folder = tmp_path / str(seed)
        folder.mkdir()
        judged += check_several(seed, folder, near)
    assert judged > SEVERAL / 2
