"""Frames in, the same kind out: pandas, Polars and PyArrow, by position, with their types and nothing besides."""

import datetime
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kveil
from support import HEADER, QUASI, ROWS, columns_of, make_policy, run, write_policy, write_rows

PAIR = {"a": QUASI, "s": "sensitive"}
SEED = np.random.default_rng(7)


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    if isinstance(frame, pd.DataFrame):
        return list(frame.itertuples(index=False, name=None))
    if isinstance(frame, pa.Table):
        return list(zip(*(column.to_pylist() for column in frame.columns), strict=True))
    rows: list[tuple[Any, ...]] = frame.rows()
    return rows


def names_of(frame: Any) -> list[str]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def csv_release(folder: Path, **policy: Any) -> list[tuple[str, ...]]:
    """Return what the command line releases for the same rows as a CSV."""
    path = write_policy(folder, **policy)
    assert run("anonymize", path, "--input", write_rows(folder / "t.csv"), "--quiet").code == 0
    lines = (folder / "t-release.csv").read_text().splitlines()
    return [tuple(line.split(",")) for line in lines[1:]]


def shuffled_index(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(SEED.permutation(len(frame)), axis=0)


FRAMES: dict[str, Callable[[dict[str, list[str]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, shuffled labels": lambda c: shuffled_index(pd.DataFrame(c)),
    "pandas, one label for all rows": lambda c: pd.DataFrame(c).set_axis([0] * len(c["age"]), axis=0),
    "pandas, named index of texts": lambda c: pd.DataFrame(c, index=pd.Index([f"i{n}" for n in c["name"]], name="key")),
    "pandas, index of two levels": lambda c: pd.DataFrame(c).set_index(["name", "ward"], drop=False),
    "pandas, categories": lambda c: pd.DataFrame(c).astype("category"),
    "pandas, strings": lambda c: pd.DataFrame(c).astype("string"),
    "pandas, PyArrow strings": lambda c: pd.DataFrame(c).astype("string[pyarrow]"),
    "pandas, numbers": lambda c: pd.DataFrame(c).astype({"age": "int64"}),
    "pandas, nullable numbers": lambda c: pd.DataFrame(c).astype({"age": "Int8"}),
    "pandas, floats": lambda c: pd.DataFrame(c).astype({"age": "float32"}),
    "polars": pl.DataFrame,
    "polars, categories": lambda c: pl.DataFrame(c, schema=dict.fromkeys(c, pl.Categorical)),
    "polars, enums": lambda c: pl.DataFrame({n: pl.Series(v, dtype=pl.Enum(sorted(set(v)))) for n, v in c.items()}),
    "polars, numbers": lambda c: pl.DataFrame(c).cast({"age": pl.UInt8}),
    "polars, floats": lambda c: pl.DataFrame(c).cast({"age": pl.Float64}),
    "polars, in pieces": lambda c: pl.concat([pl.DataFrame(c)[:2], pl.DataFrame(c)[2:]], rechunk=False),
    "pyarrow": pa.table,
    "pyarrow, dictionaries": lambda c: pa.table({n: pa.array(v).dictionary_encode() for n, v in c.items()}),
    "pyarrow, views": lambda c: pa.table({n: pa.array(v, pa.string_view()) for n, v in c.items()}),
    "pyarrow, in pieces": lambda c: pa.concat_tables([pa.table(c)[:4], pa.table(c)[4:]]),
    "pyarrow, numbers": lambda c: pa.table({**c, "age": pa.array([int(v) for v in c["age"]])}),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("order", ["sorted", "keep"])
def test_every_kind_comes_back_with_the_cells_a_csv_gives(tmp_path: Path, kind: str, order: str) -> None:
    frame = FRAMES[kind](columns_of())
    result = kveil.anonymize(frame, make_policy(release={"order": order}))
    assert type(result.data) is type(frame)
    assert names_of(result.data) == HEADER[1:]
    assert rows_of(result.data) == csv_release(tmp_path, release={"order": order})


@pytest.mark.parametrize("kind", FRAMES)
def test_a_verifier_that_looks_at_no_label(kind: str) -> None:
    frame = FRAMES[kind](columns_of())
    policy = make_policy(limit=0)
    released = frame.drop(columns="name") if isinstance(frame, pd.DataFrame) else frame.drop(["name"])
    verdict = kveil.verify(released, policy)
    worst = verdict.guarantees[0]["worst"], verdict.guarantees[0]["groups"]
    assert worst == (1, 8)  # only the two of 31 share their age and sex
    result = kveil.anonymize(frame, make_policy())
    assert kveil.verify(result.data, make_policy(), original=frame, owner=result.owner)


def test_the_verifiers_answer_does_not_depend_on_the_labels() -> None:
    # The trap: after a sort or a filter pandas labels are no positions, and a group-by over them counts wrong.
    release = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": [1, 2, 3, 4]})
    policy = make_policy(PAIR, release={"order": "keep"}, limit=0)
    for labels in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 0, 0, 0], ["b", "a", "d", "c"]):
        for original_labels in ([0, 1, 2, 3], [1, 0, 3, 2]):
            verdict = kveil.verify(release.set_axis(labels), policy, original=release.set_axis(original_labels))
            assert verdict
            assert (verdict.guarantees[0]["worst"], verdict.guarantees[0]["groups"]) == (2, 2)
            moved = release.iloc[[0, 2, 1, 3]].set_axis(labels)
            assert not kveil.verify(moved, policy, original=release.set_axis(original_labels))


@pytest.mark.parametrize("kind", FRAMES)
def test_the_owners_way_back_is_by_position(kind: str) -> None:
    result = kveil.anonymize(FRAMES[kind](columns_of()), make_policy())
    assert sorted(result.owner.rows.tolist()) == list(range(8))
    assert [ROWS[row][3] for row in result.owner.rows] == [row[2] for row in rows_of(result.data)]
    assert [rows.tolist() for rows in result.owner.suppressed.values()] == [[8]]


def test_a_pandas_release_has_a_plain_index_of_its_own() -> None:
    frame = pd.DataFrame(columns_of(), index=pd.Index([f"secret-{n}" for n in range(9)], name="patient"))
    frame.columns.name = "secret"
    frame.attrs["source"] = "secret"
    data = kveil.anonymize(frame, make_policy()).data
    assert data.index.equals(pd.RangeIndex(8))
    assert (data.index.name, data.columns.name, data.attrs) == (None, None, {})
    assert all(data[name].attrs == {} for name in data)


@pytest.mark.parametrize("first", ["kveil.anonymize", "kveil.verify", "kveil.Verdict", "kveil.Owner"])
def test_verify_is_the_function_whatever_is_used_first(first: str) -> None:
    # A room of the package has the same name, and importing it binds that name.
    script = f"""
import kveil, polars
{first}
attributes, privacy = {{"a": {{"role": "quasi-identifier"}}}}, [kveil.KAnonymity(k=2)]
policy = kveil.Policy(attributes=attributes, privacy=privacy, algorithm="datafly")
frame = polars.DataFrame({{"a": ["x", "x"]}})
result = kveil.anonymize(frame, policy)
assert kveil.verify(result.data, policy, original=frame, owner=result.owner)
import kveil.verifier
assert kveil.verify(result.data, policy)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------------------------------------- types


def test_pandas_columns_keep_their_types_and_quasi_identifiers_become_texts() -> None:
    frame = pd.DataFrame(
        {
            "a": pd.to_datetime(["1990-05-17", "1990-05-17", None, None]),
            "bool": [True, False, True, True],
            "int": np.array([1, 2, 3, 4], dtype="int16"),
            "null": pd.array([1, None, 3, 4], dtype="Int32"),
            "float": [0.5, np.nan, 2.0, 3.0],
            "time": pd.to_datetime(["2024-01-01 10:00", None, "2024-01-01", "2024-01-02"], format="mixed"),
            "zone": pd.to_datetime(["2024-01-01 10:00"] * 4).tz_localize("Europe/Berlin"),
            "text": pd.array(["x", None, "y", "z"], dtype="string"),
            "mixed": ["x", 1, None, 2.5],
        }
    )
    policy = make_policy(
        {name: QUASI if name == "a" else "insensitive" for name in frame},
        limit=0,
        release={"order": "keep"},
        data={"missing": ["unknown"]},
    )
    data = kveil.anonymize(frame, policy).data
    assert data["a"].tolist() == ["1990-05-17", "1990-05-17", "unknown", "unknown"]
    pd.testing.assert_frame_equal(data.drop(columns="a"), frame.drop(columns="a"))


def test_mixed_objects_are_read_value_by_value() -> None:
    values = [1, "1", 1.0, np.int8(1), True, "true", np.True_, None, np.nan, pd.NA, pd.NaT, float("nan")]
    values += [datetime.date(2020, 1, 1), "2020-01-01", pd.Timestamp("2020-01-01"), datetime.datetime(2020, 1, 1)]
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object), "s": range(len(values))})
    result = kveil.anonymize(frame, make_policy(PAIR, limit=0, release={"order": "keep"}))
    assert result.data["a"].tolist() == ["1"] * 4 + ["true"] * 3 + [""] * 5 + ["2020-01-01"] * 4


def test_a_moment_in_a_suppressed_row_does_not_change_how_dates_are_read() -> None:
    # The last row has a time of day; without it every moment is a date. The verifier compares both.
    moments = [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 3, 10)]
    cells = {"a": ["x", "x", "y"], "s": moments}
    for frame in (pl.DataFrame(cells), pd.DataFrame(cells), pa.table(cells)):
        result = kveil.anonymize(frame, make_policy(PAIR, limit=0.5))
        assert [row[1] for row in rows_of(result.data)] == moments[:2]


def test_polars_columns_keep_their_types() -> None:
    frame = pl.DataFrame(
        {
            "a": pl.Series([1.0, 1.0, None, float("nan")]),
            "cat": pl.Series(["u", "v", None, "u"], dtype=pl.Categorical),
            "enum": pl.Series(["lo", "hi", "hi", None], dtype=pl.Enum(["lo", "mid", "hi"])),
            "dec": pl.Series(["1.50", "2.00", None, "3.25"]).cast(pl.Decimal(10, 2)),
            "time": [datetime.time(1, 2), None, datetime.time(3), datetime.time(4)],
            "null": pl.Series([None] * 4, dtype=pl.Null),
            "moment": pl.Series([datetime.datetime(2020, 1, 1)] * 4).cast(pl.Datetime("ns", "UTC")),
        }
    )
    policy = make_policy(
        {n: QUASI if n == "a" else "insensitive" for n in frame.columns}, 2, 0, release={"order": "keep"}
    )
    data = kveil.anonymize(frame, policy).data
    assert data["a"].to_list() == ["1", "1", "", ""]
    assert data.drop("a", "enum").equals(frame.drop("a", "enum"))
    assert data.drop("a", "enum").schema == frame.drop("a", "enum").schema
    assert data["enum"].to_list() == ["lo", "hi", "hi", None]
    assert data["enum"].dtype == pl.Enum(["lo", "hi"])


def test_pyarrow_columns_keep_their_types() -> None:
    small = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    levels = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2], pa.int8()), ["lo", "mid", "hi"], ordered=True)
    frame = pa.table(
        {
            "a": pa.array([True, True, None, None]),
            "large": pa.array(["x", None, "y", "z"], pa.large_string()),
            "view": pa.array(["x", None, "y", "z"], pa.string_view()),
            "levels": levels,
            "codes": pa.array([7, 8, None, 7]).dictionary_encode(),
            "day": pa.array([datetime.date(2020, 1, 1)] * 4, pa.date32()),
            "wide": pa.array([1, 2, None, 3], pa.decimal256(50, 2)),
            "moment": pa.array([datetime.datetime(2020, 1, 1)] * 4, pa.timestamp("s", "UTC")),
        }
    )
    policy = make_policy(
        {n: QUASI if n == "a" else "insensitive" for n in frame.column_names}, 2, 0, release={"order": "keep"}
    )
    data = kveil.anonymize(frame, policy).data
    assert data["a"].to_pylist() == ["true", "true", "", ""]
    assert data.drop(["a"]).schema.equals(frame.drop(["a"]).schema)
    assert data.drop(["a"]).to_pylist() == frame.drop(["a"]).to_pylist()
    assert data["levels"].type == small
    assert data["levels"].chunk(0).dictionary.to_pylist() == ["lo", "hi"]


def test_categories_shrink_to_those_that_are_left() -> None:
    cells = {"a": ["x", "x", "y"], "s": ["u", "v", "rare"]}
    policy = make_policy(PAIR, limit=0.5)
    extra = ["never", "rare", "v", "u"]
    by_pandas = kveil.anonymize(
        pd.DataFrame({**cells, "s": pd.Categorical(cells["s"], extra, ordered=True)}), policy
    ).data
    assert by_pandas["s"].cat.categories.tolist() == ["v", "u"]
    assert by_pandas["s"].cat.ordered
    arrow = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    by_arrow = kveil.anonymize(pd.DataFrame({**cells, "s": pd.array(cells["s"], dtype=arrow)}), policy).data
    assert by_arrow["s"].dtype == arrow
    assert by_arrow["s"].array.__arrow_array__().chunk(0).dictionary.to_pylist() == ["u", "v"]
    by_polars = kveil.anonymize(pl.DataFrame({**cells, "s": pl.Series(cells["s"], dtype=pl.Enum(extra))}), policy).data
    assert by_polars["s"].dtype == pl.Enum(["v", "u"])
    by_pyarrow = kveil.anonymize(pa.table({**cells, "s": pa.array(cells["s"]).dictionary_encode()}), policy).data
    assert by_pyarrow["s"].chunk(0).dictionary.to_pylist() == ["u", "v"]


def test_columns_labelled_by_numbers_keep_their_labels() -> None:
    frame = pd.DataFrame([["x", 1, "p"], ["x", 2, "q"]])
    data = kveil.anonymize(frame, make_policy({"0": QUASI, "1": "sensitive", "2": "identifier"})).data
    assert list(data.columns) == [0, 1]
    assert rows_of(data) == [("x", 1), ("x", 2)]


# ---------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({"a": ["x"], "s": [1]}, "not dict"),
        (None, "not NoneType"),
        (pd.Series(["x"]), "not Series"),
        (pd.DataFrame([["x", "y"]], columns=["a", "a"]), "two columns of one name"),
        (pd.DataFrame([["x", "y"]], columns=[0, "0"]), "two columns of one name"),
        (pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["a", "a"]), "two columns of one name"),
        (
            pd.DataFrame([["x", "y"]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("s", "t")])),
            "labelled by a tuple",
        ),
        (pd.DataFrame({"a": [b"x"], "s": [1]}), "'a' holds values of type bytes"),
        (pd.DataFrame({"a": ["x"], "s": [[1]]}), "'s' is of type List"),
        (pd.DataFrame({"a": [1j], "s": [1]}), "'a' holds values of type complex"),
        (pl.DataFrame({"a": [[1]], "s": [1]}), "'a' is of type List"),
        (pl.DataFrame({"a": ["x"], "s": [1], "more": [2]}), "1 column without a role: more"),
        (pl.DataFrame({"a": ["x"]}), "lacks s"),
    ],
)
def test_what_is_no_table_of_the_policy_is_refused(frame: Any, says: str) -> None:
    with pytest.raises(kveil.DataError) as error:
        kveil.anonymize(frame, make_policy(PAIR, k=1))
    assert says in str(error.value)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_without_rows_has_fewer_than_k(kind: str) -> None:
    with pytest.raises(kveil.Unmeetable, match="0 records, fewer than k = 2"):
        kveil.anonymize(FRAMES[kind]({name: [] for name in HEADER}), make_policy())


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["x", "y", None, ""]), st.integers(0, 3)), min_size=2, max_size=12), st.data()
)
def test_missing_is_a_value_like_any_other(rows: list[tuple[str | None, int]], data: st.DataObject) -> None:
    # Group-bys that drop nulls lose a unique record from the count.
    labels = data.draw(st.permutations(range(len(rows))))
    frame = pd.DataFrame(rows, columns=["a", "s"], index=labels).astype({"a": object})
    counts: dict[str, int] = {}
    for text, _ in rows:
        counts[text or ""] = counts.get(text or "", 0) + 1
    verdict = kveil.verify(frame, make_policy(PAIR))
    assert (verdict.guarantees[0]["worst"], verdict.guarantees[0]["groups"]) == (min(counts.values()), len(counts))
