"""Items refined before quasi-identifiers: less is lost, nobody more is suppressed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as
from kveil.algorithms.least_loss.items import (
    loses_no_more,
    with_searched_items,
    with_shared_items,
    without_combinations,
)
from kveil.measures import measure_solution
from kveil.models.fingerprints import fingerprints
from kveil.policy.privacy import KAnonymity
from kveil.stopping import Stop
from kveil.table.solution import Solution
from kveil.table.table import Table

TREE = {"tree": {"*": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}}
ATTRIBUTES = {
    "who": "individual",
    "age": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [50]}}},
    "s": {"role": "sensitive", "hierarchy": TREE},
}
KL = {"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 1}
KKM = {"model": "k-km-anonymity", "sensitive": "s", "k": 2, "m": 1}


def made(model: dict[str, object], label: str | None) -> tuple[Table, Solution]:
    """Sixteen people who all show one node for their items, or the parent of each where none is given."""
    columns = {"who": [f"p{i}" for i in range(16)], "age": [str(6 * i) for i in range(16)]}
    columns["s"] = ["x1", "x2", "y1", "y2"] * 4
    table = coded(columns, ATTRIBUTES, privacy=[{"model": "k-anonymity", "k": 2}, model], limit=0.5)
    tree = table.sensitive["s"].tree
    sensitive = table.sensitive["s"]
    parent = tree.parent[tree.leaf_nodes[sensitive.leaves[sensitive.code]]]
    items = {"s": parent if label is None else np.full(16, tree.node_of[label], dtype=np.int32)}
    return table, shown_as(table, {"age": ["0-49"] * 9 + ["50-99"] * 7}, items=items)


def test_people_share_finer_fingerprints_and_nobody_more_is_suppressed() -> None:
    table, start = made(KL, None)
    found = with_searched_items(table, start, 60.0, Stop())
    assert found is not None
    assert (measure_solution(table, found).sa_ncp or 0.0) < (measure_solution(table, start).sa_ncp or 0.0)
    assert min(Counter(fingerprints(table, ("s",), dict(found.items))[0].tolist()).values()) >= 2
    assert not found.suppressed.any()
    assert found.details["items"]["kept"] > 0


def test_there_is_nothing_to_search_without_fingerprints_or_items() -> None:
    table, start = made(KKM, "*")
    assert with_searched_items(table, start, 6.0, Stop()) is None


def test_classes_are_refined_at_the_sizes_that_they_have() -> None:
    table, start = made(KKM, "*")
    plain = without_combinations(table, start)
    assert [model.model for model in plain.policy.privacy] == ["k-anonymity", "k-anonymity"]
    assert plain.policy.privacy[1] == KAnonymity(k=7, attributes=("age",))
    shared = with_shared_items(table, start, start)
    assert shared is not None  # each class has two of every leaf or nearly so: finer than the root
    assert loses_no_more(table, shared, start)
    assert not loses_no_more(table, start, shared)


def test_items_are_not_shared_where_somebody_would_be_left_with_nothing_to_show() -> None:
    table, start = made(KKM, "*")
    ages = (
        ["0-49"] * 7 + ["*", "0-49", "*"] + ["50-99"] * 6
    )  # those who show stars have y2 and x2: only the root is shared
    refined = shown_as(table, {"age": ages}, items=dict(start.items))
    alone = refined.shown[0].codes == refined.shown[0].codes[7]
    assert alone.sum() == 2
    assert with_shared_items(table, refined, refined) is None


@pytest.mark.parametrize("label", ["*", "X", None])
def test_a_solution_loses_no_more_than_itself(label: str | None) -> None:
    table, start = made(KL, label)
    assert loses_no_more(table, start, start)
