"""Comparing algorithms, and auto through it: order, time, refusals."""

import csv
import dataclasses
import gc
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from kveil import choose, stopping
from kveil.algorithms import registry
from kveil.engines import solver
from kveil.engines.solver import Solved
from kveil.flow import compare
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.verifier import Verdict
from support import QUASI, ROLES, columns_of, make_policy, names_in, refused, run, write_policy, write_rows

FAST = ["datafly", "mondrian", "classfly+complete"]


def frame() -> pl.DataFrame:
    return pl.DataFrame(columns_of())


def test_the_smallest_loss_comes_first_and_is_what_auto_takes() -> None:
    policy = make_policy(algorithm="auto")
    found = kveil.compare(frame(), policy)
    losses = [entry["loss"]["ncp"] for entry in found.algorithms if entry["solved"]]
    assert losses == sorted(losses)
    assert found.best == kveil.anonymize(frame(), policy).account["algorithm"]
    assert all(entry["holds"] for entry in found.algorithms if entry["solved"])
    assert {entry["algorithm"] for entry in found.algorithms} == {a.name for a in registry.algorithms_honouring(policy)}


@pytest.mark.parametrize("loss", ["ncp", "il", "precision"])
def test_each_entry_is_what_the_algorithm_makes_alone(loss: str) -> None:
    policy = make_policy(loss=loss)
    found = kveil.compare(frame(), policy, FAST)
    for entry in found.algorithms:
        alone = kveil.anonymize(frame(), policy, entry["algorithm"])
        assert entry["loss"] == alone.account["loss"]
        assert entry["suppressed"] == alone.account["records"]["suppressed"]
        assert entry["groups"] == alone.data.select("age", "sex").n_unique()
    values = [entry["loss"][loss] for entry in found.algorithms]
    assert values == sorted(values, reverse=loss == "precision")


def test_an_algorithm_that_cannot_is_listed_with_its_reason(tmp_path: Path) -> None:
    two = [{"model": "k-anonymity", "k": 2}, {"model": "k-anonymity", "k": 3, "attributes": ["age"]}]
    policy = write_policy(tmp_path, privacy=two)
    data = write_rows(tmp_path / "data.csv")
    done = run("compare", policy, "--input", data, "--algorithms", "classfly, mondrian", "--json")
    assert done.code == 0, done.err
    assert done.json["best"] == "mondrian"
    (unable,) = [entry for entry in done.json["algorithms"] if entry["algorithm"] == "classfly"]
    assert not unable["solved"]
    assert "several constraints" in unable["reason"]
    refused(run("compare", policy, "--input", data, "--algorithms", "classfly"), "these do: datafly")
    refused(run("compare", policy, "--input", data, "--algorithms", "auto"), "leave it out")
    refused(run("compare", policy, "--input", data, "--algorithms", ","), "names none")
    refused(run("compare", policy, "--input", data, "--algorithms", "dataflow"), "did you mean 'datafly'?")


def test_a_policy_that_nobody_meets_is_told_and_is_no_failure(tmp_path: Path) -> None:
    # Ages stay as they are, and Ivy's is hers alone: without leave to suppress her there is no release.
    fixed = {**ROLES, "age": {"role": QUASI, "boundary": {"level": 0}}}
    rows = [["Ann", "31", "F", "flu", "w1"]] * 4 + [["Ivy", "95", "F", "rare", "w9"]]
    asked = ("--input", write_rows(tmp_path / "data.csv", rows), "--algorithms", "datafly, classfly+complete", "--json")
    done = run("compare", write_policy(tmp_path, fixed, k=2, limit=0.2), *asked)
    assert done.code == 0, done.err
    assert [entry["solved"] for entry in done.json["algorithms"]] == [True, True]
    done = run("compare", write_policy(tmp_path, fixed, k=2, limit=0), *asked)
    assert done.code == 0, done.err
    assert done.json["best"] is None
    assert [entry["solved"] for entry in done.json["algorithms"]] == [False, False]
    assert all("cannot meet the policy" in entry["reason"] for entry in done.json["algorithms"])
    # A k above the number of records is refused before anybody tries.
    assert run("compare", write_policy(tmp_path, k=99), *asked).code == 1


def slow(table: object, options: object, rng: object) -> object:
    for _ in range(6_000):  # a minute or more, which nobody gives it
        time.sleep(0.01)
        stopping.check_deadline()
    raise AssertionError("it was not stopped")


