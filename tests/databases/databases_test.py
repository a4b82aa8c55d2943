"""Tables of SQLite, DuckDB and PostgreSQL: the release that a file gives, and new tables, whole or not there."""

from pathlib import Path

from made_databases import release_of_csv
from support import run, write_policy


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
