"""Compiling loops in several processes, and loading them, and everything else, while the table is being read.

Only the command line does it, whose process is its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kveil.suffixes import SUFFIXES, plain_suffix, suffix_of

if TYPE_CHECKING:
    from kveil.algorithms.algorithm import Algorithm
    from kveil.databases import Place
    from kveil.engines.memory import BeingRead
    from kveil.files import EarlyText, Source
    from kveil.flow.steps.request import Request
    from kveil.policy.load import Document
    from kveil.policy.model import Policy
    from kveil.progress import Progress

LARGE = 1 << 20  # bytes of a file: a smaller one is read in no time


def compile_and_load(asked: Request, progress: Progress) -> None:
    """Compile the loops that a run's algorithms need where they are not on this machine yet, then load them."""
    compile_first(asked, progress)
    load_in_background(asked.able)


def compile_first(asked: Request, progress: Progress) -> None:
    """Compile the loops that a run's algorithms need and that are not on this machine yet, on all its cores."""
    from kveil.algorithms.registry import loops_of
    from kveil.kernels.caching import writable_folder
    from kveil.kernels.compiling import KERNELS, compile_apart, not_compiled
    from kveil.kernels.threads import threads

    missing = not_compiled(loops_of(asked.policy, asked.able))
    if len(missing) > 1 and threads() > 1 and writable_folder(KERNELS / "jit.py") is not None:
        compile_apart(missing, threads(), progress)


@dataclass(frozen=True)
class EarlyTable:
    """A large CSV whose bytes are read, and cut into cells, before its policy is loaded; ``text`` waits for that."""

    path: Path
    text: Callable[[], EarlyText]


def read_early(document: Document, folder: Path, given: str | None) -> EarlyTable | None:
    """Begin to read the CSV that a command line gives, or else its policy names, as far as that needs no policy.

    ``document`` is the policy's YAML, ``folder`` where it lies. None where there is no such table, or it is not large,
    or the policy says something about it that only loading it tells.
    """
    data = document.content.get("data", {})
    if not isinstance(data, dict) or "encoding" in data or document.content.get("engine", "local") != "local":
        return None
    named, separator = given or data.get("path"), data.get("separator")
    if not isinstance(named, str) or "://" in named or not isinstance(separator, str | None):
        return None
    path = Path(named) if given else folder / named
    if not _is_large_csv(path) or plain_suffix(suffix_of(path)) != suffix_of(path):
        return None
    pool = ThreadPoolExecutor(1)
    raw = pool.submit(path.read_bytes)
    from kveil.files import cut_early  # which imports Polars, while the bytes are read

    text = pool.submit(lambda: cut_early(raw.result(), separator))
    pool.shutdown(wait=False)
    return EarlyTable(path, text.result)


def read_in_background(
    policy: Policy, place: Place, *, hashed: bool, early: EarlyTable | None = None
) -> BeingRead | None:
    """Begin to read a large CSV while all else is imported that a run needs; None for what is read in its turn.

    Whatever is wrong with it is told where the run asks for it. What was read ``early`` is not read again.
    """
    from kveil.engines.memory import MemoryStore

    store = MemoryStore()

    def read(policy: Policy, place: Place, *, hashed: bool) -> Source:
        text = None
        if early is not None and early.path == place:
            with suppress(OSError):  # which reading it in its turn meets again, and tells
                text = early.text()
        return store.hold(policy, store.open(policy, place, hashed=hashed, early=text))

    return _begun(policy, place, read, hashed=hashed)


def read_release_in_background(policy: Policy, place: Place, *, alone: bool, hashed: bool) -> BeingRead | None:
    """Begin to read a release in the same way; one that is looked at ``alone`` need not be there record by record."""
    from kveil.engines.memory import MemoryStore

    store = MemoryStore()
    return _begun(policy, place, store.count_release if alone else store.read_release, hashed=hashed)


def _begun(policy: Policy, place: Place, read: Callable[..., Source], *, hashed: bool) -> BeingRead | None:
    from kveil.engines.memory import BeingRead

    if policy.engine not in (None, "local") or not isinstance(place, Path) or not _is_large_csv(place):
        return None
    pool = ThreadPoolExecutor(1)
    reading = pool.submit(read, policy, place, hashed=hashed)
    pool.shutdown(wait=False)
    return BeingRead(place, reading.result)


def _is_large_csv(path: Path) -> bool:
    is_csv = SUFFIXES.get(plain_suffix(suffix_of(path))) == "csv"
    return is_csv and path.is_file() and path.stat().st_size >= LARGE


def load_in_background(algorithms: Sequence[Algorithm]) -> None:
    """Import Numba, and what a run's one algorithm needs, in a thread: reading a table leaves the interpreter free.

    The thread is no daemon: a process that ends early waits for it, since none may end under a running import. What
    NumPy loads when it is first asked for is loaded before: where two threads ask at once, one of them may run into an
    endless recursion, and the search asks for random numbers, as Numba does.
    """
    import numpy.random  # noqa: F401

    threading.Thread(target=_load, args=(algorithms,)).start()


def _load(algorithms: Sequence[Algorithm]) -> None:
    import numpy as np

    from kveil.kernels.grouping.equal_rows import group_rows

    group_rows(np.zeros((1, 1), dtype=np.int32))
    if len(algorithms) != 1:
        return
    try:
        algorithms[0].load()
    except RuntimeError:  # a process that ends early, as with bad data, starts no thread any more, and needs none
        if threading.main_thread().is_alive():
            raise
