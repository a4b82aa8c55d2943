"""Ctrl-C on the command line: where a search can hand over the best so far, the first one asks for it."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from kveil.stopping import Stop, current, under


@contextmanager
def interruptible() -> Iterator[Stop]:
    """Run a command under a stop that Ctrl-C asks; nobody listening, or asked before, it ends the run as ever."""
    stop = Stop(within=current())

    def ask(number: int, frame: FrameType | None) -> None:
        if not stop.ask() or stop.cancelled:  # cancelled: by the thread that heard of it first, when nobody listened
            stop.cancel()  # loops of other threads, which the run's end waits for
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # which alone can have signals
        with under(stop):
            yield stop
        return
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # somebody wants it otherwise: nohup ignores it
        with under(stop):
            yield stop
        return
    signal.signal(signal.SIGINT, ask)
    try:
        with _loops_end_too(stop), under(stop):
            yield stop
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _loops_end_too(stop: Stop) -> Iterator[None]:
    """Let a Ctrl-C that ends the run reach compiled loops, which a signal's handler waits for.

    Python tells of a signal twice: by its handler, once the main thread is back from a loop, and at once by a byte that
    a thread waits for here. It cancels the run where the handler is going to end it, so that the loop comes back.
    """
    here, there = socket.socketpair()
    there.setblocking(False)

    def watch() -> None:
        first = True
        while told := here.recv(1):
            if told[0] == signal.SIGINT:
                if not (first and (stop.heard or stop.asked)):  # asked: the handler was here before
                    stop.cancel()
                first = False

    watcher = threading.Thread(target=watch, name="kveil-interrupt")
    watcher.start()
    earlier = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        with suppress(OSError):
            there.shutdown(socket.SHUT_RDWR)
        watcher.join()
        here.close()
        there.close()
