"""How many threads there are: as many as the cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path
from threading import current_thread

import pytest

from kveil.kernels import threads as place
from kveil.kernels.threads import each_in_threads, threads


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(place, "CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(place, "OWN_CGROUP", tmp_path / "own")


def limit(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpu.max").write_text(text)


def test_as_many_as_the_process_may_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads() == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    assert threads() == 1


def test_no_more_than_the_share_of_a_container(tmp_path: Path) -> None:
    limit(tmp_path / "cgroup", "max 100000")
    assert threads() == 8
    limit(tmp_path / "cgroup", "250000 100000")
    assert threads() == 3  # a share of two and a half
    limit(tmp_path / "cgroup", "10000 100000")
    assert threads() == 1


def test_no_more_than_any_group_above_allows(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/job/part\n")
    limit(tmp_path / "cgroup" / "job" / "part", "600000 100000")
    assert threads() == 6
    limit(tmp_path / "cgroup" / "job", "200000 100000")
    assert threads() == 2


def test_what_the_environment_says_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert threads() == 3
    monkeypatch.setenv("NUMBA_NUM_THREADS", "many")
    assert threads() == 8


def test_nothing_else_in_the_source_counts_cores() -> None:
    source = Path(place.__file__).parents[1]
    counting = [
        path.relative_to(source).as_posix()
        for path in sorted(source.rglob("*.py"))
        if any(word in path.read_text(encoding="utf-8") for word in ("cpu_count", "sched_getaffinity"))
    ]
    assert counting == ["kernels/threads.py"]


@pytest.mark.parametrize(("items", "rows"), [(0, 10**6), (1, 10**6), (5, 10), (5, 10**6)])
def test_what_is_made_of_each_item_stands_in_their_order_in_threads_or_not(items: int, rows: int) -> None:
    seen: set[str] = set()

    def make(item: int) -> int:
        seen.add(current_thread().name)
        return -item

    assert each_in_threads(make, range(items), rows) == [-item for item in range(items)]
    assert (current_thread().name in seen) == (items > 0 and (items == 1 or rows == 10))
