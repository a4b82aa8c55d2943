"""How much memory there is for what a file unpacks to."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from kveil.errors import FileError
from kveil.files import room
from kveil.files.room import UnpackedBytes, free_memory


@pytest.mark.parametrize(
    ("most", "now"),
    [("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")],
)
def test_a_container_may_have_less_than_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, now: str
) -> None:
    monkeypatch.setattr(room, "CONTAINER", tmp_path)
    machine = free_memory()
    (tmp_path / most).parent.mkdir(exist_ok=True)
    (tmp_path / most).write_text("1000\n")
    (tmp_path / now).write_text("400\n")
    assert free_memory() == 600
    (tmp_path / most).write_text("max\n")
    assert (free_memory() is None) == (machine is None)


def test_a_process_may_have_less_than_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = free_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (10**6, resource.RLIM_INFINITY))
    assert free_memory() == 0  # it has taken more already
    assert whole != 0


def test_what_comes_out_is_counted_and_refused_beyond_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_memory", lambda: 4000)
    small = UnpackedBytes("t.csv.gz")
    small.take(600)
    small.take(400)
    with pytest.raises(FileError, match=r"t.csv.gz unpacks to more than .* GB"):
        small.take(1)
    monkeypatch.setattr(room, "free_memory", lambda: None)
    UnpackedBytes("t.csv.gz").take(10**18)  # nobody says how much there is
