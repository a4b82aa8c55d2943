"""Whatever the command line reads, the studio opens, previews and checks: files, databases, commas, encodings."""

from __future__ import annotations

import gzip
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyreadstat
import pytest

from kveil.errors import KveilError
from kveil.files import kind_of
from kveil.files.source import check_written
from kveil.policy.keys import Data
from kveil.studio.children import environment
from kveil.studio.files import TABLES, release_suffix
from kveil.studio.questions import Desk
from kveil.studio.tables import TableAt
from running_postgres import REASON, programs, running
from running_studio import Running, start

ROWS = 60
TABLE = pl.DataFrame(
    {
        "name": [f"Person {i}" for i in range(ROWS)],
        "age": [20 + i % 40 for i in range(ROWS)],
        "sex": ["F" if i % 3 else "M" for i in range(ROWS)],
        "diagnosis": [("flu", "gout", "cough", "angina")[i % 4] for i in range(ROWS)],
    }
)
TOWNS, ILLS = ("München", "Köln", "Lübeck"), ("Grippe", "Gicht", "Rückenweh")
GERMAN = "Name;Größe;Ort;Diagnose\n" + "".join(
    f"Jörg {i};{150 + i % 45},{i % 10};{TOWNS[i % 3]};{ILLS[i % 3]}\n" for i in range(ROWS)
)


