"""Every measure of loss against its definition, on random releases and on the papers' own by hand."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
from coded_tables import QUASI, coded, shown_as
from kveil.flow.measure import measure_sources
from kveil.frames import from_frame
from kveil.measures import (
    Losses,
    least_lossy,
    loses_less,
    loss_of,
    measure_solution,
    measure_written,
    released_loss,
)
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.table.solution import Solution
from kveil.table.table import Table
from made_releases import frame_of, owner_of, released_columns, some_release
from naive import release as naive
from places import GOLDEN
from strategies import Case, cases, examples, placed, rows_of

KEYS = ("precision", "il", "il_per_cell", "ncp", "average_group")


def measured(release: pl.DataFrame, policy: kveil.Policy, original: pl.DataFrame, owner: Owner | None = None) -> Losses:
    return measure_sources(from_frame(release), policy, from_frame(original), owner).losses


def equal(found: Losses, exact: dict[str, Any]) -> None:
    said = found.as_json()
    for key in KEYS:
        assert said[key] == pytest.approx(float(exact[key]), rel=1e-12, abs=1e-12), key
    assert said["discernibility"] == exact["discernibility"]
    for name, loss in exact["attributes"].items():
        for key, value in loss.items():
            assert getattr(found.attributes[name], key) == pytest.approx(float(value), rel=1e-12, abs=1e-12), (
                name,
                key,
            )


def policy_of(text: str) -> kveil.Policy:
    return Policy.parse(text, "policy.yaml", Path())


def table(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


# ---------------------------------------------------------------------------------------------- random releases


@given(case=cases(with_ranges=True), seed=st.integers(0, 9999))
@examples(100)
def test_losses_of_any_true_release_are_those_of_the_slow_twin(case: Case, seed: int) -> None:
    # Local recoding, stars in some components, rows left out, weights, missing values; boundaries do not matter.
    with placed(case) as here:
        rows, aligned = some_release(here, Random(seed))
        if naive.recount(here.twin, rows, case.records, aligned).untrue:
            event("untrue")
            return
        shown: list[naive.Row | None] = [None] * len(case.rows)
        for at, row in zip(aligned, rows, strict=True):
            shown[at] = row
        release = frame_of(rows, released_columns(here))
        found = measured(release, here.policy, case.frame(), owner_of(aligned, len(case.rows)))
        event("measured")
        equal(found, naive.losses(here.twin, case.records, shown))
        for key in ("precision", "il_per_cell", "ncp"):
            assert -1e-12 <= found.as_json()[key] <= 1 + 1e-12


@given(case=cases())
@examples(25)
def test_the_table_itself_loses_nothing_and_stars_lose_all(case: Case) -> None:
    with placed(case) as here:
        columns, owner = released_columns(here), owner_of(range(len(case.rows)), len(case.rows))
        nothing = measured(case.frame().select(columns), here.policy, case.frame(), owner)
        assert (nothing.precision, nothing.il, nothing.ncp) == (1, 0, 0)
        stars = case.frame().select(columns).with_columns(pl.lit("*").alias(name) for name in here.twin.quasi)
        everything = measured(stars, here.policy, case.frame(), owner)
        assert (everything.precision, everything.il, everything.ncp) == (0, len(case.rows) * len(here.twin.quasi), 1)
        assert everything.discernibility == len(case.rows) ** 2
        assert everything.average_group == 0


# ---------------------------------------------------------------------------------------------- definitions


UNBALANCED = """
kveil: 1
attributes:
  a:
    role: quasi-identifier
    hierarchy: {tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}
