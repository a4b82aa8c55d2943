"""What may be shown for a value: true of it, known to its hierarchy, and within its boundary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier.release import lay_beside
from kveil.verifier.rows import release_rows
from kveil.verifier.stars import Stars
from kveil.verifier.truth import compare_generalized, impossible_stars, unknown_items, unknown_labels

TREE = '{tree: {"*": {North: [Oslo, Bergen], South: [Rome]}}}'
AGES = "{intervals: {from: 0, to: 99, widths: [10, 50]}}"
TEXT = """
kveil: 1
attributes:
  a: {role: quasi-identifier, hierarchy: %s}
  b: {role: quasi-identifier}
privacy: [{model: k-anonymity, k: 1}]
suppression: {limit: 1, show: star}
"""


def judged(hierarchy: str, was: str, shown: str) -> tuple[int, int, list[str]]:
    policy = Policy.parse(TEXT % hierarchy, "policy.yaml", Path())
    original, release = (pl.DataFrame({"a": [own], "b": ["x"]}) for own in (was, shown))
    laid = lay_beside(table_of(release, policy), table_of(original, policy), np.arange(1), policy)
    found = compare_generalized(laid, policy, Stars.of(laid.rows, policy))
    return found.untrue, found.beyond, found.findings


@pytest.mark.parametrize(
    ("hierarchy", "was", "shown", "verdict"),
    [
        (TREE, "Oslo", "Oslo", "true"),
        (TREE, "Oslo", "North", "true"),
        (TREE, "Oslo", "*", "true"),
        (TREE, "Oslo", "South", "untrue"),
        (TREE, "Oslo", "Bergen", "untrue"),
        (TREE, "Oslo", "Nowhere", "strange"),
        (TREE, "", "*", "true"),
        (TREE, "", "North", "untrue"),
        (TREE + ", boundary: [North]", "Oslo", "*", "beyond"),
        (TREE + ", boundary: [North]", "Oslo", "North", "true"),
        (TREE + ", boundary: [North]", "Rome", "*", "true"),
        (TREE + ", boundary: {level: 1}", "Rome", "*", "beyond"),
        (AGES, "34", "30-39", "true"),
        (AGES, "34", "0-49", "true"),
        (AGES, "34", "40-49", "untrue"),
        (AGES, "34", "33-42", "strange"),
        (AGES, "34.5", "[30,40)", "true"),
        ("{ranges: {within: [0, 99]}}", "34", "30-40", "true"),
        ("{ranges: {within: [0, 99]}}", "34", "34.5-40", "untrue"),
        ("{ranges: {within: [0, 99]}}", "34", "about 30", "strange"),
        ("{ranges: {within: [0, 99]}}, boundary: {max_width: 5}", "34", "30-35", "true"),
        ("{ranges: {within: [0, 99]}}, boundary: {max_width: 5}", "34", "30-36", "beyond"),
        ("{mask: {keep: [1]}}", "0213", "0***", "true"),
        ("{mask: {keep: [1]}}", "0213", "1***", "untrue"),
    ],
)
def test_a_cell_is_judged_by_the_hierarchy(hierarchy: str, was: str, shown: str, verdict: str) -> None:
    untrue, beyond, findings = judged(hierarchy, was, shown)
    told = " ".join(findings)
    kind = "true"
    if beyond:
        kind = "beyond"
        assert "is generalized beyond its boundary in 1 cell" in told
    elif untrue:
        kind = "strange" if "that its hierarchy does not know" in told else "untrue"
    # A mask or an interval that no value of the original has is no label of the tree over these values.
    assert kind == verdict or (verdict == "untrue" and kind == "strange" and not hierarchy.startswith("{tree"))
    assert (verdict == "true") == (not findings)


def stars_of(hierarchy: str, shown: list[str]) -> tuple[list[str], list[bool]]:
    policy = Policy.parse(TEXT % hierarchy, "policy.yaml", Path())
    release = table_of(pl.DataFrame({"a": shown, "b": ["*" if cell == "*" else "x" for cell in shown]}), policy)
    rows = release_rows(release, policy)
    stars = Stars.of(rows, policy)
    return unknown_labels(rows, policy, stars), impossible_stars(policy, stars)[0].to_list()


def test_labels_are_known_without_an_original() -> None:
    assert stars_of(TREE, ["Oslo", "North", "", "*"])[0] == []
    (finding,) = stars_of(TREE, ["Oslo", "Paris", "Lyon", "Paris"])[0]
    assert finding == "a shows 2 labels that its hierarchy does not know ('Lyon' and 'Paris'), in 3 cells."
    assert stars_of("{ranges: {within: [0, 9]}}", ["1-2", "3", "*", ""])[0] == []
    assert stars_of("{ranges: {within: [0, 9]}}", ["1..2"])[0] != []


@pytest.mark.parametrize(
    ("hierarchy", "impossible"),
    [
        (TREE, False),
        (TREE.replace('"*"', "All"), True),
        (TREE + ", boundary: {level: 0}", True),
        (TREE + ", boundary: [North]", False),  # values of the South may be stars
        ("{ranges: {within: [0, 99]}}, boundary: {max_width: 5}", True),
        (AGES, False),
    ],
)
def test_stars_that_no_generalization_gives_are_suppression(hierarchy: str, impossible: bool) -> None:
    assert stars_of(hierarchy, ["*", "x"])[1] == [impossible, False]


def test_items_are_known_to_their_hierarchy() -> None:
    text = """
kveil: 1
attributes:
  who: {role: individual}
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {X: [x1, x2], Y: [y1]}}}}
privacy: [{model: k-anonymity, k: 1}, %s]
"""
    plain, general = "{model: p-sensitive, sensitive: s, p: 1}", "{model: kl-diversity, sensitive: s, k: 1, l: 1}"
    for model, items, wrong in ((plain, "x1|y1", 0), (plain, "X", 1), (general, "X|y1", 0), (general, "Z", 1)):
        policy = Policy.parse(text % model, "policy.yaml", Path())
        release = table_of(pl.DataFrame({"a": ["1"], "s": [items]}), policy)
        assert len(unknown_items(release_rows(release, policy), policy)) == wrong
