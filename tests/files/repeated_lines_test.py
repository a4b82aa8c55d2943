"""Lines that repeat are counted: the same cells, as often, as reading all of the file gives; or nothing is said."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.errors import KveilError
from kveil.files import FileLayout, look_beside, read_repeated, read_table, repeated_lines

PARTS = ["a,b", "c,d", "é,*", ",", "e,f,g", "h", "", '"i",j', "k,l\r", "m\x1f,n", " o,p ", "\ufeffq,r", "s,\t"]


def written(folder: Path, text: str) -> Path:
    path = folder / "t.csv"
    path.write_bytes(text.encode())
    return path


def counted(path: Path) -> Counter[tuple[str, ...]] | None:
    source = read_repeated(path, FileLayout(), columns=("x", "y"), hashed=True)
    if source is None:
        return None
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source.size == path.stat().st_size
    return Counter({row: int(n) for row, n in zip(source.frame.iter_rows(), source.times, strict=True)})


@given(
    lines=st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 9)), max_size=8),
    end=st.sampled_from(["\n", "", "\n\n"]),
    block=st.sampled_from([1, 7, 64, 1 << 20]),
)
def test_counted_lines_are_those_of_the_whole_file(
    lines: list[tuple[str, int]], end: str, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "\n".join(["x,y", *(line for line, number in lines for _ in range(number))]) + end
    path = written(tmp_path_factory.mktemp("lines"), text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated_lines, "BLOCK", block)
        found = counted(path)
    if found is None:
        return
    whole = read_table(path, columns=("x", "y"))  # which does not fail where lines were counted
    assert found == Counter(whole.frame.iter_rows())
    source = read_repeated(path, FileLayout(), columns=("x", "y"))
    if source is not None:
        assert look_beside(path, source, "") == look_beside(path, whole, "")


def test_a_release_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n" + "a,b\n" * 5 + "c,d\n" * 7 + "a,b\n" * 4)
    assert counted(path) == {("a", "b"): 9, ("c", "d"): 7}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x,y\n",
        "x,y\n" + "a,b\n" * 8 + "a,b",  # no line end at the end
        "x,y\n" + 'a,"b"\n' * 8,
        "x,y\n" + "a,b\r\n" * 8,
        "x,y\n" + "a,b\n" * 8 + "\n",
        "x,y\n\n" + "a,b\n" * 8,
        "x,y\n" + "a,b,c\n" * 8,
        "x\n" + "a\n" * 8,
        "\ufeffx,y\n" + "a,b\n" * 8,
        "x,y\n" + "".join(f"{i},b\n" for i in range(100)),  # nothing repeats
    ],
)
def test_what_needs_a_look_at_all_of_it_is_not_counted(text: str, tmp_path: Path) -> None:
    assert counted(written(tmp_path, text)) is None


def test_bytes_that_are_no_utf8_are_left_to_the_reader_that_says_where(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n" + b"a,\xe9\n" * 8)
    assert counted(path) is None
    with pytest.raises(KveilError, match="line 2 is not UTF-8"):
        read_table(path)


def test_packed_files_and_files_that_are_not_there_are_not_counted(tmp_path: Path) -> None:
    assert read_repeated(tmp_path / "t.csv.gz", FileLayout(), columns=()) is None
    assert read_repeated(tmp_path / "t.csv", FileLayout(), columns=()) is None


def test_a_text_for_missing_that_needs_quotes_is_looked_at_in_the_whole_file(tmp_path: Path) -> None:
    path = written(tmp_path, "x,y\n" + "a,b\n" * 8)
    source = read_repeated(path, FileLayout(), columns=())
    assert source is not None
    assert look_beside(path, source, "no, value") == look_beside(path, read_table(path), "no, value")
    assert source.frame.dtypes == [pl.String, pl.String]