@pytest.fixture
def sleeper(monkeypatch: pytest.MonkeyPatch) -> str:
    first = registry.find("datafly")
    sleeping = dataclasses.replace(first, name="k-member", search=lambda: registry.Search(slow, first.options))
    monkeypatch.setattr(registry, "ALGORITHMS", (first, sleeping))
    return "k-member"


def test_what_is_not_done_in_time_is_stopped(sleeper: str) -> None:
    before = signal.getsignal(signal.SIGALRM)
    found = kveil.compare(frame(), make_policy(), ["datafly", sleeper], seconds=2)
    entry = found.algorithms[-1]
    assert entry["algorithm"] == sleeper
    assert "stopped after" in entry["reason"]
    assert found.best == "datafly"
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_auto_goes_on_without_the_slow_ones_where_the_policy_gives_it_seconds(sleeper: str) -> None:
    policy = make_policy(algorithm={"name": "auto", "seconds": 1})
    table = encode(from_frame(frame()), policy)
    found = choose.attempt(table, choose.candidates(policy), lambda stage: None)
    assert found.algorithm.name == "datafly"
    assert found.tried[1].late
    assert found.tried[1].as_json()["timed_out"]
    assert found.warnings == ["auto had no time left for k-member; name one with --algorithm to let it run to its end."]


def test_time_that_is_over_runs_nothing_more(sleeper: str) -> None:
    policy = make_policy(algorithm={"name": "auto", "seconds": "0.000001"})
    table = encode(from_frame(frame()), policy)
    with pytest.raises(kveil.Cancelled, match=r"auto found no release within 0.000001 seconds"):
        choose.attempt(table, choose.candidates(policy), lambda stage: None)


def test_auto_does_not_run_what_finds_the_same_and_says_so() -> None:
    stages: list[str] = []
    policy = make_policy(algorithm="auto")
    table = encode(from_frame(frame()), policy)
    found = choose.attempt(table, choose.candidates(policy), stages.append)
    tried = {entry["algorithm"]: entry for entry in (own.as_json() for own in found.tried)}
    twins = {"greedy-cka": "k-member", "pk-clustering": "k-member"}
    twins |= {f"classfly+{kind}": "classfly" for kind in ("naive", "complete", "partial")}
    for name, twin in twins.items():
        assert tried[name]["loss"] == tried[twin]["loss"]
        assert tried[name]["reason"] == f"was not run: it finds what {twin} finds"
        assert not any(stage.startswith(f"solving with {name} ") for stage in stages)
    ran = {stage.split(" ")[2] for stage in stages if stage.startswith("solving with")}
    assert ran == set(tried) - set(twins)


