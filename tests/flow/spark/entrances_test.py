"""What Spark cannot do is refused before Spark is started, or even imported."""

from __future__ import annotations

from pathlib import Path

import pytest

import kveil
from kveil.flow.spark.entrances import write_on_spark
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.flow.steps.stages import Stages
from kveil.progress import silent
from support import make_policy

RELEASE = Path("release")


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        (Targets(RELEASE, report=Path("r.html")), "--report"),
        (Targets(RELEASE, archive=Path("archive")), "--archive"),
        (Targets(RELEASE, owner=Path("owner")), "--owner-key"),
    ],
)
def test_what_a_run_is_asked_for_beside_the_release(targets: Targets, match: str, tmp_path: Path) -> None:
    asked = Request.of(make_policy(engine="spark"), bounded=False, previous=[])
    with pytest.raises(kveil.Refused, match=match):
        write_on_spark(asked, tmp_path / "table", targets, Stages(silent))


def test_a_csv_is_no_table_of_spark(tmp_path: Path) -> None:
    asked = Request.of(make_policy(engine="spark"), bounded=False, previous=[])
    with pytest.raises(kveil.KveilError, match="engine spark"):
        write_on_spark(asked, tmp_path / "t.csv", Targets(RELEASE), Stages(silent))
