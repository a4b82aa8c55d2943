"""Items refined beside quasi-identifiers: they lose less, and k people still share every set."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

import kveil
from kveil.algorithms.people import search_items

TREE = {"*": {f"g{i}": [f"i{i}{j}" for j in range(4)] for i in range(4)}}
POLICY = """
kveil: 1
attributes:
  who: {role: individual}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 79, widths: [5, 10, 20]}}}
  sex: {role: quasi-identifier}
  item: {role: sensitive, hierarchy: {tree: %s}}
privacy: [{model: kl-diversity, sensitive: item, k: %d, l: 2}]
algorithm: {name: %s, refine: %s}
"""


def people_table(seed: int, people: int) -> pl.DataFrame:
    chance = Random(seed)
    rows = []
    for person in range(people):
        age, sex = str(chance.randint(0, 79)), chance.choice("fm")
        items = [f"i{chance.randint(0, 3)}{chance.randint(0, 3)}" for _ in range(chance.choice([1, 2, 2, 3]))]
        rows += [(f"p{person}", age, sex, item) for item in items]
    return pl.DataFrame(rows, schema=["who", "age", "sex", "item"], orient="row").unique(maintain_order=True)


def losses(frame: pl.DataFrame, name: str, effort: str, k: int = 3) -> tuple[float, float]:
    policy = kveil.Policy.parse(POLICY % (TREE, k, name, effort), "people", Path())
    account = kveil.anonymize(frame, policy).account
    assert account["loss"]["sa_ncp"] is not None
    return account["loss"]["ncp"], account["loss"]["sa_ncp"]


@pytest.mark.parametrize("seed", range(4))
def test_items_lose_less_and_quasi_identifiers_no_more(seed: int) -> None:
    frame = people_table(seed, 120)
    plain, refined = losses(frame, "1m-generalization", "off"), losses(frame, "least-loss", "normal")
    assert refined[0] <= plain[0]
    assert refined[1] < plain[1]


def test_refining_1m_generalization_refines_its_items() -> None:
    frame = people_table(7, 100)
    assert losses(frame, "1m-generalization", "best")[1] < losses(frame, "1m-generalization", "off")[1]


def test_blocks_give_the_same_on_one_and_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_items, "BLOCK", 60)
    frame = people_table(3, 240)
    policy = kveil.Policy.parse(POLICY % (TREE, 4, "least-loss", "normal"), "people", Path())
    released = []
    for number in (1, 2):
        monkeypatch.setattr(search_items, "threads", lambda number=number: number)
        released.append(kveil.anonymize(frame, policy))
    assert released[0].data.equals(released[1].data)
    assert released[0].account["details"]["items"]["kept"] > 0
