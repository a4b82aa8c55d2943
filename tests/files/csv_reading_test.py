"""A CSV's records as columns of texts, beside Python's own reader."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.errors import DataError, FileError
from kveil.files import FileLayout
from kveil.files.csv_reading import count_byte, read_csv
from strategies import examples

CELLS = st.text('ab,;"\n 1.', max_size=4)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=6), st.sampled_from(",;\t|"))
@examples(80)
def test_what_was_written_is_read_again(rows: list[list[str]], separator: str) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows([["x", "y"], *rows])
    frame, found = read_csv(out.getvalue().encode(), "t.csv", FileLayout(), frozenset({"x", "y"}))
    assert found == separator
    assert frame.columns == ["x", "y"]
    assert [list(row) for row in frame.iter_rows()] == rows


@pytest.mark.parametrize(
    ("text", "separator"), [("a,b;c,d\n1,2;3,4\n", ","), ("a;b\n1,5;2\n", ";"), ("a b\n1 2\n", " "), ("a\n1\n", ",")]
)
def test_the_separator_is_found_in_the_header(text: str, separator: str) -> None:
    assert read_csv(text.encode(), "t.csv", FileLayout(), frozenset())[1] == separator


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty"),
        ("\na,b\n", "line 1 is blank"),
        ("a,b\n1,2\n3\n", "line 3 has 1 field, the header has 2"),
        ("a,b\n1,2,3\n", "line 2 has 3 fields"),
        ('a,b\n1,"2\n', "cannot be read as CSV"),
        ("a  b\n1  2\n", "separated by several blanks"),
    ],
)
def test_a_file_that_is_no_table_is_told_by_its_line(text: str, sentence: str) -> None:
    with pytest.raises(FileError) as caught:
        read_csv(text.encode(), "t.csv", FileLayout(), frozenset())
    assert sentence in str(caught.value)


def test_names_that_repeat_are_told_without_quoting_a_record() -> None:
    with pytest.raises(DataError, match="names 'a' more than once"):
        read_csv(b"a,a,b\n", "t.csv", FileLayout(), frozenset({"b"}))
    with pytest.raises(DataError, match="columns 1 and 2") as caught:
        read_csv(b"Ann,Ann,31\n", "t.csv", FileLayout(), frozenset())
    assert "Ann" not in str(caught.value)


def test_a_separator_that_hides_the_columns_is_told() -> None:
    with pytest.raises(DataError, match="cut at ';', and 2 when cut at ','"):
        read_csv(b"a,b\n1,2\n", "t.csv", FileLayout(separator=";"), frozenset({"a", "b"}))


def test_bytes_are_counted_piece_by_piece() -> None:
    raw = b"a,b," * 400_000
    assert count_byte(raw, b",") == raw.count(b",")
