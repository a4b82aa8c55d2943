"""Refining never returns anything worse, nor anything that a model does not allow."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kveil
from coded_tables import QUASI, coded, shown_as
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.refine import refine
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.measures import measure_solution
from kveil.models.groups import Groups
from kveil.models.of_policy import sensitive_pairs
from kveil.table.solution import Solution
from kveil.table.table import Table
from support import make_policy

AGES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}}
TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}}
DIVERSE = [{"model": "k-anonymity", "k": 3}, {"model": "p-sensitive", "sensitive": "s", "p": 2}]


def table(seed: int, **others: object) -> Table:
    random = np.random.default_rng(seed)
    columns = {
        "age": random.integers(0, 99, 40).astype(str),
        "t": random.choice(list("abc"), 40),
        "s": random.choice(list("123"), 40),
    }
    return coded(columns, {"age": AGES, "t": TREE, "s": "sensitive"}, **{"privacy": DIVERSE, "limit": 0.1, **others})


def holds(own: Table, solution: Solution) -> bool:
    kept = ~solution.suppressed_anywhere
    group, first = group_rows(np.array([shown.codes for shown in solution.shown], dtype=np.int32))
    apart = own.changed(rows_apart=True)
    groups = Groups(group, len(first), kept.astype(np.int64), sensitive_pairs(apart))
    return bool(components_of(apart)[0].good(groups).all())


@pytest.mark.parametrize("seed", range(4))
def test_a_refined_solution_loses_no_more_and_holds(seed: int) -> None:
    own = table(seed)
    start = shown_as(own, {"age": ["*"] * 40, "t": own_labels(own)})
    assert holds(own, start)
    refined = refine(own, start, 2.0, None, lambda text: None)
    before, after = measure_solution(own, start).of("ncp"), measure_solution(own, refined).of("ncp")
    assert after < before
    assert refined.details["refine"]["loss_before"] == before
    assert holds(own, refined)
    again = refine(own, start, 2.0, None, lambda text: None)
    assert [shown.codes.tolist() for shown in again.shown] == [shown.codes.tolist() for shown in refined.shown]


def own_labels(own: Table) -> list[str]:
    tree = own.trees[1]
    return [tree.labels[tree.parent[tree.leaf_nodes[leaf]]] for leaf in own.leaves[1]]


def test_no_tries_change_nothing_but_what_is_told() -> None:
    own = table(0)
    start = shown_as(own, {"age": ["*"] * 40, "t": own_labels(own)})
    refined = refine(own, start, 0.0, None, lambda text: None)
    assert measure_solution(own, refined).of("ncp") <= measure_solution(own, start).of("ncp")
    assert refined.details["refine"]["tries"] == 0


def test_a_refinement_that_is_out_of_time_says_so() -> None:
    own = table(1)
    start = shown_as(own, {"age": ["*"] * 40, "t": own_labels(own)})
    refined = refine(own, start, 1000.0, 1e-9, lambda text: None)
    assert refined.details["refine"]["stopped"] == "out of time"
    assert holds(own, refined)


def test_whoever_has_no_items_left_is_not_shown_as_stars_among_few() -> None:
    rows = [
        ("", "0", "p5", "b b", "a"),
        ("21", "", "p2", "b b", "a"),
        ("6", "", "p0", "b b", "a"),
        ("31", "0", "p4", "b b", "a"),
        ("8", "", "p1", "b b", "a"),
        ("", "0.25", "p3", "", "b b"),
        ("31", "", "p0", "b b", "a"),
    ]
    frame = pl.DataFrame(rows, schema=["s0", "q0", "who", "q2", "q1"], orient="row")
    widths = ["0.5", "1", "2", "4"]
    attributes = {
        "q2": QUASI,
        "q1": QUASI,
        "s0": {"role": "sensitive", "hierarchy": {"intervals": {"from": 0, "to": 39, "widths": [4, 20]}}},
        "who": "individual",
        "q0": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 8, "widths": widths, "open": "both"}}},
    }
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "kl-diversity", "sensitive": "s0", "k": 2, "l": 1}]
    policy = make_policy(attributes, privacy=privacy, release={"shape": "long"}, seed=4, algorithm="least-loss")
    released = kveil.anonymize(frame, policy)
    assert released.data.height == 6
    assert released.data.filter(pl.all_horizontal(pl.col("s0", "q0", "q1", "q2") == "*")).is_empty()
