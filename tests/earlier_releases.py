"""Earlier releases of a table with one quasi-identifier and one sensitive attribute; no test."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from kveil.archive import Archived
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.previous.demands import demands_of
from kveil.previous.earlier_looks import Past
from kveil.table.encode import encode
from kveil.table.table import Table
from support import QUASI, make_policy

Row = tuple[str, str]  # what somebody shows of q, and of s
K = {"model": "k-anonymity", "k": 2}
L = {"model": "l-diversity", "sensitive": "s", "l": 2}


def policy_with(*privacy: Mapping[str, object], limit: float = 1) -> Policy:
    """Return a policy over both columns."""
    attributes = {"q": {"role": QUASI, "hierarchy": {"tree": {"*": {"A": ["a", "b"], "B": ["c", "d"]}}}}}
    return make_policy({**attributes, "s": "sensitive"}, privacy=list(privacy), limit=limit, algorithm="mondrian")


def _source(rows: Mapping[str, Row]) -> Source:
    return Source(
        "t", pl.DataFrame(list(rows.values()), schema={"q": pl.String, "s": pl.String}, orient="row"), "frame"
    )


def archived(policy: Policy, rows: Mapping[str, Row]) -> Archived:
    """Return an archived release that shows so of these people."""
    return Archived(
        "r",
        1,
        "",
        policy,
        _source(rows),
        pl.Series(list(rows), dtype=pl.String),
        receipt={},
        account={},
        release_sha256="",
    )


def past_of(policy: Policy, now: Mapping[str, Row], *before: Mapping[str, Row]) -> tuple[Table, Past]:
    """Return a table of these people, and what earlier releases showed of them and of others."""
    table = encode(_source(now), policy)
    earlier = [archived(policy, rows) for rows in before]
    people = pl.Series(list(now), dtype=pl.String)
    return table, Past.of(demands_of(policy, earlier), people, earlier, dict(table.sensitive))
