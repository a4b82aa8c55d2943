"""Progress on a terminal: what is being done, since when, and how long it may still take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from kveil.progress import Compared, ProgressLine, Stage
from kveil.words import visible

# For every command: how much of a run is usually done when a stage begins, and how much of it the stage is.
PLANS: dict[str, dict[str, tuple[float, float]]] = {
    "anonymize": {
        "reading": (0.0, 0.08),
        "encoding": (0.08, 0.12),
        "loading": (0.2, 0.02),
        "solving": (0.22, 0.5),
        "verifying": (0.72, 0.12),
        "writing": (0.84, 0.04),
        "playing": (0.86, 0.1),
        "drawing": (0.96, 0.04),
    },
    "attack": {"reading": (0.0, 0.15), "playing": (0.15, 0.85)},
    "check": {"reading": (0.0, 0.15), "encoding": (0.15, 0.25), "testing": (0.4, 0.3), "looking": (0.7, 0.3)},
    "compare": {
        "reading": (0.0, 0.02),
        "encoding": (0.02, 0.04),
        "loading": (0.06, 0.02),
        "solving": (0.08, 0.9),
        "drawing": (0.98, 0.02),
    },
    "dependencies": {"reading": (0.0, 0.15), "looking": (0.15, 0.85)},
    "init": {"reading": (0.0, 0.1), "looking": (0.1, 0.4), "trying": (0.5, 0.5)},
    "measure": {"reading": (0.0, 0.4), "measuring": (0.4, 0.6)},
    "verify": {"reading": (0.0, 0.4), "verifying": (0.4, 0.6)},
    "warmup": {"compiling": (0.0, 1.0)},
}
PATIENCE = 2.0  # seconds before a guess of the time left is worth telling


def progress_at(stage: str, *, command: str = "anonymize") -> float | None:
    """Return how much of a command's run is done when a stage begins, None for a stage that has no place in it.

    ``solving with mondrian (2 of 5)`` begins after a fifth of the solving.
    """
    known = PLANS[command].get(stage.split(" ")[0])
    if known is None:
        return None
    start, share = known
    if isinstance(stage, Stage) and stage.number is not None and stage.of is not None:
        return start + share * (stage.number - 1) / stage.of
    return start


def in_words(seconds: float) -> str:
    """Return a length of time as people say it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@dataclass
class Clock:
    """Guesses the time left: at the pace of the stages so far, and of an overdue stage that half of it is done."""

    command: str
    now: Callable[[], float] = monotonic
    started: float = field(init=False)
    stage: float = field(init=False)
    end: float | None = None

    def __post_init__(self) -> None:
        self.started = self.stage = self.now()

    def begin(self, stage: str) -> float | None:
        """Take note of a stage; return how much is done."""
        done = progress_at(stage, command=self.command)
        if done is not None:
            self.stage = self.now()
            self.end = self.started + (self.stage - self.started) / done if done >= 0.05 else None
        return done

    def left(self) -> str:
        """Return the guess in words, nothing before it is worth telling."""
        now = self.now()
        if now - self.started < PATIENCE:
            return ""
        if self.end is not None and self.end - now >= 0.5:
            return f"about {in_words(self.end - now)} left"
        return f"perhaps {in_words(max(now - self.stage, 1.0))} left"


class _Left(ProgressColumn):
    """The time left, guessed anew each time the bar is drawn."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def render(self, task: Task) -> Text:
        """Return the guess."""
        return Text(self.clock.left())


def progress_lines(out: TextIO, command: str) -> Callable[[str], None]:
    """Return what tells every stage as a line of JSON: the stage, the share that is done, the loss, the seconds.

    ``done`` never falls and is left out where it is not known; ``loss`` is there while a search tells it, ``compared``
    where one of several algorithms is done.
    """
    started, furthest = monotonic(), 0.0

    def tell(stage: str) -> None:
        nonlocal furthest
        furthest = max(furthest, progress_at(stage, command=command) or 0.0)
        line: ProgressLine = {"stage": stage, "done": round(furthest, 4)}
        if isinstance(stage, Stage) and stage.loss is not None:
            line["loss"] = round(stage.loss, 5)
        if isinstance(stage, Compared):
            line["compared"] = stage.figures
        line["seconds"] = round(monotonic() - started, 3)
        out.write(json.dumps(line, ensure_ascii=False) + "\n")
        out.flush()

    return tell


@contextmanager
def progress_bar(console: Console, command: str) -> Iterator[Callable[[str], None]]:
    """Show a bar until the block ends; it leaves nothing on the screen."""
    clock = Clock(command)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        _Left(clock),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(stage: str) -> None:
            done, stage = clock.begin(stage), visible(stage)
            if done is None:
                bar.update(task, description=stage)
            else:
                bar.update(task, description=stage, total=1.0, completed=done)

        yield tell
