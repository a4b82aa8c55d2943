"""Which groups somebody's own values fit, beside asking every pair."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from time import process_time

import polars as pl
import pytest

from kveil.verifier.distances import GROUP
from kveil.verifier.fitting import KNOWN, SortedNumbers, groups_that_fit
from small_people import people, policy_of

POLICY = policy_of("[{model: k-anonymity, k: 2}]")
CITIES = {"Oslo": "North", "Bergen": "North", "Narvik": "North", "Rome": "Italy", "Pisa": "Italy", "Madrid": "Spain"}


def shown(random: Random, age: int, city: str, sex: str) -> tuple[str, str, str]:
    width = random.choice([1, 5, 10, 20])
    low = age - age % width
    labels = [city, CITIES[city], "*"] + (["South"] if CITIES[city] != "North" else [])
    return (str(age) if width == 1 else f"{low}-{low + width - 1}", random.choice(labels), random.choice([sex, "*"]))


def fits(label: tuple[str, str, str], age: int, city: str, sex: str) -> bool:
    ages, place, gender = label
    low, _, high = ages.partition("-")
    return (
        int(low) <= age <= int(high or low)
        and place in (city, CITIES[city], "*", "" if CITIES[city] == "North" else "South")
        and gender in (sex, "*")
    )


@pytest.mark.parametrize("seed", range(8))
def test_groups_fit_whose_labels_are_true_of_all_values(seed: int) -> None:
    random = Random(seed)
    frame = people(12, seed).select("age", "city", "sex")
    rows = [(int(age), city, sex) for age, city, sex in frame.iter_rows()]
    labels = sorted({shown(random, *row) for row in rows})
    groups = pl.DataFrame(labels, schema=["age", "city", "sex"], orient="row")
    groups = groups.with_row_index(GROUP).with_columns(pl.col(GROUP).cast(pl.Int64))
    found = groups_that_fit(POLICY, groups, frame).select(KNOWN, GROUP).rows()
    expected = [(i, g) for i, row in enumerate(rows) for g, label in enumerate(labels) if fits(label, *row)]
    assert sorted(found) == sorted(expected)
    assert len(expected) >= len(labels)


def test_spans_fit_the_numbers_inside_and_missing_fits_only_itself_and_stars() -> None:
    text = "{role: quasi-identifier, hierarchy: {ranges: {within: [0, 99]}}}"
    policy = type(POLICY).parse(
        f"kveil: 1\nattributes: {{n: {text}}}\nprivacy: [{{model: k-anonymity, k: 1}}]\n", "p", POLICY.folder
    )
    labels = ["3-7", "7", "*", ""]
    groups = pl.DataFrame({GROUP: range(4), "n": labels}, schema={GROUP: pl.Int64, "n": pl.String})
    known = pl.DataFrame({"n": ["7", "7.5", ""]})
    found = sorted(groups_that_fit(policy, groups, known).rows())
    assert found == [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 3)]


def test_numbers_inside_a_span_are_those_that_looking_at_each_finds() -> None:
    random = Random(1)
    texts = [f"{random.randint(-20, 20)}.{random.randint(0, 9)}" for _ in range(200)] + ["", "n/a", "7", "7.0"]
    numbers = SortedNumbers(texts)
    for _ in range(50):
        low, high = sorted(Decimal(random.randint(-220, 220)) / 10 for _ in range(2))
        expected = [text for text in texts if text not in ("", "n/a") and low <= Decimal(text) <= high]
        assert sorted(numbers.inside((low, high)).to_list()) == sorted(expected)


def test_many_values_and_spans_are_paired_in_less_than_a_look_at_each_pair() -> None:
    text = "{role: quasi-identifier, hierarchy: {ranges: {within: [0, 99999]}}}"
    policy = type(POLICY).parse(
        f"kveil: 1\nattributes: {{n: {text}}}\nprivacy: [{{model: k-anonymity, k: 1}}]\n", "p", POLICY.folder
    )
    labels = [f"{low}-{low + 4}" for low in range(0, 20_000, 5)]
    groups = pl.DataFrame({GROUP: range(len(labels)), "n": labels}, schema={GROUP: pl.Int64, "n": pl.String})
    begun = process_time()
    found = groups_that_fit(policy, groups, pl.DataFrame({"n": [str(n) for n in range(20_000)]}))
    assert process_time() - begun < 8  # 80 million pairs would take longer
    assert (found[GROUP] == found[KNOWN] // 5).all()
    assert found.height == 20_000
