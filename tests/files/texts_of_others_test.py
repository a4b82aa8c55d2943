"""CSV as other programs write it: encodings, decimal commas, blanks between columns, other separators."""

from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.errors import DataError, FileError
from kveil.files import FileLayout, read_table
from kveil.files.encodings import likely_encoding
from support import QUASI, make_policy, run, write_policy

SENTENCES = {
    "cp1252": "Stadt,Straße\nKöln,Große Allee\nMünchen,Schöne Aussicht\nGenève,Rue de la Forêt\nParis,Rue Félix\n",
    "cp850": "Stadt,Straße\nKöln,Große Allee\nMünchen,Schöne Aussicht\nDüsseldorf,Königsallee\n",
    "cp1250": "miasto,ulica\nŁódź,Księży Młyn\nKraków,Świętej Gertrudy\nWrocław,Różana\n",
    "cp1251": "город,улица\nМосква,Тверская\nКазань,Баумана\nПермь,Ленина\n",
    "utf-16": "Stadt,Straße\nKöln,Große Allee\n",
    "utf-16-le": "Stadt,Straße\nKöln,Große Allee\n",
    "shift_jis": "都市,通り\n東京,表参道\n大阪,御堂筋\n",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_the_likely_encoding_is_named_and_reads_the_file(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(SENTENCES[encoding].encode(encoding))
    with pytest.raises(FileError) as told:
        read_table(path)
    assert f"is not UTF-8; it looks like {encoding}: write encoding: {encoding} under data" in str(told.value)
    frame = read_table(path, layout=FileLayout(encoding=encoding)).frame
    names, *rows = [line.split(",") for line in SENTENCES[encoding].splitlines()]
    assert frame.columns == names
    assert [list(row) for row in frame.rows()] == rows


def test_a_wrong_encoding_is_told_with_the_likely_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("a,b\n1,Köln\n2,Zürich\n".encode("cp1252"))
    with pytest.raises(
        FileError, match=r"^t\.csv: line 2 is not ascii; it looks like cp1252: change encoding under data"
    ):
        read_table(tmp_path / "t.csv", layout=FileLayout(encoding="ascii"))
    assert likely_encoding(b"abc", 0) == "cp1252"


CITIES = {"city": {"role": QUASI}, "ill": {"role": "sensitive"}}


def test_the_release_of_a_table_in_another_encoding_is_utf_8_and_verifies(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("city,ill\nKöln,Rö\nKöln,Rü\n".encode("cp1252"))
    policy = write_policy(tmp_path, CITIES, data={"path": "t.csv", "encoding": "cp1252"})
    assert run("anonymize", policy, "--owner", tmp_path / "o.json").code == 0
    release = tmp_path / "t-release.csv"
    assert release.read_bytes().decode() == "city,ill\nKöln,Rö\nKöln,Rü\n"
    compared = ("--release", release, "--original", tmp_path / "t.csv", "--owner", tmp_path / "o.json")
    for command in ("verify", "measure", "attack"):
        assert run(command, policy, *compared).code == 0


def test_an_encoding_that_nobody_knows_is_told() -> None:
    for name in ("utf-88", "base64", ""):
        with pytest.raises(kveil.PolicyError, match="which Python does not know; write it as in utf-8 or cp1252"):
            make_policy(CITIES, data={"encoding": name})


# ------------------------------------------------------------------------------------------------ decimal commas

WEIGHTS = {
    "weight": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 200]}}},
    "income": {"role": "sensitive"},
    "note": {"role": "insensitive"},
}
CLOSE = {
    "algorithm": "mondrian",
    "privacy": [{"model": "t-closeness", "sensitive": "income", "t": 1, "distance": "ordered"}],
}
ROWS = [("70,5", "1,5", "1,5"), ("70,25", "-2", "x"), ("71", "10,25", "3.5"), ("", "9", "1,5")]


