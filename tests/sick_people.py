"""People of whom the older are sicker, and a policy over them, for tests of what a release is worth; no test."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl

import kveil

ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 20, "to": 59, "widths": [10, 20]}}},
    "pay": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 100]}}},
    "sick": {"role": "sensitive"},
    "ward": {"role": "insensitive"},
}


def policy(k: int, **others: Any) -> kveil.Policy:
    keys = {"suppression": {"limit": 0.3}, **others}
    return kveil.Policy(kveil=1, attributes=ATTRIBUTES, privacy=[{"model": "k-anonymity", "k": k}], **keys)


def people(rows: int = 300) -> pl.DataFrame:
    """People of whom the older are sicker, so that age predicts."""
    random = Random(3)
    ages = [random.randint(20, 59) for _ in range(rows)]
    return pl.DataFrame(
        {
            "age": [str(age) for age in ages],
            "pay": [str(random.randint(0, 100)) for _ in range(rows)],
            "sick": ["yes" if random.random() < (age - 15) / 50 else "no" for age in ages],
            "ward": [random.choice("abc") for _ in range(rows)],
        }
    )
