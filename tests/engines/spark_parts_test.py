"""Engine `spark` by parts: neither driver nor executor holds the table, and the release is the one of memory."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.engines.spark import ordering, slices, staging
from kveil.engines.spark.solving import SplitPart
from kveil.flow.anonymize import anonymize_file
from kveil.flow.spark import spark_run as flow
from kveil.flow.spark import spark_solving
from kveil.flow.spark.by_tuples import DriverLimits
from kveil.flow.spark.spark_checks import verify_on_spark
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from kveil.table.solution import Solution
from kveil.table.table import Table
from on_spark import needs_spark, noted_plans, on_both, plain, release_of, started, tell_nothing

pytestmark = needs_spark()

POLICY = """
kveil: 1
data: {path: data.parquet, missing: ["", "?"]}
attributes:
  name: {role: identifier}
  note: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  pay: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 99999]}}}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
algorithm: mondrian
"""


@pytest.fixture(scope="module")
def session() -> Any:
    return started()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that may hold no tuples, parts of few, and slices of few rows."""
    monkeypatch.setattr(flow.DriverLimits, "of", lambda session: DriverLimits(0, 100))
    monkeypatch.setattr(slices, "ROWS", 150)
    monkeypatch.setattr(ordering, "REPEATED", 2)


def rows(number: int = 300) -> pl.DataFrame:
    random = Random(5)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(number)],
            "note": [random.choice([None, "", "x", "y"]) for _ in range(number)],
            "age": [*(random.choice([None, 21, 34, 35, 52, 67, 68]) for _ in range(number - 3)), 99, 99, 98],
            "zip": [random.choice(["?", "02138", "02139", "02141", "10001"]) for _ in range(number)],
            "pay": [str(random.randrange(2000, 9000, 50)) for _ in range(number)],
            "illness": [random.choice(["a", "b", "c", None]) for _ in range(number)],
        }
    )


def written(folder: Path, frame: pl.DataFrame, text: str) -> Policy:
    frame.write_parquet(folder / "data.parquet")
    (folder / "policy.yaml").write_text(text)
    return Policy.load(folder / "policy.yaml")


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


