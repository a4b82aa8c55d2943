"""Choosing among algorithms: who is asked, in which order, for how long, and which failure is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil import choose
from kveil.algorithms.algorithm import Algorithm, Search
from kveil.algorithms.registry import algorithms_honouring, find
from kveil.choose import Allowance, Attempt, Trial, Tried, algorithms_to_compare, candidates, trials
from kveil.errors import KveilError, PolicyError, Refused, Unmeetable
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from strategies import examples
from support import QUASI, make_policy

TREE = {"tree": {"*": {"a": ["0", "1", "2"], "b": ["3", "4", "5"]}}}
ATTRIBUTES = {name: {"role": QUASI, "hierarchy": TREE} for name in "xy"}


def table(k: int = 3, **more: Any) -> Table:
    frame = pl.DataFrame({"x": [str(i % 6) for i in range(24)], "y": [str(i // 3 % 6) for i in range(24)]})
    return encode(from_frame(frame), make_policy(ATTRIBUTES, k=k, **more))


def doing(name: str, before: Callable[[], None], effort: float | None = None) -> Algorithm:
    """Datafly under another name that does something first, and whose effort is given."""
    real = find("datafly")

    def solve(own: Table, options: Any, rng: Any) -> Solution:
        before()
        return real.solve(own, options, rng)

    search = Search(solve, real.options, None if effort is None else lambda own: effort)
    return replace(real, name=name, search=lambda: search)


def fails(error: KveilError) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_auto_stands_for_all_that_honour_a_policy_and_a_name_for_itself() -> None:
    auto = make_policy(ATTRIBUTES, algorithm="auto")
    assert candidates(auto) == algorithms_honouring(auto)
    assert candidates(make_policy(ATTRIBUTES, algorithm="incognito")) == [find("incognito")]
    ranges = {"x": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}}
    with pytest.raises(Refused, match="datafly does not honour ranges"):
        candidates(make_policy(ranges, algorithm="datafly"))
    divided = {"name": "least-loss", "divide": 10}
    close = [{"model": "t-closeness", "sensitive": "s", "t": 0.5}]
    with pytest.raises(Refused, match="divide solves parts of the table by themselves"):
        candidates(make_policy({**ATTRIBUTES, "s": {"role": "sensitive"}}, algorithm=divided, privacy=close))


def test_names_to_compare_are_taken_once_and_what_is_unable_is_told() -> None:
    policy = make_policy({"x": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}})
    able, unable = algorithms_to_compare(policy, ["mondrian", "datafly", "mondrian"])
    assert able == [find("mondrian")]
    assert unable == [("datafly", "does not honour ranges")]
    assert algorithms_to_compare(policy, None) == (algorithms_honouring(policy), [])


@pytest.mark.parametrize(
    ("names", "error", "told"),
    [
        ([], PolicyError, "--algorithms names none"),
        (["auto"], PolicyError, "names auto, which is the best of all others"),
        (["mondrain"], PolicyError, "'mondrain', which is no algorithm.*mondrian"),
        (["datafly"], Refused, r"none of datafly honours the policy \(datafly does not honour ranges\); these do: "),
    ],
)
def test_names_that_cannot_be_compared_are_refused(names: list[str], error: type[KveilError], told: str) -> None:
    policy = make_policy({"x": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}})
    with pytest.raises(error, match=told):
        algorithms_to_compare(policy, names)


def run(own: Table, algorithms: list[Algorithm], allowance: Allowance) -> list[Trial]:
    return list(trials(own, algorithms, {}, silent, allowance))


def test_what_takes_very_long_is_left_out_unless_it_is_the_only_one() -> None:
    dear, cheap = doing("dear", lambda: None, effort=2 * choose.MOST_EFFORT), doing("cheap", lambda: None)
    spare = Allowance(spare=True)
    first, second = run(table(), [dear, cheap], spare)
    assert (first.left_out, first.solved, first.late) == (True, None, False)
    assert second.solved is not None
    assert not second.left_out
    (alone,) = run(table(), [dear], spare)
    assert alone.solved is not None
    assert run(table(), [dear, cheap], Allowance())[0].solved is not None


def test_a_failure_is_kept_and_the_next_one_runs() -> None:
    told = run(
        table(), [doing("one", fails(Refused("no."))), doing("two", fails(Unmeetable("not met.", 3)))], Allowance()
    )
    assert [trial.reason for trial in told] == ["no.", "not met."]
    assert [type(trial.failure) for trial in told] == [Refused, Unmeetable]
    assert not any(trial.late or trial.left_out for trial in told)


def test_once_the_time_is_over_nothing_more_is_begun_and_no_choice_waits_for_its_first() -> None:
    begun: list[str] = []
    slow = doing("slow", lambda: (begun.append("slow"), time.sleep(0.1))[0])
    quick = doing("quick", lambda: begun.append("quick"))
    compared = run(table(), [slow, quick], Allowance(1e-9))
    assert [trial.late for trial in compared] == [True, True]
    assert begun == []
    chosen = run(table(), [slow, quick], Allowance(1e-9, choosing=True))
    assert [(trial.late, trial.reason) for trial in chosen] == [(True, "was not run: the time was over")] * 2
    assert begun == []


def test_what_another_one_finds_is_not_sought_again_where_one_is_chosen() -> None:
    both = [find("classfly"), find("classfly+partial")]
    first, second = run(table(), both, Allowance(choosing=True))
    assert second.reason == "was not run: it finds what classfly finds"
    assert second.solved is first.solved
    assert all(trial.reason is None for trial in run(table(), both, Allowance()))


def attempt(own: Table, algorithms: list[Algorithm]) -> Attempt:
    return choose.attempt(own, algorithms, silent)


def test_auto_takes_the_smallest_loss_and_keeps_what_it_tried() -> None:
    own = table(algorithm="auto")
    found = attempt(own, [find("datafly"), find("mondrian"), find("least-loss")])
    losses = {tried.algorithm: tried.loss for tried in found.tried}
    assert list(losses) == ["datafly", "mondrian", "least-loss"]
    assert found.losses.of(own.policy.loss) <= min(loss for loss in losses.values() if loss is not None)
    assert [tried.as_json()["solved"] for tried in found.tried] == [True] * 3


def test_where_nobody_solves_it_the_nearest_failure_is_told() -> None:
    far, near = doing("far", fails(Unmeetable("far.", 9))), doing("near", fails(Unmeetable("near.", 2)))
    refused, untold = doing("refused", fails(Refused("refused."))), doing("untold", fails(Unmeetable("untold.")))
    own = table(algorithm="auto")
    for algorithms, told in (
        ([far, near], "near."),
        ([near, far], "near."),
        ([refused, untold], "untold."),
        ([untold, near], "near."),
        ([refused], "refused."),
    ):
        with pytest.raises(KveilError) as error:
            attempt(own, algorithms)
        assert str(error.value) == told


def test_what_was_not_run_to_its_end_is_warned_of() -> None:
    own = table(algorithm="auto")
    found = attempt(own, [find("datafly"), doing("dear", lambda: None, effort=2 * choose.MOST_EFFORT)])
    assert found.tried[1] == Tried(
        "dear", None, "was not run: it may take very long on this table; name it to run it", left_out=True
    )
    assert [text.split(",")[0] for text in found.warnings] == ["auto left out dear"]
    late = replace(found, tried=[Tried("slow", None, "was stopped after 3 seconds", late=True)], cut=True)
    assert [text.split(";")[0] for text in late.warnings] == [
        "auto refined with fewer tries than usual, since the table is large",
        "auto had no time left for slow",
    ]


def test_an_entry_of_the_account_says_what_became_of_a_trial() -> None:
    assert Tried("a", 0.5).as_json() == {"algorithm": "a", "solved": True, "loss": 0.5}
    assert Tried("a", 0.5, "same").as_json() == {"algorithm": "a", "solved": True, "loss": 0.5, "reason": "same"}
    assert Tried("a", None, "no").as_json() == {"algorithm": "a", "solved": False, "reason": "no"}
    late = {"algorithm": "a", "solved": False, "reason": "no", "timed_out": True}
    assert Tried("a", None, "no", late=True).as_json() == late


def test_a_named_algorithm_runs_alone_with_its_options() -> None:
    own = table(algorithm={"name": "mondrian", "refine": "off"})
    found = attempt(own, candidates(own.policy))
    assert found.algorithm.name == "mondrian"
    assert found.options == {"refine": "off"}
    assert [tried.algorithm for tried in found.tried] == ["mondrian"]
    assert found.warnings == []


def skewed(seed: int, k: int) -> Table:
    """Rows of four attributes, some values rare: one level for all records loses much."""
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame({name: draw.binomial(5, 0.2, 300).astype(str).tolist() for name in "xyzw"})
    attributes = {name: {"role": QUASI, "hierarchy": TREE} for name in "xyzw"}
    return encode(from_frame(frame), make_policy(attributes, k=k, algorithm="auto"))


@given(st.integers(0, 10**6), st.sampled_from([2, 5]))
@examples(12)
def test_what_can_only_lose_more_is_stopped_and_the_choice_is_the_same(seed: int, k: int) -> None:
    own = skewed(seed, k)
    algorithms = [find(name) for name in ("datafly", "mondrian", "incognito", "k-member")]
    found = attempt(own, algorithms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose, "_known_loss", lambda best, algorithm, policy: None)
        unstopped = attempt(own, algorithms)
    assert found.losses == unstopped.losses
    assert all((a.codes == b.codes).all() for a, b in zip(found.solution.shown, unstopped.solution.shown, strict=True))
    for tried, whole in zip(found.tried, unstopped.tried, strict=True):
        if tried.loss is None:
            assert (tried.algorithm, tried.reason) == ("incognito", BEATEN)
            assert whole.loss is None or whole.loss > found.losses.of(own.policy.loss)
        else:
            assert tried == whole


BEATEN = "was stopped: whatever it finds loses more than mondrian"


def test_a_search_that_is_stopped_says_so() -> None:
    found = attempt(skewed(1, 5), [find("mondrian"), find("incognito")])
    assert found.tried[1].as_json() == {"algorithm": "incognito", "solved": False, "reason": BEATEN}


@pytest.mark.parametrize("divide", ["many", 2.5, 0])
def test_an_option_that_is_wrong_is_refused_before_any_table_is_read(divide: object) -> None:
    with pytest.raises(PolicyError, match="divide"):
        candidates(make_policy(algorithm={"name": "k-member", "divide": divide}))
