"""What must not get out: values of columns and rows that are not released, orders, hashes, and whoever asks why."""

import base64
import datetime
import hashlib
import io
import json
import pickle
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import kveil
from kveil.files import read_table
from support import (
    QUASI,
    ROLES,
    ROWS,
    Outcome,
    csv_text,
    make_policy,
    names_in,
    refused,
    run,
    write_policy,
    write_rows,
)

# Longer than twelve bytes, so that Arrow keeps them outside of a column's own memory.
MARK = "planted-marker"
NAME = f"{MARK}-in-an-identifier"
GONE = f"{MARK}-in-a-suppressed-row"
RARE = f"{MARK}-as-a-generalized-value"


def marked_columns() -> dict[str, list[str]]:
    """Return a table of 24 rows whose last two are suppressed; nothing with a marker may be released.

    Cities are released as regions: their own names are as secret as the rest.
    """
    people = 24
    return {
        "name": [f"{NAME}-{i}" for i in range(people)],
        "city": [f"{RARE}-{i % 6}" for i in range(people - 2)] + [f"{RARE}-north", f"{RARE}-south"],
        "diagnosis": [f"a diagnosis that is long, number {i % 5}" for i in range(people - 2)] + [GONE, f"{GONE}-too"],
        "ward": [f"ward {i % 3} of the whole hospital" for i in range(people - 2)] + [f"{GONE}-ward"] * 2,
    }


REGIONS = {
    "east side of the country": [f"{RARE}-{i}" for i in range(3)],
    "west side of the country": [f"{RARE}-{i}" for i in range(3, 6)],
    "north": [f"{RARE}-north"],
    "south": [f"{RARE}-south"],
}
MARKED_ROLES = {
    "name": "identifier",
    # The boundary keeps north and south apart, so that both are too rare.
    "city": {"role": QUASI, "hierarchy": {"tree": {"*": REGIONS}}, "boundary": list(REGIONS)},
    "diagnosis": "sensitive",
    "ward": "insensitive",
}
MARKED = {"attributes": MARKED_ROLES, "k": 5, "limit": 0.1}


def test_the_marked_table_is_what_it_says() -> None:
    result = kveil.anonymize(pl.DataFrame(marked_columns()), make_policy(**MARKED))
    assert set(result.data["city"]) == {"east side of the country", "west side of the country"}
    assert result.data.height == 22
    assert sorted(row for rows in result.owner.suppressed.values() for row in rows) == [22, 23]


# ---------------------------------------------------------------------------------------------- bytes of files


def typed(kind: Any, columns: tuple[str, ...] = ("diagnosis", "ward", "city")) -> pl.DataFrame:
    cells = marked_columns()
    types = {name: pl.Enum(sorted(set(cells[name]))) if kind is pl.Enum else kind for name in columns}
    return pl.DataFrame(cells, schema_overrides=types)


def write_marked(path: Path) -> Path:
    """Write the marked table in many ways, with markers in every metadata that a format has."""
    kind, _, suffix = path.name.partition(".")
    cells = marked_columns()
    if kind == "pandas":
        frame = pd.DataFrame(cells, index=pd.RangeIndex(24, name=MARK))
        frame.attrs["source"] = MARK
        frame.to_parquet(path) if suffix == "parquet" else feather.write_feather(frame.reset_index(drop=True), path)
    elif kind == "pyarrow":
        fields = [pa.field(name, pa.string(), metadata={"from": MARK}) for name in cells]
        table = pa.table(cells, schema=pa.schema(fields, metadata={"from": MARK}))
        parquet.write_table(table, path) if suffix == "parquet" else feather.write_feather(table, path)
    elif kind == "dictionary":
        table = pa.table({name: pa.array(cell).dictionary_encode() for name, cell in cells.items()})
        parquet.write_table(table, path) if suffix == "parquet" else feather.write_feather(table, path)
    elif suffix == "csv":
        pl.DataFrame(cells).write_csv(path)
    else:
        frame = {"texts": pl.DataFrame(cells), "enums": typed(pl.Enum), "categories": typed(pl.Categorical)}[kind]
        frame.write_parquet(path) if suffix == "parquet" else frame.write_ipc(path)
    return path


INPUTS = ["texts.csv"] + [
    f"{kind}.{suffix}"
    for kind in ("texts", "enums", "categories", "pandas", "pyarrow", "dictionary")
    for suffix in ("parquet", "feather")
]


