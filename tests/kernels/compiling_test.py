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
from kveil.kernels.grouping.equal_rows import group_rows
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

LOADED = """
import sys
import numpy as np
from kveil.kernels.grouping.equal_rows import group_nothing, group_rows
group_nothing()
from kveil.kernels.grouping import equal_rows_loops
hits = sum(equal_rows_loops.hash_rows.stats.cache_hits.values())
assert hits == int(sys.argv[1]), hits
assert ("numba.np.arraymath" in sys.modules) == (hits == 0)  # which compiling needs, and loading does not
from kveil.kernels.jit import door
@door
def twice(numbers):
    for at in range(len(numbers)):
        numbers[at] = np.abs(numbers[at]) * 2
twice._cache.disable()
numbers = np.array([1, -2, 3])
twice(numbers)
assert numbers.tolist() == [2, 4, 6]
assert group_rows(np.array([[3, 1, 3]], dtype=np.int32))[0].tolist() == [0, 1, 0]
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


def compiling_environ() -> dict[str, str]:
    """Compile also where the tests run without the compiler."""
    return {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}


@pytest.mark.parametrize("script", [READ_ONLY, UNTESTED, IMPORTED], ids=["read-only", "untested numba", "imported"])
def test_loops_compile_and_nothing_of_the_host_changes(script: str, tmp_path: Path) -> None:
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}  # what is compiled otherwise than usual is not kept here
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=environ)
    assert done.returncode == 0, done.stderr


def test_loops_come_back_from_the_disk_without_what_compiling_needs(tmp_path: Path) -> None:
    script = tmp_path / "loaded.py"
    script.write_text(LOADED)
    environ = compiling_environ() | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for hits in ("0", "1"):
        done = subprocess.run(
            [sys.executable, script, hits], capture_output=True, text=True, timeout=300, env=environ, check=False
        )
        assert done.returncode == 0, done.stderr


ALL_LOADED = """
import sys
from kveil.kernels.compiling import FAMILIES, compile_some, not_compiled
if not_compiled():
    sys.exit(77)
compile_some(FAMILIES)
assert not {"numba.np.arraymath", "numba.np.arrayobj", "numba.cpython.listobj"} & set(sys.modules)
"""


def test_no_loop_calls_what_makes_loading_it_import_what_compiling_needs() -> None:
    environ = compiling_environ()
    done = subprocess.run([sys.executable, "-c", ALL_LOADED], capture_output=True, text=True, timeout=300, env=environ)
    if done.returncode == 77:
        pytest.skip("not all loops have been compiled on this machine; `kveil warmup` does it")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("given", [True, False], ids=["NUMBA_CACHE_DIR", "beside the source"])
@pytest.mark.parametrize("writable", [True, False], ids=["writable", "read-only"])
def test_what_was_compiled_is_found_where_numba_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool, writable: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if given:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    if not writable:
        monkeypatch.setattr(os, "access", lambda place, mode: False)
    monkeypatch.setattr(compiling, "KERNELS", tmp_path / "kernels")
    family = compiling.LoopFamily(lambda: None, ("family.some_loops",), 1)
    monkeypatch.setattr(compiling, "FAMILIES", {"some": family})
    source = tmp_path / "kernels" / "family" / "some_loops.py"
    source.parent.mkdir(parents=True)
    source.write_text("")
    assert compiling.not_compiled(["some"]) == ["some"]
    for folder in reversed(cache_folders(source)):  # the first is where Numba writes, if it can
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "some_loops.f-1.py311.nbi").write_text("")
        first = folder == cache_folders(source)[0]
        assert compiling.not_compiled(["some"]) == ([] if first or not writable else ["some"])


def test_every_module_with_something_that_python_calls_is_in_a_family() -> None:
    doors = {
        ".".join(source.relative_to(compiling.KERNELS).with_suffix("").parts)
        for source in compiling.KERNELS.rglob("*_loops.py")
        if "@door" in source.read_text(encoding="utf-8")
    }
    listed = [loops for family in compiling.FAMILIES.values() for loops in family.loops]
    assert sorted(listed) == sorted(doors)


def test_a_function_for_loops_is_compiled_for_one_type_of_integers_and_refuses_python() -> None:
    script = """
