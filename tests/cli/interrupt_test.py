"""Ctrl-C is told twice, by a handler and by a thread: whichever comes first, both come to the same end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from kveil.cli.interrupt import interruptible

NEVER = 60.0  # seconds: no other thread runs before this one waits


@pytest.fixture
def _hears() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    switched = sys.getswitchinterval()
    yield
    sys.setswitchinterval(switched)
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("_hears")
def test_who_hands_over_the_best_so_far_at_once_is_not_cancelled_by_the_thread_that_hears_of_it_later() -> None:
    with interruptible() as stop:
        with stop.listening():
            sys.setswitchinterval(NEVER)
            interrupt()
        assert stop.asked
        time.sleep(0.2)  # now the thread hears of it
        assert not stop.cancelled


@pytest.mark.usefixtures("_hears")
@pytest.mark.parametrize("heard", [False, True])
def test_where_nobody_listens_or_the_second_time_the_run_is_cancelled_in_all_threads(*, heard: bool) -> None:
    stops = []

    def run() -> None:
        with interruptible() as stop:
            stops.append(stop)
            if heard:
                with stop.listening():
                    interrupt()
                    assert stop.asked
            interrupt()
            time.sleep(NEVER)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert stops[0].cancelled
