"""The files people have: the same release from each of them, and nothing hidden in those that are written."""

import datetime
import gzip
import io
import re
import zipfile
from pathlib import Path

import fastexcel
import polars as pl
import pyreadstat
import pytest
import xlsxwriter
import zstandard

from kveil.errors import DataError, FileError
from kveil.files import default_release, look_beside, read_table, write_table
from sas_file import sas_bytes
from support import QUASI, Outcome, names_in, run, write_policy

ROLES = {
    "name": {"role": "identifier"},
    "age": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}, "boundary": {"level": 1}},
    "sex": {"role": QUASI},
    "birth": {"role": QUASI, "hierarchy": {"dates": ["year"]}},
    "diagnosis": {"role": "sensitive"},
    "score": {"role": "insensitive"},
}
SEX = {1.0: "female", 2.0: "male"}
ILL = {1.0: "flu", 2.0: "cough", 3.0: "gout", 4.0: "Planted Pox"}
TABLE = pl.DataFrame(
    {
        "name": ["Ann", "Bea", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal", "Planted Ivy"],
        "age": [31.0, 35.0, 62.0, 68.0, 39.0, 31.0, 61.0, 66.0, 95.0],
        "sex": [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 1.0],
        "birth": [datetime.date(1980, 1, 1 + i % 2) for i in range(9)],
        "diagnosis": [1.0, 2.0, 1.0, 3.0, 1.0, 3.0, 2.0, 1.0, 4.0],
        "score": [1.5, 2.0, None, 3.25, 2.0, 1.5, 2.5, 4.0, 77.125],
    }
)
IN_WORDS = TABLE.with_columns(
    pl.col("sex").replace_strict(SEX, return_dtype=pl.String),
    pl.col("diagnosis").replace_strict(ILL, return_dtype=pl.String),
)
PLANTED = re.compile("Planted|77.125|Pox|Ivy")


def csv_of(frame: pl.DataFrame) -> str:
    buffer = io.BytesIO()
    write_table(frame, buffer, Path("t.csv"))
    return buffer.getvalue().decode()


def workbook_of(frame: pl.DataFrame, path: Path) -> None:
    """Write a workbook as somebody who uses Excel has it: with properties, a second sheet, and dates."""
    book = xlsxwriter.Workbook(path)
    book.set_properties({"author": "Planted Author"})
    sheet = book.add_worksheet("Patients")
    book.add_worksheet("Notes").write_string(0, 0, "Planted note")
    day = book.add_format({"num_format": "dd.mm.yyyy"})
    for place, column in enumerate(frame.get_columns()):
        sheet.write_string(0, place, column.name)
        for row, value in enumerate(column.to_list(), 1):
            if isinstance(value, datetime.date):
                sheet.write_datetime(row, place, datetime.datetime.combine(value, datetime.time()), day)
            elif value is not None:
                sheet.write(row, place, value)
    book.close()


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Path]:
    """Return the same table in every kind of file, by what it is called."""
    text = csv_of(IN_WORDS)
    made = {
        name: tmp_path / f"t.{name}" for name in ("csv", "csv.gz", "csv.zst", "parquet", "arrow", "xlsx", "sav", "dta")
    }
    made["csv"].write_text(text, encoding="utf-8")
    with gzip.open(made["csv.gz"], "wt", encoding="utf-8") as file:
        file.write(text)
    made["csv.zst"].write_bytes(zstandard.compress(text.encode()))
    IN_WORDS.write_parquet(made["parquet"])
    IN_WORDS.write_ipc(made["arrow"])
    workbook_of(IN_WORDS, made["xlsx"])
    labels = {"sex": SEX, "diagnosis": ILL}
    about = [f"{'Planted' if ROLES[name] == 'identifier' else 'About'} {name}" for name in TABLE.columns]
    told = {"column_labels": about, "file_label": "Planted title"}
    pyreadstat.write_sav(TABLE, made["sav"], variable_value_labels=labels, note="Planted note", **told)
    whole = {name: {int(code): text for code, text in codes.items()} for name, codes in labels.items()}
    pyreadstat.write_dta(TABLE, made["dta"], variable_value_labels=whole, **told)
    made["sas7bdat"] = tmp_path / "t.sas7bdat"
    plain = IN_WORDS.with_columns(pl.col("birth").cast(pl.String), pl.col("score").fill_null(float("nan")))
    made["sas7bdat"].write_bytes(sas_bytes(plain.to_dict(as_series=False)))
    made["folder"] = tmp_path / "folder"
    made["folder"].mkdir()
    IN_WORDS[:4].write_parquet(made["folder"] / "a.parquet")
    IN_WORDS[4:].write_parquet(made["folder"] / "b.parquet")
    return made


