"""The stages of a run: told as they begin, timed as they end."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from kveil.kernels.compiling import not_compiled
from kveil.progress import Progress, Stage, silent
from kveil.stopping import check_cancelled

COMPILING = " (the first run compiles its loops, which can take a minute; kveil warmup does it ahead)"


class Stages:
    """Tells what is being done, and keeps the seconds of each stage; one that ends twice has both times together."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def begin(self, stage: str) -> None:
        """Tell of a stage, unless nobody waits for it any more."""
        check_cancelled()
        self.progress(stage)

    def end(self, name: str) -> None:
        """Take note of the seconds since the last stage ended."""
        now = perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def told_when_compiling(self, loops: Sequence[str]) -> Progress:
        """Return how to tell of a search; where loops it needs have not been compiled yet, that is said too."""
        if self.progress is silent or not not_compiled(loops):
            return self.progress
        return lambda stage: self.progress(stage.longer(COMPILING) if isinstance(stage, Stage) else stage + COMPILING)
