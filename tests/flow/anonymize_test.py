"""The main use: the same release from a frame and from a file, and nothing left where it fails."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.errors import Refused, Unmeetable
from kveil.flow.anonymize import anonymize, anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from support import columns_of, make_policy, names_in, write_rows

FRAME = pl.DataFrame(columns_of())


def test_a_frame_and_a_file_give_the_same_release(tmp_path: Path) -> None:
    policy = make_policy()
    told: list[str] = []
    account = anonymize_file(
        Request.of(policy), write_rows(tmp_path / "t.csv"), Targets(tmp_path / "r.csv"), progress=told.append
    )
    result = anonymize(FRAME, policy)
    assert pl.read_csv(tmp_path / "r.csv", infer_schema=False).rows() == result.data.rows()
    assert account["loss"] == result.account["loss"]
    assert told[0] == "reading"
    assert {"verifying", "writing"} <= set(told)


def test_an_algorithm_replaces_the_policys_and_a_lazy_frame_comes_back_lazy() -> None:
    result = anonymize(FRAME.lazy(), make_policy(), "mondrian", bound=True)
    assert isinstance(result.data, pl.LazyFrame)
    assert result.account["algorithm"] == "mondrian"
    assert result.account["bound"] is not None
    assert anonymize(FRAME, make_policy()).account["bound"] is None


def test_what_cannot_be_met_leaves_no_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    diverse = {"model": "l-diversity", "sensitive": "diagnosis", "l": 9}
    asked = Request.of(make_policy(k=9, limit=0, privacy=[diverse]))
    with pytest.raises(Unmeetable):
        anonymize_file(asked, tmp_path / "t.csv", Targets(tmp_path / "r.csv", receipt=tmp_path / "receipt.json"))
    assert names_in(tmp_path) == {"t.csv"}


def test_places_that_a_run_reads_or_no_engine_knows_are_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "t.csv")
    before = path.read_bytes()
    with pytest.raises(kveil.KveilError):
        anonymize_file(Request.of(make_policy()), path, Targets(path))
    assert path.read_bytes() == before
    with pytest.raises(Refused, match="owner-key"):
        anonymize_file(Request.of(make_policy()), path, Targets(tmp_path / "r.csv", owner_key=("name",)))