def anonymized(folder: Path, source: Path, target: Path) -> Outcome:
    done = run("anonymize", folder / "policy.yaml", "--input", source, "-o", target)
    assert (done.code, done.err) == (0, "")
    return done


def test_every_kind_of_file_gives_the_same_release_byte_for_byte(tmp_path: Path, tables: dict[str, Path]) -> None:
    write_policy(tmp_path, ROLES, algorithm="mondrian")
    releases = {}
    for name, path in tables.items():
        anonymized(tmp_path, path, tmp_path / "r.csv")
        releases[name] = (tmp_path / "r.csv").read_text(encoding="utf-8")
    assert set(releases.values()) == {releases["csv"]}
    assert releases["csv"].count("\n") == 9  # eight records beside the names: one is left out
    assert not PLANTED.search(releases["csv"])


@pytest.mark.parametrize("name", ["csv.gz", "csv.zst", "xlsx", "sav", "dta"])
def test_a_release_goes_back_to_the_kind_it_came_in_and_holds(
    tmp_path: Path, tables: dict[str, Path], name: str
) -> None:
    policy = write_policy(tmp_path, ROLES, algorithm="mondrian")
    source, owner = tables[name], tmp_path / "owner.json"
    assert run("anonymize", policy, "--input", source, "--owner", owner).code == 0
    target = default_release(source)
    assert target.name == f"t-release.{name}"
    anonymized(tmp_path, tables["csv"], tmp_path / "r.csv")
    texts = csv_of(read_table(target).frame)
    assert texts == (tmp_path / "r.csv").read_text(encoding="utf-8")
    done = run("verify", policy, "--release", target, "--original", source, "--owner", owner)
    assert (done.code, done.err) == (0, "")
    again = tmp_path / f"again.{name}"
    anonymized(tmp_path, source, again)
    assert again.read_bytes() == target.read_bytes()  # no times, no chance


@pytest.mark.parametrize("name", ["csv.gz", "csv.zst", "xlsx", "sav", "dta", "parquet", "arrow"])
def test_what_is_left_out_stands_nowhere_in_a_written_file(tmp_path: Path, tables: dict[str, Path], name: str) -> None:
    write_policy(tmp_path, ROLES, algorithm="mondrian")
    for source in (tables["sav"], tables["xlsx"], tables["csv"]):
        target = tmp_path / f"r.{name}"
        anonymized(tmp_path, source, target)
        raw = target.read_bytes()
        parts = [raw]
        if name == "xlsx":
            with zipfile.ZipFile(io.BytesIO(raw)) as packed:
                parts = [packed.read(part) for part in packed.namelist()]
        elif name == "csv.gz":
            parts = [raw[:10], gzip.decompress(raw)]
        elif name == "csv.zst":
            parts = [zstandard.decompress(raw)]
        for part in parts:
            for encoding in ("latin-1", "utf-16-le"):
                assert not PLANTED.search(part.decode(encoding, "replace"))
            assert str(datetime.date.today().year).encode() not in part or name in {"parquet", "arrow"}


