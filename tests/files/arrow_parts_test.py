"""What Arrow files hold beside their cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from kveil.files import look_beside, read_table


def table(**more: Any) -> pa.Table:
    return pa.table({"age": ["30-39", "40-49", "30-39"], "d": ["u", "v", "u"]}).replace_schema_metadata(more or None)


def look(path: Path) -> str:
    found = look_beside(path, read_table(path), "")
    return " | ".join((*found.content, *found.form))


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_metadata_and_unused_dictionary_values_of_arrow_are_found(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "r.arrow"

    def write(content: pa.Table) -> None:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with new(path, content.schema) as writer:
            writer.write_table(content)

    write(table())
    assert "holds" not in look(path)
    write(table(original="Ada Lovelace"))
    assert "metadata beside its cells ('original')" in look(path)
    field = pa.field("age", pa.string(), metadata={"secret": "Ada"})
    write(table().cast(pa.schema([field, pa.field("d", pa.string())])))
    assert "metadata beside its cells ('age: secret')" in look(path)
    listed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["u", "v", "Ada Lovelace, HIV"]))
    write(pa.table({"d": listed}))
    assert "1 value in its dictionaries that no row shows" in look(path)


def test_values_behind_cells_that_show_none_are_found_in_arrow_files(tmp_path: Path) -> None:
    path = tmp_path / "r.arrow"

    def write(numbers: list[float], kind: pa.DataType) -> None:
        seen = pa.py_buffer(bytes([0b1001]))
        values = pa.py_buffer(np.array(numbers, dtype=kind.to_pandas_dtype()).tobytes())
        content = pa.table({"d": pa.Array.from_buffers(kind, 4, [seen, values])})
        with pa.ipc.new_file(path, content.schema) as writer:
            writer.write_table(content)

    write([1, 4242, 777, 2], pa.int64())
    assert "values behind cells that show none ('d')" in look(path)
    write([1, 0, 0, 2], pa.int64())
    assert "holds" not in look(path)
    write([1, float("nan"), float("nan"), 2], pa.float64())  # as pandas fills them
    assert "holds" not in look(path)
