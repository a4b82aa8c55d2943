"""Batches that a release was applied to: private, whole or not there, and the same records known again."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import polars as pl
import pytest

from kveil.archive import Archive, check_archive
from kveil.archive.batch_files import applying, asked_hash, check_same, same_batch
from kveil.errors import DataError, FileError
from kveil.files import Source
from small_archives import archived
from support import ROWS, run, write_rows

NEW = [["Zoe", "33", "F", "flu", "w1"], ["Yan", "64", "M", "gout", "w2"]]


@pytest.fixture
def applied(small: Path) -> Path:
    """Return an archive with a release and a batch that it was applied to."""
    folder = archived(small)
    write_rows(small / "new.csv", NEW)
    done = run("apply", folder, "--input", small / "new.csv", "-o", small / "a.csv", "-q")
    assert done.code == 0, done.err
    return folder


def test_a_batch_says_who_each_row_is_and_names_nobody(applied: Path) -> None:
    kept = Archive.open(applied)
    (batch,) = kept.releases()[0].batches
    assert sorted(batch.people) == sorted(kept.hashes(pl.Series([row[0] for row in NEW])))
    assert batch.counts == {"input": 2, "released": 2, "suppressed": 0}
    assert batch.shown.frame["age"].to_list() == pl.read_csv(applied.parent / "a.csv")["age"].to_list()
    assert stat.S_IMODE((applied / "batch-0001.zip").stat().st_mode) == 0o600
    with zipfile.ZipFile(applied / "batch-0001.zip") as file:
        assert set(file.namelist()) == {"manifest.json", "release.parquet", "people"}
        parts = [file.read(name) for name in file.namelist()]
    assert not any(row[0].encode() in part for part in parts for row in [*ROWS, *NEW])


def test_what_was_lost_or_changed_of_batches_is_found(applied: Path) -> None:
    file, ledger = applied / "batch-0001.zip", applied / "archive.json"
    raw, text = file.read_bytes(), ledger.read_text()
    assert check_archive(applied) == []
    file.write_bytes(raw[:-9])
    assert "batch 1 of kept was changed" in check_archive(applied)[0]
    file.unlink()
    assert "batch 1 of kept is lost" in check_archive(applied)[0]
    file.write_bytes(raw)
    file.chmod(0o600)
    ledger.write_text(json.dumps({key: value for key, value in json.loads(text).items() if key != "batches"}))
    assert check_archive(applied) == []  # as a run leaves it that was killed before it listed the batch
    assert len(Archive.open(applied).listed_batches) == 1
    file.rename(applied / "batch-0002.zip")
    assert "is not listed" in check_archive(applied)[0]
    ledger.write_text(json.dumps({**json.loads(text), "batches": 7}))
    assert "batches" in check_archive(applied)[-1]


def test_a_batch_of_another_archive_does_not_follow(applied: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_rows(other / "t.csv")
    (other / "policy.yaml").write_text((applied.parent / "policy.yaml").read_text())
    foreign = archived(other)
    (foreign / "batch-0001.zip").write_bytes((applied / "batch-0001.zip").read_bytes())
    (foreign / "batch-0001.zip").chmod(0o600)
    assert "does not follow" in check_archive(foreign)[0]


def test_an_archive_without_batches_is_written_as_ever(small: Path) -> None:
    folder = archived(small)
    assert set(json.loads((folder / "archive.json").read_text())) == {"kveil-archive", "private", "key", "releases"}
    assert Archive.open(folder).releases()[0].batches == ()


def test_batches_outlive_a_release_that_is_added(applied: Path) -> None:
    archived(applied.parent)
    first, second = Archive.open(applied).releases()
    assert (len(first.batches), len(second.batches)) == (1, 0)


def test_the_same_records_are_known_by_a_keyed_hash(applied: Path) -> None:
    source = Source("t", pl.DataFrame({"a": ["x", None], "b": ["", "y"]}), "frame")
    other = Source("t", pl.DataFrame({"a": ["x", ""], "b": ["", "y"]}), "frame")
    hashes = {
        asked_hash(source, ["a", "b"], b"k" * 32, "1 False"),
        asked_hash(other, ["a", "b"], b"k" * 32, "1 False"),
        asked_hash(source, ["a", "b"], b"l" * 32, "1 False"),
        asked_hash(source, ["a", "b"], b"k" * 32, "1 True"),
        asked_hash(source, ["b", "a"], b"k" * 32, "1 False"),
    }
    assert len(hashes) == 5
    (batch,) = Archive.open(applied).releases()[0].batches
    assert same_batch([batch], batch.asked) is batch
    assert same_batch([batch], "another") is None
    check_same(batch, batch.shown.frame, "kept")
    with pytest.raises(DataError, match="batch-0001"):
        check_same(batch, batch.shown.frame.reverse(), "kept")


def test_one_run_at_a_time_applies(applied: Path) -> None:
    with applying(applied), pytest.raises(FileError, match="another run"), applying(applied):
        pass