@pytest.mark.parametrize("output", ["r.csv", "r.parquet", "r.arrow"])
@pytest.mark.parametrize("name", INPUTS)
def test_a_release_holds_nothing_of_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, output: str
) -> None:
    # As written, then once more without compression, which could hide a text from a search of the bytes.
    source, policy, target = write_marked(tmp_path / name), write_policy(tmp_path, **MARKED), tmp_path / output
    whole = pl.DataFrame.write_parquet
    for compression in ("zstd", "uncompressed"):
        monkeypatch.setattr(
            pl.DataFrame, "write_parquet", lambda *a, c=compression, **kw: whole(*a, **{**kw, "compression": c})
        )
        outcome = run("anonymize", policy, "--input", source, "--output", target)
        assert (outcome.code, outcome.err) == (0, "")
        assert MARK.encode() not in target.read_bytes()
        assert b"number 3" in target.read_bytes() or (compression == "zstd" and output == "r.parquet")
        assert MARK not in outcome.out
        assert read_table(target).rows == 22
        if output == "r.parquet":
            assert_bare_parquet(target)
        elif output == "r.arrow":
            schema = pa.ipc.open_file(target).schema
            assert MARK not in str(schema.metadata) + "".join(str(field.metadata) for field in schema)


def assert_bare_parquet(path: Path) -> None:
    """Check that a Parquet file has no statistics, and no metadata but the writer's own schema."""
    found = parquet.read_metadata(path)
    assert set(found.metadata or {}) <= {b"ARROW:schema"}
    for value in (found.metadata or {}).values():
        assert MARK.encode() not in base64.b64decode(value)
    for group in range(found.num_row_groups):
        for column in range(found.num_columns):
            chunk = found.row_group(group).column(column)
            assert not chunk.is_stats_set
            assert chunk.statistics is None
            assert not chunk.has_column_index
            assert chunk.geo_statistics is None if hasattr(chunk, "geo_statistics") else True
    assert not any(field.metadata for field in parquet.read_schema(path) if field.name == "city")


# ---------------------------------------------------------------------------------------------- bytes of frames


def buffers(data: pa.Table) -> bytes:
    found = []
    for column in data.columns:
        for chunk in column.chunks:
            parts = [chunk, chunk.dictionary] if isinstance(chunk, pa.DictionaryArray) else [chunk]
            found += [bytes(buffer) for part in parts for buffer in part.buffers() if buffer is not None]
    return b"".join(found)


def bytes_of_polars(data: pl.DataFrame) -> dict[str, bytes]:
    """Return everything that Polars may write a frame as."""

    def made(write: Callable[[io.BytesIO], Any]) -> bytes:
        file = io.BytesIO()
        write(file)
        return file.getvalue()

    newest = pl.CompatLevel.newest()
    return {
        "parquet": made(lambda file: data.write_parquet(file, compression="uncompressed")),
        "ipc": made(data.write_ipc),
        "ipc, newest": made(lambda file: data.write_ipc(file, compat_level=newest)),
        "stream": made(data.write_ipc_stream),
        "pickle": pickle.dumps(data),
        "serialized": data.serialize(),
        "csv": data.write_csv().encode(),
        "arrow": buffers(data.to_arrow()),
        "arrow, newest": buffers(data.to_arrow(compat_level=newest)),
        "as texts": made(data.cast(pl.String).write_ipc),
    }


def bytes_of_pandas(data: pd.DataFrame) -> dict[str, bytes]:
    columns = {f"parquet, {c}": c for c in ("snappy", None)}
    return {
        **{name: data.to_parquet(None, compression=c) for name, c in columns.items()},
        "arrow": buffers(pa.Table.from_pandas(data)),
        "arrow schema": str(pa.Table.from_pandas(data).schema.metadata).encode(),
        "pickle": pickle.dumps(data),
        "attrs": repr(data.attrs).encode(),
    }


def bytes_of_pyarrow(data: pa.Table) -> dict[str, bytes]:
    file, feathers = io.BytesIO(), io.BytesIO()
    parquet.write_table(data, file, compression="none")
    feather.write_feather(data, feathers, compression="uncompressed")
    return {
        "parquet": file.getvalue(),
        "feather": feathers.getvalue(),
        "buffers": buffers(data),
        "pickle": pickle.dumps(data),
        "schema": str(data.schema.metadata).encode() + b"".join(str(f.metadata).encode() for f in data.schema),
    }


