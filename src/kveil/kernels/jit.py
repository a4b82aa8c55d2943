"""How loops are compiled: the decorators that every module of loops uses; importing this module imports Numba.

Compiled code is kept on disk beside the package, in the user's cache, or where NUMBA_CACHE_DIR says. Where none of them
can be written to, loops are compiled anew in every process; nothing of the host's environment is changed for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from kveil.kernels.caching import forget_stale, writable_folder

NumbaOptions = dict[str, Any]  # keyword arguments for Numba, some of which it does not document
TESTED = ("0.68.",)  # versions of Numba with which loops compiled in our way give what the others give


def _is_tested() -> bool:
    """Tell whether this Numba is one with which leaving out the counts of references, linking and loading were tested.

    None of them is documented: with any other version the loops are compiled as usual, which takes about three times as
    long, and run for about twice as long.
    """
    return bool(numba.__version__.startswith(TESTED))


forget_stale()
_KEPT = writable_folder(Path(__file__)) is not None  # without a folder, Numba refuses to compile with a cache
_SHUT: NumbaOptions = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_BARE: NumbaOptions = {"_nrt": False} if _is_tested() else {}


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


if _is_tested() and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    from kveil.kernels.keeping import keep_code
    from kveil.kernels.linking import DoorCompiler, link_code
    from kveil.kernels.passing import by_address as _prepare

    _OPEN: NumbaOptions = {"nogil": True, "pipeline_class": DoorCompiler, **_BARE}
    _door: Callable[[Callable[..., Any]], Any] = keep_code(**_OPEN) if _KEPT else numba.njit(**_OPEN)
    _inner = link_code(**_SHUT, **_BARE)
else:
    _prepare = _as_it_is
    _door = numba.njit(cache=_KEPT, nogil=True)
    _inner = numba.njit(cache=_KEPT, **_SHUT)


def door(function: Callable[..., Any]) -> Any:
    """Compile what Python calls.

    No loop counts references to arrays, which whoever calls it holds, and so none may make an array: counting took
    half the time, threads waited for each other's counts, and compiling it takes as long as the rest.
    """
    return _door(_prepare(function))


def inner(function: Callable[..., Any]) -> Any:
    """Compile what only loops call: it gets no door to Python, which takes long to make."""
    return _inner(_prepare(function))