BOUNDED = changed(
    POLICY,
    ("widths: [10, 20]}}}", "widths: [10, 20]}}, boundary: {level: 2}}"),
    ("within: [0, 99999]}}}", "within: [0, 99999], bounds: midpoints}}}"),
    ("k: 4}", "k: 9}"),
)
CLOSE = "{model: t-closeness, sensitive: illness, t: 0.5}"
BY_GAIN = ("algorithm: mondrian", "algorithm: {name: mondrian, choose: gain}")
TAKEN_ALONG = ("  note: {role: insensitive}", "  note: {role: identifier}")
CASES = {
    "dropped": changed(BOUNDED, BY_GAIN) + "suppression: {limit: 0.4}\nloss: il\n",
    "components": changed(
        BOUNDED,
        ("k: 9}", "k: 9, attributes: [age, zip]}\n  - {model: k-anonymity, k: 5, attributes: [pay]}"),
        ("illness, l: 2}", "illness, l: 2, attributes: [age, zip]}"),
    )
    + "suppression: {limit: 0.4}\n",
    "rules": POLICY + "dependencies: ['age -> pay', 'pay -> age']\n",
    "told by tuples": changed(BOUNDED, TAKEN_ALONG, ("  zip:", "  slice:")) + "suppression: {limit: 0.4}\n",
    "starred": changed(BOUNDED, ("{model: l-diversity, sensitive: illness, l: 2}", CLOSE))
    + "suppression: {limit: 0.4, show: star}\nrelease: {order: shuffle}\n",
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("case", CASES)
def test_mondrian_by_parts_gives_the_release_of_memory(case: str, tmp_path: Path) -> None:
    frame = rows()
    if case == "dropped":  # intervals of numbers that are not whole
        frame = frame.with_columns(pl.col("age") + 0.5)
    if case == "told by tuples":  # nothing is taken along, and rows repeat; a column has a name that kveil has, too
        frame = pl.concat([frame, frame, frame.head(40)]).rename({"zip": "slice"})
    if case == "rules":
        frame = frame.with_columns(pay=(pl.col("age").fill_null(3) * 100).cast(pl.String))
    told = on_both(written(tmp_path, frame, CASES[case]), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["parts"] > 3
    assert told["records"]["suppressed"] > 0 or case == "rules"
    assert ("association" in told["details"]) == (case == "rules")


@pytest.mark.usefixtures("few")
def test_what_no_release_can_meet_is_told_as_in_memory(tmp_path: Path) -> None:
    told = on_both(written(tmp_path, rows(), BOUNDED), tmp_path / "data.parquet", tmp_path)
    assert "No release can" in told


ONLY_K = changed(POLICY, ("  - {model: l-diversity, sensitive: illness, l: 2}\n", ""))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", ["greedy-cka", "pk-clustering", "least-loss"])
def test_a_divided_table_is_solved_by_parts_and_gives_the_release_of_memory(name: str, tmp_path: Path) -> None:
    text = changed(ONLY_K, ("algorithm: mondrian", f"algorithm: {{name: {name}, divide: 100}}"))
    if name != "greedy-cka":
        text = changed(BOUNDED, ("algorithm: mondrian", f"algorithm: {{name: {name}, divide: 100}}"))
    text += "suppression: {limit: 0.4, show: star}\n"
    told = on_both(written(tmp_path, rows(), text), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["divided"]["parts"] > 2
    assert told["records"]["suppressed"] > 0 or name == "greedy-cka"


PEOPLE = """
kveil: 1
attributes:
  pid: {role: individual}
  ward: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  sex: {role: quasi-identifier}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4, attributes: [age]}
  - {model: l-diversity, sensitive: illness, l: 2, attributes: [age, sex]}
individual: {conflicts: generalize}
algorithm: mondrian
"""


@pytest.mark.usefixtures("few")
def test_individuals_by_parts_are_those_of_memory(tmp_path: Path) -> None:
    frame = visits().with_columns(age=pl.when(pl.int_range(pl.len()) % 7 == 0).then(34).otherwise("age"))
    told = on_both(written(tmp_path, frame, PEOPLE), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["parts"] > 3


def test_the_settings_of_a_session_ask_for_parts_and_plans_hold_no_value(
    tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = noted_plans(monkeypatch)
    policy = written(tmp_path, rows(), POLICY)
    frame = session.read.parquet(str(tmp_path / "data.parquet"))
    local = kveil.anonymize(rows(), policy)
    session.conf.set("spark.kveil.most_tuples", "0")
    session.conf.set("spark.kveil.part_tuples", "100")
    try:
        result = kveil.anonymize(frame, policy)
        assert plain(pl.DataFrame(pl.from_arrow(result.data.toArrow()))).equals(plain(local.data))
        same = ("records", "guarantees", "loss", "options")
        assert {key: result.receipt[key] for key in same} == {key: local.receipt[key] for key in same}
        assert len(plans) > 10
        tell_nothing(plans, ["02138", "0213*", "10001", "n299"])
        session.conf.set("spark.kveil.part_tuples", "some")
        with pytest.raises(kveil.DataError, match=r"the setting spark\.kveil\.part_tuples of Spark is to be a whole"):
            kveil.anonymize(frame, policy)
    finally:
        session.conf.unset("spark.kveil.most_tuples")
        session.conf.unset("spark.kveil.part_tuples")


def test_the_owner_of_a_divided_table_knows_who_shows_what(tmp_path: Path) -> None:
    policy = asked(tmp_path, changed(ONLY_K, ("algorithm: mondrian", "algorithm: {name: k-member, divide: 100}")))
    data, owner = tmp_path / "data.parquet", tmp_path / "owner"
    anonymize_file(Request.of(policy), data, Targets(tmp_path / "release", owner=owner, owner_key=("name",)))
    told = verify_on_spark(policy, tmp_path / "release", data, owner)
    assert told.verdict.holds
    assert told.verdict.truth == {"violations": 0}
    assert plain(release_of(tmp_path / "release")).equals(plain(kveil.anonymize(rows(), policy).data))


VISITS = """
kveil: 1
attributes:
  pid: {role: individual}
  ward: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 59, widths: [5, 10, 20]}}}
  sex: {role: quasi-identifier}
  illness: {role: sensitive, hierarchy: {tree: {"*": {lungs: [cold, flu], heart: [attack, murmur], gout: []}}}}
privacy:
  - {model: kl-diversity, sensitive: illness, k: 2, l: LEAST}
suppression: {limit: 0.3, show: SHOW}
algorithm: {name: NAME, divide: 40}
"""


def visits(persons: int = 90) -> pl.DataFrame:
    random = Random(3)
    told: list[tuple[int, str | None, int | None, str, str]] = []
    for person in range(persons):
        own = random.choice(["x", "y", None]), random.choice([None, *range(60)]), random.choice("fm")
        items = random.sample(["cold", "flu", "attack", "murmur", "gout"], random.choice([1, 1, 2, 3]))
        told += [(person, *own, item) for item in items]
    return pl.DataFrame(told, ["pid", "ward", "age", "sex", "illness"], orient="row")


@pytest.mark.parametrize(("name", "least", "show"), [("1m-generalization", 2, "star"), ("partition", 1, "drop")])
def test_divided_tables_of_individuals_give_the_release_of_memory(
    name: str, least: int, show: str, tmp_path: Path
) -> None:
    text = changed(VISITS, ("NAME", name), ("LEAST", str(least)), ("SHOW", show))
    told = on_both(written(tmp_path, visits(), text), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["divided"]["parts"] > 2
    assert told["loss"]["sa_ncp"] > 0


# ------------------------------------------------------------------------------------------------ what may go wrong


def asked(folder: Path, text: str = POLICY) -> Policy:
    return written(folder, rows(), text).model_copy(update={"engine": "spark"})


def refused(policy: Policy, folder: Path, sentence: str) -> None:
    """A run that ends with a sentence, and leaves nothing."""
    with pytest.raises(kveil.KveilError, match=sentence):
        anonymize_file(Request.of(policy), folder / "data.parquet", Targets(folder / "release"))
    assert {path.name for path in folder.iterdir()} <= {"data.parquet", "policy.yaml", "blocked", "killed"}


@pytest.mark.usefixtures("few")
def test_executors_without_kveil_are_told_of_in_one_sentence(
    tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "kveil.py").write_text("raise ModuleNotFoundError(\"No module named 'kveil'\")")
    (blocked / "python").write_text(f'#!/bin/sh\nPYTHONPATH={blocked}:$PYTHONPATH exec {sys.executable} "$@"\n')
    (blocked / "python").chmod(0o700)
    monkeypatch.setattr(session.sparkContext, "pythonExec", str(blocked / "python"))
    refused(asked(tmp_path), tmp_path, "their Python has not this version of kveil; install it on every machine")


@dataclass(frozen=True)
class KilledOnce(SplitPart):
    """Ends its process the first time that a part is solved, as an executor that is lost does."""

    mark: str = ""

    def __call__(self, table: Table) -> Solution:
        if not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(table)


@pytest.mark.usefixtures("few")
def test_a_process_of_an_executor_that_is_killed_ends_the_run_without_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    mark = str(tmp_path / "killed")
    monkeypatch.setattr(spark_solving, "SplitPart", lambda *given: KilledOnce(*given, mark=mark))
    # A session on one machine tries no task again; on a cluster the part is solved by another process.
    refused(asked(tmp_path), tmp_path, "Spark could not solve the parts of data.parquet")
    assert Path(mark).exists()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("changing", ["note", "illness"])
def test_an_input_that_changes_while_parts_are_solved_is_refused(
    changing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = spark_solving.plan_mondrian

    def changed_after(*given: Any, **more: Any) -> Any:
        planned = plan(*given, **more)
        rows().with_columns(pl.lit("b").alias(changing)).write_parquet(tmp_path / "data.parquet")
        return planned

    monkeypatch.setattr(spark_solving, "plan_mondrian", changed_after)
    text = POLICY if changing == "note" else changed(POLICY, TAKEN_ALONG)
    refused(asked(tmp_path, text), tmp_path, r"changed while kveil read it|Spark could not")


def plant_a_small_group(folder: Path) -> None:
    file = sorted(folder.glob("*.parquet"))[0]
    first = pl.int_range(pl.len()) < 2
    pl.read_parquet(file).with_columns(zip=pl.when(first).then(pl.lit("10001")).otherwise("zip")).write_parquet(file)


@pytest.mark.usefixtures("few")
def test_a_release_by_parts_that_was_harmed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = staging.StagedFolder.write

    def harmed(self: Any, frame: Any) -> None:
        write(self, frame)
        plant_a_small_group(self.rows)

    monkeypatch.setattr(staging.StagedFolder, "write", harmed)
    refused(asked(tmp_path), tmp_path, "its own verifier refuses")


@pytest.mark.usefixtures("few")
def test_what_parts_cannot_do_is_refused_in_one_sentence(tmp_path: Path) -> None:
    text = POLICY + "dependencies: ['zip -> illness']\n"
    refused(asked(tmp_path, text), tmp_path, "By parts they cannot be solved: a table by parts keeps dependencies of")
    text = changed(CASES["components"], ("limit: 0.4", "limit: 0.4, show: star"))
    refused(asked(tmp_path, text), tmp_path, "shown as stars in some attributes and not in others")
    text = changed(
        POLICY, ("algorithm: mondrian", "algorithm: datafly"), ("{ranges: {within: [0, 99999]}}", "{mask: {keep: [2]}}")
    )
    refused(asked(tmp_path, text), tmp_path, "the driver may hold no tuples of .* mondrian alone is solved in parts")
