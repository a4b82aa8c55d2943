"""What Spark does otherwise than a table in memory, and what must not be seen in or beside a release."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import kveil
from kveil.databases import parse_place
from kveil.engines.spark import ordering, staging
from kveil.engines.spark.reading import pin_version, quote_table
from kveil.flow.anonymize import anonymize_file
from kveil.flow.spark import spark_run as flow
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from on_spark import ARGUMENTS, needs_spark, noted_plans, on_both, plain, release_of, started, tell_nothing
from support import run

pytestmark = needs_spark()

POLICY = """
kveil: 1
data: {path: data.parquet}
attributes:
  name: {role: identifier}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}, boundary: {level: 2}}
  seen: {role: insensitive}
  born: {role: insensitive}
  weight: {role: insensitive}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 3}
suppression: {limit: 0.1}
algorithm: mondrian
engine: spark
"""
SECRET = "Zacharias"
BORN = [None, datetime(1970, 1, 1, 0, 30, tzinfo=UTC), datetime(2001, 7, 1, 12, 0, 0, 5, tzinfo=UTC)]


def rows(number: int = 90) -> pl.DataFrame:
    random = Random(2)
    return pl.DataFrame(
        {
            "name": [f"{SECRET}{i}" for i in range(number)],
            "zip": [random.choice(["02138", "02139", "10001"]) for _ in range(number)],
            "age": [*(random.choice([21.0, 34.0, float("nan"), None]) for _ in range(number - 1)), 97.0],
            "seen": [random.choice([None, datetime(2020, 1, 1), datetime(2020, 1, 1, 12, 30)]) for _ in range(number)],
            "born": pl.Series([random.choice(BORN) for _ in range(number)], dtype=pl.Datetime("us", "UTC")),
            "weight": [random.choice([float("nan"), None, -0.0, 1.5]) for _ in range(number)],
            "illness": [random.choice(["flu", "Flu", "FLU"]) for _ in range(number)],
        }
    )


@pytest.fixture(scope="module")
def session() -> Any:
    return started()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    rows().write_parquet(tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def anonymized(here: Path, **more: Any) -> Any:
    return anonymize_file(
        Request.of(Policy.load(here / "policy.yaml")), here / "data.parquet", Targets(here / "release", **more)
    )


def nothing_is_left(here: Path) -> None:
    assert sorted(path.name for path in here.iterdir()) == ["data.parquet", "policy.yaml"]


def test_commands_on_spark_say_what_commands_in_memory_say(here: Path) -> None:
    policy, data, release = here / "policy.yaml", here / "data.parquet", here / "release"
    made = run(
        "anonymize", policy, "--output", release, "--receipt", here / "r.json", "--account", here / "a.json",
        "--owner", here / "owner", "--owner-key", "name", "--quiet",
    )  # fmt: skip
    assert (made.code, made.err) == (0, "")
    assert (here / "owner").stat().st_mode & 0o777 == 0o700
    told = [json.loads(run("check", policy, "--engine", engine, "--json").out) for engine in ("spark", "local")]
    assert told[0] == told[1]
    sides = ("--original", data, "--owner", here / "owner")
    alone = [
        json.loads(run("verify", policy, "--release", release, "--engine", e, "--json").out) for e in ("spark", "local")
    ]
    assert alone[0]["holds"]
    assert {**alone[0], "sha256": None} == {**alone[1], "sha256": None}
    beside = run("verify", policy, "--release", release, *sides, "--json")
    assert beside.code == 0, beside
    assert json.loads(beside.out)["truth"] == {"violations": 0}
    measured = json.loads(run("measure", policy, "--release", release, *sides, "--json").out)
    account = json.loads((here / "a.json").read_bytes())
    for name in ("precision", "il", "ncp", "discernibility", "average_group"):
        assert measured["loss"][name] == pytest.approx(account["loss"][name])
    assert measured["records"] == account["records"]
    first = sorted(release.glob("*.parquet"))[0]
    cells = pq.read_table(first)
    pq.write_table(cells.replace_schema_metadata({"of": SECRET}), first)
    told = json.loads(run("verify", policy, "--release", release, "--json").out)["findings"]
    assert any("metadata beside its cells" in finding for finding in told)
    assert any("statistics" in finding for finding in told)
    assert SECRET not in " ".join(told)
    pl.from_arrow(cells).with_columns(illness=pl.lit("flu")).write_parquet(first)
    assert run("verify", policy, "--release", release, *sides, "--quiet").code == 1


def test_folders_that_look_like_numbers_are_texts_and_files_must_have_the_same_columns(here: Path) -> None:
    frame = rows()
    for zip_code, part in frame.partition_by("zip", as_dict=True, include_key=False).items():
        (here / "parts" / f"zip={zip_code[0]}").mkdir(parents=True)
        part.write_parquet(here / "parts" / f"zip={zip_code[0]}" / "a.parquet")
    policy = Policy.load(here / "policy.yaml")
    assert not isinstance(on_both(policy, here / "parts", here), str)
    assert set(release_of(here / "release")["zip"].str.slice(0, 1)) <= {"0", "1", "*"}
    (here / "release" / "part-00000.parquet").unlink()
    (here / "release").rmdir()
    assert not isinstance(on_both(policy, here / "parts" / "*" / "*.parquet", here), str)
    frame.with_columns(secret=pl.lit("x")).write_parquet(here / "parts" / "zip=02138" / "b.parquet")
    (here / "release" / "part-00000.parquet").unlink()
    (here / "release").rmdir()
    (here / "local.parquet").unlink()
    assert "has other columns than" in on_both(policy, here / "parts", here)


def test_a_frame_of_spark_comes_back_as_one_and_nothing_stands_beside_its_cells(here: Path, session: Any) -> None:
    from pyspark.sql import functions as f

    frame = session.read.parquet(str(here / "data.parquet"))
    frame = frame.withColumn(
        "illness", f.collate("illness", "UTF8_LCASE").alias("illness", metadata={"comment": SECRET})
    )
    frame = frame.withColumn("zip", f.coalesce("zip", f.lit("02138")).alias("zip", metadata={"comment": SECRET}))
    assert not frame.schema["zip"].nullable
    result = kveil.anonymize(frame, Policy.load(here / "policy.yaml"))
    result.data.drop("born").write.parquet(str(here / "written"))  # a session of Spark writes moments in its own way
    account = on_both(Policy.load(here / "policy.yaml"), here / "data.parquet", here)
    assert result.account["records"] == account["records"]
    assert plain(release_of(here / "written")).equals(plain(release_of(here / "release").drop("born")))
    assert set(result.data.select("born").toArrow()["born"].to_pylist()) == set(BORN)
    assert set(result.data.toArrow()["illness"].to_pylist()) == {"flu", "Flu", "FLU"}
    assert all(field.nullable and not field.metadata for field in result.data.schema.fields)
    for file in (here / "release").iterdir():
        assert file.name == "part-00000.parquet"
        metadata = pq.ParquetFile(file).metadata
        assert SECRET.encode() not in file.read_bytes()
        assert not any(metadata.row_group(0).column(i).is_stats_set for i in range(metadata.num_columns))
    with pytest.raises(kveil.DataError, match="not the same each time"):
        kveil.anonymize(frame.withColumn("weight", f.rand()), Policy.load(here / "policy.yaml"))


def test_the_files_of_a_release_do_not_depend_on_how_the_input_was_divided(here: Path) -> None:
    anonymized(here)
    bytes_of = (here / "release" / "part-00000.parquet").read_bytes()
    shuffled = rows().sample(fraction=1.0, shuffle=True, seed=1)
    (here / "parts" / "more").mkdir(parents=True)  # a folder that Spark by itself would pass over
    for number in range(3):
        shuffled[number::3].write_parquet(here / "parts" / ("" if number else "more") / f"{number}.parquet")
    anonymize_file(Request.of(Policy.load(here / "policy.yaml")), here / "parts", Targets(here / "again"))
    assert (here / "again" / "part-00000.parquet").read_bytes() == bytes_of


def test_a_table_of_the_catalog_is_read_by_its_name(here: Path, session: Any) -> None:
    frame = session.read.parquet(str(here / "data.parquet"))
    session.sql("CREATE DATABASE IF NOT EXISTS clinic")
    frame.write.option("path", str(here / "kept")).saveAsTable("clinic.visits")
    try:
        policy = Policy.load(here / "policy.yaml")
        account = anonymize_file(Request.of(policy), parse_place("table:clinic.visits"), Targets(here / "release"))
        assert account["records"]["released"] == release_of(here / "release").height
        local = kveil.anonymize(rows(), policy.model_copy(update={"engine": None}))
        assert plain(release_of(here / "release")).equals(plain(local.data))
        with pytest.raises(kveil.DataError, match="there is no table nowhere in the catalog of Spark; check its name"):
            anonymize_file(Request.of(policy), parse_place("table:nowhere"), Targets(here / "other"))
    finally:
        session.sql("DROP DATABASE clinic CASCADE")


def test_spark_knows_what_is_asked_of_tables_of_iceberg(session: Any) -> None:
    asked: list[str] = []

    def newest(query: str) -> list[int]:
        asked.append(query)
        return [3821550127947089009]

    query = pin_version(quote_table("lake.clinic.the visits"), "iceberg", newest)
    plans = [session._jsparkSession.sessionState().sqlParser().parsePlan(text).toString() for text in (*asked, query)]
    assert "[lake, clinic, the visits, refs]" in plans[0]
    assert "'RelationTimeTravel 'UnresolvedRelation [lake, clinic, the visits]" in plans[1]
    assert "3821550127947089009" in plans[1]


def change_a_cell(folder: Path) -> None:
    file = sorted(folder.glob("*.parquet"))[0]
    frame = pl.read_parquet(file)
    frame.with_columns(weight=pl.when(pl.int_range(pl.len()) == 3).then(77.0).otherwise("weight")).write_parquet(file)


def double_a_file(folder: Path) -> None:
    file = sorted(folder.glob("*.parquet"))[0]
    (folder / "part-00009.parquet").write_bytes(file.read_bytes())


def lose_rows(folder: Path) -> None:
    file = sorted(folder.glob("*.parquet"))[0]
    pl.read_parquet(file)[:-1].write_parquet(file)


def lose_a_file(folder: Path) -> None:
    files = sorted(folder.glob("*.parquet"))
    assert len(files) > 1
    files[-1].unlink()


def plant_a_small_group(folder: Path) -> None:
    file = sorted(folder.glob("*.parquet"))[0]
    frame = pl.read_parquet(file)
    frame.with_columns(zip=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("10001")).otherwise("zip")).write_parquet(
        file
    )


@pytest.mark.parametrize("harm", [change_a_cell, double_a_file, lose_rows, lose_a_file, plant_a_small_group])
def test_a_release_that_was_harmed_before_it_was_read_back_is_refused(
    here: Path, harm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = staging.StagedFolder.write

    def harmed(self: Any, frame: Any) -> None:
        write(self, frame)
        harm(self.rows)

    monkeypatch.setattr(staging.StagedFolder, "write", harmed)
    monkeypatch.setattr(ordering, "ROWS", 40)  # so that there are several files
    with pytest.raises(kveil.KveilError, match="its own verifier refuses"):
        anonymized(here)
    nothing_is_left(here)


def test_an_input_that_changes_meanwhile_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuples_of = flow.tuples_of

    def changed(*given: Any, **options: Any) -> Any:
        told = tuples_of(*given, **options)
        rows().with_columns(weight=pl.lit(8.5)).write_parquet(here / "data.parquet")
        return told

    monkeypatch.setattr(flow, "tuples_of", changed)
    with pytest.raises(kveil.DataError, match=r"changed while kveil read it|Spark could not"):
        anonymized(here)
    nothing_is_left(here)


@pytest.mark.parametrize("order", ["sorted", "shuffle"])
def test_no_query_holds_a_value_or_anything_that_a_second_run_would_do_otherwise(
    here: Path, order: str, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "policy.yaml").write_text(POLICY + f"release: {{order: {order}}}\n")
    plans = noted_plans(monkeypatch)
    monkeypatch.setattr(session.sparkContext, "pythonExec", "/bin/false")  # executors run no Python
    more = {"owner": here / "owner", "owner_key": ("name",)} if order == "sorted" else {}
    anonymized(here, **more)
    assert len(plans) > 5
    tell_nothing(plans, ["02138", "0213*", "10001", "97", "Flu", "1.5", f"{SECRET}7"])


KILLED = """
import os, signal, kveil.engines.spark.staging as s
write = s.StagedFolder.write
def killed(self, frame):
    write(self, frame)
    assert list(self.rows.glob("*.parquet"))
    os.kill(os.getpid(), signal.SIGKILL)
