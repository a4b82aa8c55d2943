"""Refining and the bound: valid after every try, never worse, near the optimum of tiny tables, above its bound."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from adult_data import attributes_of, complete_rows, needs_adult
from kveil.algorithms.algorithm import Algorithm, asks
from kveil.algorithms.bound import covers
from kveil.algorithms.bound.bound import lower_bound
from kveil.algorithms.least_loss.refine import refine
from kveil.algorithms.registry import ALGORITHMS, find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.kernels.bound.bound import excess
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.stopping import Stop, under
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from naive import bound as naive_bound
from small_people import POLICIES, TREES, holds, loss, people, policy_of
from strategies import Case, cases, examples, placed
from support import make_policy

# ---------------------------------------------------------------------------------------------- refine


@pytest.mark.parametrize("privacy", POLICIES)
@pytest.mark.parametrize("start", ["mondrian", "datafly"])
def test_every_step_is_valid_and_none_is_worse(privacy: str, start: str) -> None:
    frame = people(60)
    policy = policy_of(POLICIES[privacy], algorithm=start)
    table = encode(from_frame(frame), policy)
    solution = run(find(start), table, {})
    before = loss(table, solution)
    for _ in range(6):
        solution = refine(table, solution, 0.2, None, silent)
        holds(frame, table, solution)
        assert loss(table, solution) <= before
        before = loss(table, solution)


@given(st.data())
@examples(40)
def test_whole_policies_stay_kept(data: st.DataObject) -> None:
    able = [algorithm for algorithm in ALGORITHMS if algorithm.name in {"mondrian", "datafly", "classfly+complete"}]
    algorithm: Algorithm = data.draw(st.sampled_from(able))
    case: Case = data.draw(cases(with_ranges=algorithm.name == "mondrian"))
    with placed(case) as here:
        assume(set(asks(here.policy)) <= algorithm.honours)
        table = encode(from_frame(case.frame()), here.policy)
        try:
            plain = run(algorithm, table, {})
            refined = run(algorithm, table, {"refine": 1})
        except kveil.Unmeetable:
            return
        holds(case.frame(), table, refined)
        assert loss(table, refined) <= loss(table, plain)
        assert refined.suppressed_anywhere.sum() <= plain.suppressed_anywhere.sum()
        event("lower" if loss(table, refined) < loss(table, plain) else "the same")


def test_a_suppressed_record_comes_back_in() -> None:
    frame = people(80)
    policy = policy_of(POLICIES["k"], "suppression: {limit: 0.5}", "datafly")
    table = encode(from_frame(frame), policy)
    plain = run(find("datafly"), table, {})
    assert plain.suppressed.any()
    refined = run(find("datafly"), table, {"refine": "normal"})
    assert refined.suppressed.sum() < plain.suppressed.sum()
    assert refined.details["refine"]["brought_back"] > 0
    holds(frame, table, refined)


def test_boundaries_are_never_crossed() -> None:
    frame = people(150)
    policy = policy_of(POLICIES["k"], "suppression: {limit: 0.2}", city=", boundary: [North, Italy, Spain]")
    result = kveil.anonymize(frame, policy)
    assert result.account["boundaries"]["violations"] == 0
    assert set(result.data["city"]) <= {"Oslo", "Bergen", "Narvik", "North", "Rome", "Pisa", "Italy", "Madrid", "Spain"}


@pytest.mark.parametrize("measured", ["ncp", "il", "precision"])
def test_the_policys_loss_is_what_falls(measured: str) -> None:
    frame = people(120)
    policy = policy_of(POLICIES["k"], f"loss: {measured}", "mondrian")
    table = encode(from_frame(frame), policy)
    assert loss(table, run(find("least-loss"), table, {})) < loss(table, run(find("mondrian"), table, {}))


def test_efforts() -> None:
    table = encode(from_frame(people(200)), policy_of(POLICIES["k"]))
    tries = {
        effort: run(find("least-loss"), table, {"refine": effort}).details.get("refine", {}).get("tries")
        for effort in ("off", "normal", "best", 3)
    }
    assert tries == {"off": None, "normal": 600, "best": 4000, 3: 600}
    stopped = run(find("least-loss"), table, {"refine": 100_000, "refine_seconds": "0.5"}).details["refine"]
    assert stopped["stopped"] == "out of time"
    assert 0 < stopped["tries"] < 20_000_000
    with pytest.raises(kveil.PolicyError, match="refine"):
        run(find("mondrian"), table, {"refine": "much"})


def test_the_seed_is_all_the_randomness_there_is() -> None:
    frame = people(600)  # of fewer, several seeds find the same
    found = [kveil.anonymize(frame, policy_of(POLICIES["k"], f"seed: {seed}")).data.write_csv() for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("privacy", ["k", "several"])
def test_asking_once_takes_the_best_so_far(privacy: str) -> None:
    table = encode(from_frame(people(400)), policy_of(POLICIES[privacy]))
    told: list[str] = []
    stop = Stop()

    def progress(stage: str) -> None:
        told.append(stage)
        assert signal.getsignal(signal.SIGINT) is before  # a library call takes over no signal
        if len(told) == 20:
            assert stop.ask()

    before = signal.getsignal(signal.SIGINT)
    with under(stop):
        found = run(find("least-loss"), table, {"refine": 100_000}, progress=progress)
    assert found.details["refine"]["stopped"] == "asked to stop"
    before_refining = found.details["refine"]["loss_before"]
    assert loss(table, found) < before_refining or (privacy == "several" and loss(table, found) == before_refining)


def test_asking_works_in_a_thread_that_is_not_the_main_one() -> None:
    table = encode(from_frame(people(400)), policy_of(POLICIES["k"]))
    stop = Stop()
    found: list[Solution] = []

    def work() -> None:
        with under(stop):
            found.append(run(find("least-loss"), table, {"refine": 100_000}))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(1)
    stop.ask()
    thread.join(60)
    assert found[0].details["refine"]["stopped"] == "asked to stop"


INTERRUPT = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from kveil.algorithms.least_loss import state
tell = state.Watch.tell
def told(self, cost):
    tell(self, cost)
    if self.tries >= 0 and not self.stop.asked:
        os.kill(os.getpid(), signal.SIGINT)
state.Watch.tell = told
from kveil.cli import main
main()
"""


