"""How a release is written: as the table came in."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files import Outputs, Source
from kveil.flow.steps.outputs import (
    Destination,
    Targets,
    check_destination,
    check_new,
    default_destination,
    write_release,
)
from support import make_policy

ATTRIBUTES = {"n": "quasi-identifier", "w": "insensitive"}
POLICY = make_policy(ATTRIBUTES, data={"missing": ["?"]})


def test_unchanged_columns_have_the_commas_they_came_with(tmp_path: Path) -> None:
    source = Source(
        "t.csv", pl.DataFrame({"n": ["1.5"], "w": ["2.5"]}), "csv", separator=";", commas=frozenset({"n", "w"})
    )
    frame = pl.DataFrame({"n": pl.Series(["1.5", "1.5"], dtype=pl.Categorical), "w": ["2.5", None]})
    release = Source("the release", frame, "csv")
    with (tmp_path / "r.csv").open("w+b") as file:
        write_release(release, source, POLICY, file, tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == "n;w\n1.5;2,5\n1.5;?\n"
    with (tmp_path / "r.parquet").open("w+b") as file:
        write_release(release, source, POLICY, file, tmp_path / "r.parquet")
    assert pl.read_parquet(tmp_path / "r.parquet").schema["n"] == pl.String  # categories would name more than rows show


def test_a_file_that_is_there_is_replaced_only_where_it_is_forced_and_never_an_input(tmp_path: Path) -> None:
    old, read = tmp_path / "old.csv", tmp_path / "read.csv"
    for path in (old, read):
        path.write_text("a\n")
    check_new([tmp_path / "new.csv"], [read], force=False)
    check_new([old], [read], force=True)
    with pytest.raises(FileError, match=r"old\.csv exists already; name another file with -o, or replace it with"):
        check_new([old], [read], force=False)
    (tmp_path / "same.csv").symlink_to(read)
    with pytest.raises(FileError, match="is what the run reads and is never replaced"):
        check_new([tmp_path / "same.csv"], [read], force=True)


def test_what_stands_beside_a_release_is_private_but_for_what_may_be_published() -> None:
    paths = {name: Path(name) for name in ("receipt", "account", "owner", "report")}
    assert dict(Targets(Path("r.csv"), **paths).beside()) == {
        Path("receipt"): False, Path("account"): True, Path("owner"): True, Path("report"): True
    }  # fmt: skip
    assert dict(Targets(Path("r.csv"), report=Path("report"), public=True).beside()) == {Path("report"): False}
    assert Targets(Path("r.csv"), owner=Path("o")).hashed
    assert not Targets(Path("r.csv"), receipt=Path("o")).hashed


def test_a_destination_is_seen_once_it_is_committed(tmp_path: Path) -> None:
    target = tmp_path / "r.csv"
    source = Source("t.csv", pl.DataFrame({"n": ["1"], "w": ["2"]}), "csv")
    with Outputs() as outputs, Destination(target, outputs) as destination:
        assert destination.write(source, source, POLICY)
        assert not target.exists()
        assert destination.content(source.frame, POLICY) == (b"n,w\n1,2\n", ".csv")
        destination.commit()
    assert target.read_text() == "n,w\n1,2\n"


def test_places_that_cannot_hold_a_release_are_refused() -> None:
    check_destination(Path("r.csv"))
    with pytest.raises(FileError, match="does not write them"):
        check_destination(Path("r.xls"))
    assert default_destination(Path("t.csv")) == Path("t-release.csv")
    with pytest.raises(FileError, match="does not know files"):
        check_destination(Path("r.doc"))