privacy: [{model: k-anonymity, k: 2}]
release: {order: keep}
"""


@pytest.mark.parametrize(
    ("was", "shown", "precision", "il", "ncp"),
    [
        # Leaves x, y (three edges deep), z (two), w (one); the tree is three edges high.
        ("x", "x", 0, 0, 0),
        ("x", "B", Fraction(1, 3), Fraction(1, 3), Fraction(2, 4)),
        ("x", "A", Fraction(2, 3), Fraction(2, 3), Fraction(2, 4)),
        ("x", "*", 1, 1, 1),
        ("z", "C", Fraction(1, 2), Fraction(1, 3), 0),  # one leaf under an inner node costs nothing
        ("z", "*", 1, 1, 1),
        ("w", "w", 0, 0, 0),
    ],
)
def test_one_cell_of_an_unbalanced_tree(was: str, shown: str, precision: float, il: float, ncp: float) -> None:
    # Another record keeps the row from being all stars, which would be suppression.
    text = UNBALANCED.replace("privacy", "  b: {role: quasi-identifier, weight: 3}\nprivacy")
    found = measured(table(a=[shown], b=["m"]), policy_of(text), table(a=[was], b=["m"]))
    assert found.attributes["a"].precision == pytest.approx(1 - float(precision))
    assert found.attributes["a"].il_per_cell == pytest.approx(float(il))
    assert found.attributes["a"].ncp == pytest.approx(float(ncp))
    # Weights 1 and 3 weigh the means, not the IL total.
    assert found.ncp == pytest.approx(float(ncp) / 4)
    assert found.precision == pytest.approx(1 - float(precision) / 4)
    assert found.il_per_cell == pytest.approx(float(il) / 4)
    assert found.il == pytest.approx(float(il))


def test_missing_is_a_leaf_where_it_occurs() -> None:
    policy = policy_of(UNBALANCED)
    seen = measured(table(a=["B", "B", ""]), policy, table(a=["x", "y", ""]))
    unseen = measured(table(a=["B", "B", "w"]), policy, table(a=["x", "y", "w"]))
    assert seen.attributes["a"].ncp == pytest.approx(2 * (2 / 5) / 3)
    assert unseen.attributes["a"].ncp == pytest.approx(2 * (2 / 4) / 3)


def test_leaves_of_a_mask_are_the_values_of_the_input() -> None:
    text = UNBALANCED.replace('{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{mask: {keep: [2, 1]}}")
    original = table(a=["111", "112", "121", "211", "211", ""])
    found = measured(table(a=["11*", "11*", "1**", "2**", "211", ""]), policy_of(text), original)
    # Five leaves: 111, 112, 121, 211 and missing. 11* covers two, 1** three, 2** one.
    assert found.attributes["a"].ncp == pytest.approx((2 / 5 + 2 / 5 + 3 / 5) / 6)
    assert found.attributes["a"].precision == pytest.approx(1 - (1 + 1 + 2 + 2) / 3 / 6)
    assert found.attributes["a"].il_per_cell == pytest.approx((1 + 1 + 2 + 2) / 3 / 6)


def test_intervals_cost_their_extent() -> None:
    text = UNBALANCED.replace(
        '{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{intervals: {from: 1, to: 12, widths: [5, 10]}}"
    )
    original = table(a=["3", "4", "7", "11", "12", "5"])
    # 1-5, 6-10, 11-12 below 1-10 and 11-12, which is one node; the scale is three edges high.
    release = table(a=["1-5", "1-5", "1-10", "11-12", "11-12", "5"])
    found = measured(release, policy_of(text), original).attributes["a"]
    assert found.ncp == pytest.approx((5 + 5 + 10 + 2 + 2) / 12 / 6)
    assert found.il_per_cell == pytest.approx((1 + 1 + 2 + 1 + 1) / 3 / 6)
    assert found.precision == pytest.approx(1 - (1 / 3 + 1 / 3 + 2 / 3 + 1 / 2 + 1 / 2) / 6)


def test_real_intervals_cost_their_width() -> None:
    text = UNBALANCED.replace(
        '{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{intervals: {from: 0.5, to: 4, widths: [1, 2]}}"
    )
    original = table(a=["1.5", "2", "3.75", "0.5"])
    found = measured(table(a=["[1.5,2.5)", "[0.5,2.5)", "[3.5,4)", "0.5"]), policy_of(text), original).attributes["a"]
    assert found.ncp == pytest.approx((1 + 2 + 0.5) / 3.5 / 4)


def test_ranges_cost_their_width_in_every_measure() -> None:
    text = UNBALANCED.replace(
        '{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{ranges: {within: [-10, 40], round: 5}}"
    )
    original = table(a=["-3", "2", "7", "38", ""])
    release = table(a=["[-5,5]", "[-5,5]", "5-40", "5-40", ""])
    found = measured(release, policy_of(text), original).attributes["a"]
    assert found.ncp == found.il_per_cell == pytest.approx((10 + 10 + 35 + 35) / 50 / 5)
    assert found.precision == pytest.approx(1 - found.ncp)


def two_solutions(spec: dict[str, Any], loss: str) -> tuple[Table, Solution, Solution]:
    """Return four numbers that each show themselves, and that show two spans."""
    own = coded({"a": ["0", "2", "8", "10"]}, {"a": {"role": QUASI, "hierarchy": {"ranges": spec}}}, loss=loss)
    return own, shown_as(own, {"a": ["0", "2", "8", "10"]}), shown_as(own, {"a": ["0-2", "0-2", "8-10", "8-10"]})


@pytest.mark.parametrize("loss", ["ncp", "il", "precision"])
def test_a_solution_loses_what_the_measure_of_its_policy_says(loss: str) -> None:
    own, exact, spans = two_solutions({"within": [0, 10]}, loss)
    assert loss_of(own, exact) == pytest.approx(0.0)
    assert loss_of(own, spans) == released_loss(own, spans) == measure_solution(own, spans).of(loss) > 0


@pytest.mark.parametrize("loss", ["ncp", "il", "precision"])
def test_of_solutions_that_lose_the_same_the_first_is_taken(loss: str) -> None:
    own, exact, spans = two_solutions({"within": [0, 10]}, loss)
    twin = replace(spans, details={"found": "later"})
    assert least_lossy(own, [spans, exact, twin]) is exact
    assert least_lossy(own, iter([spans, twin])) is spans
    assert least_lossy(own, (twin, spans)) is twin
    low, high = measure_solution(own, exact), measure_solution(own, spans)
    assert [loses_less(*pair, own.policy) for pair in ((low, high), (high, low), (high, high))] == [True, False, False]


def test_what_is_written_may_lose_more_than_what_was_found() -> None:
    own, _, spans = two_solutions({"within": [0, 10], "bounds": "midpoints"}, "ncp")
    assert loss_of(own, spans) == pytest.approx(0.2)
    assert released_loss(own, spans) == measure_written(own, spans).ncp == pytest.approx(0.4)  # 0-4 and 6-10


def test_a_loss_is_never_more_than_all() -> None:
    # Rounding outward may pass the domain's ends; a release made elsewhere may show another branch.
    text = UNBALANCED.replace(
        '{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{ranges: {within: [0, 198], round: 5}}"
    )
    found = measured(table(a=["0-200", "0-200"]), policy_of(text), table(a=["1", "198"]))
    assert found.ncp == 1
    elsewhere = measured(table(a=["x", "w"]), policy_of(UNBALANCED), table(a=["w", "x"]))
    assert 0 <= elsewhere.precision <= 1


def test_an_empty_release_has_lost_everything() -> None:
    original = table(a=["1", "x"])
    for hierarchy in ("{mask: {keep: [1]}}", "{tree: {'*': [x, '1']}}", "{ranges: {within: [0, 9]}}"):
        text = UNBALANCED.replace('{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', hierarchy)
        original = table(a=["1", "2"] if "ranges" in hierarchy else ["1", "x"])
        found = measured(original.head(0), policy_of(text), original, owner_of([], 2))
        assert (found.precision, found.il, found.ncp, found.discernibility) == (0, 2, 1, 4), hierarchy


def test_rounded_ranges_lose_no_more_than_all_while_they_are_made() -> None:
    from kveil.table.encode import encode
    from kveil.table.scale import Scale

    text = UNBALANCED.replace(
        '{tree: {"*": {A: {B: [x, y]}, C: [z], w: []}}}', "{ranges: {within: [0, 198], round: 5}}"
    )
    scale = encode(from_frame(table(a=["1", "198"])), policy_of(text)).trees[0]
    assert isinstance(scale, Scale)
    assert scale.shown(0, 1) == ("0-200", 1.0)


TWO_PARTS = """
kveil: 1
attributes:
  a: {role: quasi-identifier}
  b: {role: quasi-identifier, weight: 2}
  c: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [a], k: 2}
  - {model: k-anonymity, attributes: [b, c], k: 3}
