"""How compiled loops come back from the disk: without what only compiling needs.

Before Numba loads the code of a function, it makes itself ready to compile: it imports everything that functions may
call, and compiles its own helpers for counting references. That takes a quarter of a second in every process. Code that
counts no references needs none of it, and whoever compiles after all gets ready then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache


class KeptCode(FunctionCache):
    """Numba's code on disk, loaded as it is."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, None where nothing was."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def keep_code(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that Python calls and whose code is kept, with some of Numba's options."""
    compiled = numba.njit(**options)

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = compiled(function)
        dispatcher._cache = KeptCode(function)  # type: ignore[no-untyped-call]
        return dispatcher

    return decorate
