"""Tables of Delta and Iceberg are read at the version that they had when the run began, whatever is written meanwhile.

Their libraries are no part of kveil. `KVEIL_DELTA_JARS` and `KVEIL_ICEBERG_JARS` name them, separated by commas, for
the version of Spark that is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.policy.model import Policy
from on_spark import ARGUMENTS, plain, release_of, why_not

ROWS = 60
POLICY = """
kveil: 1
attributes:
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  note: {role: insensitive}
privacy: [{model: k-anonymity, k: 3}]
algorithm: mondrian
engine: spark
"""


@dataclass(frozen=True)
class Lake:
    """A format of tables that keep versions: who names its libraries, and what a session needs to know of it."""

    jars: str
    table: str
    settings: str


LAKES = {
    "delta": Lake(
        "KVEIL_DELTA_JARS",
        "clinic.visits",
        "--conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension "
        "--conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog "
        "--conf spark.databricks.delta.snapshotPartitions=2",
    ),
    "iceberg": Lake(
        "KVEIL_ICEBERG_JARS",
        "lake.clinic.visits",
        "--conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions "
        "--conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog "
        "--conf spark.sql.catalog.lake.type=hadoop --conf spark.sql.catalog.lake.warehouse=WAREHOUSE",
    ),
}
# Somebody writes to the table, and deletes from it, once kveil has opened it.
RUN = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from kveil.databases import parse_place
from kveil.engines.spark import reading
from kveil.flow.spark import spark_run as flow
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy

kind, name, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
session = SparkSession.builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")
session.sparkContext.pythonExec = sys.executable
pin_version, asked = reading.pin_version, []

def noted(*given):
    asked.append(pin_version(*given))
    return asked[-1]

reading.pin_version = noted
session.sql(f"CREATE NAMESPACE IF NOT EXISTS {name.rsplit('.', 1)[0]}")
session.read.parquet(str(folder / "data.parquet")).writeTo(name).using(kind).create()
solved = flow.solve_table

def meanwhile(*given):
    session.sql(f"INSERT INTO {name} VALUES ('10001', 99, 'late')")
    session.sql(f"DELETE FROM {name} WHERE zip = '02138'")
    return solved(*given)

flow.solve_table = meanwhile
policy = Policy.load(folder / "policy.yaml")
anonymize_file(Request.of(policy), parse_place(f"table:{name}"), Targets(folder / "release"))
print(asked[0])
print(session.table(name).count())
"""


def without(lake: Lake) -> str | None:
    """Why a format cannot be tried here; None where it can."""
    told = why_not()
    return told or (None if os.environ.get(lake.jars) else f"{lake.jars} names no libraries of this format")


@pytest.mark.spark
@pytest.mark.parametrize("most", [1000, 0])  # tuples on the driver, or parts
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.skipif(bool(why := without(lake)), reason=why or ""))
        for kind, lake in LAKES.items()
    ],
)
def test_what_is_written_to_a_table_meanwhile_is_not_in_its_release(kind: str, most: int, tmp_path: Path) -> None:
    lake = LAKES[kind]
    cells = [(("02138", "02139", "10001")[i % 3], 20 + i % 7, f"n{i}") for i in range(ROWS)]
    frame = pl.DataFrame(cells, ["zip", "age", "note"], orient="row")
    frame.write_parquet(tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    settings = lake.settings.replace("WAREHOUSE", str(tmp_path / "lake"))
    jars = f"--jars {os.environ[lake.jars]} --conf spark.sql.warehouse.dir={tmp_path / 'warehouse'}"
    jars += f" --conf spark.kveil.most_tuples={most} --conf spark.kveil.part_tuples=5"
    arguments = ARGUMENTS.replace("pyspark-shell", f"{jars} {settings} pyspark-shell")
    done = subprocess.run(
        [sys.executable, "-c", RUN, kind, lake.table, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": arguments},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *_, query, rows = done.stdout.splitlines()
    assert " VERSION AS OF " in query
    assert int(rows) != ROWS  # the table is another one by now
    local = kveil.anonymize(frame, Policy.load(tmp_path / "policy.yaml").model_copy(update={"engine": None}))
    assert plain(release_of(tmp_path / "release")).equals(plain(local.data))
