"""Archives: private, whole or not there, with no word about anybody, and whatever is lost or changed is found."""

import json
import os
import shutil
import signal
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.archive import Archive, check_archive, key_texts, keyed_hashes, open_archives
from kveil.errors import DataError
from kveil.files import Source
from support import ROLES, ROWS, names_in, refused, run, run_process, write_policy, write_rows

KEYED = {"path": "t.csv", "key": "name"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data=KEYED)
    return tmp_path


def archived(folder: Path, *more: object, archive: str = "kept") -> Path:
    done = run("anonymize", folder / "policy.yaml", "-o", folder / "r.csv", "--archive", folder / archive, "-q", *more)
    assert done.code == 0, done.err
    return folder / archive


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_archive_is_private_and_holds_what_later_releases_need(small: Path) -> None:
    folder = archived(small)
    assert mode(folder) == 0o700
    assert names_in(folder) == {"archive.json", "key", "release-0001.zip"}
    assert {mode(path) for path in folder.iterdir()} == {0o600}
    with zipfile.ZipFile(folder / "release-0001.zip") as file:
        assert set(file.namelist()) == {
            "manifest.json", "policy.yaml", "release.csv", "receipt.json", "account.json", "owner.json", "people"
        }  # fmt: skip
        assert file.read("release.csv") == (small / "r.csv").read_bytes()


def test_nobodys_name_is_in_an_archive(small: Path) -> None:
    folder = archived(small)
    names = [row[0].encode() for row in ROWS]
    with zipfile.ZipFile(folder / "release-0001.zip") as file:
        parts = [file.read(name) for name in file.namelist()]
    for part in [*parts, (folder / "archive.json").read_bytes(), (folder / "key").read_bytes()]:
        assert not any(name in part for name in names)
    kept = Archive.open(folder)
    assert kept.key.hex() not in repr(kept)
    unkeyed = {keyed_hashes(pl.Series([row[0]]), bytes(32))[0] for row in ROWS}
    assert unkeyed.isdisjoint(kept.releases()[0].people.to_list())


def test_an_archived_release_says_who_each_row_is(small: Path) -> None:
    folder = archived(small, "--owner", small / "owner.json")
    kept = Archive.open(folder)
    rows = json.loads((small / "owner.json").read_text())["rows"]
    assert kept.releases()[0].people.to_list() == kept.hashes(pl.Series([ROWS[row - 1][0] for row in rows])).to_list()


def test_a_policy_with_hierarchy_files_is_whole_in_an_archive(small: Path) -> None:
    (small / "sex.csv").write_text("F;anyone\nM;anyone\n")
    write_policy(small, {**ROLES, "sex": {"role": "quasi-identifier", "hierarchy": "sex.csv"}}, data=KEYED)
    folder = archived(small)
    (small / "sex.csv").unlink()
    policy = Archive.open(folder).releases()[0].policy
    lines = policy.fixed_lines("sex")
    assert lines is not None
    assert lines.lines == (("F", "anyone"), ("M", "anyone"))
    assert policy.data.path is None


def test_releases_follow_one_another(small: Path) -> None:
    folder = archived(small)
    archived(small)
    assert [r.number for r in Archive.open(folder).releases()] == [1, 2]
    listed = run("archive", "list", folder, "--json").json
    assert [(r["number"], r["released"], r["suppressed"]) for r in listed["releases"]] == [(1, 8, 1), (2, 8, 1)]
    assert "Release 1 of kept" in run("archive", "show", folder, "--number", "1").out
    assert run("archive", "show", folder).out.startswith("Release 2 of kept")
    refused(run("archive", "show", folder, "--number", "3"), "2 releases")
    assert run("archive", "check", folder).code == 0
    assert "NCP" in run("archive", "list", folder).out


def _flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def _swap(folder: Path) -> None:
    one, two = folder / "release-0001.zip", folder / "release-0002.zip"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "no key": (lambda f: (f / "key").unlink(), "lost its key"),
    "another key": (lambda f: (f / "key").write_text("00" * 32 + "\n"), "key of kept was changed"),
    "no ledger": (lambda f: (f / "archive.json").unlink(), "archive.json"),
    "a changed ledger": (lambda f: _flip(f / "archive.json"), "kept"),
    "no first release": (lambda f: (f / "release-0001.zip").unlink(), "release 1 of kept is lost"),
    "no last release": (lambda f: (f / "release-0002.zip").unlink(), "release 2 of kept is lost"),
    "a changed release": (lambda f: _flip(f / "release-0001.zip"), "release 1 of kept was changed"),
    "releases in another order": (_swap, "release 1 of kept was changed"),
    "a stranger": (lambda f: (f / "notes.txt").write_text("x"), "notes.txt"),
    "a folder that others read": (lambda f: f.chmod(0o755), "chmod 700"),
    "a file that others read": (lambda f: (f / "key").chmod(0o644), "chmod 600"),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_is_lost_or_changed_is_found(small: Path, harm: str) -> None:
    folder = archived(small)
    archived(small)
    do, told = HARM[harm]
    do(folder)
    checked = run("archive", "check", folder, "--json")
    assert checked.code == 1
    assert any(told in finding for finding in checked.json["findings"]), checked.json
    with pytest.raises(DataError, match=r"."):
        Archive.open(folder)
    before = names_in(folder)
    again = run("anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", folder, "-q")
    assert again.code == 2
    assert names_in(folder) == before


def test_a_release_that_a_killed_run_did_not_list_counts(small: Path) -> None:
    folder = archived(small)
    ledger = (folder / "archive.json").read_bytes()
    archived(small)
    (folder / "archive.json").write_bytes(ledger)
    assert check_archive(folder) == []
    assert len(Archive.open(folder).listed) == 2
    archived(small)
    assert len(Archive.open(folder).listed) == 3
    assert check_archive(folder) == []


