"""New records among those of an earlier release: nobody joins a group that would break a model."""

from __future__ import annotations

import polars as pl
import pytest

from earlier_releases import K, L, Row, archived, past_of, policy_with
from kveil.errors import Refused
from kveil.previous.covering import cover_rows
from kveil.previous.joining import rows_that_may_join
from support import QUASI, make_policy

BEFORE: dict[str, Row] = {"p": ("A", "flu"), "q": ("A", "gout"), "r": ("c", "flu"), "t": ("c", "gout")}
HALF = {"model": "l-diversity", "sensitive": "s", "l": 2, "variant": "frequency"}


def joining(new: list[Row], *privacy: dict[str, object]) -> list[bool]:
    policy = policy_with(*privacy)
    table, _ = past_of(policy, {str(i): row for i, row in enumerate(new)})
    earlier = archived(policy, BEFORE)
    covered = cover_rows(table, earlier.release.frame.select("q"))
    return rows_that_may_join(table, covered, earlier).tolist()


def test_whoever_a_tuple_covers_may_join_under_k_anonymity() -> None:
    assert joining([("a", "flu"), ("c", "flu"), ("d", "flu")], K) == [True, True, False]


def test_nobody_joins_a_group_that_they_would_make_too_uniform() -> None:
    assert joining([("a", "flu")], HALF) == [False]  # two of three would have flu
    assert joining([("a", "flu"), ("b", "gout")], HALF) == [True, True]
    assert joining([("a", "flu"), ("c", "gout"), ("c", "flu")], HALF) == [False, True, True]


def test_who_is_left_out_is_not_chosen_by_their_value() -> None:
    # Without one of the two with flu the third could stay: nobody does.
    assert joining([("a", "flu"), ("a", "flu"), ("b", "gout")], HALF) == [False, False, False]
    assert joining([("a", "flu"), ("a", "flu"), ("b", "gout")], L) == [True, True, True]


@pytest.mark.parametrize(
    "model", [{"model": "kl-diversity", "k": 2, "l": 2}, {"model": "k-km-anonymity", "k": 2, "m": 1}]
)
def test_models_of_sets_are_refused_by_name(model: dict[str, object]) -> None:
    tree = {"tree": {"*": ["flu", "gout"]}}
    roles = {"who": "individual", "q": QUASI, "s": {"role": "sensitive", "hierarchy": tree}}
    policy = make_policy(roles, privacy=[{**model, "sensitive": "s"}], algorithm="auto")
    table, _ = past_of(policy_with(K), {"x": ("a", "flu")})
    covered = cover_rows(table, pl.DataFrame({"q": ["A"]}))
    with pytest.raises(Refused, match=str(model["model"])):
        rows_that_may_join(table, covered, archived(policy, BEFORE))
