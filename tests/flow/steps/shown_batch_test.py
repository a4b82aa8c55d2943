"""What a batch does to what other releases of its archive promise."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kveil.archive import Archive
from kveil.archive.entry import AppliedBatch
from kveil.errors import Unmeetable
from kveil.files import Source
from kveil.flow.steps.shown_batch import lapses_of_batch
from small_archives import KEYED, archived
from support import ROWS, write_policy, write_rows


def batch_of(kept: Archive, *names: str) -> AppliedBatch:
    """Return a batch in which some people are shown as women in their thirties."""
    row = {"age": "30-39", "sex": "F", "diagnosis": "flu", "ward": "w1"}
    shown = Source("new", pl.DataFrame([row] * len(names)), "frame")
    people = kept.hashes(pl.Series(names, dtype=pl.String))
    counts = {"input": len(names), "released": len(names), "suppressed": 0}
    return AppliedBatch(1, 1, "", counts, shown, people)  # type: ignore[arg-type]


@pytest.fixture
def kept(tmp_path: Path) -> Archive:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data=KEYED)
    return Archive.open(archived(tmp_path))


def test_new_people_take_nothing_from_anybody(kept: Archive) -> None:
    assert lapses_of_batch(kept, kept.release(1), batch_of(kept, "Zoe"), weaker=False) == []


def test_somebody_whom_the_release_shows_already_is_told_apart_and_that_is_said(kept: Archive) -> None:
    (told,) = lapses_of_batch(kept, kept.release(1), batch_of(kept, "Ann"), weaker=False)
    assert told.startswith("1 person whom the release, or an earlier batch, showed before is in smaller")
    assert lapses_of_batch(kept, kept.release(1), batch_of(kept, "Ann", "Bea", "Eva", "Fay"), weaker=False) == []


def test_somebody_whom_another_release_shows_keeps_what_it_promised(kept: Archive) -> None:
    folder = kept.folder.parent
    write_rows(folder / "t.csv", ROWS[1:])  # without Ann, and so without the four who look like her
    write_policy(folder, data=KEYED, limit=0.6)
    archived(folder, "--previous", kept.folder, "--algorithm", "mondrian")
    both = Archive.open(kept.folder)
    with pytest.raises(Unmeetable, match=r"other releases of kept show would get less .*--weaker"):
        lapses_of_batch(both, both.release(2), batch_of(both, "Ann"), weaker=False)
    told = lapses_of_batch(both, both.release(2), batch_of(both, "Ann"), weaker=True)
    assert "--weaker allows" in told[0]
    assert lapses_of_batch(both, both.release(2), batch_of(both, "Zoe"), weaker=False) == []
