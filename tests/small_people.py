"""A table of people with three quasi-identifiers and an illness, and policies over it, for the tests of refining."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import kveil
from kveil.frames import from_frame
from kveil.measures import measure_solution
from kveil.policy.model import Policy
from kveil.table.decode import decode
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.verifier import verify_release

TREES = {
    "age": "{intervals: {from: 0, to: 59, widths: [5, 10, 20]}}",
    "city": '{tree: {"*": {North: [Oslo, Bergen, Narvik], South: {Italy: [Rome, Pisa], Spain: [Madrid]}}}}',
}


def policy_of(privacy: str, more: str = "", algorithm: str = "least-loss", city: str = "") -> kveil.Policy:
    return Policy.parse(
        f"""
kveil: 1
attributes:
  age: {{role: quasi-identifier, hierarchy: {TREES["age"]}}}
  city: {{role: quasi-identifier, hierarchy: {TREES["city"]}{city}}}
  sex: {{role: quasi-identifier}}
  illness: {{role: sensitive}}
privacy: {privacy}
algorithm: {algorithm}
{more}
""",
        "policy.yaml",
        Path(),
    )


def people(number: int, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": [str(age) for age in random.integers(0, 60, number)],
            "city": random.choice(["Oslo", "Bergen", "Narvik", "Rome", "Pisa", "Madrid"], number).tolist(),
            "sex": random.choice(["f", "m"], number).tolist(),
            "illness": random.choice(["flu", "gout", "asthma", "cough"], number).tolist(),
        }
    )


def holds(frame: pl.DataFrame, table: Table, solution: Solution) -> None:
    source = from_frame(frame)
    release = decode(source, table, solution)
    released = from_frame(release.frame(source))
    assert verify_release(released, table.policy, original=source, places=release.rows).findings == []


def loss(table: Table, solution: Solution) -> float:
    return measure_solution(table, solution).of(table.policy.loss)


POLICIES = {
    "k": "[{model: k-anonymity, k: 4}]",
    "diverse": "[{model: k-anonymity, k: 3}, {model: l-diversity, sensitive: illness, l: 2}]",
    "close": "[{model: t-closeness, sensitive: illness, t: 0.3}]",
    "several": "[{model: k-anonymity, attributes: [age, city], k: 4}, "
    "{model: k-anonymity, attributes: [city, sex], k: 9}]",
    "apart": "[{model: k-anonymity, attributes: [age], k: 4}, {model: k-anonymity, attributes: [city, sex], k: 25}]",
}
