"""Progress on a terminal: what is being done, since when, and how long it may still take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

# How much of a run is usually done when a stage begins, and how much of it the stage is.
STAGES = {
    "reading": (0.0, 0.08),
    "encoding": (0.08, 0.12),
    "loading": (0.2, 0.02),
    "solving": (0.22, 0.5),
    "verifying": (0.72, 0.12),
    "writing": (0.84, 0.04),
    "playing": (0.86, 0.1),
    "drawing": (0.96, 0.04),
}
PATIENCE = 2.0  # seconds before a guess of the time left is worth telling


def done_at(stage: str) -> float | None:
    """Return how much of the run is done when a stage begins, None for a stage of its own.

    ``solving with mondrian (2 of 5)`` begins after a fifth of the solving.
    """
    known = STAGES.get(stage.split(" ")[0])
    if known is None:
        return None
    start, share = known
    part = re.search(r"\((\d+) of (\d+)\)", stage)
    return start + share * (int(part[1]) - 1) / int(part[2]) if part else start


def time_left(done: float, elapsed: float) -> str:
    """Return a guess of the time left in words, nothing where there is nothing to go by."""
    if done < 0.05 or elapsed < PATIENCE:
        return ""
    left = elapsed * (1 - done) / done
    return f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left"


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[str], None]]:
    """Show a bar until the block ends; it leaves nothing on the screen."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    started = monotonic()
    with Progress(*columns, console=console, transient=True) as bar:
        task: TaskID = bar.add_task("starting", total=None, left="")

        def tell(stage: str) -> None:
            done = done_at(stage)
            if done is None:
                bar.update(task, description=stage)
            else:
                left = time_left(done, monotonic() - started)
                bar.update(task, description=stage, total=1.0, completed=done, left=left)

        yield tell
