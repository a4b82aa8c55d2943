"""Calls from Python that somebody may cancel, in the process that they began in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kveil.errors import Cancelled, KveilError
from kveil.stopping import OutOfTime, current

_process: list[int] = []  # the process that kveil was first used in


def check_process() -> None:
    """Raise KveilError in a process that was forked after kveil had been used: libraries it uses would hang there."""
    if not _process:
        _process.append(os.getpid())
    if _process[0] != os.getpid():
        raise KveilError(
            "kveil was used before this process was forked, and the threads of its libraries do not live on in a fork; "
            "start processes with multiprocessing.get_context('spawn'), or use kveil in the new process only."
        )


@contextmanager
def cancellable() -> Iterator[None]:
    """Let a block end with Cancelled where the stop around it is cancelled, or its time over with nothing to return."""
    check_process()
    stop = current()
    try:
        yield
    except (OutOfTime, KveilError) as error:
        if stop.cancelled:
            raise Cancelled("the run was cancelled; nothing was released.") from None
        if isinstance(error, OutOfTime):
            raise Cancelled("the time was over before there was a release; give the run more seconds.") from None
        raise
    if stop.cancelled:
        raise Cancelled("the run was cancelled; nothing was released.")