s.StagedFolder.write = killed
from kveil.cli import entry
import sys
sys.argv = ["kveil", *sys.argv[1:]]
entry()
"""


def test_a_run_that_is_killed_leaves_nothing_and_no_value_in_the_log(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("log")
    logged = {"enabled": "true", "compress": "false", "dir": log.as_uri()}
    settings = " ".join(f"--conf spark.eventLog.{key}={value}" for key, value in logged.items())
    arguments = ["anonymize", "policy.yaml", "--output", "release", "--receipt", "r.json"]
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{settings} {ARGUMENTS}"}
    run_killed = [sys.executable, "-c", KILLED, *arguments]
    # Its Java holds the pipe until it is gone, too, and has deleted what was staged.
    done = subprocess.run(run_killed, cwd=here, env=environment, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    nothing_is_left(here)
    # What Spark writes down for its history server are plans, and no value.
    told = b"".join(path.read_bytes() for path in log.rglob("*") if path.is_file())
    assert told.count(b"SQLExecutionStart") > 2
    assert not any(value in told for value in (SECRET.encode(), b"02138", b"10001", b"FLU"))


@pytest.mark.parametrize("name", ["a space", "plus+is=1", "per%41cent", "ümlaut", "brackets[1]{a,b}"])
def test_folders_have_the_names_that_were_asked_for(here: Path, name: str, session: Any) -> None:
    (here / name).mkdir()
    rows().write_parquet(here / name / "data.parquet")
    before = sorted(path.name for path in here.iterdir())
    targets = Targets(here / name / "release", owner=here / name / "owner", owner_key=("name",))
    anonymize_file(Request.of(Policy.load(here / "policy.yaml")), here / name / "data.parquet", targets)
    assert sorted(path.name for path in here.iterdir()) == before
    assert sorted(path.name for path in (here / name).iterdir()) == ["data.parquet", "owner", "release"]
    assert all(path.name.startswith("part-") for path in (here / name / "release").iterdir())
    assert {path.stat().st_mode & 0o777 for path in (here / name / "owner").iterdir()} == {0o600}


def test_an_error_of_spark_is_told_in_one_sentence_and_logged_nowhere(
    here: Path, session: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = session.read.parquet(str(here / "data.parquet"))
    broken = frame.withColumn("weight", frame["name"].cast("int").cast("double"))
    with pytest.raises(kveil.DataError) as error:
        kveil.anonymize(broken, Policy.load(here / "policy.yaml"))
    assert error.value.__suppress_context__
    told = capfd.readouterr()
    assert SECRET not in f"{error.value}{told.out}{told.err}"
    assert not told.err


def test_moments_of_a_zone_that_spark_forgets_are_refused_where_their_texts_matter(here: Path, session: Any) -> None:
    elsewhere = rows().with_columns(born=pl.col("born").dt.convert_time_zone("America/New_York"))
    elsewhere.write_parquet(here / "data.parquet")
    anonymize_file(Request.of(Policy.load(here / "policy.yaml")), here / "data.parquet", Targets(here / "as-it-is"))
    text = POLICY.replace("born: {role: insensitive}", "born: {role: quasi-identifier}")
    (here / "policy.yaml").write_text(text)
    with pytest.raises(kveil.DataError, match="zone America/New_York"):
        anonymize_file(Request.of(Policy.load(here / "policy.yaml")), here / "data.parquet", Targets(here / "compared"))
    assert not (here / "compared").exists()
