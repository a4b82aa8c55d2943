"""Choose among algorithms: `auto`, and comparing several."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import FrameType
from typing import Any

from kveil.algorithms.least_loss.options import NORMAL
from kveil.algorithms.registry import Algorithm, check_honours, find, honouring, lacking
from kveil.engines.local import Attempt, run
from kveil.errors import PolicyError, Refused, Unmeetable
from kveil.measures import Losses, measure
from kveil.policy.checks import check_rules
from kveil.policy.keys import ALGORITHM_NAMES
from kveil.policy.model import Policy
from kveil.progress import Progress
from kveil.table.encode import Table
from kveil.table.solution import Solution
from kveil.words import did_you_mean, listing

MOST_EFFORT = 1e9  # above which auto leaves an algorithm out whose effort may explode
AUTO_SECONDS = 240.0


class OutOfTime(Exception):
    """Ends an algorithm whose time is over."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime inside the block once the seconds are over.

    By the clock's signal, which only the main thread can have; elsewhere the block runs to its end. A kernel
    that is running is not interrupted, the signal is seen when it returns; it is repeated every second, since
    one that falls into a finalizer is lost.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Trial:
    """One algorithm on one table: a solution with its losses, or the reason why there is none."""

    algorithm: Algorithm
    seconds: float
    solution: Solution | None = None
    losses: Losses | None = None
    failure: Unmeetable | None = None
    reason: str | None = None
    timed_out: bool = False


def candidates(policy: Policy) -> list[Algorithm]:
    """Return the algorithms a policy's choice stands for; refuse what cannot honour it, before any data is read."""
    if policy.dependencies:
        check_rules(policy)
    if policy.algorithm.name == "auto":
        return honouring(policy)
    algorithm = find(policy.algorithm.name)
    check_honours(algorithm, policy)
    return [algorithm]


def named(policy: Policy, names: Sequence[str] | None) -> tuple[list[Algorithm], list[tuple[str, str]]]:
    """Return the algorithms to compare, and those that were named but do not honour the policy, with the reason."""
    if names is None:
        return honouring(policy), []
    if not names:
        raise PolicyError("--algorithms names none; give names separated by commas, or leave it out for all.")
    able: list[Algorithm] = []
    unable: list[tuple[str, str]] = []
    for name in dict.fromkeys(names):
        if name == "auto":
            raise PolicyError("--algorithms names auto, which is the best of all others; leave it out.")
        if name not in ALGORITHM_NAMES:
            hint = did_you_mean(name, ALGORITHM_NAMES)
            raise PolicyError(
                f"--algorithms names {name!r}, which is no algorithm{hint or '; kveil algorithms lists them.'}"
            )
        algorithm = find(name)
        missing = lacking(algorithm, policy)
        if missing:
            unable.append((name, f"does not honour {listing(missing)}"))
        else:
            able.append(algorithm)
    if not able:
        raise Refused(
            f"none of {listing([name for name, _ in unable])} honours the policy ({unable[0][0]} {unable[0][1]}); "
            f"these do: {listing([algorithm.name for algorithm in honouring(policy)], 20)}."
        )
    return able, unable


def _try(
    algorithm: Algorithm, table: Table, options: dict[str, Any], allowed: float | None, progress: Progress
) -> Trial:
    started = perf_counter()
    try:
        with deadline(allowed):
            # Refining stops by itself a little earlier: what it has found by then is not thrown away.
            solution = run(algorithm, table, options, progress, None if allowed is None else 0.8 * allowed)
            losses = measure(table, solution)
    except Unmeetable as error:
        return Trial(algorithm, perf_counter() - started, failure=error, reason=str(error))
    except OutOfTime:
        spent = perf_counter() - started
        return Trial(algorithm, spent, reason=f"was stopped after {spent:.0f} seconds", timed_out=True)
    return Trial(algorithm, perf_counter() - started, solution, losses)


def trials(
    table: Table,
    algorithms: Sequence[Algorithm],
    options: Mapping[str, dict[str, Any]],
    progress: Progress,
    seconds: float | None,
    needs_one: bool = False,
) -> Iterator[Trial]:
    """Run algorithms one after another within a time for all of them.

    Each may take half of what is left, the last one all, so that one slow algorithm does not keep the others from
    running. Where ``needs_one``, nothing is stopped before one has found a release.
    """
    started = perf_counter()
    solved = False
    for position, algorithm in enumerate(algorithms):
        allowed = None
        if seconds is not None and (solved or not needs_one):
            left = seconds - (perf_counter() - started)
            if left <= 0:
                yield Trial(algorithm, 0.0, reason="was not run: the time was over", timed_out=True)
                continue
            allowed = left if position == len(algorithms) - 1 else left / 2
        if seconds is not None and needs_one and algorithm.effort and algorithm.effort(table) > MOST_EFFORT:
            yield Trial(algorithm, 0.0, reason="was not run: it may take very long on this table; name it to run it")
            continue
        place = f" ({position + 1} of {len(algorithms)})" if len(algorithms) > 1 else ""
        progress(f"solving with {algorithm.name}{place}")
        trial = _try(algorithm, table, options.get(algorithm.name, {}), allowed, progress)
        solved = solved or trial.solution is not None
        yield trial


def attempt(table: Table, progress: Progress, seconds: float | None = AUTO_SECONDS) -> Attempt:
    """Return the chosen algorithm's solution, for `auto` the best of all that honour the policy.

    A named algorithm takes as long as it takes; `auto` stops what is not done after ``seconds`` in all.
    """
    options = table.policy.algorithm.options
    started = perf_counter()
    best: Attempt | None = None
    failure: Unmeetable | None = None
    tried: list[dict[str, Any]] = []
    algorithms = candidates(table.policy)
    names = [algorithm.name for algorithm in algorithms]
    limit = seconds if len(algorithms) > 1 else None
    for trial in trials(table, algorithms, dict.fromkeys(names, options), progress, limit, needs_one=True):
        if trial.solution is None or trial.losses is None:
            failure = _nearer(failure, trial.failure)
            late = {"timed_out": True} if trial.timed_out else {}
            tried.append({"algorithm": trial.algorithm.name, "solved": False, "reason": trial.reason} | late)
            continue
        loss = trial.losses.of(table.policy.loss)
        tried.append({"algorithm": trial.algorithm.name, "solved": True, "loss": loss})
        if best is None or loss < best.losses.of(table.policy.loss):
            best = Attempt(trial.algorithm, options, trial.solution, trial.losses, tried)
    if best is None:
        assert failure is not None
        raise failure
    if table.policy.algorithm.name == "auto" and best.algorithm.refine == "off" and not table.policy.dependencies:
        return _refined(
            table, best, progress, None if seconds is None else max(seconds - (perf_counter() - started), 10)
        )
    return best


def _nearer(failure: Unmeetable | None, other: Unmeetable | None) -> Unmeetable | None:
    """Return the failure that would have to suppress fewer, the first of equals; what tells no number comes last."""
    if failure is None or other is None:
        return failure or other
    if other.lost is not None and (failure.lost is None or other.lost < failure.lost):
        return other
    return failure


def _refined(table: Table, best: Attempt, progress: Progress, seconds: float | None) -> Attempt:
    """Return the best attempt of `auto` refined, where none that refines by itself has won."""
    from kveil.algorithms.least_loss.refine import refine

    solution = refine(table, best.solution, NORMAL, seconds, progress)
    losses = measure(table, solution)
    if losses.of(table.policy.loss) >= best.losses.of(table.policy.loss):
        return best
    return Attempt(best.algorithm, {**best.options, "refine": "normal"}, solution, losses, best.tried)
