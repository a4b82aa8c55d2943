"""A component with the rows that take part in it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coded_tables import QUASI, coded, shown_as
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.state import RefinedComponent, Watch, plain_size
from kveil.models.distributions import AlphaShare, DistinctValues, FrequencyL
from kveil.models.groups import AtLeastK
from kveil.stopping import Stop

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c", "d"]}}}, "boundary": ["N", "S"]}
P = {"model": "p-sensitive", "sensitive": "s", "p": 2}
COLUMNS = {"t": ["c", "a", "b", "d", "a"], "s": ["1", "2", "1", "2", "1"]}


def component(gone: list[int], labels: list[str] | None = None) -> RefinedComponent:
    attribute = {k: v for k, v in TREE.items() if labels is None or k != "boundary"}
    table = coded(COLUMNS, {"t": attribute, "s": "sensitive"}, privacy=[P], limit=1)
    solution = shown_as(table, {"t": labels or ["S", "N", "N", "S", "N"]}, [gone])
    return RefinedComponent(components_of(table)[0], solution, table.canonical.astype(np.int32))


def test_rows_that_take_part_stand_in_canonical_order() -> None:
    part = component([3])
    assert sorted(part.rows.tolist()) == [0, 1, 2, 4]
    assert part.outside.tolist() == [3]
    assert part.rank[part.order].tolist() == list(range(5))
    leaves = part.table.leaves[0][part.rows]
    assert (np.diff(leaves) >= 0).all()
    assert part.k == 2


def test_rows_of_stars_take_no_part_where_they_are_lost() -> None:
    part = component([], ["*", "N", "N", "*", "N"])
    assert part.out.tolist() == [True, False, False, True, False]


def test_rows_of_different_limits_are_in_different_zones() -> None:
    zones = component([]).zones()
    assert zones[0] == zones[3]
    assert zones[1] == zones[2] == zones[4] != zones[0]


def test_groups_are_judged_by_the_values_of_their_rows() -> None:
    part = component([])
    rows = np.array([1, 2, 0, 4], dtype=np.int32)  # values 2, 1 | 1, 1
    assert part.good(np.array([0, 0, 1, 1], dtype=np.int32), rows).tolist() == [True, False]
    base = part.base(rows)
    tree = part.table.trees[0]
    assert [tree.labels[node] for node in base[:, 0]] == ["a", "b", "c", "a"]


def test_sizes_follow_from_what_models_say_of_them() -> None:
    table = component([]).table
    models = [AtLeastK(3), DistinctValues("s", 4), FrequencyL("s", Fraction(9))]
    assert plain_size(models, table) == 4  # shares show in the tries
    assert plain_size([AlphaShare("s", Fraction(1, 2), 7)], table) == 7
    assert plain_size([], table) == 1


def test_progress_is_told_as_a_share_of_the_whole_loss() -> None:
    told: list[str] = []
    watch = Watch(Stop(), told.append, whole=200.0, outside=10.0, tries=1234)
    watch.tell(40.0)
    assert told == ["refining: loss 25.000% after 1,234 tries"]
    assert not watch.over()
    watch.stop.ask()
    assert watch.over()
