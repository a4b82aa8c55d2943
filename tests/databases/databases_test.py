"""Tables of SQLite, DuckDB and PostgreSQL: the release that a file gives, and new tables, whole or not there."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

import kveil
from kveil.databases import Address, check_new_table, parse_place, read_database
from kveil.errors import DataError
from running_postgres import REASON, Server, programs, running
from support import HEADER, ROWS, columns_of, names_in, refused, run, run_process, write_policy, write_rows


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    found = programs()
    if found is None:
        pytest.skip(REASON)
    with running(found) as started:
        values = ", ".join(str((*row[:1], int(row[1]), *row[2:])) for row in ROWS)
        started.sql(
            "CREATE TABLE patients (name text, age int, sex char(1), diagnosis text, ward text)",
            f"INSERT INTO patients VALUES {values}",
        )
        yield started


def sqlite_file(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE patients (name TEXT, age INTEGER, sex TEXT, diagnosis TEXT, ward TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{path}?table=patients"


def duckdb_file(path: Path) -> str:
    frame = pl.DataFrame(columns_of()).with_columns(pl.col("age").cast(pl.Int64)).to_arrow()
    with duckdb.connect(path) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    return f"duckdb:///{path}?table=patients"


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the address of the table in each system, without a name of what is to be written."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        yield server.address("table=patients")
        for table in server.tables() - {"patients"}:
            server.sql(f'DROP TABLE "{table}"')
    else:
        yield (sqlite_file if request.param == "sqlite" else duckdb_file)(tmp_path / "t.db")


def other_table(address: str, name: str) -> str:
    return address.replace("table=patients", f"table={name}")


def release_of_csv(folder: Path) -> bytes:
    write_rows(folder / "t.csv")
    assert run("anonymize", folder / "policy.yaml", "--input", folder / "t.csv", "-o", folder / "csv.csv").code == 0
    return (folder / "csv.csv").read_bytes()


def test_a_database_gives_the_release_that_a_file_gives(tmp_path: Path, address: str) -> None:
    policy = write_policy(tmp_path, data={"path": address})
    owner = tmp_path / "o.json"
    done = run("anonymize", policy, "-o", tmp_path / "r.csv", "--owner", owner)
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "r.csv").read_bytes() == release_of_csv(tmp_path)
    compared = ("--release", tmp_path / "r.csv", "--original", address, "--owner", owner)
    for command in ("verify", "measure", "attack"):
        assert run(command, policy, *compared).code == 0
    assert run("check", policy).code == 0
    query = address.replace("table=patients", "query=SELECT%20*%20FROM%20patients")
    assert run("anonymize", policy, "--input", query, "-o", tmp_path / "q.csv").code == 0
    assert (tmp_path / "q.csv").read_bytes() == (tmp_path / "r.csv").read_bytes()


def test_a_release_goes_to_a_new_table_and_never_over_another(tmp_path: Path, address: str) -> None:
    policy = write_policy(tmp_path)
    target = other_table(address, "released")
    done = run(
        "anonymize", policy, "--input", address, "--output", target, "--receipt", tmp_path / "receipt.json", "--json"
    )
    assert (done.code, done.err) == (0, "")
    assert done.json["sha256"]["release"] is None
    written = read_database(parse_place(target))
    assert run("verify", policy, "--release", target).code == 0
    rows = pl.read_csv(release_of_csv(tmp_path), infer_schema=False)
    assert written.frame.select(pl.all().cast(pl.String)).sort(pl.all()).equals(rows.sort(pl.all()))
    assert json.loads((tmp_path / "receipt.json").read_text())["records"]["released"] == 8
    again = run("anonymize", policy, "--input", address, "--output", target)
    assert (
        refused(again)
        == "kveil: the table released exists already and is not replaced; name another, or drop it first.\n"
    )
    same = run("anonymize", policy, "--input", address, "--output", address)
    assert "exists already" in refused(same)
    assert "not to a query" in refused(
        run("anonymize", policy, "--input", address, "-o", target.replace("table=", "query="))
    )


def test_what_is_not_there_is_told(tmp_path: Path, address: str) -> None:
    policy = write_policy(tmp_path)
    absent = run("anonymize", policy, "--input", other_table(address, "nothing"), "-o", tmp_path / "r.csv")
    assert "the table nothing is not in the database; check its name" in refused(absent)
    wrong = address.replace("table=patients", "query=SELEKT")
    told = refused(run("anonymize", policy, "--input", wrong, "-o", tmp_path / "r.csv"))
    assert told.startswith("kveil: the query could not be read")
    assert "SELEKT" not in told
    assert "give --output" in refused(run("anonymize", policy, "--input", address))


KILLED = """
import kveil.databases.writing as w, os, signal
write = w.StagedTable.write
w.StagedTable.write = lambda *a: (write(*a), os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_kill_in_the_middle_of_the_write_leaves_no_table(tmp_path: Path, address: str) -> None:
    policy = write_policy(tmp_path)
    before = names_in(tmp_path)
    target, receipt = other_table(address, "released"), tmp_path / "receipt.json"
    arguments = ("anonymize", policy, "--input", address, "--output", target, "--receipt", receipt)
    assert run_process(*arguments, before=KILLED).code == -9
    assert {name.split(".db")[0] for name in names_in(tmp_path)} == {name.split(".db")[0] for name in before}
    check_new_table(table_of(target))  # there is no such table, and the database is sound
    assert run(*arguments).code == 0
    assert read_database(table_of(target)).rows == 8


def table_of(address: str) -> Address:
    place = parse_place(address)
    assert isinstance(place, Address)
    return place


def test_a_server_that_goes_away_before_the_last_step_takes_everything_back(tmp_path: Path, server: Server) -> None:
    policy = write_policy(tmp_path)
    (tmp_path / "receipt.json").write_text("old")
    target = server.address("table=released")
    before = (
        "import kveil.databases.writing as w, adbc_driver_postgresql.dbapi as d\n"
        "commit = w.StagedTable.commit\n"
        "def lost(self):\n"
        "    with d.connect(self.address.server) as other, other.cursor() as cursor:\n"
        "        cursor.execute('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <>'\n"
        "                       ' pg_backend_pid()'\n"
        "                       \" AND backend_type = 'client backend' AND state = 'idle in transaction'\")\n"
        "        cursor.fetchall()\n"
        "    commit(self)\n"
        "w.StagedTable.commit = lost\n"
    )
    arguments = ("anonymize", policy, "--input", server.address("table=patients"), "--output", target)
    done = run_process(*arguments, "--receipt", tmp_path / "receipt.json", before=before)
    assert "the table released could not be written" in refused(done)
    assert (tmp_path / "receipt.json").read_text() == "old"
    assert server.tables() == {"patients"}


def test_types_of_postgresql_are_read_as_a_reader_sees_them(server: Server) -> None:
    source = read_database(
        table_of(
            server.address(
                "query=SELECT 3.50::numeric(6,2) n, 7::numeric m, true b, date '2020-01-02' d, 0.1::real f, "
                "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid u, 'NaN'::numeric x, 'é' t, NULL::int i".replace(
                    " ", "%20"
                )
            )
        )
    )
    assert [source.texts(name)[0] for name in source.frame.columns] == [
        "3.5", "7", "true", "2020-01-02", "0.1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None, "é", None,
    ]  # fmt: skip


def test_a_query_cannot_change_the_database(server: Server) -> None:
    with pytest.raises(DataError, match=r"^the query could not be read \(SQLSTATE 25006\)"):
        read_database(table_of(server.address("query=DELETE%20FROM%20patients%20RETURNING%20*")))
    assert server.sql("SELECT count(*) FROM patients") == [(9,)]


def test_a_schema_and_rights_are_told(tmp_path: Path, server: Server) -> None:
    server.sql("CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT * FROM patients", "CREATE ROLE stranger LOGIN")
    try:
        assert read_database(table_of(server.address("table=s.t"))).rows == 9
        policy = write_policy(tmp_path)
        stranger = server.address("table=patients", user="stranger")
        told = refused(run("anonymize", policy, "--input", stranger, "-o", tmp_path / "r.csv"))
        assert told == "kveil: the table patients: the database refuses it; ask for the right to read it.\n"
        done = run(
            "anonymize", policy, "--input", server.address("table=s.t"), "-o", server.address("table=s.released")
        )
        assert done.code == 0
        assert "exists already" in refused(
            run("anonymize", policy, "--input", server.address("table=s.t"), "-o", server.address("table=s.released"))
        )
    finally:
        server.sql("DROP SCHEMA s CASCADE", "DROP ROLE stranger")


def test_a_password_is_refused_and_never_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = write_policy(tmp_path)
    for address in (
        "postgresql://ann:Geheim9@localhost/db?table=t",
        "postgresql://localhost/db?password=Geheim9&table=t",
        "postgres://ann:Geheim9@localhost/db?query=SELECT",
    ):
        told = refused(run("anonymize", policy, "--input", address, "-o", tmp_path / "r.csv"))
        assert "Geheim9" not in told
        assert "set PGPASSWORD" in told
        assert "PGPASSWORD" in refused(run("anonymize", policy, "--input", tmp_path / "t.csv", "-o", address))
    unreachable = "postgresql://ann@/db?host=/nowhere&table=t"
    monkeypatch.setenv("PGPASSWORD", "Geheim9")
    told = run("anonymize", policy, "--input", unreachable, "-o", tmp_path / "r.csv")
    assert "the PostgreSQL server cannot be reached" in refused(told)
    assert "Geheim9" not in told.err


def test_the_password_of_the_environment_stands_in_nothing_that_is_written(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "Geheim9")
    policy = write_policy(tmp_path, data={"path": server.address("table=patients")})
    written = {name: tmp_path / f"{name}.out" for name in ("receipt", "account", "owner", "report")}
    options = [part for name, path in written.items() for part in (f"--{name}", path)]
    done = run("anonymize", policy, "-o", tmp_path / "r.csv", *options, "--json")
    assert done.code == 0
    for text in (done.out, done.err, *(path.read_text() for path in written.values())):
        assert "Geheim9" not in text
        assert str(server.folder) not in text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mysql://host/db?table=t", "mysql:// is no database that kveil knows"),
        ("sqlite:///t.db", "names one table or one query"),
        ("sqlite:///t.db?table=a&query=b", "names one table or one query"),
        ("sqlite://t.db?table=a", "has the file behind three slashes"),
        ("sqlite:///t.db?table=a&mode=rw", "takes table or query, not mode"),
    ],
)
def test_an_address_that_is_none_is_told(text: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        parse_place(text)


def test_files_of_a_database_start_from_the_policys_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_file(tmp_path / "t.db")
    policy = write_policy(tmp_path, data={"path": "sqlite:///t.db?table=patients"})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("anonymize", policy, "-o", "r.csv").code == 0
    assert run("init", "sqlite:///../t.db?table=patients", "-o", tmp_path / "suggested.yaml").code == 0
    assert kveil.Policy.load(tmp_path / "suggested.yaml").data.path == "sqlite:///t.db?table=patients"
    assert "cannot be read (there is no such file)" in refused(run("init", "sqlite:///no.db?table=t"))
    (tmp_path / "no.db").write_text("no database at all, but long enough to have a header of its own")
    for system in ("sqlite", "duckdb"):
        assert "no.db" in refused(run("init", f"{system}:///../no.db?table=t")) or system == "sqlite"


def test_columns_of_sqlite_whose_values_have_several_types_are_texts(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, i) for i in range(2000)] + [("x", 1.5)])
    connection.close()
    source = read_database(table_of(f"sqlite:///{tmp_path}/t.db?table=t"))
    assert source.texts("a").to_list()[-2:] == ["1999", "x"]
    assert source.texts("b").to_list()[-2:] == ["1999", "1.5"]