def test_codes_are_shown_as_labels_and_written_as_codes_with_labels_of_released_values(
    tmp_path: Path, tables: dict[str, Path]
) -> None:
    write_policy(tmp_path, ROLES, algorithm="mondrian")
    for name, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        target = tmp_path / f"r.{name}"
        anonymized(tmp_path, tables[name], target)
        frame, told = read(target, output_format="polars")
        assert sorted(frame["diagnosis"]) == [1, 1, 1, 1, 2, 2, 3, 3]
        assert told.variable_value_labels == {"diagnosis": {1: "flu", 2: "cough", 3: "gout"}}
        assert set(frame["sex"]) == {"female", "male"}  # a quasi-identifier becomes text
        assert told.column_labels == [f"About {name}" for name in frame.columns]
        assert not told.file_label
        assert not told.notes


def test_numbers_with_a_label_for_some_and_codes_that_share_a_label_stay_codes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31.0, 98.0, None], "kind": [1.0, 2.0, 1.0]})
    labels = {"age": {98.0: "98 or older"}, "kind": {1.0: "other", 2.0: "other"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    source = read_table(tmp_path / "t.sav")
    assert source.frame.equals(frame)
    assert not source.codebook.labels


def test_values_that_stand_for_missing_are_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31.0, 99.0]})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", missing_ranges={"age": [99]})
    assert read_table(tmp_path / "t.sav").frame["age"].to_list() == [31.0, None]


def test_a_transport_file_of_sas_is_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"NAME": ["Ann", "Bea"], "AGE": [31.0, 35.0]})
    pyreadstat.write_xport(frame, tmp_path / "t.xpt")
    assert read_table(tmp_path / "t.xpt").frame.equals(frame)
    policy = write_policy(tmp_path, {"NAME": "identifier", "AGE": QUASI}, k=1)
    done = run("anonymize", policy, "--input", tmp_path / "t.xpt")
    assert (done.code, done.err) == (
        2,
        "kveil: t-release.xpt: kveil reads files that end in '.xpt' but does not write them; name the release ….csv, "
        "….sav or ….dta.\n",
    )