def marked_pandas() -> pd.DataFrame:
    frame = pd.DataFrame(marked_columns(), index=[f"{MARK}-{i}" for i in range(24)])
    frame.attrs["source"] = MARK
    frame.index.name = frame.columns.name = MARK
    return frame


def marked_pyarrow() -> pa.Table:
    cells = marked_columns()
    fields = [pa.field(name, pa.string(), metadata={"from": MARK}) for name in cells]
    return pa.table(cells, schema=pa.schema(fields, metadata={"from": MARK, "pandas": json.dumps({"x": MARK})}))


ARROW_CATEGORIES = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
FRAMES: dict[str, Callable[[], Any]] = {
    "polars": lambda: pl.DataFrame(marked_columns()),
    "polars, categories": lambda: typed(pl.Categorical),
    "polars, enums": lambda: typed(pl.Enum),
    "polars, in pieces": lambda: pl.concat([pl.DataFrame(marked_columns())[:9], pl.DataFrame(marked_columns())[9:]]),
    "polars, a slice": lambda: pl.concat([pl.DataFrame(marked_columns()), pl.DataFrame(marked_columns())])[24:],
    "pandas": marked_pandas,
    "pandas, categories": lambda: marked_pandas().astype("category"),
    "pandas, strings": lambda: marked_pandas().astype("string[pyarrow]"),
    "pandas, PyArrow": lambda: marked_pandas().convert_dtypes(dtype_backend="pyarrow"),
    "pandas, PyArrow categories": lambda: marked_pandas().astype(
        {"ward": ARROW_CATEGORIES, "diagnosis": ARROW_CATEGORIES}
    ),
    "pyarrow": marked_pyarrow,
    "pyarrow, large": lambda: pa.table({n: pa.array(c, pa.large_string()) for n, c in marked_columns().items()}),
    "pyarrow, views": lambda: pa.table({n: pa.array(c, pa.string_view()) for n, c in marked_columns().items()}),
    "pyarrow, dictionaries": lambda: pa.table(
        {n: pa.array(c).dictionary_encode() for n, c in marked_columns().items()}
    ),
    "pyarrow, in pieces": lambda: pa.concat_tables([marked_pyarrow()[:9], marked_pyarrow()[9:]]),
}


@pytest.mark.parametrize("order", ["sorted", "keep"])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_written_on_holds_nothing_of_what_was_left_out(kind: str, order: str) -> None:
    # Gathered texts point into the memory of all of them, and some writers take that memory along.
    frame = FRAMES[kind]()
    result = kveil.anonymize(frame, make_policy(**MARKED, release={"order": order}))
    assert len(result.data) == 22
    if isinstance(frame, pl.DataFrame):
        written = bytes_of_polars(result.data)
    else:
        written = bytes_of_pandas(result.data) if isinstance(frame, pd.DataFrame) else bytes_of_pyarrow(result.data)
    for name, content in written.items():
        assert MARK.encode() not in content, name
    assert any(b"number 3" in content for content in written.values())
    assert MARK not in json.dumps(result.account)


# ---------------------------------------------------------------------------------------------- orders


def shuffled(rows: list[list[str]], seed: int) -> list[list[str]]:
    copy = list(rows)
    random.Random(seed).shuffle(copy)
    return copy


def many_rows(number: int = 200) -> list[list[str]]:
    rng = random.Random(3)
    return [
        [
            f"n{i}",
            str(rng.choice([11, 15, 27, 33, 90])),
            rng.choice("MF"),
            f"d{rng.randrange(4)}",
            f"w{rng.randrange(3)}",
        ]
        for i in range(number)
    ]


def release_of(folder: Path, rows: list[list[str]], output: str = "r.csv", **policy: Any) -> bytes:
    path = write_policy(folder, **policy)
    source = write_rows(folder / "t.csv", rows)
    outcome = run("anonymize", path, "--input", source, "--output", folder / output, "--quiet")
    assert outcome == Outcome(0, "", "")
    return (folder / output).read_bytes()


