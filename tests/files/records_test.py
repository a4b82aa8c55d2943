"""CSV as we read it: the same records as Python's reader, without touching its limit, which is the host's."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.files import read_table
from kveil.files.records import BrokenRecord, records
from kveil.files.without_names import read_headless

TEXTS = st.text(alphabet='ab,;"\r\n ', max_size=40)


@given(TEXTS, st.booleans())
def test_records_are_those_of_pythons_reader(text: str, strict: bool) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "")  # Python ends lines at a lone \r, we do not
    if not strict:
        text += '"' * (text.count('"') % 2)  # nor do we keep a line end after a quote that nobody closes
    try:
        expected = list(csv.reader(io.StringIO(text, newline="\n"), strict=strict))
    except csv.Error:
        with pytest.raises(BrokenRecord):
            list(records(text, ",", strict=strict))
        return
    assert [fields for _, fields in records(text, ",", strict=strict)] == expected


def test_every_record_has_the_number_of_its_first_line() -> None:
    assert list(records('a,b\n"x\ny",1\n\nz,2\n', ",")) == [
        (1, ["a", "b"]),
        (2, ["x\ny", "1"]),
        (4, []),
        (5, ["z", "2"]),
    ]


def test_reading_leaves_the_limit_of_the_csv_module_alone(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    long = "x" * (before + 10)
    (tmp_path / "t.csv").write_text(f'a,b\nq"uote,{long}\n', encoding="utf-8")
    source = read_table(tmp_path / "t.csv")
    assert source.frame.rows() == [('q"uote', long)]
    (tmp_path / "h.csv").write_text(f"1,{long}\n", encoding="utf-8")
    assert read_headless(tmp_path / "h.csv", ["a", "b"]).frame.rows() == [("1", long)]
    assert csv.field_size_limit() == before