def test_cells_of_a_sheet_are_read_as_a_reader_sees_them(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    for row, cells in enumerate([["zip", "n", "mixed", "yes"], ["02138", 3, "x", True], ["02139", 3.5, 7, False]]):
        sheet.write_row(row, 0, cells)
    sheet.write_row(4, 0, ["02140", 4, 8.5, True])  # behind a row without anything
    book.close()
    source = read_table(path)
    assert [source.texts(name).to_list() for name in source.frame.columns] == [
        ["02138", "02139", "02140"],
        ["3", "3.5", "4"],
        ["x", "7", "8.5"],
        ["true", "false", "true"],
    ]


def test_a_column_of_a_sheet_without_a_name_is_told(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["a"])
    sheet.write_row(1, 0, ["1", "Ann"])
    book.close()
    with pytest.raises(
        DataError, match=r"^t\.xlsx: row 1 of the first sheet has no name for 1 column \(2\); name every"
    ):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt", ".csv.gz", ".csv.zst", ".xls"])
def test_a_broken_file_is_told_without_its_bytes(tmp_path: Path, suffix: str) -> None:
    for raw in (b"Planted", b"", b"PK\x03\x04Planted", b"\x1f\x8b\x08Planted", b"\x28\xb5\x2f\xfdPlanted"):
        path = tmp_path / f"t{suffix}"
        path.write_bytes(raw)
        with pytest.raises(FileError) as told:
            read_table(path)
        assert str(told.value).startswith(f"t{suffix}: ")
        assert "Planted" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "library", "what"),
    [
        ("t.xlsx", "fastexcel", "Excel"),
        ("t.sav", "pyreadstat", "SPSS"),
        ("t.dta", "pyreadstat", "Stata"),
        ("t.sas7bdat", "pyreadstat", "SAS"),
        ("t.csv.zst", "zstandard", "zstd"),
    ],
)
def test_a_library_that_is_not_there_is_named_with_its_install_line(
    tmp_path: Path, name: str, library: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(FileError) as told:
        read_table(tmp_path / name)
    assert str(told.value) == (
        f"{what} files need the library {library}, which is not installed; install it with pip install 'kveil[files]'."
    )


@pytest.mark.parametrize("name", ["t.xlsx", "t.sav", "t.dta"])
def test_cells_that_a_kind_of_file_would_change_are_refused(tmp_path: Path, name: str) -> None:
    fine = pl.DataFrame(
        {
            "big": [2**60, None],
            "narrow": pl.Series([0.1, None], dtype=pl.Float32),
            "yes": [True, None],
            "when": [datetime.datetime(2020, 1, 2, 3, 4, 5), None],
            "old": [datetime.date(1850, 1, 1), None],
            "items": [["a", "b"], []],
            "same": ["=1+1", "https://example.org"],
        }
    )
    target = tmp_path / name
    with target.open("w+b") as file:
        write_table(fine, file, target)
    again = read_table(target)
    shown = [again.texts(column).fill_null("").to_list() for column in again.frame.columns]
    assert [cells[0] for cells in shown] == [
        str(2**60), "0.1", "true", "2020-01-02T03:04:05", "1850-01-01", "a|b", "=1+1"
    ]  # fmt: skip
    assert not any(cells[1] for cells in shown[:-1])
    too_long = pl.DataFrame({"a": ["x" * 40_000]}) if name == "t.xlsx" else pl.DataFrame({"a": ["blank "]})
    with target.open("w+b") as file, pytest.raises(FileError, match=r"write .*CSV"):
        write_table(too_long if name != "t.dta" else pl.DataFrame({"no name": [1]}), file, target)


def test_verify_names_what_others_left_in_such_files(tmp_path: Path, tables: dict[str, Path]) -> None:
    told = {
        name: look_beside(tables[name], read_table(tables[name]), "").content
        for name in ("xlsx", "sav", "dta", "csv.gz")
    }
    assert [line.split(" holds ")[1].split(";")[0] for line in told["xlsx"]] == [
        "properties of the document, such as who made it and when",
        "1 sheet beside the first",
    ]
    assert any("a title" in line for line in told["sav"])
    assert any("notes" in line for line in told["sav"])
    assert any("a title" in line for line in told["dta"])
    assert any("labels or missing codes of columns that are generalized" in line for line in told["dta"])
    assert told["csv.gz"][0].startswith("t.csv holds its name, a time or a comment")
    pyreadstat.write_sav(TABLE[:8], tmp_path / "r.sav", variable_value_labels={"diagnosis": ILL})
    (finding,) = look_beside(tmp_path / "r.sav", read_table(tmp_path / "r.sav"), "", unchanged=["diagnosis"]).content
    assert finding.startswith("r.sav holds labels of 1 value that no row shows; ")


def test_verify_finds_texts_of_a_workbook_that_no_cell_shows(tmp_path: Path, tables: dict[str, Path]) -> None:
    policy = write_policy(tmp_path, ROLES)
    release = tmp_path / "r.xlsx"
    anonymized(tmp_path, tables["xlsx"], release)
    assert run("verify", policy, "--release", release).code == 0
    with zipfile.ZipFile(release) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(release, "w") as packed:
        for name, part in parts.items():
            packed.writestr(name, part.replace(b"</sst>", b"<si><t>Planted</t></si></sst>"))
    done = run("verify", policy, "--release", release)
    assert done.code == 1
    assert "r.xlsx holds 1 text that no cell shows; write it again" in done.out
    release.rename(tmp_path / "r.xlsm")  # a kind that is read, but not written
    assert "holds parts that kveil cannot read" in run("verify", policy, "--release", tmp_path / "r.xlsm").out


def test_the_sheet_that_kveil_writes_can_be_read_by_others(tmp_path: Path, tables: dict[str, Path]) -> None:
    write_policy(tmp_path, ROLES, algorithm="mondrian")
    anonymized(tmp_path, tables["xlsx"], tmp_path / "r.xlsx")
    book = fastexcel.read_excel(tmp_path / "r.xlsx")
    assert book.sheet_names == ["release"]
    assert book.load_sheet(0).to_polars().columns == ["age", "sex", "birth", "diagnosis", "score"]
    assert {"r.xlsx", "policy.yaml"} <= names_in(tmp_path)
