"""CSV as we read it: the same records as Python's reader, without touching its limit, which is the host's."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kveil.files import read_table
from kveil.files.records import BrokenRecord, records
from kveil.files.without_names import read_headless
from strategies import examples

TEXTS = st.text(alphabet='ab,;"\r\n ', max_size=40)


def without_last_line_ends(rows: list[list[str]]) -> list[list[str]]:
    """Python keeps the last line end of a last field whose quote nobody closes, we do not."""
    return [*rows[:-1], *([*row[:-1], *(field.rstrip("\n") for field in row[-1:])] for row in rows[-1:])]


@given(TEXTS, st.booleans())
@examples(250)
@example(';","\n', False)
def test_records_are_those_of_pythons_reader(text: str, strict: bool) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "")  # Python ends lines at a lone \r, we do not
    try:
        expected = list(csv.reader(io.StringIO(text, newline="\n"), strict=strict))
    except csv.Error:
        with pytest.raises(BrokenRecord):
            list(records(text, ",", strict=strict))
        return
    found = [fields for _, fields in records(text, ",", strict=strict)]
    if not strict:
        found, expected = without_last_line_ends(found), without_last_line_ends(expected)
    assert found == expected


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
