"""Compiling: where compiled code is kept, what is told of it, and how many threads there are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kveil.kernels import caching, compiling, threads
from kveil.kernels.caching import cache_folders

READ_ONLY = """
import os, sys
os.access = lambda place, mode: False
before = dict(os.environ)
import numpy as np
from kveil.kernels.grouping.groups import group_rows
assert group_rows(np.array([[3, 1, 3]], dtype=np.int32))[0].tolist() == [0, 1, 0]
assert dict(os.environ) == before
from kveil.kernels import jit
assert not jit._KEPT
"""

UNTESTED = """
import sys
import numba
numba.__version__ = "0.99.0"
import numpy as np
from kveil.kernels import jit
assert jit._BARE == {}
from kveil.kernels.sequential.k_msd import repair_nothing
repair_nothing()
assert "kveil.kernels.linking" not in sys.modules
"""

IMPORTED = """
import os, sys, threading
numbas = lambda: {name: value for name, value in os.environ.items() if "NUMBA" in name}
before = numbas()
import kveil
kveil.Policy, kveil.anonymize
assert numbas() == before
assert threading.active_count() == 1
assert "numba" not in sys.modules
"""


@pytest.mark.parametrize("script", [READ_ONLY, UNTESTED, IMPORTED], ids=["read-only", "untested numba", "imported"])
def test_loops_compile_and_nothing_of_the_host_changes(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_what_was_compiled_is_found_in_every_folder_that_numba_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "kernels" / "compiling.py"))
    source = tmp_path / "kernels" / "family" / "some_loops.py"
    source.parent.mkdir(parents=True)
    source.write_text("@door\ndef f(): ...\n")
    (source.parent / "inner_loops.py").write_text("@inner\ndef g(): ...\n")
    for given in (None, str(tmp_path / "given")):
        if given:
            monkeypatch.setenv("NUMBA_CACHE_DIR", given)
        else:
            monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        for folder in cache_folders(source):
            assert not compiling.compiled_before()
            folder.mkdir(parents=True, exist_ok=True)
            index = folder / "some_loops.f-1.py311.nbi"
            index.write_text("")
            assert compiling.compiled_before()
            index.unlink()


def test_compiled_code_of_other_sources_is_thrown_away_and_that_of_these_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(caching, "__file__", str(tmp_path / "kernels" / "caching.py"))
    source, other = (tmp_path / "kernels" / name for name in ("some_loops.py", "layout.py"))
    source.parent.mkdir()
    source.write_text("")
    other.write_text("")
    caching.forget_stale()
    folder = caching.writable_folder(source)
    assert folder is not None
    index = folder / "some_loops.f-1.py311.nbi"
    index.write_text("")
    caching.forget_stale()
    assert index.exists()
    other.write_text("SIZE = 1")
    caching.forget_stale()
    assert not index.exists()


def test_the_folders_are_those_that_numba_finds(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from kveil.kernels.caching import cache_folders
from kveil.kernels.grouping import groups_loops
import numba
if hasattr(groups_loops.hash_rows, "_cache"):
    kept = Path(groups_loops.hash_rows._cache.cache_path)
    assert kept == cache_folders(Path(groups_loops.__file__))[0], kept
"""
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_threads_are_those_that_the_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "CGROUP", tmp_path)
    monkeypatch.setattr(threads, "OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    assert threads.threads() == 4
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert threads.threads() == 2
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert threads.threads() == 4
    (tmp_path / "cgroup").write_text("0::/some/slice\n")
    (tmp_path / "some" / "slice").mkdir(parents=True)
    (tmp_path / "some" / "slice" / "cpu.max").write_text("50000 100000\n")
    assert threads.threads() == 1
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert threads.threads() == 3