import numba, numpy as np
from kveil.kernels.jit import inner
@inner
def twice(number: int) -> int:
    return number + number
@numba.njit
def ask(numbers):
    return twice(numbers[0]) + twice(7) + twice(len(numbers))
assert ask(np.array([2**31 - 1], dtype=np.int32)) == 2**32 - 2 + 14 + 2
assert len(twice.overloads) == 1
try:
    twice(1)
except TypeError as error:
    assert "Only loops call twice" in str(error)
else:
    raise AssertionError("Python called it")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=compiling_environ(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


LAYOUTS = """
import sys
from typing import NamedTuple
import numba, numpy as np
from kveil.kernels.jit import door, inner
from kveil.kernels.passing import LayoutType

class Inside(NamedTuple):
    scale: float
    cells: np.ndarray

class Outside(NamedTuple):
    upward: bool
    cells: np.ndarray
    inside: Inside
    last: int

@inner
def part(own: Inside, row: int) -> float:
    return own.cells[row].sum() * own.scale if len(own.cells) > row else -1.0

@inner
def add_up(mine: Outside, other: Outside, row: int) -> float:
    total = part(mine.inside, row) + mine.cells[row, mine.last] * 1000.0
    if other.upward:
        other.cells[row, 0] += 1
        mine = other
    return total + mine.cells.shape[1] * 10_000.0

@door
def ask(mine: Outside, other: Outside) -> float:
    total = 0.0
    for row in range(len(mine.cells)):
        total += add_up(mine, other, row)
    return total

def outside(columns, upward, last, dtype):
    cells = np.arange(2 * columns, dtype=dtype).reshape(2, columns)
    inside = Inside(0.5, np.arange(6, dtype=np.float64).reshape(2, 3))
    return Outside(upward, cells, inside, last)

for dtype in (np.int32, np.int64):
    for upward in (False, True):
        mine, other = outside(3, not upward, 2, dtype), outside(4, upward, 0, dtype)
        before = other.cells.copy()
        width = 4 if upward else 3
        assert ask(mine, other) == (3 + 12) / 2 + (2 + 5) * 1000 + 2 * width * 10_000, (dtype, upward)
        assert (other.cells - before)[:, 0].tolist() == [int(upward)] * 2
assert len(ask.signatures) == 2
assert sum(ask.stats.cache_hits.values()) == int(sys.argv[1])
assert all(isinstance(kind, LayoutType) for signature in ask.signatures for kind in signature)
"""


def test_loops_read_layouts_that_are_handed_over_and_write_to_their_arrays_also_when_loaded(tmp_path: Path) -> None:
    (tmp_path / "layouts.py").write_text(LAYOUTS)
    import_it = f"import sys; sys.path.append({str(tmp_path)!r}); import layouts"
    for loaded in ("0", "2"):
        command = [sys.executable, "-c", import_it, loaded]
        done = subprocess.run(command, env=compiling_environ(), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr


def test_families_are_compiled_in_several_processes_which_are_told_of(tmp_path: Path) -> None:
    script = """
import sys
from kveil.kernels.compiling import compile_apart, not_compiled
told = []
assert not_compiled(["widening", "width-cells"]) == ["widening", "width-cells"]
compile_apart(["widening", "width-cells"], 2, told.append)
assert not_compiled(["widening", "width-cells"]) == []
assert [line.startswith("compiling the loops of widening, width-cells") for line in told] == [True], told
assert "numba" not in sys.modules
"""
    environ = compiling_environ() | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


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
from kveil.kernels.grouping import equal_rows_loops
import numba
if hasattr(equal_rows_loops.hash_rows, "_cache"):
    kept = Path(equal_rows_loops.hash_rows._cache.cache_path)
    assert kept == cache_folders(Path(equal_rows_loops.__file__))[0], kept
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
