"""Reading and writing: CSV as people write it, Parquet and Arrow, texts of types, and what is refused."""

import csv
import datetime
import io
import stat
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kveil.errors import DataError, FileError
from kveil.files import FileLayout, Outputs, Source, as_texts, read_table, text_of, write_table
from support import HEADER, ROWS, Outcome, columns_of, csv_text, names_in, refused, run, write_policy, write_rows


def examples(number: int) -> settings:
    """Return settings for that many examples, which may share a folder and take their time."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=number, deadline=None, suppress_health_check=checks)


def read(folder: Path, raw: str | bytes, separator: str | None = None, columns: tuple[str, ...] = ()) -> Source:
    path = folder / "table.csv"
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return read_table(path, layout=FileLayout(separator=separator), columns=columns)


def rows_of(source: Source) -> list[tuple[object, ...]]:
    return source.frame.rows()


def written(frame: pl.DataFrame, target: Path, separator: str = ",") -> Path:
    with Outputs() as outputs:
        write_table(frame, outputs.open(target), target, separator=separator)
        outputs.commit()
    return target


# ---------------------------------------------------------------------------------------------- CSV, well written


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_though_names_hold_all_the_others(tmp_path: Path, separator: str) -> None:
    others = "".join(s for s in ",;\t|" if s != separator) * 3
    source = read(tmp_path, f'a{separator}"b{others}{separator}b"{separator}c\n1{separator}2{separator}3\n')
    assert source.separator == separator
    assert source.frame.columns == ["a", f"b{others}{separator}b", "c"]
    assert rows_of(source) == [("1", "2", "3")]


def test_the_names_of_the_policy_decide_between_separators(tmp_path: Path) -> None:
    raw = "a,b;c,d;e\n1,2;3,4;5\n"
    assert read(tmp_path, raw, columns=("a,b", "c,d", "e")).separator == ";"
    assert read(tmp_path, raw, columns=("a", "d;e")).separator == ","


def test_a_separator_that_is_given_is_taken(tmp_path: Path) -> None:
    assert rows_of(read(tmp_path, "a:b\n1,1:2;2\n", separator=":")) == [("1,1", "2;2")]


def test_quotes_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    source = read(
        tmp_path, 'a,b,c\n"x,y","say ""so""","one\ntwo\r\nthree"\n"",,"""""\n,"\n",z\n'.replace('"""""', '""""')
    )
    assert rows_of(source) == [("x,y", 'say "so"', "one\ntwo\r\nthree"), ("", "", '"'), ("", "\n", "z")]


def test_quotes_in_names(tmp_path: Path) -> None:
    assert read(tmp_path, '"a\nb","c""d"\n1,2\n').frame.columns == ["a\nb", 'c"d']


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_byte_order_marks_are_no_data(tmp_path: Path, end: str, mark: str, last: bool) -> None:
    source = read(tmp_path, mark + end.join(["a,b", "1,2", "3,4"]) + (end if last else ""))
    assert source.frame.columns == ["a", "b"]
    assert rows_of(source) == [("1", "2"), ("3", "4")]


def test_a_byte_order_mark_before_a_quoted_name(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufeff"a,1",b\n1,2\n').frame.columns == ["a,1", "b"]


def test_every_cell_stays_the_text_it_is(tmp_path: Path) -> None:
    texts = [
        "02138",
        "1e5",
        "007.50",
        "NaN",
        "null",
        "NA",
        "None",
        "true",
        "TRUE",
        "2020-01-01",
        " 1",
        "1 ",
        "#x",
        "'x'",
    ]
    source = read(tmp_path, "".join(f"{t},{t}\n" for t in ["a", *texts]).replace("a,a", "a,b"))
    assert rows_of(source) == [(t, t) for t in texts]
    assert source.frame.schema == {"a": pl.String, "b": pl.String}


def test_blank_lines_are_no_records(tmp_path: Path) -> None:
    assert rows_of(read(tmp_path, "a,b\n1,2\n\n\r\n3,4\n\n\n")) == [("1", "2"), ("3", "4")]
    assert rows_of(read(tmp_path, 'a,b\n1,"x\n\ny"\n\n3,4')) == [("1", "x\n\ny"), ("3", "4")]
    assert rows_of(read(tmp_path, "a,b\n,\n\n,\n")) == [("", ""), ("", "")]


def test_one_column_keeps_its_empty_values(tmp_path: Path) -> None:
    assert rows_of(read(tmp_path, 'a\n1\n\n""\n2\n')) == [("1",), ("",), ("",), ("2",)]


def test_a_header_alone_is_a_table_without_records(tmp_path: Path) -> None:
    for raw in ("a,b\n", "a,b", "a,b\r\n", "a,b\n\n"):
        source = read(tmp_path, raw)
        assert (source.frame.columns, source.rows) == (["a", "b"], 0)


def test_a_quote_inside_a_field_that_has_none_is_data(tmp_path: Path) -> None:
    assert rows_of(read(tmp_path, "a,b\n5'10\",x\n1,6'2\"\n")) == [("5'10\"", "x"), ("1", "6'2\"")]


def test_control_characters_and_odd_line_separators_are_data(tmp_path: Path) -> None:
    assert rows_of(read(tmp_path, "a,b\nx\u2028y,1\x0bz\n\x85,\x00\n")) == [("x\u2028y", "1\x0bz"), ("\x85", "\x00")]


def test_a_million_characters_in_a_cell(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    assert rows_of(read(tmp_path, f"a,b\n{long},1\n")) == [(long, "1")]
    quoted = 'y,"\n' * 250_000
    assert rows_of(read(tmp_path, 'a,b\n"' + quoted.replace('"', '""') + '",1\n\n')) == [(quoted, "1")]
    assert read(tmp_path, f"{long},b\n1,2\n").frame.columns == [long, "b"]


def test_three_hundred_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(300)]
    values = [[f"{row}-{i}" for i in range(300)] for row in range(4)]
    source = read(tmp_path, csv_text(values, names))
    assert source.frame.columns == names
    assert [list(row) for row in source.frame.rows()] == values


# ---------------------------------------------------------------------------------------------- CSV, refused


@pytest.mark.parametrize(
    ("raw", "line", "says"),
    [
        ("a,b,c\n1,2,3\n1,2\n1,2,3\n", 3, "2 fields, the header has 3"),
        ("a,b,c\n1,2,3\n1,2,3,4\n", 3, "4 fields, the header has 3"),
        ("a,b,c\n1,2,3\n1\n", 3, "1 field, the header has 3"),
        ("a,b\n1,2\n1,2,", 3, "3 fields"),
        ("a\n1\n2,\n", 3, "2 fields"),
        ("a,b\n1\n1,2,3\n", 2, "1 field,"),
        ('a,b\n"1\n\n1",2\n\n3\n', 6, "1 field,"),
        ('a,b\n"1,1",2\n"1,1"\n', 3, "1 field,"),
        ("a,b\n1,2\n  \n", 3, "1 field,"),
        ('a,b\n1,2\n3,"4\n5,6\n', 3, "cannot be read as CSV"),
        ('a,b\n1,2\n"3"x,4\n', 3, "cannot be read as CSV"),
        ('a,b\n""1"",2\n', 2, "cannot be read as CSV"),
        ('a,b\n1,"""\n', 2, "cannot be read as CSV"),
        ('"a,b\n1,2\n', 1, "cannot be read as CSV"),
        ("a,b\r1,2\r3,4\r", 1, "line ends"),
        ("\na,b\n1,2\n", 1, "blank"),
    ],
)
def test_a_row_that_is_not_whole_is_refused_with_its_line(tmp_path: Path, raw: str, line: int, says: str) -> None:
    with pytest.raises(FileError) as error:
        read(tmp_path, raw)
    assert f"line {line} " in str(error.value)
    assert says in str(error.value)