suppression: {limit: 1, show: %s}
release: {order: keep}
"""


def test_suppression_costs_by_component_and_groups_by_texts() -> None:
    original = table(a="uuuvv", b="xxxyz", c="mmmno")
    # The last two are starred in b and c, the last one in a too: it is the only row of nothing but stars.
    release = table(a=["u", "u", "u", "v", "*"], b=["x", "x", "x", "*", "*"], c=["m", "m", "m", "*", "*"])
    found = measured(release, policy_of(TWO_PARTS % "star"), original)
    assert found.il == pytest.approx(1 + 2 + 2)
    assert found.ncp == pytest.approx((1 * 1 + 2 * 2 + 1 * 2) / 4 / 5)
    assert found.precision == pytest.approx(1 - found.ncp)
    # Groups by texts: three of (u, x, m), one of (v, *, *); the row of stars counts five.
    assert found.discernibility == 9 + 1 + 5
    assert found.average_group == pytest.approx(4 / 2 / 3)


def test_dropped_records_cost_everything_in_every_component() -> None:
    original = table(a="uuuvv", b="xxxyz", c="mmmno")
    found = measured(original.head(3), policy_of(TWO_PARTS % "drop"), original, owner_of([0, 1, 2], 5))
    assert found.il == pytest.approx(2 * 3)
    assert found.ncp == found.il_per_cell == pytest.approx(2 / 5)
    assert found.discernibility == 9 + 2 * 5
    assert found.average_group == 1


# ---------------------------------------------------------------------------------------------- the papers' own


def golden(folder: str, expected: str, policy: str = "policy.yaml") -> tuple[Losses, dict[str, Any]]:
    def frame(name: str) -> pl.DataFrame:
        with (GOLDEN / folder / name).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")

    original, release = frame("input.csv"), frame(expected)
    twin = naive.Policy.load(GOLDEN / folder / policy)
    exact = naive.losses(twin, rows_of(original), list(rows_of(release)))
    found = measured(release, kveil.Policy.load(GOLDEN / folder / policy), original)
    equal(found, exact)
    return found, exact


def test_golden_classfly() -> None:
    # Nine records, three attributes, the last two records all stars: 6 of 27 cells.
    complete, _ = golden("classfly", "expected-complete.csv")
    assert complete.il == 6
    assert complete.ncp == complete.il_per_cell == pytest.approx(6 / 27)
    assert complete.precision == pytest.approx(21 / 27)
    assert complete.discernibility == 4 + 4 + 9 + 2 * 9
    assert complete.average_group == pytest.approx(7 / 3 / 3)
    # Four zip codes one step up a tree of height five; 0213* stands over all four leaves.
    first, _ = golden("classfly", "expected-naive.csv")
    assert first.il == pytest.approx(6 + 4 / 5)
    assert first.precision == pytest.approx(1 - (6 + 4 / 5) / 27)
    assert first.ncp == pytest.approx((6 + 4) / 27)
    assert first.discernibility == 16 + 9 + 2 * 9
    assert first.average_group == pytest.approx(7 / 2 / 3)


def test_golden_kmsd() -> None:
    plain, _ = golden("kmsd", "expected-k-msd.csv")
    # Country: Asia twice. Zip: 021** for all, two of three steps. Department (height two): Teaching four times,
    # the root, from leaves one edge below it; Physics and Computer twice each, one of two steps. Phone (height
    # four): four cells at two steps, four at one.
    zips = plain.attributes["Zip"]
    assert plain.attributes["Country"].precision == pytest.approx(1 - 2 * (1 / 2) / 8)
    assert plain.attributes["Country"].ncp == pytest.approx(2 * (2 / 4) / 8)
    assert (zips.precision, zips.il_per_cell, zips.ncp) == (pytest.approx(1 / 3), pytest.approx(2 / 3), 1)
    assert plain.attributes["Department"].precision == pytest.approx(1 - (4 * 1 + 4 * (1 / 2)) / 8)
    assert plain.attributes["Department"].ncp == pytest.approx((4 * 1 + 4 * (2 / 8)) / 8)
    assert plain.attributes["Phone"].il_per_cell == pytest.approx((4 * 2 + 4 * 1) / 4 / 8)
    # Two of 85152**, two of 85153**: leaves 8515257, 8515226 and 8515338, 8515326; 851541* and 851562* have two.
    assert plain.attributes["Phone"].ncp == pytest.approx(2 / 8)
    assert plain.discernibility == 4 * 4
    assert plain.average_group == 1
    kept, _ = golden("kmsd", "expected-k-msd-ag.csv", "policy-ag.yaml")
    assert kept.attributes["Phone"].ncp == pytest.approx((4 * (8 / 8) + 4 * (2 / 8)) / 8)
    assert kept.attributes["Phone"].precision == pytest.approx(1 - (4 * 3 + 4 * 1) / 4 / 8)


def test_golden_boundaries() -> None:
    found, _ = golden("boundaries", "expected.csv")
    # Ages: 30-32 twice, 25-42 three times, 20-35 twice, of a hundred years.
    assert found.attributes["Age"].ncp == pytest.approx((2 * 2 + 3 * 17 + 2 * 15) / 100 / 7)
    # Location: five leaves under a tree of height three; California and Kansas have two leaves and height one.
    assert found.attributes["Location"].il_per_cell == pytest.approx(5 * (1 / 3) / 7)
    assert found.attributes["Location"].ncp == pytest.approx(5 * (2 / 5) / 7)
    assert found.attributes["Sex"].ncp == found.attributes["Race"].ncp == pytest.approx(5 / 7)
    assert found.discernibility == 4 + 9 + 4
    assert found.average_group == pytest.approx(7 / 3 / 2)
