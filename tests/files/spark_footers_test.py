"""What Spark puts into every Parquet file beside its cells: harmless where it says no more than the columns do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kveil.files import look_beside, read_table

FIELD: dict[str, Any] = {"name": "age", "type": "string", "nullable": True, "metadata": {}}


def told_of(folder: Path, field: dict[str, Any], version: str = "4.3.0") -> tuple[str, ...]:
    schema = json.dumps({"type": "struct", "fields": [field]})
    said = {"org.apache.spark.version": version, "org.apache.spark.sql.parquet.row.metadata": schema}
    table = pa.table({"age": ["1", "2"]}).replace_schema_metadata(said)
    pq.write_table(table, folder / "part-00000.parquet", write_statistics=False, use_dictionary=False)
    of_folder, of_file = (look_beside(path, read_table(path), "") for path in (folder, folder / "part-00000.parquet"))
    assert of_folder == of_file
    return of_file.content


def test_names_and_types_of_columns_are_no_finding(tmp_path: Path) -> None:
    assert told_of(tmp_path, FIELD) == ()


@pytest.mark.parametrize(
    "more", [{"metadata": {"comment": "of Zacharias"}}, {"nullable": False}, {"type": {"class": "x"}}, {"also": 1}]
)
def test_comments_and_that_nothing_was_missing_are(tmp_path: Path, more: dict[str, Any]) -> None:
    (told,) = told_of(tmp_path, {**FIELD, **more})
    assert "metadata beside its cells" in told


def test_a_version_that_is_none_is(tmp_path: Path) -> None:
    (told,) = told_of(tmp_path, FIELD, "Zacharias")
    assert "metadata beside its cells" in told