def test_a_short_row_deep_in_a_large_file_is_found(tmp_path: Path) -> None:
    lines = ["a,b,c", *(f"{i},{i},{i}" for i in range(200_000))]
    lines[150_000] = "1,2"
    with pytest.raises(FileError, match=r"line 150001 has 2 fields"):
        read(tmp_path, "\n".join(lines))


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"a,b\n1,2\n\xff,3\n", 3),
        (b"a,\xe9\n1,2\n", 1),
        ("a,b\n\u00e9,\u00e9\n".encode() + b"\xe9,1\n", 3),
        ("a,b\n1,2\n".encode("utf-16"), 1),
        (b"a,b\n1,2\n1,\xc3", 3),
    ],
)
def test_what_is_not_utf8_is_refused_with_its_line(tmp_path: Path, raw: bytes, line: int) -> None:
    with pytest.raises(FileError, match=rf"line {line} is not UTF-8"):
        read(tmp_path, raw)


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"\xef\xbb\xbf", b"  \r\n"])
def test_an_empty_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(FileError, match="is empty"):
        read(tmp_path, raw)


def test_names_that_stand_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a name more than once \(columns 1, 2, 3 and 5\)"):
        read(tmp_path, "a,b,a,c,b\n1,2,3,4,5\n")


def test_an_unclosed_quote_in_the_header_takes_no_time(tmp_path: Path) -> None:
    # One quote too many made finding the header's end quadratic, and its text too long for a field.
    with pytest.raises(FileError, match="line 1 cannot be read"):
        read(tmp_path, '"a,b\n' + "1,2\n" * 300_000)