@pytest.mark.parametrize("rules", ["", 'dependencies: ["city -> sex"]\n'])
def test_one_interrupt_of_the_command_takes_the_best_so_far_and_writes_it(tmp_path: Path, rules: str) -> None:
    frame = people(400).with_columns(sex=pl.col("city").hash(0) % 2).with_columns(pl.col("sex").cast(pl.String))
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(
        f"kveil: 1\ndata: {{path: people.csv}}\nattributes:\n"
        f"  age: {{role: quasi-identifier, hierarchy: {TREES['age']}}}\n"
        f"  city: {{role: quasi-identifier, hierarchy: {TREES['city']}}}\n  sex: {{role: quasi-identifier}}\n"
        f"  illness: {{role: sensitive}}\nprivacy: [{{model: k-anonymity, k: 5}}]\n{rules}"
        "algorithm: {name: least-loss, refine: 100000}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, "anonymize", "policy.yaml", "--output", "release.csv"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release.csv").exists()


THREADS = """
import sys
import polars as pl
import kveil
from kveil.algorithms.least_loss import search_groups as grouped
grouped.BLOCK = 150
print(kveil.anonymize(pl.read_csv(sys.argv[1], infer_schema=False), kveil.Policy.load(sys.argv[2])).data.write_csv())
"""


