"""Files appear together, whole or not at all."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files.reading import read_table
from kveil.files.writing import Outputs, as_json, default_release, joined_items, write_error, write_table

FRAME = pl.DataFrame({"a": ["x", "", None], "n": [1, 2, 3]})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_seen_before_all_of_it_is(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"old")
    with Outputs() as outputs:
        for name in ("a", "b"):
            outputs.write(outputs.open(tmp_path / name), name.encode())
        assert names(tmp_path) == ["b"]
        assert (tmp_path / "b").read_bytes() == b"old"
        outputs.commit()
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == {"a": b"a", "b": b"b"}


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyboardInterrupt])
def test_where_the_last_step_fails_everything_is_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "b").write_bytes(b"old")

    def fail() -> None:
        raise error

    with Outputs() as outputs:
        for name in ("a", "b"):
            outputs.write(outputs.open(tmp_path / name), name.encode())
        with pytest.raises(FileError if error is OSError else error):
            outputs.commit(last=fail)
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_bytes() == b"old"


def test_what_is_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.write(outputs.open(tmp_path / "a"), b"a")
    assert names(tmp_path) == []


def test_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.write(outputs.open(tmp_path / "owner.json", private=True), b"{}")
        outputs.commit()
    assert (tmp_path / "owner.json").stat().st_mode & 0o077 == 0
    with Outputs() as outputs, pytest.raises(FileError, match="this is a folder"):
        outputs.open(tmp_path)


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.parquet", "r.arrow"])
def test_a_release_is_written_with_its_hash_and_read_again(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("w+b") as file:
        digest = write_table(FRAME, file, tmp_path / name, missing="?")
    raw = (tmp_path / name).read_bytes()
    assert digest == hashlib.sha256(raw).hexdigest()
    again = read_table(tmp_path / name)
    assert again.texts("n").to_list() == ["1", "2", "3"]
    assert again.texts("a").to_list() == (["x", "", "?"] if name.startswith("r.csv") else ["x", "", None])
    second = io.BytesIO()
    write_table(FRAME, second, tmp_path / name, missing="?")
    assert second.getvalue() == raw  # no time, and nothing else that changes


def test_sets_are_joined_and_nothing_is_no_set() -> None:
    assert joined_items(pl.Series("s", [["a", "b"], [], None])).to_list() == ["a|b", None, None]


@pytest.mark.parametrize(
    ("name", "release"), [("t.csv", "t-release.csv"), ("t.CSV.gz", "t-release.CSV.gz"), ("t", "t-release.parquet")]
)
def test_a_release_goes_beside_its_table(name: str, release: str) -> None:
    assert default_release(Path("folder") / name) == Path("folder") / release


def test_errors_name_the_file_and_the_systems_reason() -> None:
    assert "r.csv cannot be written (No space left on device)" in str(
        write_error(Path("folder/r.csv"), OSError(28, "No space left on device"))
    )
    assert "(No space left on device)" in str(write_error(Path("r"), RuntimeError("secret (os error 28)")))
    assert "secret" not in str(write_error(Path("r"), RuntimeError("secret")))
    assert as_json({"ü": 1}) == b'{\n  "\xc3\xbc": 1\n}\n'
