"""Archives: private, whole or not there, with no word about anybody, and whatever is lost or changed is found."""

import json
import os
import shutil
import signal
import stat
import zipfile
from pathlib import Path

import polars as pl
import pytest

from kveil.archive import Archive, check_archive, keyed_hashes, open_archives
from kveil.errors import DataError
from small_archives import KEYED, archived
from support import ROLES, ROWS, names_in, refused, run, run_process, write_policy


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