@pytest.mark.parametrize("name", ["table.pdf", "table", "table.parquet.gz", "table.gz"])
def test_a_suffix_nobody_knows_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"a,b\n")
    with pytest.raises(FileError, match=r"does not know files that end in .*\.parquet.*, a CSV also with"):
        read_table(tmp_path / name)


SMALL_CSV = st.lists(
    st.sampled_from(["a", "b", ",", ",", '"', '"', "\n", "\n", "\r\n", " ", '""', ";", "\u00e9"]), max_size=14
).map("".join)


@examples(400)
@given(width=st.integers(1, 3), body=SMALL_CSV)
def test_any_text_is_read_as_pythons_strict_reader_does_or_refused(tmp_path: Path, width: int, body: str) -> None:
    raw = ",".join("xyz"[:width]) + "\n" + body
    try:
        expected: list[list[str]] | None = list(csv.reader(io.StringIO(raw, newline="\n"), strict=True))[1:]
        assert expected is not None
        expected = [row or [""] for row in expected] if width == 1 else [row for row in expected if row]
        if any(len(row) != width for row in expected):
            expected = None
    except csv.Error:
        expected = None
    try:
        found: list[list[str]] | None = [list(row) for row in read(tmp_path, raw, separator=",").frame.rows()]
    except FileError:
        found = None
    assert found == expected


# ---------------------------------------------------------------------------------------------- round trips

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TRICKY = st.sampled_from(
    ["", '"', '""', "\n", "\r\n", "\r", ",", ";", "\t", "|", " ", "\ufeff", "a,b", 'a"b', "null", "0x", "=1"]
)


@st.composite
def text_frames(draw: st.DrawFn) -> pl.DataFrame:
    cell = TEXTS | TRICKY
    name = cell.filter(lambda n: n.strip("\ufeff\r\n\t ") != "" and "\0" not in n and n != "*" and n[:1] != "^")
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))  # names that look like patterns are refused
    height = draw(st.integers(0, 5))
    cells = st.lists(cell | st.none(), min_size=height, max_size=height)
    return pl.DataFrame({name: draw(cells) for name in names}, schema=dict.fromkeys(names, pl.String))


