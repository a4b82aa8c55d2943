"""A release goes to a new table, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from kveil.databases import check_new_table, parse_place, read_database
from made_databases import other_table, release_of_csv, table_of
from running_postgres import Server
from support import HEADER, names_in, refused, run, run_process, write_policy, write_rows

KILLED = """
import kveil.databases.writing as w, os, signal
write = w.StagedTable.write
w.StagedTable.write = lambda *a: (write(*a), os.kill(os.getpid(), signal.SIGKILL))
"""


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
