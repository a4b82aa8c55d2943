"""Where kveil runs: Linux and macOS, and a process of its own for the command line.

Private files need modes, and outputs that appear whole a rename that replaces.
"""

import os
import sys
from types import ModuleType
from typing import cast

UNUSED = ("scipy", "coverage")  # what Numba looks for though no loop needs it: a quarter of a second
_HIDDEN: set[str] = set()  # those that this process hides now, of its own accord


def check_platform() -> None:
    """Refuse platforms on which private files would not be private."""
    if sys.platform == "win32":
        raise ImportError("kveil runs on Linux and macOS; on Windows, install it inside WSL.")


def let_blas_sleep() -> None:
    """Let the threads of NumPy's OpenBLAS sleep as soon as they have nothing to do, as from their start.

    They would ask for work again and again for a while instead, on a core that importing and reading have use for. Only
    the command line says so, for its own process and before it imports NumPy; a variable that is set already stays.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # the exponent of how often they ask, the least there is


def hide_unused() -> None:
    """Hide from Numba what it looks for in vain; only the command line does that, to its own process."""
    for name in UNUSED:
        if name not in sys.modules:
            cast(dict[str, ModuleType | None], sys.modules)[name] = None
            _HIDDEN.add(name)


def show_unused() -> None:
    """Let what `hide_unused` hid be imported again, for packages that need it; what a host hid itself stays hidden."""
    while _HIDDEN:
        name = _HIDDEN.pop()
        if sys.modules.get(name, sys) is None:
            del sys.modules[name]
