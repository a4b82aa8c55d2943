"""What releases have promised: each promise once, and what its attacker knows of the others."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.errors import Refused
from kveil.files import Source
from kveil.verifier.given_promises import GivenPromise, check_several, given_promises
from kveil.verifier.links import LinkedRelease
from support import QUASI, make_policy

SETS = {"tree": {"*": ["x", "y"]}}


def released(policy: kveil.Policy, name: str = "r") -> LinkedRelease:
    """Return an empty release of a policy."""
    frame = pl.DataFrame(schema=dict.fromkeys(policy.released, pl.String))
    return LinkedRelease(name, policy, Source("r", frame, "frame"), pl.Series([], dtype=pl.String))


def k(number: int, *attributes: str) -> dict[str, object]:
    return {"model": "k-anonymity", "k": number, **({"attributes": list(attributes)} if attributes else {})}


def test_what_somebody_knows_of_another_release() -> None:
    policy = make_policy({"age": QUASI, "zip": QUASI, "d": "sensitive"}, privacy=[k(2, "zip"), k(2)])
    narrow, whole = (GivenPromise(model, policy) for model in policy.privacy)
    other = make_policy({"zip": "insensitive", "age": QUASI, "job": QUASI, "d": "sensitive", "pay": "insensitive"})
    assert narrow.known_in(other) == ("zip", "job")  # age is left out; zip is shown as it is
    assert whole.known_in(other) == ("zip", "age", "job")
    assert whole.known_in(make_policy({"zip": "identifier", "age": QUASI})) == ("age",)


def test_a_promise_is_told_once_and_the_newest_policys_own_first() -> None:
    roles = {"age": QUASI, "zip": QUASI}
    one, two = make_policy(roles, privacy=[k(5), k(2, "zip")]), make_policy(roles, privacy=[k(5), k(3)])
    newest = make_policy(roles, privacy=[k(3)])
    found = given_promises(newest, [released(one), released(two), released(newest)])
    assert [(getattr(promise.model, "k", None), promise.given) for promise in found] == [
        (3, None),
        (5, (0, 1)),
        (2, (0,)),
    ]


def test_a_promise_over_other_columns_is_another_one() -> None:
    one, newest = make_policy({"age": QUASI}, privacy=[k(3)]), make_policy({"zip": QUASI}, privacy=[k(3)])
    assert len(given_promises(newest, [released(one), released(newest)])) == 2


def test_stars_in_a_component_count_as_suppressed_where_there_are_several() -> None:
    roles, apart = {"age": QUASI, "zip": QUASI}, [k(2, "age"), k(2, "zip")]
    policy = make_policy(roles, privacy=apart, suppression={"limit": 1, "show": "star"})
    assert GivenPromise(policy.privacy[0], policy, (0,)).component_in(policy) == ("age",)
    for other in (make_policy(roles, privacy=[k(2)]), make_policy(roles, privacy=apart)):
        assert GivenPromise(other.privacy[0], other, (0,)).component_in(other) is None


def test_promises_about_sets_are_refused_by_name_or_told() -> None:
    roles = {"who": "individual", "q": QUASI, "s": {"role": "sensitive", "hierarchy": SETS}}
    model = {"model": "k-km-anonymity", "k": 2, "m": 1, "sensitive": "s"}
    sets, plain = make_policy(roles, privacy=[model], algorithm="auto"), make_policy({"q": QUASI})
    with pytest.raises(Refused, match="k-km-anonymity generalizes sets"):
        check_several(sets, [], weaker=True)
    with pytest.raises(Refused, match=r"k-km-anonymity of release 1 .*--weaker"):
        check_several(plain, [("release 1", sets)], weaker=False)
    assert check_several(plain, [("release 1", sets)], weaker=True) == ["k-km-anonymity of release 1"]
    assert check_several(plain, [("release 1", plain)], weaker=False) == []
