"""Ctrl-C on the command line: where a search can hand over the best so far, the first one asks for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kveil.stopping import Stop, current, under


@contextmanager
def interruptible() -> Iterator[Stop]:
    """Run a command under a stop that Ctrl-C asks; nobody listening, or asked before, it ends the run as ever."""
    stop = Stop(within=current())

    def ask(number: int, frame: FrameType | None) -> None:
        if not stop.ask():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # which alone can have signals
        with under(stop):
            yield stop
        return
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else somebody wants it otherwise: nohup ignores it
        signal.signal(signal.SIGINT, ask)
    try:
        with under(stop):
            yield stop
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