KILL = "import os, signal\nSTOP = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
BEFORE_NAMES = "import kveil.files.writing as f; f._Staged.give_name = lambda *a: STOP()"
BETWEEN_NAMES = """
import kveil.files.writing as f
give, seen = f._Staged.give_name, []
def stop(self):
    give(self)
    seen.append(self.target.name)
    if seen[-1] == {name!r} and len([one for one in seen if one == {name!r}]) == {times}:
        STOP()
f._Staged.give_name = stop
"""


def test_a_kill_before_names_are_given_leaves_an_empty_folder(small: Path) -> None:
    arguments = "anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", small / "kept"
    assert run_process(*arguments, before=KILL + BEFORE_NAMES).code == -signal.SIGKILL
    assert names_in(small / "kept") == set()
    assert check_archive(archived(small)) == []


@pytest.mark.parametrize(("name", "times"), [("key", 1), ("archive.json", 1), ("release-0001.zip", 1)])
def test_a_kill_between_names_leaves_no_half_of_a_release(small: Path, name: str, times: int) -> None:
    arguments = "anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", small / "kept"
    before = KILL + BETWEEN_NAMES.format(name=name, times=times)
    assert run_process(*arguments, before=before).code == -signal.SIGKILL
    assert not (small / "r.csv").exists()
    assert check_archive(archived(small)) == []


def test_a_run_that_fails_leaves_no_archive(small: Path) -> None:
    write_policy(small, k=9, limit=0, data=KEYED)
    failed = run("anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", small / "kept")
    assert failed.code == 1
    assert names_in(small) == {"policy.yaml", "t.csv"}


def test_a_folder_with_other_files_is_no_archive(small: Path) -> None:
    (small / "other").mkdir(mode=0o700)
    (small / "other" / "thing").write_text("x")
    (small / "open").mkdir(mode=0o755)
    (small / "open").chmod(0o755)
    to = "anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive"
    refused(run(*to, small / "other"), "no archive")
    refused(run(*to, small / "open"), "chmod 700")
    refused(run(*to, small / "t.csv"), "no folder")
    refused(run(*to, small / "not" / "there"), "cannot be made")
    refused(run("archive", "check", small / "other"), "no archive")


def test_archives_with_different_keys_do_not_know_the_same_people(small: Path) -> None:
    one, two = archived(small, archive="one"), archived(small, archive="two")
    with pytest.raises(DataError, match="different keys"):
        open_archives([one, two])
    shutil.copytree(one, small / "copy")
    assert len(open_archives([one, small / "copy"])) == 2
    assert len(open_archives([one, one])) == 1


def test_somebody_else_who_writes_an_archive_is_waited_for(small: Path) -> None:
    folder = archived(small)
    lock = os.open(folder, os.O_RDONLY)
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        again = run("anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", folder)
        refused(again, "another run")
    finally:
        os.close(lock)


PEOPLE = {"who": "individual", "id": "identifier", "age": "quasi-identifier"}


@pytest.mark.parametrize(
    ("roles", "key", "rows", "told"),
    [
        ({**PEOPLE, "who": "identifier"}, None, [("a", "1")], "data.key"),
        ({**PEOPLE, "who": "identifier"}, "id", [("a", "x-7"), ("b", "x-7")], "1 row repeat"),
        ({**PEOPLE, "who": "identifier"}, "id", [("a", ""), ("b", "x-7")], "missing in 1 record"),
        (PEOPLE, "id", [("a", "x-7"), ("a", "x-8")], "differs within 1 person"),
        (PEOPLE, "id", [("a", "x-7"), ("b", "x-7")], "1 row repeat"),
    ],
)
def test_who_is_who_must_be_told_and_no_value_is_in_the_message(
    roles: dict[str, str], key: str | None, rows: list[tuple[str, str]], told: str
) -> None:
    policy = kveil.Policy.model_validate(
        {
            "attributes": {name: {"role": role} for name, role in roles.items()},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "data": {} if key is None else {"key": key},
        }
    )
    frame = pl.DataFrame(rows, schema=["who", "id"], orient="row").with_columns(pl.lit("3").alias("age"))
    with pytest.raises(kveil.KveilError, match=told) as error:
        key_texts(Source("t", frame, "frame"), policy)
    assert "x-7" not in str(error.value)


def test_people_with_several_records_are_known_once() -> None:
    policy = kveil.Policy.model_validate(
        {
            "attributes": {name: {"role": role} for name, role in PEOPLE.items()},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    rows = [("b", "1", "3"), ("a", "2", "3"), ("b", "1", "3")]
    source = Source("t", pl.DataFrame(rows, schema=["who", "id", "age"], orient="row"), "frame")
    assert key_texts(source, policy).to_list() == ["b", "a"]


def test_a_key_that_would_be_released_is_refused(small: Path) -> None:
    write_policy(small, data={"path": "t.csv", "key": "ward"})
    refused(run("check", small / "policy.yaml"), "data.key", "insensitive")
    write_policy(small, data={"path": "t.csv", "key": "nmae"})
    refused(run("check", small / "policy.yaml"), "did you mean 'name'")


def test_a_policy_that_does_not_say_who_is_who_is_refused_before_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xff no table")
    write_policy(tmp_path, data={"path": "t.csv"})
    made = run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", "--archive", tmp_path / "kept")
    refused(made, "does not say who somebody is")
    assert names_in(tmp_path) == {"policy.yaml", "t.csv"}