@examples(250)
@given(frame=text_frames(), separator=st.sampled_from([",", ";", "\t", "|"]))
def test_csv_gives_back_every_text(tmp_path: Path, frame: pl.DataFrame, separator: str) -> None:
    target = written(frame, tmp_path / "release.csv", separator)
    raw = target.read_bytes()
    again = read_table(target, layout=FileLayout(separator=separator))
    assert again.frame.equals(frame.fill_null(""))
    assert raw.endswith(b"\n")
    if frame.width > 1:
        assert read_table(target, columns=frame.columns).separator == separator
    python = list(csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator))
    assert python == [frame.columns, *([cell or "" for cell in row] for row in frame.rows())]


@examples(60)
@given(frame=text_frames(), name=st.sampled_from(["r.parquet", "r.pq", "r.arrow", "r.feather", "r.ipc"]))
def test_parquet_and_arrow_give_back_every_text(tmp_path: Path, frame: pl.DataFrame, name: str) -> None:
    assert read_table(written(frame, tmp_path / name)).frame.equals(frame)


def test_csv_writes_types_as_the_contract_says(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "float": [3.0, 2.5, None, float("nan")],
            "int": [3, -1, None, 0],
            "bool": [True, False, None, True],
            "date": [datetime.date(2020, 1, 31), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
            "moment": [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 10, 30), None, None],
        }
    )
    assert written(frame, tmp_path / "r.csv").read_text() == (
        "float,int,bool,date,moment\n"
        "3,3,true,2020-01-31,2020-01-01\n"
        "2.5,-1,false,,2020-01-01T10:30:00\n"
        ",,,0001-01-01,\n"
        ",0,true,9999-12-31,\n"
    )


# ---------------------------------------------------------------------------------------------- texts of types


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (1e16, "10000000000000000"),
        (1e-7, "1e-07"),
        (float("nan"), None),
        (None, None),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (10**30, "1" + "0" * 30),
        ("02138", "02138"),
        (Decimal("1.50"), "1.5"),
        (Decimal("1E+3"), "1000"),
        (datetime.date(2020, 2, 29), "2020-02-29"),
        (datetime.datetime(2020, 2, 29), "2020-02-29"),
        (datetime.datetime(2020, 2, 29, 23, 59, 58), "2020-02-29T23:59:58"),
        (datetime.time(7, 5), "07:05:00"),
    ],
)
def test_the_text_of_a_value(value: object, text: str | None) -> None:
    assert text_of(value) == text
    if not isinstance(value, int) or abs(value) < 2**63:
        column = pl.Series("c", [value], dtype=None if value is not None else pl.String)
        assert as_texts(column).to_list() == [text]


def test_narrow_floats_have_their_own_shortest_text() -> None:
    assert as_texts(pl.Series([0.1, 3.0, None, -2.7], dtype=pl.Float32)).to_list() == ["0.1", "3", None, "-2.7"]


@examples(60)
@given(st.lists(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)) | st.none(), max_size=6))
def test_a_text_depends_on_its_value_alone(values: list[datetime.datetime | None]) -> None:
    # Were it a matter of the whole column, rows left out of a release would change the texts of those in it.
    alone = [as_texts(pl.Series([value], dtype=pl.Datetime("us")))[0] for value in values]
    assert as_texts(pl.Series(values, dtype=pl.Datetime("us"))).to_list() == alone


@pytest.mark.parametrize("column", [pl.Series("c", [[1]]), pl.Series("c", [b"x"]), pl.Series("c", [{"a": 1}])])
def test_a_type_without_a_text_is_refused_by_its_name(column: pl.Series) -> None:
    with pytest.raises(DataError, match="the column 'c' is of type"):
        as_texts(column)


# ---------------------------------------------------------------------------------------------- Parquet and Arrow


