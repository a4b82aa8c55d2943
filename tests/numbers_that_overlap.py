"""People whose ages show spans of numbers, under constraints that overlap."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import kveil
from kveil.policy.model import Policy
from small_people import TREES

PRIVACY = (
    "[{model: k-anonymity, attributes: [age, city], k: 4}, {model: k-anonymity, attributes: [city, sex], k: 8}, "
    "{model: k-anonymity, attributes: [age, sex], k: 5}]"
)


def policy_over_numbers(
    boundary: str = "", privacy: str = PRIVACY, more: str = "", numbers: str = "within: [0, 60]"
) -> kveil.Policy:
    bounded = f", boundary: {{{boundary}}}" if boundary else ""
    return Policy.parse(
        f"""
kveil: 1
attributes:
  age: {{role: quasi-identifier, hierarchy: {{ranges: {{{numbers}}}}}{bounded}}}
  city: {{role: quasi-identifier, hierarchy: {TREES["city"]}}}
  sex: {{role: quasi-identifier}}
  illness: {{role: sensitive}}
privacy: {privacy}
algorithm: least-loss
{more}
""",
        "policy.yaml",
        Path(),
    )


def people_of(ages: list[str]) -> pl.DataFrame:
    number = len(ages)
    return pl.DataFrame({"age": ages, "city": ["Oslo"] * number, "sex": ["f"] * number, "illness": ["flu"] * number})