@pytest.mark.parametrize("output", ["r.csv", "r.parquet", "r.arrow"])
def test_sorted_is_a_function_of_the_release_alone(tmp_path: Path, output: str) -> None:
    rows = many_rows()
    first = release_of(tmp_path, rows, output)
    for seed in range(4):
        assert release_of(tmp_path, shuffled(rows, seed), output) == first
    if output == "r.csv":
        lines = first.decode().splitlines()[1:]
        assert [line.split(",") for line in lines] == sorted(line.split(",") for line in lines)


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(["", None]),
        pytest.param([1.0, None, float("nan")]),
        [True, None],
        [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 0, 1)],
    ],
    ids=["texts", "floats", "truths", "moments"],
)
def test_sorted_tells_all_typed_cells_apart(cells: list[Any]) -> None:
    policy = make_policy({"a": QUASI, "s": "sensitive"}, limit=0)
    frame = pl.DataFrame({"a": "x", "s": cells * 4})
    orders = (frame, frame[::-1], frame.sample(fraction=1, shuffle=True, seed=5))
    first, *others = (kveil.anonymize(order, policy).data["s"].cast(pl.String).to_list() for order in orders)
    assert others == [first, first]


def test_keep_keeps_the_order_of_the_input(tmp_path: Path) -> None:
    rows = many_rows()
    policy = {"release": {"order": "keep"}, "limit": 0.5}
    lines = release_of(tmp_path, rows, **policy).decode().splitlines()[1:]
    assert len(lines) > 150
    kept = iter(rows)
    for line in lines:  # every line is some later row than the one before
        _, sex, diagnosis, ward = line.split(",")
        assert any([sex, diagnosis, ward] == row[2:] for row in kept)


def test_shuffle_follows_no_seed_and_forgets_the_input(tmp_path: Path) -> None:
    rows = many_rows()
    policy = {"release": {"order": "shuffle"}, "seed": 7}
    first, second = (release_of(tmp_path, rows, **policy) for _ in range(2))
    assert first != second
    assert sorted(first.splitlines()) == sorted(second.splitlines())
    kept = release_of(tmp_path, rows, release={"order": "keep"})
    by_text = release_of(tmp_path, rows)
    assert first not in (kept, by_text)
    assert sorted(first.splitlines()) == sorted(by_text.splitlines())


# ---------------------------------------------------------------------------------------------- receipt and owner


def texts_in(content: Any) -> list[str]:
    if isinstance(content, dict):
        return [text for pair in content.items() for part in pair for text in texts_in(part)]
    if isinstance(content, list):
        return [text for part in content for text in texts_in(part)]
    return [content] if isinstance(content, str) else []


def test_the_receipt_holds_no_hash_of_the_input_and_no_value(tmp_path: Path) -> None:
    source, policy = write_rows(tmp_path / "t.csv"), write_policy(tmp_path)
    receipt, account = tmp_path / "receipt.json", tmp_path / "account.json"
    written = ["--output", tmp_path / "r.csv", "--receipt", receipt, "--account", account]
    outcome = run("anonymize", policy, "--input", source, *written, "--json")
    content = json.loads(receipt.read_bytes())
    assert json.loads(account.read_bytes()) == outcome.json
    raw = source.read_bytes()
    for algorithm in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s"):
        assert hashlib.new(algorithm, raw).hexdigest() not in receipt.read_text()
    told = run("verify", policy, "--release", tmp_path / "r.csv", "--json").json  # others reckon the policy's hash, too
    assert content["sha256"] == {
        "policy": told["sha256"]["policy"],
        "release": hashlib.sha256((tmp_path / "r.csv").read_bytes()).hexdigest(),
    }
    values = {cell for row in ROWS for cell in row}
    assert not values.intersection(texts_in(content))
    assert content["records"] == {"input": 9, "released": 8, "suppressed": 1}
    result = kveil.anonymize(read_table(source).frame, kveil.Policy.load(policy))
    assert result.receipt["sha256"]["release"] is None
    assert not values.intersection(texts_in(result.receipt))