def typed_frame() -> pl.DataFrame:
    """Four groups over the quasi-identifiers, one record that is alone, and a column of every type."""
    day = datetime.date(1990, 5, 17)
    twice = [1.0, 1.0, 2.5, 2.5, None, None, float("nan"), 3.0, 3.0, 3.0]
    return pl.DataFrame(
        {
            "float": pl.Series(twice, dtype=pl.Float64),
            "birth": [day] * 4 + [None] * 4 + [datetime.date(2001, 1, 1)] * 2,
            "smoker": [True, True, False, False, True, True, True, False, False, False],
            "count": pl.Series([1, 1, 2, 2, 3, 3, 3, 1, 1, 1], dtype=pl.Int16),
            "score": pl.Series([0.5, 1.0, None, float("nan"), 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], dtype=pl.Float32),
            "seen": [datetime.datetime(2024, 1, i, i) for i in range(1, 11)],
            "ward": pl.Series(["w1", None, "w2"] * 3 + ["w3"], dtype=pl.Categorical),
        }
    )


TYPED_ROLES = {
    "float": "quasi-identifier",
    "birth": {"role": "quasi-identifier", "hierarchy": {"dates": ["year"]}},
    "smoker": "quasi-identifier",
    "count": "quasi-identifier",
    "score": "sensitive",
    "seen": "insensitive",
    "ward": "insensitive",
}


def write_typed(path: Path) -> Path:
    frame = typed_frame()
    if path.suffix == ".parquet":
        parquet.write_table(frame.to_arrow(), path)
    elif path.suffix == ".feather":
        feather.write_feather(frame.to_arrow(), path, compression="zstd")
    else:
        table = frame.to_arrow()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
@pytest.mark.parametrize("output", ["r.parquet", "r.arrow", "r.feather"])
def test_typed_files_keep_types_where_nothing_is_generalized(tmp_path: Path, name: str, output: str) -> None:
    source = write_typed(tmp_path / name)
    policy = write_policy(tmp_path, TYPED_ROLES, data={"missing": ["NA", "?"]}, release={"order": "keep"}, limit=0.1)
    outcome = run("anonymize", policy, "--input", source, "--output", tmp_path / output, "--owner", tmp_path / "o.json")
    assert (outcome.code, outcome.err) == (0, "")
    release, original = read_table(tmp_path / output).frame, typed_frame()
    kept = [0, 1, 2, 3, 4, 5, 6, 8, 9]  # row 7 is alone, and there is room for one
    assert release.select("float", "birth", "smoker", "count").rows() == [
        *[("1", "1990-05-17", "true", "1")] * 2,
        *[("2.5", "1990-05-17", "false", "2")] * 2,
        *[("NA", "NA", "true", "3")] * 3,
        *[("3", "2001-01-01", "false", "1")] * 2,
    ]
    for column in ("score", "seen", "ward"):
        assert release[column].dtype == original[column].dtype
        assert release[column].cast(pl.String).equals(original[column].gather(kept).cast(pl.String))


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, name: str, share: float) -> None:
    source = write_typed(tmp_path / name)
    raw = source.read_bytes()
    source.write_bytes(raw[: int(len(raw) * share)])
    policy = write_policy(tmp_path, TYPED_ROLES)
    kind = "Parquet" if name.endswith("parquet") else "Arrow"
    refused(
        run("anonymize", policy, "--input", source, "--output", tmp_path / "r.csv"), name, f"not a whole {kind} file"
    )
    assert names_in(tmp_path) == {name, "policy.yaml"}


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(csv_text(ROWS))
    refused(run("anonymize", write_policy(tmp_path), "--input", tmp_path / name), "may be cut off or of another kind")


def test_an_index_that_pandas_wrote_as_a_column_is_not_released_by_accident(tmp_path: Path) -> None:
    frame = pd.DataFrame(columns_of(), index=[f"i{i}" for i in range(9)])
    frame.to_parquet(tmp_path / "t.parquet")
    outcome = run(
        "anonymize", write_policy(tmp_path), "--input", tmp_path / "t.parquet", "--output", tmp_path / "r.csv"
    )
    refused(outcome, "1 column without a role: __index_level_0__")