def test_decimal_commas_are_found_by_themselves_and_written_as_they_came(tmp_path: Path) -> None:
    text = "weight;income;note\n" + "".join(";".join(row) + "\n" for row in ROWS)
    (tmp_path / "t.csv").write_text(text)
    policy = write_policy(tmp_path, WEIGHTS, data={"path": "t.csv"}, **CLOSE)
    done = run("anonymize", policy, "--owner", tmp_path / "o.json", "--json")
    assert (done.code, done.err) == (0, "")
    release = tmp_path / "t-release.csv"
    shown = [line.split(";") for line in release.read_text().splitlines()[1:]]
    assert sorted(row[1] for row in shown) == sorted(row[1] for row in ROWS)
    assert sorted(row[2] for row in shown) == sorted(row[2] for row in ROWS)
    assert {row[0] for row in shown} <= {"*", "70.5", "70.25", "71", "70.25-70.5", "70.25-71", "70.5-71", ""}
    checked = run(
        "verify", policy, "--release", release, "--original", tmp_path / "t.csv", "--owner", tmp_path / "o.json"
    )
    assert (checked.code, checked.err) == (0, "")
    # The same numbers with points are the same table.
    (tmp_path / "t.csv").write_text(
        "\n".join(";".join(c.replace(",", ".") for c in r) for r in [("weight", "income", "note"), *ROWS]) + "\n"
    )
    again = run("anonymize", policy, "--owner", tmp_path / "o.json", "--json")
    assert again.json["loss"] == done.json["loss"]
    assert again.json["guarantees"] == done.json["guarantees"]


def test_frames_of_texts_with_decimal_commas_come_back_as_they_were() -> None:
    frame = pl.DataFrame(ROWS, schema=list(WEIGHTS), orient="row")
    policy = make_policy(WEIGHTS, **CLOSE)
    for given in (frame, frame.to_pandas(), frame.to_arrow()):
        result = kveil.anonymize(given, policy)
        shown = pl.DataFrame(result.data)
        assert sorted(shown["income"]) == sorted(row[1] for row in ROWS)
        assert kveil.verify(result.data, policy, given, result.owner)


def test_a_decimal_sign_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("weight;income;note\n70,5;1;a\n70,5;2;a\n")
    told = write_policy(tmp_path, WEIGHTS, data={"path": "t.csv", "decimal": "."}, **CLOSE)
    done = run("anonymize", told)
    assert done.code == 2
    assert "weight" in done.err
    write_policy(tmp_path, WEIGHTS, data={"path": "t.csv", "decimal": ","}, **CLOSE)
    assert run("anonymize", told).code == 0


def test_both_decimal_signs_in_one_column_are_told() -> None:
    frame = pl.DataFrame({"weight": ["70,5", "70.5"], "income": ["1", "2"], "note": ["a", "b"]})
    with pytest.raises(
        DataError, match="the numbers of weight have a decimal comma in some rows and a point in others"
    ):
        kveil.anonymize(frame, make_policy(WEIGHTS, **CLOSE))


# ------------------------------------------------------------------------------------------------ separators


def test_single_blanks_between_columns_are_found(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("age sex ill\n31 F flu\n35 M gout\n")
    for columns in ((), ("age", "sex", "ill")):
        source = read_table(path, columns=columns)
        assert source.separator == " "
        assert source.frame.rows() == [("31", "F", "flu"), ("35", "M", "gout")]


def test_several_blanks_between_columns_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    for text in ("age  sex  ill\n31   F    flu\n", "age sex ill\n31  F   flu\n"):
        path.write_text(text)
        for columns in ((), ("age", "sex", "ill")):
            with pytest.raises(FileError, match=r"^t\.txt: its columns are separated by several blanks; separate them"):
                read_table(path, columns=columns)


def test_one_column_whose_name_or_values_have_blanks_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("home town\nNew York\nBonn\n")
    assert read_table(path).frame.columns == ["home town"]
    path.write_text("home town\nNew York\n")
    assert read_table(path, columns=["home town"]).frame.columns == ["home town"]


def test_a_wrong_separator_is_told_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city,ill\nBonn,flu\n")
    with pytest.raises(DataError) as told:
        read_table(tmp_path / "t.csv", layout=FileLayout(separator=";"), columns=["city", "ill"])
    assert str(told.value) == (
        "t.csv: line 1 has none of the policy's columns when it is cut at ';', and 2 when cut at ','; write "
        "separator: ',' under data, or leave it out."
    )