@pytest.mark.parametrize("order", ["sorted", "shuffle", "keep"])
@pytest.mark.parametrize("show", ["drop", "star"])
def test_the_owners_file_leads_every_cell_back(tmp_path: Path, order: str, show: str) -> None:
    rows = [*many_rows(60), ["lonely", "55", "F", "unheard of", "w9"]]
    policy = write_policy(tmp_path, release={"order": order}, suppression={"limit": 0.05, "show": show})
    source, owner, target = write_rows(tmp_path / "t.csv", rows), tmp_path / "owner.json", tmp_path / "r.csv"
    owner.write_text("older, and open to all")
    owner.chmod(0o644)
    arguments = ["--input", source, "--output", target, "--owner", owner, "--quiet"]
    assert run("anonymize", policy, *arguments) == Outcome(0, "", "")
    assert stat.S_IMODE(owner.stat().st_mode) == 0o600
    content = json.loads(owner.read_bytes())
    assert content["input"] == {"rows": 61, "sha256": hashlib.sha256(source.read_bytes()).hexdigest()}
    assert content["release"]["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    released = [line.split(",") for line in target.read_text().splitlines()[1:]]
    assert len(content["rows"]) == len(released) == len(set(content["rows"]))
    gone = {row for found in content["suppressed"].values() for row in found}
    assert 61 in gone
    for row, (age, sex, diagnosis, ward) in zip(content["rows"], released, strict=True):
        _, original_age, *others = rows[row - 1]
        if show == "star" and row in gone:
            assert [age, sex, diagnosis, ward] == ["*", "*", "*", others[2]]
            continue
        assert [diagnosis, ward] == others[1:]
        assert row not in gone
        assert sex in (others[0], "*")
        low = int(original_age) // 10 * 10
        assert age in (original_age, f"{low}-{low + 9}", "*")
    missing = set(range(1, 62)) - set(content["rows"])
    assert missing == (gone if show == "drop" else set())


# ---------------------------------------------------------------------------------------------- messages

IDENTIFIERS = {"name": {"role": "identifier"}, "ssn": {"role": "identifier"}}
SECRET_ROLES = {**IDENTIFIERS, **{name: role for name, role in ROLES.items() if name != "name"}}
SECRET_HEADER = list(SECRET_ROLES)
SECRET_ROWS = [[f"{MARK}-{i}", f"{MARK}{i}{i}", *row[1:]] for i, row in enumerate(ROWS)]
SECRET_CSV = csv_text(SECRET_ROWS, SECRET_HEADER)


def changed(old: str, new: str) -> Callable[[str], bytes]:
    def change(text: str) -> bytes:
        assert old in text
        return text.replace(old, new, 1).encode()

    return change


FAILING: dict[str, tuple[Callable[[str], bytes], dict[str, Any], int]] = {
    "a short row that starts with it": (lambda t: f"{t}{MARK},{MARK}\n".encode(), {}, 2),
    "a short row that is nothing else": (lambda t: f"{t}{MARK}\n".encode(), {}, 2),
    "a long row": (lambda t: f"{t}{MARK},{MARK},31,F,flu,w1,{MARK}\n".encode(), {}, 2),
    "a quote not closed in that very cell": (changed(f"{MARK}-4", f'"{MARK}-4'), {}, 2),
    "a quote closed too early in that very cell": (changed(f"{MARK}-4", f'"{MARK}"-4'), {}, 2),
    "bad UTF-8 in that very cell": (lambda t: t.encode().replace(b"-4,", b"-4\xff,", 1), {}, 2),
    "UTF-16": (lambda t: t.encode("utf-16"), {}, 2),
    "only carriage returns": (lambda t: t.replace("\n", "\r").encode(), {}, 2),
    "a NUL and a short row": (lambda t: f"{t}{MARK}\x00,\n".encode(), {}, 2),
    "a name that stands twice": (changed("name,ssn", "name,name"), {}, 2),
    "a column without a role": (changed("name,", "name,more,").__call__, {}, 2),
    "no header": (lambda t: t.split("\n", 1)[1].encode(), {}, 2),
    "no header, and a value twice in the first row": (lambda t: f"{MARK},{MARK},31,F,flu,w1\n".encode(), {}, 2),
    "a missing column": (changed("ward", "w"), {}, 2),
    "a value its hierarchy does not know": (changed(",31,", ",131,"), {}, 2),
    "a text where a number should be": (changed(",31,", ",x,"), {}, 2),
    "a star": (changed(",F,", ",*,"), {}, 2),
    "another separator": (changed(SECRET_HEADER[0], SECRET_HEADER[0]), {"data": {"separator": ";"}}, 2),
    "too much to suppress": (changed(",31,", ",32,"), {"limit": 0, "boundary": True}, 1),
    "k larger than the table": (changed(",31,", ",32,"), {"k": 10}, 1),
    "a dependency that the input breaks": (
        changed(",31,", ",32,"),
        {"dependencies": ["ward -> diagnosis"]},
        2,
    ),
    "a dependency on an identifier": (changed(",31,", ",32,"), {"dependencies": ["name -> diagnosis"]}, 2),
    "a constraint over an identifier": (
        changed(",31,", ",32,"),
        {"privacy": [{"model": "k-anonymity", "k": 2, "attributes": ["name"]}]},
        2,
    ),
}


@pytest.mark.parametrize("verb", ["anonymize", "verify", "measure", "hierarchy show"])
@pytest.mark.parametrize("case", FAILING)
def test_no_message_repeats_an_identifier(tmp_path: Path, case: str, verb: str) -> None:
    change, settings, code = FAILING[case]
    settings = dict(settings)
    roles = dict(SECRET_ROLES)
    if settings.pop("boundary", False):
        roles["age"] = {**ROLES["age"], "boundary": {"level": 0}}
    policy = write_policy(tmp_path, roles, **{"data": {"path": "t.csv"}, **settings})
    if "data" in settings:
        policy = write_policy(tmp_path, roles, **{**settings, "data": {"path": "t.csv", **settings["data"]}})
    (tmp_path / "t.csv").write_bytes(change(SECRET_CSV))
    before = names_in(tmp_path)
    if verb == "anonymize":
        target, receipt = tmp_path / "r.csv", tmp_path / "receipt.json"
        outcome = run("anonymize", policy, "--output", target, "--receipt", receipt, "--owner", tmp_path / "o")
        assert outcome.code == code
        assert outcome.out == ""
        assert outcome.err.count("\n") == 1
        assert names_in(tmp_path) == before
    elif verb == "verify":
        outcome = run("verify", policy, "--release", tmp_path / "t.csv", "--original", tmp_path / "t.csv")
    elif verb == "measure":
        outcome = run("measure", policy, "--release", tmp_path / "t.csv", "--original", tmp_path / "t.csv")
    else:
        outcome = run("hierarchy", "show", policy, "--attribute", "name")
    assert outcome.code in (1, 2)
    assert "Traceback" not in outcome.err
    assert "defect of kveil" not in outcome.err
    assert MARK not in outcome.out + outcome.err
    assert "planted" not in outcome.out + outcome.err


def test_a_frame_repeats_no_identifier_either() -> None:
    cells = {name: [row[i] for row in SECRET_ROWS] for i, name in enumerate(SECRET_HEADER)}
    cells["ssn"] = [MARK, 1, None, 2.5, b"x", [MARK], {MARK}, "y", "z"]  # type: ignore[list-item]
    result = kveil.anonymize(pd.DataFrame(cells).drop(columns="ssn").assign(ssn="x"), make_policy(SECRET_ROLES))
    assert MARK not in json.dumps(result.account)
    with pytest.raises(kveil.DataError) as error:
        kveil.anonymize(pd.DataFrame(cells), make_policy(SECRET_ROLES))
    assert MARK not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_good_run_repeats_no_identifier(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "t.csv").write_text(SECRET_CSV)
    policy = write_policy(tmp_path, SECRET_ROLES, data={"path": "t.csv"})
    target, receipt, owner = tmp_path / f"r.{suffix}", tmp_path / "receipt.json", tmp_path / "owner.json"
    for extra in ([], ["--json"]):
        outcome = run("anonymize", policy, "--output", target, "--receipt", receipt, "--owner", owner, *extra)
        assert outcome.code == 0
        assert MARK not in outcome.out + outcome.err + receipt.read_text() + owner.read_text()
        assert MARK.encode() not in target.read_bytes()
        for verb in ("verify", "measure"):
            given = ["--release", target, "--original", tmp_path / "t.csv", "--owner", owner]
            checked = run(verb, policy, *given, *extra)
            assert checked.code == 0
            assert MARK not in checked.out + checked.err
    # A release that shows what it must not is told so without repeating it.
    leaky = run("verify", policy, "--release", tmp_path / "t.csv")
    assert leaky.code == 1
    assert "name has role identifier" in leaky.out
    assert MARK not in leaky.out + leaky.err


PERSON_ROLES = {
    "pid": "individual",
    "name": "identifier",
    "city": QUASI,
    "diagnosis": "sensitive",
}
# Six persons; the last one is alone in its city.
VISITS = [
    ["1", "Rome", "flu"],
    ["2", "Rome", "gout"],
    ["1", "Rome", "gout"],
    ["3", "Oslo", "cough"],
    ["4", "Oslo", "flu"],
    ["5", "Oslo", "flu"],
    ["5", "Oslo", "flu"],
    ["6", f"{RARE}", f"{GONE}"],
    ["6", f"{RARE}", f"{GONE}-too"],
]
VISIT_ROWS = [[f"{MARK}-person-{pid}", f"{NAME}-{pid}", *others] for pid, *others in VISITS]


@pytest.mark.parametrize("shape", ["sets", "long"])
@pytest.mark.parametrize("output", ["r.csv", "r.parquet", "r.arrow"])
def test_individuals_leave_as_little_behind(tmp_path: Path, shape: str, output: str) -> None:
    source = write_rows(tmp_path / "t.csv", VISIT_ROWS, list(PERSON_ROLES))
    policy = write_policy(tmp_path, PERSON_ROLES, data={"path": "t.csv"}, release={"shape": shape})
    target, receipt, owner = tmp_path / output, tmp_path / "receipt.json", tmp_path / "owner.json"
    outcome = run("anonymize", policy, "--output", target, "--receipt", receipt, "--owner", owner)
    assert (outcome.code, outcome.err) == (0, "")
    assert MARK not in outcome.out + receipt.read_text() + owner.read_text()
    assert MARK.encode() not in target.read_bytes()
    release = read_table(target).frame
    assert release.columns == (["individual"] if shape == "long" else []) + ["city", "diagnosis"]
    assert json.loads(receipt.read_bytes())["individuals"] == {"input": 6, "released": 5, "suppressed": 1}
    first = target.read_bytes()
    for seed in range(3):
        write_rows(source, shuffled(VISIT_ROWS, seed), list(PERSON_ROLES))
        assert run("anonymize", policy, "--output", target, "--quiet").code == 0
        assert target.read_bytes() == first


@pytest.mark.parametrize("shape", ["sets", "long"])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_of_individuals_leave_as_little_behind(make: Callable[[Any], Any], shape: str) -> None:
    frame = make({name: [row[i] for row in VISIT_ROWS] for i, name in enumerate(PERSON_ROLES)})
    policy = make_policy(PERSON_ROLES, release={"shape": shape})
    result = kveil.anonymize(frame, policy)
    assert type(result.data) is type(frame)
    assert kveil.verify(result.data, policy, original=frame, owner=result.owner)
    if isinstance(frame, pl.DataFrame):
        written = bytes_of_polars(result.data if shape == "long" else result.data.explode("diagnosis"))
        file = io.BytesIO()
        result.data.write_ipc(file)
        written |= {"sets": file.getvalue(), "pickled sets": pickle.dumps(result.data)}
    else:
        written = bytes_of_pandas(result.data) if isinstance(frame, pd.DataFrame) else bytes_of_pyarrow(result.data)
    for name, content in written.items():
        assert MARK.encode() not in content, name
    assert MARK not in json.dumps(result.account)


@pytest.mark.parametrize(
    "more",
    [
        f"{MARK}-person-1\n",
        f"{MARK}-person-1,x,Rome,flu,{MARK}\n",
        f"{MARK}-person-1,x,Oslo,flu\n",
        ",x,Oslo,flu\n",
        f"{MARK}-person-1,x,Rome,a|b\n",
        f"{MARK}-person-1,x,*,flu\n",
        f'"{MARK}-person-1,x,Rome,flu\n',
    ],
)
def test_no_message_repeats_an_individual(tmp_path: Path, more: str) -> None:
    (tmp_path / "t.csv").write_text(csv_text(VISIT_ROWS, list(PERSON_ROLES)) + more)
    policy = write_policy(tmp_path, PERSON_ROLES, data={"path": "t.csv"})
    before = names_in(tmp_path)
    outcome = run("anonymize", policy, "--output", tmp_path / "r.csv", "--receipt", tmp_path / "receipt.json")
    refused(outcome, "t.csv")
    assert MARK not in outcome.err
    assert names_in(tmp_path) == before
    shown = refused(run("hierarchy", "show", policy, "--attribute", "pid"), "role individual")
    assert MARK not in shown
