"""What engine `spark` cannot do is refused in one sentence, before anything is read and without any Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.databases import Address, parse_place, read_database
from kveil.engines.spark.session import no_new_warehouse
from support import refused, run, run_process

POLICY = """
kveil: 1
data: {path: data.parquet}
attributes:
  pid: {role: PID}
  age: {role: quasi-identifier}
privacy: [{model: k-anonymity, k: 2}]
algorithm: ALGORITHM
release: RELEASE
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    pl.DataFrame({"pid": ["1", "2"], "age": ["3", "3"]}).write_parquet(tmp_path / "data.parquet")
    return tmp_path


def asked(here: Path, *more: object, role: str = "identifier", algorithm: str = "mondrian", release: str = "{}") -> str:
    text = POLICY.replace("PID", role).replace("ALGORITHM", algorithm).replace("RELEASE", release)
    (here / "policy.yaml").write_text(text)
    before = set(here.iterdir())
    told = refused(run("anonymize", here / "policy.yaml", "--engine", "spark", "--output", here / "release", *more))
    assert set(here.iterdir()) == before
    return told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--input", "data.csv"), "engine spark reads Parquet files"),
        (("--output", "r.csv"), "engine spark writes a folder of Parquet files"),
        (("--report", "r.html"), "engine spark has no --report"),
        (("--previous", "no archive"), "engine spark has no --previous; leave it out, or take engine local."),
        (("--input", "nowhere"), "nowhere: there is no such file or folder; check the path."),
        (("--owner", "owner"), "name columns with --owner-key"),
    ],
)
def test_other_files_and_reports_are_refused(here: Path, more: tuple[str, str], told: str) -> None:
    assert told in asked(here, more[0], here / more[1])


def test_earlier_releases_that_a_policy_names_are_refused_also_to_verify(here: Path) -> None:
    told = "engine spark has no previous, which the policy names"
    assert told in asked(here, release="{}\nprevious: [nowhere]")
    refused(run("verify", here / "policy.yaml", "--engine", "spark", "--release", here / "data.parquet"), told)


class _Settings:
    """A session that has one setting."""

    def __init__(self, folder: str) -> None:
        self.conf = self
        self._folder = folder

    def get(self, _: str, __: str) -> str:
        return self._folder


@pytest.mark.parametrize("before", ["nothing", "a folder", "a table"])
def test_a_folder_that_the_catalog_makes_does_not_stay(before: str, tmp_path: Path) -> None:
    folder = tmp_path / "spark-warehouse"
    if before == "a folder":
        folder.mkdir()
    session: Any = _Settings(f"file:{folder}")
    with no_new_warehouse(session):
        (folder / "visits" if before == "a table" else folder).mkdir(parents=True, exist_ok=True)
    assert folder.exists() == (before != "nothing")


def test_an_order_that_is_kept_long_releases_and_single_records_are_refused(here: Path) -> None:
    assert "no order to keep" in asked(here, release="{order: keep}")
    assert "no long releases" in asked(here, role="individual", release="{shape: long}")
    assert "k-member needs single records" in asked(here, algorithm="k-member")
    assert "refining needs single records" in asked(here, algorithm="{name: mondrian, refine: normal}")


def test_what_parts_cannot_do_is_refused_before_anything_is_read(here: Path) -> None:
    divided = "{name: k-member, divide: 1000}"
    assert "a table by parts has no --bound" in asked(here, "--bound", algorithm=divided)
    rule = '{}\ndependencies: ["age -> pid"]'
    told = asked(here, role="insensitive", algorithm="{name: least-loss, divide: 1000}", release=rule)
    assert "a table by parts keeps dependencies of records alone" in told


def test_a_key_of_the_owner_is_for_spark_alone(here: Path) -> None:
    asked(here, release="{order: keep}")  # writes the policy
    told = run("anonymize", here / "policy.yaml", "--output", here / "r.parquet", "--owner-key", "pid")
    refused(told, "only engine spark goes by --owner-key")


def test_a_table_of_the_catalog_is_read_by_spark_alone(here: Path) -> None:
    place = parse_place("table:db.visits")
    assert place == Address("spark", table="db.visits")
    assert isinstance(place, Address)
    assert place.written_from(here) == "table:db.visits"
    with pytest.raises(kveil.DataError, match="read it with engine spark"):
        read_database(place)
    asked(here, release="{order: keep}")
    told = run("anonymize", here / "policy.yaml", "--input", "table:db.visits", "--output", here / "r.parquet")
    refused(told, "is one of Spark's catalog")


def test_nothing_loads_spark_that_does_not_ask_for_it(here: Path) -> None:
    asked(here, release="{order: keep}")
    code = "import sys, kveil, kveil.flow.anonymize; sys.exit(any('pyspark' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_pyspark_the_extra_is_named(here: Path) -> None:
    (here / "policy.yaml").write_text(
        POLICY.replace("PID", "identifier").replace("ALGORITHM", "mondrian").replace("RELEASE", "{}")
    )
    told = run_process(
        "anonymize", here / "policy.yaml", "--engine", "spark", "--output", here / "release",
        before="import sys; sys.modules['pyspark'] = None",
    )  # fmt: skip
    refused(told, "pip install 'kveil[spark]'")
    assert not (here / "release").exists()
