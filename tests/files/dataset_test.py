"""A folder of Parquet files, or a pattern of them, is one table."""

from pathlib import Path

import polars as pl
import pytest

from kveil.errors import DataError, FileError
from kveil.files import read_table
from support import columns_of, names_in, run, write_policy, write_rows


def test_a_folder_and_a_pattern_give_the_release_that_one_file_gives(tmp_path: Path) -> None:
    table = pl.DataFrame(columns_of())
    write_policy(tmp_path)
    write_rows(tmp_path / "t.csv")
    (tmp_path / "t").mkdir()
    for number in range(3):
        table[number * 3 : number * 3 + 3].write_parquet(tmp_path / "t" / f"part-{number}.parquet")
    (tmp_path / "t" / "_SUCCESS").touch()
    for source in ("t.csv", "t", "t/*.parquet"):
        done = run("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / source, "-o", tmp_path / "r.csv")
        assert (done.code, done.err) == (0, "")
        (tmp_path / "r.csv").rename(tmp_path / f"{source.replace('/', '-').replace('*', 'all')}.release")
    releases = [(tmp_path / f"{name}.release").read_bytes() for name in ("t.csv", "t", "t-all.parquet")]
    assert len(set(releases)) == 1
    assert releases[0].count(b"\n") == 9


def test_the_release_of_a_folder_goes_beside_it_and_that_of_a_pattern_wants_a_name(tmp_path: Path) -> None:
    write_policy(tmp_path)
    (tmp_path / "t").mkdir()
    pl.DataFrame(columns_of()).write_parquet(tmp_path / "t" / "all.parquet")
    assert run("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / "t").code == 0
    assert names_in(tmp_path) == {"policy.yaml", "t", "t-release.parquet"}
    done = run("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / "t" / "*.parquet")
    assert done.code == 2
    assert "give --output" in done.err
    over = run("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / "t", "-o", tmp_path / "t" / "all.parquet")
    assert over.code == 2
    assert "different files" in over.err


def test_folders_named_after_values_are_columns_of_texts(tmp_path: Path) -> None:
    for folder, value in (("zip=02138", 1), ("zip=__HIVE_DEFAULT_PARTITION__", 2), ("zip=a%2Fb", 3)):
        (tmp_path / "t" / folder).mkdir(parents=True)
        pl.DataFrame({"n": [value]}).write_parquet(tmp_path / "t" / folder / "0.parquet")
    frame = read_table(tmp_path / "t").frame.sort("n")
    assert frame.columns == ["n", "zip"]
    assert frame["zip"].to_list() == ["02138", None, "a/b"]


def test_files_that_do_not_fit_together_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    with pytest.raises(FileError, match=r"^t: there is no Parquet file in the folder; check the path\.$"):
        read_table(folder)
    pl.DataFrame({"a": [1], "b": [2]}).write_parquet(folder / "0.parquet")
    pl.DataFrame({"b": [1.5], "a": [3]}).write_parquet(folder / "1.parquet")  # another order is no harm
    assert read_table(folder).frame.rows() == [(1, 2.0), (3, 1.5)]
    pl.DataFrame({"a": ["x"], "b": [2]}).write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"^t: the files disagree on the type of a; "):
        read_table(folder)
    pl.DataFrame({"a": [1]}).write_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"^t: 2\.parquet has other columns than 0\.parquet; give all 3 files the same"):
        read_table(folder)
    (folder / "2.parquet").write_bytes(b"PAR1 secret")
    with pytest.raises(FileError, match=r"^2\.parquet: the file is not a whole Parquet file; it may be cut off; "):
        read_table(folder)
    (folder / "2.csv").touch()
    with pytest.raises(FileError, match=r"^\*: the pattern also names 2\.csv; only Parquet files"):
        read_table(folder / "*")
