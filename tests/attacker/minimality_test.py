"""Rerunning kveil on all that a release leaves possible, beside trying every assignment."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import kveil
from played_attacks import attacked

STEPS = {"from": 20, "to": 59, "widths": [5, 10, 20, 40]}  # everybody may show 20-59, so that nobody has to be left out


def small_table(seed: int) -> tuple[kveil.Policy, pl.DataFrame]:
    draw = np.random.default_rng(seed)
    values = draw.permutation(["HIV", "HIV", "flu", "flu", "gout"])
    frame = pl.DataFrame(
        {"age": [str(age) for age in draw.integers(20, 60, 5)], "d": values.tolist()}, schema_overrides={"d": pl.String}
    )
    policy = kveil.Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": {"intervals": STEPS}}, "d": {"role": "sensitive"}},
        privacy=[{"model": "l-diversity", "sensitive": "d", "l": 2}, {"model": "k-anonymity", "k": 2}],
        algorithm="mondrian",
    )  # fmt: skip
    return policy, frame


@pytest.mark.parametrize("seed", range(6))
def test_rerunning_kveil_agrees_with_trying_every_assignment(seed: int) -> None:
    policy, frame = small_table(seed)
    result = kveil.anonymize(frame, policy)
    rows = sorted(result.data.rows())
    own = frame["d"].to_list()
    fitting, same = set(), set()
    for values in set(permutations(own)):
        spans = [tuple(map(int, shown.split("-"))) if "-" in shown else None for shown, _ in rows]
        for order in permutations(range(5)):  # who stands behind which row
            if all(
                rows[r][1] == values[i]
                and (
                    rows[r][0] in ("*", frame["age"][i])
                    or (spans[r] and spans[r][0] <= int(frame["age"][i]) <= spans[r][1])
                )
                for i, r in enumerate(order)
            ):
                fitting.add(values)
                break
        made = kveil.anonymize(frame.with_columns(d=pl.Series(values)), policy)
        if sorted(made.data.rows()) == rows:
            same.add(values)
    (entry,) = [e for e in attacked(result.data, policy, frame, result.owner)["attacks"] if e["attack"] == "minimality"]
    assert same <= fitting
    assert (entry["worlds"], entry["left"]) == (len(fitting), len(same))
    for worlds, rate in ((fitting, entry["without"]), (same, entry["after"])):
        chances = [sum(values[i] == own[i] for values in worlds) / len(worlds) for i in range(5)]
        assert rate["rate"] == pytest.approx(sum(chances) / 5)
        assert rate["certain"] == chances.count(1.0)


def test_what_kveil_did_not_make_is_not_rerun() -> None:
    policy, frame = small_table(0)
    release = frame.with_columns(age=pl.lit("*"))
    owner = kveil.Owner(np.arange(5), 5, {}, None, None)
    assert not [e for e in attacked(release, policy, frame, owner)["attacks"] if e["attack"] == "minimality"]


def test_nobody_reruns_where_a_value_is_a_star_and_any_engine_can_be_rerun() -> None:
    policy, frame = small_table(0)
    star = policy.model_copy(update={"suppression": policy.suppression.model_copy(update={"show": "star"})})
    release = frame.with_columns(age=pl.lit("*"), d=pl.Series(["*", *frame["d"][1:]]))
    owner = kveil.Owner(np.arange(5), 5, {}, None, None)
    assert not [e for e in attacked(release, star, frame, owner)["attacks"] if e["attack"] == "minimality"]
    result = kveil.anonymize(frame, policy)
    here, there = (
        [e for e in attacked(result.data, one, frame, result.owner)["attacks"] if e["attack"] == "minimality"]
        for one in (policy, policy.model_copy(update={"engine": "spark"}))
    )
    assert here == there
    assert here
