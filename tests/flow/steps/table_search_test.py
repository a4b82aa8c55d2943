"""The search as a step: the same on records and on tuples, and what a failure proves."""

from __future__ import annotations

import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.registry import find
from kveil.errors import Unmeetable
from kveil.flow.steps.stages import Stages
from kveil.flow.steps.table_search import bound_of, goes_by_tuples, search_table
from kveil.progress import silent
from kveil.table.table import Table

COLUMNS = {"a": list("xxxxyyyy"), "b": list("uuvvuuvv")}


def table(k: int, **algorithm: str) -> Table:
    return coded(
        COLUMNS,
        dict.fromkeys(COLUMNS, QUASI),
        privacy=[{"model": "k-anonymity", "k": k}],
        algorithm={"name": "mondrian", **algorithm},
    )


def test_only_algorithms_of_tuples_without_refining_go_by_tuples() -> None:
    mondrian, clusters = find("mondrian"), find("k-member")
    assert goes_by_tuples(table(2).policy, [mondrian])
    assert not goes_by_tuples(table(2).policy, [mondrian, clusters])
    assert not goes_by_tuples(table(2, refine="normal").policy, [mondrian])


def test_tuples_give_every_record_what_records_give_it() -> None:
    own = table(4)
    one, other = (search_table(own, [find("mondrian")], Stages(silent), by_tuples=by) for by in (False, True))
    assert one.losses == other.losses
    for first, second in zip(one.solution.shown, other.solution.shown, strict=True):
        texts = [[shown.labels[code] for code in shown.codes] for shown in (first, second)]
        assert texts[0] == texts[1]
        assert len(texts[1]) == own.rows == 8


@pytest.mark.parametrize("by_tuples", [False, True])
def test_a_failure_says_that_it_is_proved(by_tuples: bool) -> None:
    with pytest.raises(Unmeetable, match="No release can"):
        search_table(table(9), [find("mondrian")], Stages(silent), by_tuples=by_tuples)


def test_a_bound_is_reckoned_where_it_is_asked_for() -> None:
    stages = Stages(silent)
    assert bound_of(table(2), stages, bounded=False) is None
    least = bound_of(table(2), stages, bounded=True)
    assert least is not None
    assert least.at_least == 0
