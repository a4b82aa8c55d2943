"""What cells lose by the policy's measure, in whole numbers and as algorithms choose by it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import kveil
from kveil.algorithms.costs import Reading, in_common_units, node_losses, weighted_losses, whole_costs
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree
from support import make_policy

UNBALANCED = {"*": {"A": {"A1": {"a": ["x", "y"]}}, "b": [], "C": ["c", "d"]}}


def table_of(loss: str, *, weight: float = 1) -> Table:
    document = {
        "kveil": 1,
        "attributes": {
            "q": {"role": "quasi-identifier", "hierarchy": {"tree": UNBALANCED}, "weight": weight},
            "r": {"role": "quasi-identifier"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "loss": loss,
    }
    frame = pl.DataFrame({"q": ["x", "x", "y", "b", "c", "d"], "r": ["1", "2", "3", "4", "5", "6"]})
    return encode(
        from_frame(frame), kveil.Policy.parse(yaml.safe_dump(document, sort_keys=False), "policy.yaml", Path())
    )


def of_labels(table: Table, losses: Any) -> dict[str, float]:
    tree = table.trees[0]
    assert isinstance(tree, Tree)
    return {label: round(float(losses[node]), 6) for node, label in enumerate(tree.labels)}


def test_precision_is_read_by_the_deepest_leaf_the_mean_record_or_the_shallowest_leaf() -> None:
    table = table_of("precision")
    deepest = of_labels(table, node_losses(table, 0, Reading.DEEPEST))
    mean = of_labels(table, node_losses(table, 0, Reading.MEAN))
    shallowest = of_labels(table, node_losses(table, 0, Reading.SHALLOWEST))
    for reading in (deepest, mean, shallowest):
        assert reading["*"] == 1
        assert reading["x"] == reading["b"] == reading["c"] == 0
        assert reading["A"] == 0.75  # leaves x and y lie four steps down: three of them climbed
    for label in deepest:
        assert shallowest[label] <= mean[label] <= deepest[label]


def test_a_node_over_leaves_of_several_depths_is_read_in_three_ways() -> None:
    document = {
        "kveil": 1,
        "attributes": {"q": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"M": {"n": ["x"], "y": []}}}}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "loss": "precision",
    }
    policy = kveil.Policy.parse(yaml.safe_dump(document, sort_keys=False), "policy.yaml", Path())
    table = encode(from_frame(pl.DataFrame({"q": ["x", "y", "y", "y"]})), policy)
    loss = {reading: of_labels(table, node_losses(table, 0, reading))["M"] for reading in Reading}
    assert loss[Reading.DEEPEST] == round(2 / 3, 6)  # x has climbed two of three steps
    assert loss[Reading.SHALLOWEST] == 0.5  # y one of two
    assert loss[Reading.MEAN] == round((2 / 3 + 3 * 0.5) / 4, 6)


@pytest.mark.parametrize("loss", ["ncp", "precision"])
def test_weights_count_but_not_for_il(loss: str) -> None:
    plain, heavy = table_of(loss), table_of(loss, weight=3)
    assert np.allclose(weighted_losses(heavy, 0), 3 * weighted_losses(plain, 0))
    assert np.array_equal(weighted_losses(table_of("il", weight=3), 0), weighted_losses(table_of("il"), 0))


def test_losses_become_multiples_of_a_common_denominator_where_that_is_small_enough() -> None:
    losses = [np.array([0.0, 1 / 3, 1.0]), np.array([0.5, 0.25])]
    whole, scale, exact = in_common_units(losses, [Fraction(1), Fraction(1)], most=12, otherwise=1 << 10)
    assert (scale, exact) == (12, True)
    assert [own.tolist() for own in whole] == [[0, 4, 12], [6, 3]]
    whole, scale, exact = in_common_units(losses, [Fraction(1), Fraction(1)], most=11, otherwise=1 << 10)
    assert (scale, exact) == (1024, False)
    assert [own.tolist() for own in whole] == [[0, 341, 1024], [512, 256]]


# ---------------------------------------------------------------------------------------------- as algorithms choose

# By NCP a node over two of four leaves costs half a cell in either tree; by precision and IL one step of the deep one
# costs a quarter, and one of the flat one a half.
FLAT = {"*": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}
DEEP = {"*": {"P": {"P2": {"P3": ["p1", "p2"]}}, "V": {"V2": {"V3": ["v1", "v2"]}}}}


def test_numbers_are_laid_in_units_as_fractions_say_to_the_nearest_one() -> None:
    numbers = ["-7.25", "-0.1", "0", "1e-3", "2", "2.5", "3.14159", "20"]
    for step in (None, "0.3"):
        ranges = {"within": ["-10", "33.3"], **({} if step is None else {"round": step})}
        policy = make_policy(
            {"x": {"role": "quasi-identifier", "hierarchy": {"ranges": ranges}}},
            privacy=[{"model": "k-anonymity", "k": 2}],
            loss="ncp",
        )
        table = encode(from_frame(pl.DataFrame({"x": [*numbers, ""] * 2})), policy)
        (scale,) = table.trees
        assert isinstance(scale, Scale)
        whole = whole_costs(table, [0])
        laid = np.column_stack(whole.costs.leaves[1:])
        for leaf, ends in enumerate(scale.bounds()):
            for cost, end in zip(laid[leaf].tolist(), ends, strict=True):
                exact = (Fraction(end) + 10) / Fraction("43.3") * whole.scale
                assert cost == (2 * exact + 1) // 2
        assert laid[-1].tolist() == [0, 0]  # missing


def released(algorithm: str, loss: str, rows: list[tuple[str, str]], **weights: float) -> list[tuple[str, ...]]:
    trees = {"flat": FLAT, "deep": DEEP}
    document = {
        "kveil": 1,
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "weight": weights.get(name, 1)}
            for name, tree in trees.items()
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "loss": loss,
        "algorithm": {"name": algorithm, "choose": "gain"},
        "release": {"order": "keep"},
    }
    policy = kveil.Policy.parse(yaml.safe_dump(document, sort_keys=False), "policy.yaml", Path())
    return kveil.anonymize(pl.DataFrame(rows, schema=list(trees), orient="row"), policy).data.rows()


CROSSED = [("x1", "p1"), ("x2", "v1"), ("y1", "p2"), ("y2", "v2")]  # either attribute can be split, not both
BY_FLAT = [("X", "*"), ("X", "*"), ("Y", "*"), ("Y", "*")]
BY_DEEP = [("*", "P3"), ("*", "V3"), ("*", "P3"), ("*", "V3")]


def test_mondrian_splits_by_the_loss_that_the_policy_names() -> None:
    assert released("mondrian", "ncp", CROSSED) == BY_FLAT  # a tie: the first attribute
    assert released("mondrian", "precision", CROSSED) == BY_DEEP
    assert released("mondrian", "precision", CROSSED, flat=3) == BY_FLAT
    assert released("mondrian", "il", CROSSED) == BY_DEEP
    assert released("mondrian", "il", CROSSED, flat=3) == BY_DEEP  # IL knows no weights


PAIRS = [("x1", "p1"), ("x2", "p1"), ("y1", "v1"), ("y1", "v2")]  # one pair differs in `flat`, one in `deep`
FLAT_FIRST = [("X", "p1"), ("X", "p1"), ("Y", "V3"), ("Y", "V3")]
DEEP_FIRST = [("X", "P3"), ("X", "P3"), ("y1", "V3"), ("y1", "V3")]


def test_classfly_generalizes_by_the_loss_that_the_policy_names() -> None:
    assert released("classfly", "ncp", PAIRS) == FLAT_FIRST  # a tie: the first attribute
    assert released("classfly", "precision", PAIRS) == DEEP_FIRST
    assert released("classfly", "precision", PAIRS, deep=3) == FLAT_FIRST
    assert released("classfly", "il", PAIRS) == DEEP_FIRST
    assert released("classfly", "il", PAIRS, deep=3) == DEEP_FIRST  # IL knows no weights