def test_blocks_give_the_same_on_one_and_two_threads(tmp_path: Path) -> None:
    people(700).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(
        f"kveil: 1\nattributes:\n  age: {{role: quasi-identifier, hierarchy: {TREES['age']}}}\n"
        f"  city: {{role: quasi-identifier, hierarchy: {TREES['city']}}}\n  sex: {{role: quasi-identifier}}\n"
        "  illness: {role: sensitive}\nprivacy: [{model: k-anonymity, k: 5}]\nalgorithm: least-loss\n"
    )
    made = []
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", THREADS, str(tmp_path / "people.csv"), str(tmp_path / "policy.yaml")],
            env=os.environ | {"NUMBA_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads},
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        made.append(done.stdout)
    assert made[0] == made[1]
    assert made[0].count("\n") >= 700


# ---------------------------------------------------------------------------------------------- the bound


def plain_trees() -> list[naive_bound.PlainTree]:
    cities = [
        ("Oslo", "North", "*"), ("Bergen", "North", "*"), ("Narvik", "North", "*"),
        ("Rome", "Italy", "South", "*"), ("Pisa", "Italy", "South", "*"), ("Madrid", "Spain", "South", "*"),
    ]  # fmt: skip
    return [naive_bound.PlainTree(cities), naive_bound.PlainTree([("f", "*"), ("m", "*")])]


def two_policy(k: int, more: str = "") -> kveil.Policy:
    return Policy.parse(
        f"kveil: 1\nattributes:\n  city: {{role: quasi-identifier, hierarchy: {TREES['city']}}}\n"
        f"  sex: {{role: quasi-identifier, hierarchy: {{tree: {{'*': [f, m]}}}}}}\n"
        f"privacy: [{{model: k-anonymity, k: {k}}}]\nalgorithm: {{name: least-loss, refine: best}}\n{more}",
        "policy.yaml", Path(),
    )  # fmt: skip


tiny = st.lists(
    st.tuples(st.sampled_from(["Oslo", "Bergen", "Narvik", "Rome", "Pisa", "Madrid"]), st.sampled_from(["f", "m"])),
    min_size=4,
    max_size=9,
)


@given(tiny, st.sampled_from([2, 3]))
@examples(40)
def test_bound_optimum_refined(rows: list[tuple[str, str]], k: int) -> None:
    frame = pl.DataFrame({"city": [row[0] for row in rows], "sex": [row[1] for row in rows]})
    best = naive_bound.optimum(plain_trees(), rows, k)
    least = kveil.bound(frame, two_policy(k))
    assert least.simple <= least.at_least <= float(best / len(rows)) + 1e-12
    # A release may also suppress: here the limit is 0, so that what is all stars is none.
    try:
        result = kveil.anonymize(frame, two_policy(k), bound=True)
    except kveil.Unmeetable:
        event("only stars would do")
        return
    found = result.account["loss"]["ncp"]
    assert found >= float(best / len(rows)) - 1e-12
    event("optimal" if found <= float(best / len(rows)) + 1e-12 else "above the optimum")
    told = result.account["bound"]
    assert told["loss"] == "ncp"
    assert told["at_least"] == least.at_least
    assert told["gap"] == (found / least.at_least - 1 if least.at_least else None)
    assert told["components"] == [{"attributes": ["city", "sex"], "at_least": least.at_least}]
    published = result.receipt["bound"]
    assert set(published) == {"loss", "at_least", "gap"}


def at_prices(
    table: Table, rows: Sequence[tuple[Any, ...]], k: int, drawn: list[int], fine: covers.Fineness = covers.FINENESS[0]
) -> tuple[Fraction, dict[Any, Fraction]]:
    """The kernel's value of the bound at drawn prices, and these prices by row."""
    lattice, whole = covers.lattice_of(table, [0, 1], fine)
    first = lattice.first.tolist()
    price = np.array([drawn[d] * whole // 40 for d in range(len(first))], dtype=np.int64)
    used = np.zeros(len(first), dtype=np.int64)
    value = int((lattice.weight * price).sum()) - excess(lattice, price, k, used)
    exact = {rows[first[d]]: Fraction(int(price[d]), covers.SCALE) for d in range(len(first))}
    return Fraction(value, covers.SCALE), exact


@given(tiny, st.sampled_from([2, 3]), st.lists(st.integers(0, 40), min_size=12, max_size=12))
@examples(40)
def test_the_plain_evaluator_agrees(rows: list[tuple[str, str]], k: int, drawn: list[int]) -> None:
    frame = pl.DataFrame({"city": [row[0] for row in rows], "sex": [row[1] for row in rows]})
    table = encode(from_frame(frame), two_policy(k))
    value, exact = at_prices(table, rows, k, drawn)
    rounding = Fraction(len(rows) * 64, covers.SCALE)
    # Costs are rounded down, so that a node may count here which is not quite the lowest over those who pay more.
    assert value < naive_bound.lagrange(plain_trees(), rows, k, exact, payers_alone=True) + rounding
    assert value > naive_bound.lagrange(plain_trees(), rows, k, exact) - rounding


@given(st.data())
@examples(40)
def test_no_release_is_below_the_bound(data: st.DataObject) -> None:
    able = [a for a in ALGORITHMS if a.name in {"mondrian", "datafly", "classfly+complete", "least-loss"}]
    algorithm = data.draw(st.sampled_from(able))
    case: Case = data.draw(cases(with_ranges=algorithm.name in {"mondrian", "least-loss"}))
    with placed(case) as here:
        assume(set(asks(here.policy)) <= algorithm.honours)
        try:
            result = kveil.anonymize(case.frame(), here.policy, algorithm=algorithm.name)
        except kveil.Unmeetable:
            return
        least = kveil.bound(case.frame(), here.policy)
        found = result.account["loss"]
        mine = 1 - found["precision"] if least.loss == "precision" else found[least.loss]
        assert least.simple <= least.at_least <= mine + 1e-9 * max(1.0, mine)
        event("a bound above 0" if least.at_least else "0")


def number_policy(k: int, more: str = "") -> kveil.Policy:
    return Policy.parse(
        f"kveil: 1\nattributes:\n  city: {{role: quasi-identifier, hierarchy: {TREES['city']}}}\n"
        f"  age: {{role: quasi-identifier, hierarchy: {{ranges: {{within: [0, 60]}}}}{more}}}\n"
        f"privacy: [{{model: k-anonymity, k: {k}}}]\nalgorithm: {{name: least-loss, refine: best}}\n",
        "policy.yaml", Path(),
    )  # fmt: skip


numbered = st.lists(
    st.tuples(st.sampled_from(["Oslo", "Bergen", "Rome", "Madrid"]), st.integers(0, 60)), min_size=4, max_size=9
)


@given(numbered, st.sampled_from([2, 3]), st.sampled_from([None, 5, 20]))
@examples(40)
def test_bound_and_optimum_with_numbers(rows: list[tuple[str, int]], k: int, widest: int | None) -> None:
    frame = pl.DataFrame({"city": [row[0] for row in rows], "age": [str(row[1]) for row in rows]})
    policy = number_policy(k, "" if widest is None else f", boundary: {{max_width: {widest}}}")
    city = plain_trees()[0]

    def cost(group: Sequence[int]) -> Fraction | None:
        ages = [rows[i][1] for i in group]
        (label,) = naive_bound.lowest([city], [(rows[i][0],) for i in group])
        wide = max(ages) - min(ages)
        return None if widest is not None and wide > widest else (city.cost(label) + Fraction(wide, 60)) / 2

    best = naive_bound.least_grouping(len(rows), k, cost)
    least = kveil.bound(frame, policy)
    if best is None:  # somebody has to be suppressed
        event("no grouping")
        return
    assert least.simple <= least.at_least <= float(best / len(rows)) + 1e-12
    event("above 0" if least.at_least else "0")


@given(
    numbered,
    st.sampled_from([2, 3]),
    st.lists(st.integers(0, 40), min_size=12, max_size=12),
    st.sampled_from(covers.FINENESS),
)
@examples(40)
def test_the_plain_evaluator_agrees_on_numbers(
    rows: list[tuple[str, int]], k: int, drawn: list[int], fine: covers.Fineness
) -> None:
    frame = pl.DataFrame({"city": [row[0] for row in rows], "age": [str(row[1]) for row in rows]})
    table = encode(from_frame(frame), number_policy(k))
    value, exact = at_prices(table, rows, k, drawn, fine)
    spans = naive_bound.windows([row[1] for row in rows], 60, fine.bounds(Fraction(1)), fine.parts)
    every, alone = naive_bound.lagrange_spans(plain_trees()[0], rows, spans, k, exact)
    room = Fraction(len(rows) * 128, covers.SCALE)
    assert every - room <= value <= alone + room


# ---------------------------------------------------------------------------------------------- Adult


@needs_adult
def test_a_part_of_adult_between_its_bound_and_mondrian() -> None:
    policy = kveil.Policy(kveil=1, attributes=attributes_of(), privacy=[{"model": "k-anonymity", "k": 5}])
    frame = complete_rows()[:1500]
    table = encode(from_frame(frame), policy)
    refined, split = run(find("least-loss"), table, {}), run(find("mondrian"), table, {})
    holds(frame, table, refined)
    found = lower_bound(table, silent, seconds=15.0)
    assert 0 < found.simple < found.at_least < loss(table, refined) < 0.8 * loss(table, split)
    assert loss(table, refined) < 1.25 * found.at_least


def test_whom_a_table_of_few_rows_shows_how_does_not_depend_on_their_order() -> None:
    rows = [("flu", "y"), ("", "h"), ("", "j"), ("", "h"), ("flu", "h"), ("", "h")]
    # One h of four goes with the two others.
    quasi = {"role": "quasi-identifier"}
    attributes = {"ward": {"role": "insensitive"}, "age": quasi, "job": quasi}
    policy = make_policy(attributes, k=3, algorithm="least-loss")
    releases = []
    for seed in range(20):
        mixed = random.Random(seed).sample(rows, len(rows))
        frame = pl.DataFrame(mixed, schema=["ward", "age"], orient="row").with_columns(job=pl.lit("x"))
        releases.append(kveil.anonymize(frame, policy).data)
    assert all(release.equals(releases[0]) for release in releases)
    assert set(releases[0]["age"]) == {"h", "*"}
