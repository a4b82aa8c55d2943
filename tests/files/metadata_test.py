"""What a file holds beside its cells is found, whoever wrote it; kveil's own files hold nothing."""

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import kveil
from kveil.files import FileLayout, look_beside, read_table, write_table

FRAME = pl.DataFrame(
    {
        "age": ["30-39", "40-49", "*", "30-39"] * 50,
        "n": [1, 2, 3, None] * 50,
        "d": [1.5, -2.0, 0.0, 3.25] * 50,
        "set": [["flu"], ["flu", "gout"], [], ["*"]] * 50,
        "enum": pl.Series(["lo", "hi", "hi", None] * 50, dtype=pl.Enum(["lo", "hi"])),
        "cat": pl.Series(["x", "y", "x", "x"] * 50, dtype=pl.Categorical),
    }
)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_kveils_own_files_hold_nothing_beside_their_cells(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"r.{suffix}"
    for frame in (FRAME, FRAME[:0]):
        with target.open("w+b") as file:
            write_table(frame.drop("set") if suffix[-2:] == "sv" else frame, file, target, separator=",")
        found = look_beside(target, read_table(target, layout=FileLayout(separator=",")), "")
        assert (found.content, found.form) == ((), ())


def table(**more: Any) -> pa.Table:
    return pa.table({"age": ["30-39", "40-49", "30-39"], "d": ["u", "v", "u"]}).replace_schema_metadata(more or None)


def look(path: Path) -> str:
    found = look_beside(path, read_table(path), "")
    return " | ".join((*found.content, *found.form))


def test_metadata_of_parquet_is_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pa.parquet.write_table(table(), path, write_statistics=False, store_schema=False)
    assert "holds" not in look(path)
    pa.parquet.write_table(table(original="Ada Lovelace"), path, write_statistics=False)
    assert "metadata beside its cells ('original')" in look(path)
    field = pa.field("age", pa.string(), metadata={"secret": "Ada"})
    hidden = table().cast(pa.schema([field, pa.field("d", pa.string())]))
    pa.parquet.write_table(hidden, path, write_statistics=False)
    assert "metadata beside its cells" in look(path)


def test_statistics_of_parquet_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pa.parquet.write_table(table(), path, store_schema=False)
    assert "statistics of 4 parts of its columns" in look(path)
    pa.parquet.write_table(table(), path, store_schema=False, write_page_index=True)
    assert "bytes that belong to no column" in look(path)


def test_values_of_a_parquet_dictionary_that_no_row_shows_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    listed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["u", "v", "Ada Lovelace, HIV"]))
    pa.parquet.write_table(pa.table({"d": listed}), path, write_statistics=False, store_schema=False)
    assert "1 value in its dictionaries that no row shows" in look(path)


def test_bytes_outside_of_everything_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    file = io.BytesIO()
    FRAME.select("age").write_parquet(file, statistics=False)
    raw = file.getvalue()
    end = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    path.write_bytes(raw[:end] + b"Ada Lovelace" + raw[end:])
    assert "12 bytes that belong to no column" in look(path)


def test_kveil_takes_no_values_along_behind_cells_that_show_none(tmp_path: Path) -> None:
    masked = pd.arrays.IntegerArray(np.array([1, 4242, 777, 2]), np.array([False, True, True, False]))
    policy = kveil.Policy(
        attributes={"q": {"role": "quasi-identifier"}, "d": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
    )
    result = kveil.anonymize(pd.DataFrame({"q": ["x"] * 4, "d": masked}), policy, algorithm="datafly")
    assert result.data["d"].isna().sum() == 2
    assert not {4242, 777} & set(result.data["d"].array._data.tolist())


@pytest.mark.parametrize(
    "text", ['a,b\n"x",y\n', "a,b\r\nx,y\r\n", "a,b\n\nx,y\n", "\ufeffa,b\nx,y\n", "a,b\nx,y"], ids=repr
)
def test_a_csv_with_other_quotes_or_line_ends_is_told_from_kveils(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(text.encode())
    found = look_beside(path, read_table(path), "")
    assert found.content == ()
    assert "byte for byte" in found.form[0]


CELLS = ("", "a", "ü", "?", " b ", "x,y", "1.5", "-")
FORMS = (lambda text: text, lambda text: text.replace("a", '"a"', 1), lambda text: text.replace("\n", "\r\n", 1))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_is_told_apart_the_same_way_whether_it_is_written_again_or_only_counted(
    tmp_path: Path, separator: str
) -> None:
    random = Random(ord(separator))
    told = set()
    for _ in range(150):
        width, missing = random.randint(1, 3), random.choice(["", "?", "-"])
        cells = [[random.choice(CELLS) for _ in range(width)] for _ in range(random.randint(1, 4))]
        lines = [separator.join(line) for line in [["p", "q", "r"][:width], *cells]]
        if random.random() < 0.2:
            lines.insert(random.randint(1, len(lines)), "")
        path = tmp_path / "t.csv"
        path.write_text(random.choice(FORMS)("\n".join(lines) + random.choice(["\n", ""])), newline="")
        try:
            source = read_table(path, layout=FileLayout(separator=separator))
        except kveil.KveilError:
            continue
        again = io.BytesIO()
        write_table(source.frame, again, path, separator=source.separator, missing=missing)
        same = again.getvalue() == path.read_bytes()
        assert bool(look_beside(path, source, missing).form) is not same
        told.add(same)
    assert told == {True, False}
