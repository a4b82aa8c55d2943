"""Where kveil runs: Linux and macOS. Private files need modes, and outputs that appear whole a rename that replaces."""

import sys


def check_platform() -> None:
    """Refuse platforms on which private files would not be private."""
    if sys.platform == "win32":
        raise ImportError("kveil runs on Linux and macOS; on Windows, install it inside WSL.")