def test_a_new_database_file_holds_the_release_and_nothing_else(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    write_rows(tmp_path / "t.csv")
    for system in ("sqlite", "duckdb"):
        target = tmp_path / f"r.{system}"
        done = run("anonymize", policy, "--input", tmp_path / "t.csv", "-o", f"{system}:///{target}?table=released")
        assert (done.code, done.err) == (0, "")
        raw = target.read_bytes()
        for planted in ("Ivy", "rare", "w9", "Ann"):
            assert planted.encode() not in raw
        assert read_database(table_of(f"{system}:///{target}?table=released")).frame.columns == HEADER[1:]
        missing = tmp_path / "no" / "r.db"
        told = refused(run("anonymize", policy, "--input", tmp_path / "t.csv", "-o", f"{system}:///{missing}?table=t"))
        assert "its folder is not there" in told


@pytest.mark.parametrize(
    ("library", "address", "what"),
    [
        (
            "adbc_driver_postgresql",
            "postgresql:///db?table=t",
            "PostgreSQL's tables need the library adbc-driver-postgresql",
        ),
        ("adbc_driver_sqlite", "sqlite:///t.db?table=t", "SQLite's tables need the library adbc-driver-sqlite"),
        ("adbc_driver_duckdb", "duckdb:///t.db?table=t", "DuckDB's tables need the library duckdb"),
    ],
)
def test_a_driver_that_is_not_there_is_named_with_its_install_line(
    library: str, address: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(DataError) as told:
        read_database(table_of(address))
    assert str(told.value) == f"{what}, which is not installed; install it with pip install 'kveil[databases]'."