def test_nothing_is_written_without_a_report(tmp_path: Path) -> None:
    write_policy(tmp_path, data={"path": "data.csv"})
    write_rows(tmp_path / "data.csv")
    before = names_in(tmp_path)
    done = run("compare", tmp_path / "policy.yaml", "--algorithms", "datafly,mondrian", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert names_in(tmp_path) == before


def test_the_table_for_people(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    data = write_rows(tmp_path / "data.csv")
    done = run("compare", policy, "--input", data, "--algorithms", "datafly,mondrian")
    assert done.code == 0
    assert "of these." in done.out
    assert "suppressed" in done.out


def wide(columns: int = 12, rows: int = 40) -> tuple[pl.DataFrame, kveil.Policy]:
    """Return a table of many columns, each with a tree of four levels: a lattice of more nodes than incognito takes."""
    tree = {"*": {"l": {"la": {"laa": ["0"]}, "lb": {"lba": ["1"]}}, "r": {"ra": {"raa": ["2"]}, "rb": {"rba": ["3"]}}}}
    attributes = {f"c{a}": {"role": "quasi-identifier", "hierarchy": {"tree": tree}} for a in range(columns)}
    values = {name: [str((row * (a + 1) + row // 7) % 4) for row in range(rows)] for a, name in enumerate(attributes)}
    return pl.DataFrame(values), make_policy(attributes)


def test_an_algorithm_that_declines_does_not_end_the_comparison() -> None:
    table, policy = wide()
    found = kveil.compare(table, policy, ["datafly", "incognito", "mondrian"])
    assert [entry["algorithm"] for entry in found.algorithms if entry["solved"]] == ["datafly", "mondrian"]
    (declined,) = [entry for entry in found.algorithms if entry["algorithm"] == "incognito"]
    assert "nodes" in (declined["reason"] or "")
    with pytest.raises(kveil.Refused, match="nodes"):
        kveil.anonymize(table, policy, "incognito")
    chosen = kveil.anonymize(table, policy, "auto").account
    assert "incognito" in {tried["algorithm"] for tried in chosen["tried"] if not tried["solved"]}


def test_a_release_that_the_verifier_refused_is_never_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    verify = compare.verify_release

    def refuse_the_first(*arguments: Any, **options: Any) -> Verdict:
        verdict = verify(*arguments, **options)
        refused = [] if seen else ["a planted finding"]
        seen.append(True)
        return dataclasses.replace(verdict, findings=refused)

    seen: list[bool] = []
    monkeypatch.setattr(compare, "verify_release", refuse_the_first)
    found = kveil.compare(frame(), make_policy(), ["datafly", "mondrian"])
    assert [entry["holds"] for entry in found.algorithms] == [False, True]
    assert [entry["algorithm"] for entry in found.algorithms] == ["datafly", "mondrian"]
    assert found.best == "mondrian"


def test_auto_knows_no_clock_unless_the_policy_gives_it_one(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[float | None] = []

    def solve(*arguments: Any, **options: Any) -> Solved:
        stops.append(stopping.current().deadline)
        return solver.solve(*arguments, **options)

    monkeypatch.setattr(choose, "solve", solve)
    kveil.anonymize(frame(), make_policy(algorithm="auto"))
    assert len(stops) > 5
    assert set(stops) == {None}
    stops.clear()
    kveil.anonymize(frame(), make_policy(algorithm={"name": "auto", "seconds": 600}))
    assert all(stop is not None for stop in stops)  # also before there is a release


def test_auto_takes_seconds_and_nothing_else() -> None:
    for options in ({"seconds": 0}, {"seconds": "soon"}, {"refine": "best"}):
        with pytest.raises(kveil.PolicyError, match=r"auto|seconds"):
            kveil.anonymize(frame(), make_policy(algorithm={"name": "auto", **options}))


def test_where_nothing_ran_to_its_end_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    first = registry.find("incognito")
    search = registry.Search(slow, first.options, lambda table: float("inf"))
    both = tuple(dataclasses.replace(first, name=name, search=lambda: search) for name in ("incognito", "k-member"))
    monkeypatch.setattr(registry, "ALGORITHMS", both)
    with pytest.raises(kveil.Unmeetable, match="incognito and k-member did not run to the end; name one"):
        kveil.anonymize(frame(), make_policy(algorithm="auto"))


def test_a_library_call_works_in_any_thread_and_leaves_the_host_alone() -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)}
    threads = set(threading.enumerate())
    limits = gc.get_threshold(), csv.field_size_limit()
    with ThreadPoolExecutor(1) as pool:
        inside = pool.submit(kveil.anonymize, frame(), make_policy(algorithm="auto")).result()
        compared = pool.submit(lambda: kveil.compare(frame(), make_policy(), FAST, seconds=60)).result()
    outside = kveil.anonymize(frame(), make_policy(algorithm="auto"))
    assert inside.data.equals(outside.data)
    assert compared.best
    assert {number: signal.getsignal(number) for number in handlers} == handlers
    assert not [thread for thread in set(threading.enumerate()) - threads if thread.daemon]
    assert (gc.get_threshold(), csv.field_size_limit()) == limits
    assert sys.modules.get("scipy", True) is not None


@pytest.mark.parametrize("name", ["least-loss", "datafly"])
def test_auto_refines_a_large_table_with_fewer_tries_and_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "algorithms_honouring", lambda policy: [registry.find(name)])
    table = pl.concat([frame()] * 5)
    usual = kveil.anonymize(table, make_policy(k=12, algorithm="auto")).account
    monkeypatch.setattr(choose, "MOST_TRIES", 9)
    cut = kveil.anonymize(table, make_policy(k=12, algorithm="auto")).account
    assert not any("fewer tries" in warning for warning in usual["warnings"])
    assert any("fewer tries" in warning for warning in cut["warnings"])
    if name == "least-loss":  # for the other one refining gains nothing here
        assert cut["options"] == {"refine": 0.2}
        assert cut["details"]["refine"]["tries"] < usual["details"]["refine"]["tries"]
