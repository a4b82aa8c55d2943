"""Compiled loops that only loops call, given a door for a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a loop with the arguments that Python hands over, by their order."""

    @numba.njit
    def call(*given: Any) -> Any:
        return loop(*given)

    return call  # type: ignore[no-any-return]
