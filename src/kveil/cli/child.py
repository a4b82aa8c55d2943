"""A run of the command line as a child of the studio: it ends when the studio does.

`python -m kveil.cli.child ARGUMENTS…` is `kveil ARGUMENTS…`. The server holds the other end of its standard input;
when that closes, however the server died, this process is gone at once, and leaves no file behind. A byte that comes
in asks for the best so far, at any time: a search that has not begun then takes its first solution, and one that is
over has found its best. A signal would do that only during the search: libraries take it for an interrupt.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kveil.stopping import Stop


def _watch(stop: Stop) -> None:
    while os.read(0, 1):
        stop.ask()
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run one command."""
    from kveil.stopping import Stop, under

    stop = Stop()
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    from kveil.cli import entry

    with under(stop):
        entry()


if __name__ == "__main__":
    main()
