"""Which engine a run takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kveil.engines import choosing
from kveil.engines.choosing import check_on_spark, refuse_on_spark, store_of
from kveil.errors import Refused
from support import make_policy

FRAME = pl.DataFrame({"a": ["x"] * 100})


def files(folder: Path) -> tuple[Path, Path]:
    FRAME.write_parquet(folder / "t.parquet")
    FRAME.write_csv(folder / "t.csv")
    return folder / "t.parquet", folder / "t.csv"


def chosen(
    inputs: list[Path], free: int | None, monkeypatch: pytest.MonkeyPatch, engine: str | None = None, **more: Any
) -> Any:
    monkeypatch.setattr(choosing, "free_memory", lambda: free)
    return store_of(make_policy(engine=engine), inputs, **more)


def test_a_table_that_fits_is_held_and_one_that_does_not_is_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet, csv = files(tmp_path)
    needed = 100 * choosing.PER_CELL
    assert chosen([parquet], needed, monkeypatch).store.engine == "local"
    assert chosen([parquet], None, monkeypatch).store.engine == "local"
    streamed = chosen([parquet], needed - 1, monkeypatch)
    assert streamed.store.engine == "stream"
    assert "engine stream was taken" in str(streamed.why)
    assert chosen([csv], 1, monkeypatch).store.engine == "local"  # it cannot be streamed
    assert chosen([parquet], 1, monkeypatch, local="report").store.engine == "local"
    assert chosen([parquet], 1, monkeypatch, "local").store.engine == "local"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"csv": True}, "reads Parquet files"),
        ({"output": Path("r.csv")}, "writes Parquet files"),
        ({"local": "report"}, "has no report; leave it out, or take engine local"),
    ],
)
def test_what_a_stream_cannot_do_is_refused_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], sentence: str
) -> None:
    parquet, csv = files(tmp_path)
    source = csv if more.pop("csv", False) else parquet
    with pytest.raises(Refused, match=sentence):
        chosen([source], None, monkeypatch, "stream", **more)


def test_spark_reads_and_writes_parquet(tmp_path: Path) -> None:
    parquet, csv = files(tmp_path)
    check_on_spark([parquet], output=tmp_path / "release")
    with pytest.raises(Refused, match=r"t\.csv is none"):
        check_on_spark([csv])
    with pytest.raises(Refused, match="writes a folder of Parquet files"):
        check_on_spark([parquet], output=tmp_path / "release.csv")
    refuse_on_spark("")
    with pytest.raises(Refused, match="engine spark has no report"):
        refuse_on_spark("report")
    with pytest.raises(Refused, match="engine spark cannot do this yet"):
        store_of(make_policy(engine="spark"), [parquet])