def test_csv_in_and_every_kind_out_show_the_same_cells(tmp_path: Path) -> None:
    policy, source = write_policy(tmp_path), write_rows(tmp_path / "t.csv")
    frames = []
    for name in ("r.csv", "r.parquet", "r.arrow"):
        assert run("anonymize", policy, "--input", source, "--output", tmp_path / name, "--quiet") == Outcome(0, "", "")
        frames.append(read_table(tmp_path / name).frame)
    assert frames[0].columns == HEADER[1:]
    assert frames[0].height == 8
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_csv_release_keeps_the_separator_and_ends_lines_with_newlines(tmp_path: Path, separator: str) -> None:
    source = tmp_path / "t.csv"
    source.write_bytes(csv_text(ROWS, separator=separator).replace("\n", "\r\n").encode("utf-8-sig"))
    assert run("anonymize", write_policy(tmp_path), "--input", source, "--quiet").code == 0
    raw = (tmp_path / "t-release.csv").read_bytes()
    assert raw.startswith(separator.join(HEADER[1:]).encode() + b"\n")
    assert b"\r" not in raw
    assert raw.count(b"\n") == 9


def test_a_wide_table_and_a_long_cell_pass_through(tmp_path: Path) -> None:
    long = "z" * 1_000_000
    wide = [f"c{i}" for i in range(295)]
    rows = [[*row[:-1], long, *(f"{i}{row[1]}" for i in range(295))] for row in ROWS]
    source = write_rows(tmp_path / "t.csv", rows, [*HEADER, *wide])
    roles = {"name": "identifier", "age": "quasi-identifier", "sex": "quasi-identifier", "diagnosis": "sensitive"}
    policy = write_policy(tmp_path, {**roles, "ward": "insensitive", **dict.fromkeys(wide, "insensitive")}, limit=1)
    assert run("anonymize", policy, "--input", source, "--quiet").code == 0
    release = read_table(tmp_path / "t-release.csv").frame
    assert release.columns == [*HEADER[1:], *wide]
    assert release.height >= 2
    assert set(release["ward"]) == {long}


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_missing_cells_are_a_value_and_written_as_the_first_text(tmp_path: Path, name: str) -> None:
    cells = {"zip": ["02138", "02138", "?", "n/a", None, None], "s": ["1"] * 6}
    if name == "t.csv":
        (tmp_path / name).write_text(
            csv_text([[a or "", b] for a, b in zip(*cells.values(), strict=True)], list(cells))
        )
        missing = ["n/a", "?", ""]
    else:
        pl.DataFrame(cells).write_parquet(tmp_path / name)
        missing = ["n/a", "?"]
    policy = write_policy(tmp_path, {"zip": "quasi-identifier", "s": "sensitive"}, limit=0, data={"missing": missing})
    assert run("anonymize", policy, "--input", tmp_path / name, "--output", tmp_path / "r.csv", "--quiet").code == 0
    assert (tmp_path / "r.csv").read_text() == "zip,s\n" + "02138,1\n" * 2 + "n/a,1\n" * 4


# ---------------------------------------------------------------------------------------------- files that appear


def test_an_output_has_the_mode_its_umask_gives_and_the_owner_file_600(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.open(tmp_path / "a.csv").write(b"a")
        outputs.open(tmp_path / "b", private=True).write(b"b")
        assert names_in(tmp_path) == set()
        outputs.commit()
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_outputs_that_are_given_up_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")

    def give_up() -> None:
        with Outputs() as outputs:
            outputs.open(tmp_path / "new").write(b"new")
            outputs.open(tmp_path / "old").write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        give_up()
    assert names_in(tmp_path) == {"old"}
    assert (tmp_path / "old").read_bytes() == b"old"
