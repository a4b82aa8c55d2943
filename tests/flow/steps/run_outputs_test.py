"""All that a run writes appears together, the release last, or not at all."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

import kveil
from kveil.engines.memory import MemoryStore
from kveil.flow.steps.make_release import make_release
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.flow.steps.run_outputs import RunOutputs
from kveil.flow.steps.stages import Stages
from kveil.policy.model import Policy
from kveil.progress import silent
from support import names_in, write_policy, write_rows


def targets_in(folder: Path) -> Targets:
    return Targets(
        folder / "r.csv", receipt=folder / "r.json", account=folder / "a.json", owner=folder / "o.json",
        report=folder / "p.html", public=True,
    )  # fmt: skip


@pytest.mark.parametrize("named", [True, False])
def test_nothing_is_seen_before_all_are_named(tmp_path: Path, *, named: bool) -> None:
    table = write_rows(tmp_path / "t.csv")
    policy = Policy.load(write_policy(tmp_path))
    out = tmp_path / "out"
    out.mkdir()
    asked, stages = Request.of(policy, bounded=False, previous=[]), Stages(silent)
    with RunOutputs(asked, targets_in(out)) as outputs:
        source = MemoryStore().read(policy, table, hashed=True)
        outputs.look_at_people(source)
        run = make_release(source, asked, stages, MemoryStore(), outputs.release_file)
        account = outputs.write(run, stages)
        assert names_in(out) == set()
        if named:
            outputs.commit()
    assert names_in(out) == ({"r.csv", "r.json", "a.json", "o.json", "p.html"} if named else set())
    if named:
        assert json.loads((out / "a.json").read_bytes())["sha256"] == account["sha256"]
        private = {name for name in names_in(out) if stat.S_IMODE((out / name).stat().st_mode) == 0o600}
        assert private == {"a.json", "o.json"}


def test_a_folder_that_cannot_be_written_to_is_told_before_a_table_is_read(tmp_path: Path) -> None:
    policy = Policy.load(write_policy(tmp_path))
    asked = Request.of(policy, bounded=False, previous=[])
    with pytest.raises(kveil.KveilError, match="cannot be written"), RunOutputs(asked, targets_in(tmp_path / "gone")):
        pytest.fail("nothing is read where nothing can be written")
    assert names_in(tmp_path) == {"policy.yaml"}
