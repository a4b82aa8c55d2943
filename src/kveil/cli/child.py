"""A run of the command line as a child of the studio: it ends when the studio does.

`python -m kveil.cli.child ARGUMENTS…` is `kveil ARGUMENTS…`. The server holds the other end of its standard input;
when that closes, however the server died, this process is gone at once, and leaves no file behind.
"""

from __future__ import annotations

import os
import signal
import threading


def _watch() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run one command."""
    threading.Thread(target=_watch, daemon=True).start()
    from kveil.cli import entry

    entry()


if __name__ == "__main__":
    main()
