"""When long work should stop: a deadline, or somebody who asks for the best so far.

A `Stop` is looked at between steps, by whoever does the work, in any thread, and its `flag` by compiled loops. Nothing
is interrupted from outside, and no signal or timer of the host is taken over. Work that has something to return ends as
soon as `over` says so and returns that. Work that has nothing to return yet calls `check`, which raises `OutOfTime`
once the deadline has passed; its compiled loops run `halting`. Whoever wants nothing any more cancels it: then it is
late at once, and what it returns is not used. Work whose result can only be worse than one that is known already calls
`check_beaten`. A `Stop` is handed down explicitly, or found with `current` where `under` has set it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class OutOfTime(Exception):
    """Ends work whose deadline has passed before there was anything to return."""


class Beaten(Exception):
    """Ends work that can only lose more than a solution that is known."""

    def __init__(self, at_least: float) -> None:
        super().__init__(at_least)
        self.at_least = at_least


ROUNDING = 1e-9  # of a loss: sums of the same shares in another order differ by less


class Stop:
    """A deadline some seconds from now, or none, and a flag that anybody may set, both also of the stop around it.

    ``known_loss`` is what a solution loses that is known already: work that can only lose more is of no use.
    """

    def __init__(
        self, seconds: float | None = None, *, within: Stop | None = None, known_loss: float | None = None
    ) -> None:
        self.known_loss = known_loss
        self._began, self._seconds = perf_counter(), seconds
        own = None if seconds is None else self._began + seconds
        outer = None if within is None else within.deadline
        self.deadline: float | None = min((each for each in (own, outer) if each is not None), default=None)
        self._within = within
        self._asked = threading.Event()
        self._cancelled = threading.Event()
        self._listeners: list[None] = []  # adding and taking away need no lock, which a signal's handler could not take
        self._flag: NDArray[np.bool_] | None = None
        self._inside: WeakSet[Stop] = WeakSet()
        self._lock = threading.RLock()  # for the two above
        if within is not None:
            with within._lock:
                within._inside.add(self)

    def ask(self) -> bool:
        """Ask for the best so far; return whether that is news to somebody who listens.

        Where it is not, whoever asks has to end the run in another way, as a second Ctrl-C does.
        """
        news = self.heard and not self.asked
        self._asked.set()
        return news

    @property
    def asked(self) -> bool:
        """Whether somebody asked for the best so far."""
        return self._asked.is_set() or (self._within is not None and self._within.asked)

    def cancel(self) -> None:
        """Let the work end soon, also inside a step, without returning anything; any thread may call it."""
        self._cancelled.set()
        self._raise_flag()

    def _raise_flag(self) -> None:
        with self._lock:
            inside = list(self._inside)
            if self._flag is not None:
                self._flag[0] = True
        for stop in inside:
            stop._raise_flag()

    @property
    def flag(self) -> NDArray[np.bool_]:
        """An array of one entry for loops to look at: True once the work is cancelled, by this or by a stop around it.

        A loop that sees it leaves its work as it is; whoever called it calls `check_cancelled`.
        """
        import numpy as np

        with self._lock:
            if self._flag is None:
                self._flag = np.zeros(1, dtype=np.bool_)
            flag = self._flag
        if self.cancelled:  # perhaps before there was a flag to raise
            flag[0] = True
        return flag

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants nothing of the work any more."""
        return self._cancelled.is_set() or (self._within is not None and self._within.cancelled)

    @property
    def timed(self) -> bool:
        """Whether this stop has a deadline of its own."""
        return self._seconds is not None

    @property
    def spent(self) -> float:
        """What share of its own seconds is over; 0 where it has none, whatever the stop around it has."""
        return 0.0 if not self._seconds else min((perf_counter() - self._began) / self._seconds, 1.0)

    @property
    def late(self) -> bool:
        """Whether the deadline has passed, or nobody waits any more."""
        return self.cancelled or (self.deadline is not None and perf_counter() >= self.deadline)

    @property
    def left(self) -> float | None:
        """The seconds up to the deadline, 0 where it has passed, None where there is none."""
        return None if self.deadline is None else max(self.deadline - perf_counter(), 0.0)

    def over(self) -> bool:
        """Tell whether to stop and return the best so far."""
        return self.asked or self.late

    def check(self) -> None:
        """Raise OutOfTime where the deadline has passed; for work that has nothing to return yet."""
        if self.late:
            raise OutOfTime

    def check_cancelled(self) -> None:
        """Raise OutOfTime where nobody waits any more; for work that goes on after a deadline, as verifying does."""
        if self.cancelled:
            raise OutOfTime

    @property
    def heard(self) -> bool:
        """Whether somebody listens who would return the best so far."""
        return bool(self._listeners)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Say that this block returns the best so far soon after somebody asks for it."""
        around: list[Stop] = []
        stop: Stop | None = self
        while stop is not None:
            stop._listeners.append(None)
            around.append(stop)
            stop = stop._within
        try:
            yield
        finally:
            for stop in around:
                stop._listeners.pop()


_current: ContextVar[Stop | None] = ContextVar("kveil_stop", default=None)


def current() -> Stop:
    """Return the stop that `under` has set around this call, one that never stops where there is none.

    A thread that is started inside has none: hand it down.
    """
    return _current.get() or Stop()


def check_deadline() -> None:
    """Raise OutOfTime where the deadline around this call has passed; for the steps of a search."""
    stop = _current.get()
    if stop is not None:
        stop.check()


def check_cancelled() -> None:
    """Raise OutOfTime where the work around this call is cancelled; for every step that takes a while."""
    stop = _current.get()
    if stop is not None:
        stop.check_cancelled()


def check_beaten(at_least: Callable[[], float]) -> None:
    """Raise Beaten where the work around this call loses more than what is known, whatever it still finds.

    ``at_least`` reckons what it loses at least, by the policy's measure; it is asked only where something is known.
    """
    stop = _current.get()
    if stop is not None and stop.known_loss is not None:
        least = at_least()
        if least > stop.known_loss * (1 + ROUNDING):
            raise Beaten(least)


@contextmanager
def under(stop: Stop) -> Iterator[Stop]:
    """Let a block run under a stop."""
    token = _current.set(stop)
    try:
        yield stop
    finally:
        _current.reset(token)


@contextmanager
def halting() -> Iterator[Stop]:
    """Give compiled loops that have nothing to return before their end a stop whose `flag` rises at the deadline, too.

    After each of them `check_cancelled` of that stop is called, since what a loop has left half done is of no use.
    While there is a deadline, a thread waits for it, and is gone when the block ends.
    """
    outer = current()
    outer.check()
    inner = Stop(within=outer)
    clock = None if outer.left is None else threading.Timer(outer.left, inner.cancel)
    if clock is not None:
        clock.start()
    try:
        yield inner
    finally:
        if clock is not None:
            clock.cancel()
            clock.join()