def _make_tables(folder: Path) -> None:
    TABLE.write_csv(folder / "t.csv")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    TABLE.write_parquet(folder / "t.parquet")
    TABLE.write_ipc(folder / "t.arrow")
    TABLE.write_excel(folder / "t.xlsx")
    pyreadstat.write_sav(TABLE.to_pandas(), folder / "t.sav")
    pyreadstat.write_dta(TABLE.to_pandas(), folder / "t.dta")
    for folder_of in ("parts", "years/year=2024", "years/year=2025"):
        (folder / folder_of).mkdir(parents=True)
        TABLE[:30].write_parquet(folder / folder_of / "a.parquet")
        TABLE[30:].write_parquet(folder / folder_of / "b.parquet")
    with sqlite3.connect(folder / "clinic.sqlite") as connection:
        connection.execute("CREATE TABLE visits (name TEXT, age INTEGER, sex TEXT, diagnosis TEXT)")
        connection.execute("CREATE TABLE wards (ward TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", TABLE.rows())
    connection.close()
    with duckdb.connect(folder / "clinic.duckdb") as database:
        database.register("given", TABLE.to_arrow())
        database.execute("CREATE SCHEMA north")
        database.execute("CREATE TABLE north.visits AS SELECT * FROM given")
    (folder / "patienten.csv").write_bytes(GERMAN.encode("cp1252"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a studio in a folder with the same table in many forms."""
    folder = tmp_path_factory.mktemp("many")
    _make_tables(folder)
    studio = start(folder)
    try:
        studio.enter()
        yield studio
    finally:
        studio.stop()


def _checked(studio: Running) -> dict[str, Any]:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        check: dict[str, Any] = studio.ask("GET", "state")["check"]
        if check["state"] in ("done", "refused"):
            return check
        time.sleep(0.1)
    raise AssertionError("the check did not end")


@pytest.mark.parametrize(
    ("wish", "path"),
    [
        ({"path": "t.csv"}, "t.csv"),
        ({"path": "t.csv.gz"}, "t.csv.gz"),
        ({"path": "t.parquet"}, "t.parquet"),
        ({"path": "t.arrow"}, "t.arrow"),
        ({"path": "t.xlsx"}, "t.xlsx"),
        ({"path": "t.sav"}, "t.sav"),
        ({"path": "t.dta"}, "t.dta"),
        ({"path": "parts", "parts": True}, "parts"),
        ({"address": "parts/*.parquet"}, "parts/*.parquet"),
        ({"address": "t.dta"}, "t.dta"),
        ({"path": "clinic.sqlite", "table": "visits"}, "sqlite:///clinic.sqlite?table=visits"),
        ({"path": "clinic.duckdb", "table": "north.visits"}, "duckdb:///clinic.duckdb?table=north.visits"),
        (
            {"address": "sqlite:///clinic.sqlite?query=SELECT%20*%20FROM%20visits"},
            "sqlite:///clinic.sqlite?query=SELECT%20%2A%20FROM%20visits",
        ),
    ],
)
def test_every_form_of_a_table_is_opened_previewed_and_checked(many: Running, wish: dict[str, Any], path: str) -> None:
    state = many.ask("POST", "open", wish)
    assert state["project"]["content"]["data"]["path"] == path
    assert state["project"]["error"] is None
    assert state["table"]["error"] is None
    assert state["table"]["rows"] == ROWS
    assert {column["name"]: column["values"] for column in state["table"]["columns"]}["age"] == 40
    assert len(many.ask("GET", "sample")["rows"]) == 5
    assert many.ask("GET", "values?column=sex")["values"] == [["F", 40], ["M", 20]]
    tree = many.ask("GET", "tree?column=age")
    assert tree["records"] == ROWS
    assert tree["unknown_values"] == 0
    check = _checked(many)
    assert check["state"] == "done", check
    assert check["records"] == ROWS
    assert state["command"].endswith(f"--output release{release_suffix(path)}")


def test_folders_of_other_programs_are_one_table_too(many: Running) -> None:
    listed = many.ask("GET", "files?under=years")
    assert listed["one_table"]
    state = many.ask("POST", "open", {"path": "years", "parts": True})
    assert state["table"]["rows"] == 2 * ROWS
    assert "year" in [column["name"] for column in state["table"]["columns"]]
    assert state["project"]["folder"] == str(many.folder)


def test_what_cannot_be_opened_is_a_sentence(many: Running) -> None:
    (many.folder / "broken.db").write_bytes(b"no database at all, but long enough to look at")
    (many.folder / "t.zip").write_bytes(b"PK")
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"path": "t.zip"}, 422, "choose another file"),
        ({"path": "clinic.sqlite"}, 422, "choose one of its tables"),
        ({"path": "clinic.sqlite", "table": "none"}, 422, "not in the database"),
        ({"path": ".", "parts": True}, 422, "in the folder above"),
        ({"address": "postgresql://ann:Geheim9@localhost/db?table=t"}, 422, "password"),
        ({"address": "mysql://localhost/db?table=t"}, 422, "no database that kveil knows"),
        ({"address": "../*.parquet"}, 403, "outside the folder"),
        ({"address": "sqlite:////etc/none.db?table=t"}, 403, "outside the folder"),
        ({"address": "none/*.parquet"}, 404, "no such file or folder"),
        ({"address": "t*.csv"}, 422, "only Parquet files"),
    ]
    for wish, status, told in refused:
        answer = many.ask("POST", "open", wish, status)["told"]
        assert told in answer
        assert answer.endswith(".")
        assert "Geheim9" not in answer
    assert many.ask("GET", "tables?path=clinic.sqlite")["tables"] == ["visits", "wards"]
    assert many.ask("GET", "tables?path=broken.db", expect=422)["told"].endswith(".")
    assert many.ask("GET", "tables?path=t.csv", expect=404)["told"].endswith(".")


def test_a_table_in_another_encoding_is_opened_with_it_and_its_commas_are_numbers(many: Running) -> None:
    answer = many.ask("POST", "open", {"path": "patienten.csv"}, 422)
    assert answer["encoding"] == "cp1252"
    state = many.ask("POST", "open", {"path": "patienten.csv", "encoding": answer["encoding"]})
    attributes = state["project"]["content"]["attributes"]
    assert list(attributes) == ["Name", "Größe", "Ort", "Diagnose"]
    assert "intervals" in attributes["Größe"]["hierarchy"]
    bins = many.ask("GET", "bins?column=Gr%C3%B6%C3%9Fe")
    assert bins["numbers"]
    assert (bins["low"], bins["high"], sum(bins["bins"])) == (150.0, 194.4, ROWS)
    tree = many.ask("GET", "tree?column=Gr%C3%B6%C3%9Fe")
    assert tree["unknown_values"] == 0
    assert _checked(many)["state"] == "done"
    assert many.ask("GET", "values?column=Gr%C3%B6%C3%9Fe")["values"][0][0].count(",") == 1  # as they are written
    told = many.edit({"path": ["data", "encoding"]})["project"]
    assert told["error"] is None
    until = time.monotonic() + 60
    while (table := many.ask("GET", "state")["table"])["error"] is None and time.monotonic() < until:
        time.sleep(0.05)
    assert table["encoding"] == "cp1252"  # what the page offers to read it as
    many.ask("POST", "policy/undo")


def test_a_point_that_the_policy_asks_for_makes_commas_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n2,5;y\n")
    desk = Desk()
    assert desk.on_bins(TableAt(Data(path="t.csv"), tmp_path), "a")["numbers"]
    assert not desk.on_bins(TableAt(Data(path="t.csv", decimal="."), tmp_path), "a")["numbers"]


def test_a_separator_that_is_taken_back_is_found_by_itself_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    desk = Desk()
    for separator, names in ((None, ["a", "b"]), ("|", ["a,b"]), (None, ["a", "b"]), (",", ["a", "b"])):
        table = desk.on_table(TableAt(Data(path="t.csv", separator=separator), tmp_path))
        assert [column["name"] for column in table["columns"]] == names


def test_a_table_that_changes_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    TABLE[:10].write_parquet(tmp_path / "parts" / "a.parquet")
    desk, table = Desk(), TableAt(Data(path="parts"), tmp_path)
    assert desk.on_table(table)["rows"] == 10
    TABLE[10:15].write_parquet(tmp_path / "parts" / "b.parquet")
    assert desk.on_table(table)["rows"] == 15


@pytest.mark.skipif(programs() is None, reason=REASON)
def test_a_table_of_a_server_is_read_again_when_it_is_opened_again(
    tmp_path: Path, studio_in: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "s3")
    bin_ = programs()
    assert bin_ is not None
    with running(bin_) as server:
        some = "INSERT INTO ages SELECT i % 30, 'F' FROM generate_series(1, 60) i"
        server.sql("CREATE TABLE ages (age int, sex text)", some)
        studio = studio_in(tmp_path)
        studio.enter()
        state = studio.ask("POST", "open", {"address": server.address("table=ages")})
        assert state["table"]["rows"] == 60
        told = Path(f"/proc/{studio.process.pid}/task/{studio.process.pid}/children").read_text().split()
        assert all(b"PGPASSWORD=s3" in Path(f"/proc/{child}/environ").read_bytes().split(b"\0") for child in told)
        server.sql("INSERT INTO ages VALUES (5, 'F')")
        assert studio.ask("POST", "open", {"path": "policy.yaml"})["table"]["rows"] == 61


def test_only_for_a_table_on_a_server_children_are_told_its_password_and_no_other_secret() -> None:
    given = {"PGPASSWORD": "a", "GITHUB_TOKEN": "b", "AWS_SECRET_ACCESS_KEY": "c", "PATH": "d", "MY_PASSWORD": "e"}
    assert environment(given) == {"PATH": "d"}
    assert environment(given, server=True) == {"PGPASSWORD": "a", "PATH": "d"}


@pytest.mark.parametrize("suffix", TABLES)
def test_the_release_of_every_kind_of_table_is_one_that_kveil_writes(suffix: str) -> None:
    kind_of(Path(f"t{suffix}"))
    check_written(Path(f"release{release_suffix(f't{suffix}')}"))


def test_a_suffix_that_is_not_listed_is_none_that_kveil_reads() -> None:
    for suffix in (".zip", ".json", ".parquet.gz", ""):
        with pytest.raises(KveilError):
            kind_of(Path(f"t{suffix}"))
        assert suffix not in TABLES
    assert release_suffix("visits") == ".parquet"
    assert release_suffix("postgresql://host/db?table=t") == ".csv"
