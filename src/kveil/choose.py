"""Choose among algorithms: `auto`, and the loop over several that `compare` uses too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from decimal import Decimal
from time import perf_counter
from typing import Annotated, NotRequired, TypedDict

from pydantic import Field

from kveil.algorithms.algorithm import Algorithm, check_divide
from kveil.algorithms.least_loss.refine_options import NORMAL
from kveil.algorithms.registry import algorithms_honouring, check_honours, demands_not_honoured, find, finds_the_same
from kveil.algorithms.settle import settle_unless_dearer
from kveil.algorithms.telling_labels import find_telling, refuse_labels
from kveil.engines.solver import Solved, check_options, finish_solution, solve
from kveil.errors import Cancelled, KveilError, PolicyError, Refused, Unmeetable
from kveil.free_form import GivenOptions
from kveil.measures import Losses, loses_less
from kveil.policy.checks import check_rule_shapes
from kveil.policy.fields import Number, PolicyPart
from kveil.policy.keys import algorithm_names, is_algorithm
from kveil.policy.model import Policy
from kveil.progress import Progress, Stage
from kveil.stopping import Beaten, OutOfTime, Stop, current, under
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import did_you_mean, listing

# The limits of auto are counted in steps, not in seconds, so that every machine makes the same choice.
MOST_EFFORT = 1e9  # above which it leaves an algorithm out
OVER = "its time was over"
MOST_TRIES = 400_000  # of refining a whole table; a larger one gets fewer for each record


class AutoOptions(PolicyPart):
    """What a policy may ask of `auto`: to stop after so many seconds. Its choice then depends on the machine."""

    seconds: Annotated[Number, Field(gt=0)] | None = None


@dataclass(frozen=True)
class Allowance:
    """What several algorithms may take: seconds for all together, or for each of them.

    Where ``choosing`` one of several, what another one has found is not sought again. To ``spare`` effort, those that
    may take very long on a table are left out.
    """

    seconds: float | None = None
    each: float | None = None
    choosing: bool = False
    spare: bool = False


@dataclass(frozen=True)
class Trial:
    """One algorithm on one table: a solution with its losses, or the reason why there is none."""

    algorithm: Algorithm
    seconds: float
    _: KW_ONLY
    solved: Solved | None = None
    failure: KveilError | None = None
    reason: str | None = None
    late: bool = False  # stopped, or not begun, since the time was over
    left_out: bool = False  # not begun, since its effort on this table is too high
    beaten: bool = False  # stopped, since it can only lose more than another one
    cut: bool = False  # its time was over when it came back, perhaps with no more than its best so far
    telling: bool = False  # what it found is not to be taken: its labels tell too much


class TriedEntry(TypedDict):
    """What the account has of a trial."""

    algorithm: str
    solved: bool
    loss: NotRequired[float]
    reason: NotRequired[str | None]
    timed_out: NotRequired[bool]


@dataclass(frozen=True)
class Tried:
    """What is kept of a trial: its loss by the policy's measure, or the reason why it has none, or was not run."""

    algorithm: str
    loss: float | None
    reason: str | None = None
    late: bool = False
    left_out: bool = False

    def as_json(self) -> TriedEntry:
        """Return the account's entry."""
        if self.loss is not None:
            solved: TriedEntry = {"algorithm": self.algorithm, "solved": True, "loss": self.loss}
            return solved if self.reason is None else {**solved, "reason": self.reason}
        entry: TriedEntry = {"algorithm": self.algorithm, "solved": False, "reason": self.reason}
        if self.late:
            entry["timed_out"] = True
        return entry


@dataclass(frozen=True)
class Attempt:
    """The solution that a run takes, with its losses, and everything that was tried for it."""

    algorithm: Algorithm
    options: GivenOptions
    solution: Solution
    losses: Losses
    tried: list[Tried] = field(default_factory=list)
    cut: bool = False  # auto refined with fewer tries for each record than usual

    @property
    def warnings(self) -> list[str]:
        """Say what `auto` did not run to its end: another choice might have been better."""
        late = [tried.algorithm for tried in self.tried if tried.late]
        left_out = [tried.algorithm for tried in self.tried if tried.left_out]
        ended = [tried.algorithm for tried in self.tried if tried.reason is not None and tried.reason.startswith(OVER)]
        warnings = []
        if ended:
            warnings.append(
                f"{listing(ended)} had no time left to search on, so that the release depends on the machine, and may "
                "lose more than it has to; give it more seconds."
            )
        if self.cut:
            warnings.append(
                "auto refined with fewer tries than usual, since the table is large; name least-loss with --algorithm "
                "to let it take its time."
            )
        if late:
            warnings.append(
                f"auto had no time left for {listing(late)}; name one with --algorithm to let it run to its end."
            )
        if left_out:
            warnings.append(
                f"auto left out {listing(left_out)}, which may take very long on this table; name one with --algorithm "
                "to run it."
            )
        return warnings


def candidates(policy: Policy) -> list[Algorithm]:
    """Return the algorithms a policy's choice stands for; refuse what cannot honour it, before any data is read."""
    if policy.dependencies:
        check_rule_shapes(policy)
    if policy.algorithm.name == "auto":
        _auto_options(policy)
        return algorithms_honouring(policy)
    algorithm = find(policy.algorithm.name)
    check_honours(algorithm, policy)
    check_options(algorithm, dict(policy.algorithm.options))
    if "divide" in policy.algorithm.options:
        check_divide(policy)
    return [algorithm]


def _auto_options(policy: Policy) -> AutoOptions:
    return AutoOptions.read(policy.algorithm.options, "algorithm auto")


def algorithms_to_compare(policy: Policy, names: Sequence[str] | None) -> tuple[list[Algorithm], list[tuple[str, str]]]:
    """Return the algorithms to compare, and those that were named but do not honour the policy, with the reason."""
    if names is None:
        return algorithms_honouring(policy), []
    if not names:
        raise PolicyError("--algorithms names none; give names separated by commas, or leave it out for all.")
    able: list[Algorithm] = []
    unable: list[tuple[str, str]] = []
    for name in dict.fromkeys(names):
        if name == "auto":
            raise PolicyError("--algorithms names auto, which is the best of all others; leave it out.")
        if not is_algorithm(name):
            hint = did_you_mean(name, algorithm_names())
            raise PolicyError(
                f"--algorithms names {name!r}, which is no algorithm{hint or '; kveil algorithms lists them.'}"
            )
        algorithm = find(name)
        missing = demands_not_honoured(algorithm, policy)
        if missing:
            unable.append((name, f"does not honour {listing(missing)}"))
        else:
            able.append(algorithm)
    if not able:
        raise Refused(
            f"none of {listing([name for name, _ in unable])} honours the policy ({unable[0][0]} {unable[0][1]}); "
            f"these do: {listing([algorithm.name for algorithm in algorithms_honouring(policy)], 20)}."
        )
    return able, unable


def _try(algorithm: Algorithm, table: Table, options: GivenOptions, stop: Stop, progress: Progress) -> Trial:
    started = perf_counter()
    try:
        with under(stop):
            solved = solve(algorithm, table, dict(options), progress=progress)
    except (Unmeetable, Refused) as error:
        return Trial(algorithm, perf_counter() - started, failure=error, reason=str(error))
    except Beaten:
        return Trial(algorithm, perf_counter() - started, beaten=True)
    except OutOfTime:
        spent = perf_counter() - started
        return Trial(algorithm, spent, reason=f"was stopped after {spent:.0f} seconds", late=True)
    return Trial(algorithm, perf_counter() - started, solved=solved)


def trials(
    table: Table,
    algorithms: Sequence[Algorithm],
    options: Mapping[str, GivenOptions],
    progress: Progress,
    allowance: Allowance,
) -> Iterator[Trial]:
    """Run algorithms one after another within an allowance.

    Of seconds for all together each may take half of what is left, the last one all, so that one slow algorithm does
    not keep the others from running. Where one is chosen, what can only lose more than another one is stopped.
    """
    seconds, choosing = allowance.seconds, allowance.choosing
    whole = Stop(seconds=seconds, within=current())
    best: Trial | None = None
    ran: list[Trial] = []
    for position, algorithm in enumerate(algorithms):
        last = position == len(algorithms) - 1
        timed = seconds is not None or allowance.each is not None
        if timed and whole.late:
            yield Trial(algorithm, 0.0, reason="was not run: the time was over", late=True)
            continue
        if allowance.spare and len(algorithms) > 1 and algorithm.effort and algorithm.effort(table) > MOST_EFFORT:
            reason = "was not run: it may take very long on this table; name it to run it"
            yield Trial(algorithm, 0.0, reason=reason, left_out=True)
            continue
        twin = next((trial for trial in ran if _finds_the_same(algorithm, trial, table.policy)), None)
        if choosing and twin is not None:
            reason = f"was not run: it finds what {twin.algorithm.name} finds"
            yield replace(twin, algorithm=algorithm, seconds=0.0, reason=reason)
            continue
        told = f"solving with {algorithm.name}"
        progress(Stage.one_of(told, position + 1, len(algorithms)) if len(algorithms) > 1 else told)
        own = allowance.each if allowance.each is not None else _part(whole.left, last=last)
        known = _known_loss(best, algorithm, table.policy) if choosing else None
        stop = Stop(seconds=own if timed else None, within=whole if timed else current(), known_loss=known)
        trial = _try(algorithm, table, options.get(algorithm.name, {}), stop, progress)
        if timed and trial.solved is not None and stop.late:
            trial = replace(trial, cut=True, reason=f"{OVER} after {trial.seconds:.0f} seconds: it may not be its best")
        if choosing:
            trial = _passed_over(table, trial)
        if trial.beaten and best is not None:
            trial = replace(trial, reason=f"was stopped: whatever it finds loses more than {best.algorithm.name}")
        best = _better(best, trial, table.policy)
        if not trial.late and not trial.beaten:
            ran.append(trial)
        yield trial


def _passed_over(table: Table, trial: Trial) -> Trial:
    """Return a trial as it was, or as a failure where labels of what it found would name a rare value."""
    told = None if trial.solved is None else refuse_labels(table, trial.solved.solution)
    return trial if told is None else replace(trial, failure=told, reason=str(told), telling=True)


def _finds_the_same(algorithm: Algorithm, trial: Trial, policy: Policy) -> bool:
    found = None if trial.solved is None else trial.solved.solution
    return finds_the_same(algorithm, trial.algorithm, found, policy)


def _better(best: Trial | None, trial: Trial, policy: Policy) -> Trial | None:
    """Return the one of two trials that loses less, the first of equals; one whose labels tell too much is none."""
    if best is None or best.solved is None or trial.solved is None or trial.telling:
        return best if trial.solved is None or trial.telling else trial
    return trial if loses_less(trial.solved.losses, best.solved.losses, policy) else best


def _known_loss(best: Trial | None, algorithm: Algorithm, policy: Policy) -> float | None:
    """Return the loss above which nobody needs what an algorithm finds; None where that may still change.

    Refining lowers a loss, and rules are kept after the search that finds what keeps them.
    """
    if best is None or best.solved is None or algorithm.refine != "off" or policy.dependencies:
        return None
    return best.solved.losses.of(policy.loss)


def _part(left: float | None, *, last: bool) -> float | None:
    return left if left is None or last else left / 2


def attempt(table: Table, algorithms: Sequence[Algorithm], progress: Progress) -> Attempt:
    """Return the chosen algorithm's solution, for `auto` the best of all that honour the policy.

    ``algorithms`` are the policy's `candidates`. A named one takes as long as it takes. `auto` is limited by effort,
    not by a clock, so that the same table gives the same release on any machine, unless the policy gives it seconds.
    """
    policy = table.policy
    if policy.algorithm.name == "auto":
        return _best_of(table, algorithms, progress)
    (algorithm,) = algorithms
    options = policy.algorithm.options
    progress(f"solving with {algorithm.name}")
    seconds = check_options(algorithm, options)[1].seconds
    stop = Stop(seconds=None if seconds is None else float(seconds), within=current())
    try:
        with under(stop):
            solved = solve(algorithm, table, options, progress=progress)
    except OutOfTime:
        if seconds is None or current().late:
            raise
        raise Cancelled(
            f"{algorithm.name} found no release within {_in_words(seconds)}, and nothing was released; give it more "
            "seconds, or take algorithm auto, which also tries others."
        ) from None
    told = Tried(
        algorithm.name,
        solved.losses.of(policy.loss),
        f"{OVER} after {seconds} seconds: it may not be its best" if seconds is not None and stop.late else None,
    )
    return Attempt(algorithm, options, solved.solution, solved.losses, [told])


def _best_of(table: Table, algorithms: Sequence[Algorithm], progress: Progress) -> Attempt:
    """Return the solution with the smallest loss, refined where none that refines by itself has won."""
    policy = table.policy
    seconds = _auto_options(policy).seconds
    whole = Stop(seconds=None if seconds is None else float(seconds), within=current())
    tries = min(NORMAL, MOST_TRIES / max(table.records, 1))
    options = {a.name: {"refine": tries} if a.refine != "off" and tries < NORMAL else {} for a in algorithms}
    tried: list[Tried] = []
    best: Trial | None = None
    failure: KveilError | None = None
    renaming: KveilError | None = None  # comes before all others: with other labels there would be a release
    for trial in trials(table, algorithms, options, progress, Allowance(whole.left, choosing=True, spare=True)):
        tried.append(_told(trial, policy))
        best, failure = _better(best, trial, policy), _nearer(failure, trial.failure)
        renaming = renaming or (trial.failure if trial.telling else None)
    if best is None or best.solved is None:
        if seconds is not None and any(entry.late for entry in tried):
            whole.check_cancelled()
            raise _none_in_time(tried, seconds)
        raise renaming or failure or _none_ran(tried)
    algorithm, solved = best.algorithm, best.solved
    chosen = Attempt(algorithm, options[algorithm.name], solved.solution, solved.losses, tried, cut=tries < NORMAL)
    if algorithm.refine == "off" and not policy.dependencies and table.times is None:  # refining moves single records
        if whole.late:
            whole.check_cancelled()
            return chosen
        try:
            with under(whole):
                return _refined(table, chosen, tries, progress)
        except OutOfTime:  # a solution once found is never lost, unless nobody wants it
            whole.check_cancelled()
    return chosen


def _told(trial: Trial, policy: Policy) -> Tried:
    """Return what the account tells of a trial."""
    if trial.solved is None or trial.telling:
        return Tried(trial.algorithm.name, None, trial.reason, late=trial.late, left_out=trial.left_out)
    return Tried(trial.algorithm.name, trial.solved.losses.of(policy.loss), trial.reason)


def _none_ran(tried: list[Tried]) -> Unmeetable:
    """Say that nothing was run to its end, so that nobody knows whether the policy can be met."""
    return Unmeetable(
        f"no algorithm found a release, and {listing([entry.algorithm for entry in tried])} did not run to the end; "
        "name one with --algorithm to let it."
    )


def _in_words(seconds: Decimal) -> str:
    return "1 second" if seconds == 1 else f"{seconds:,} seconds"


def _none_in_time(tried: list[Tried], seconds: Decimal) -> Cancelled:
    """Say that nothing was found before the time was over, and what was done until then."""
    late = [entry.algorithm for entry in tried if entry.late]
    failed = [entry.algorithm for entry in tried if not entry.late and not entry.left_out]
    told = f"; {listing(failed)} found none" if failed else ""
    return Cancelled(
        f"auto found no release within {_in_words(seconds)}, and nothing was released: {listing(late)} had not come to "
        f"an end{told}. Give it more seconds, name one with --algorithm to let it run on, or ask for less."
    )


def _nearer(failure: KveilError | None, other: KveilError | None) -> KveilError | None:
    """Return the failure that would have to suppress fewer, the first of equals; what tells no number comes last."""
    if failure is None or other is None:
        return failure or other
    lost, others = getattr(failure, "lost", None), getattr(other, "lost", None)
    if others is not None and (lost is None or others < lost):
        return other
    if isinstance(failure, Refused) and isinstance(other, Unmeetable):
        return other
    return failure


def _refined(table: Table, chosen: Attempt, tries: float, progress: Progress) -> Attempt:
    """Return the choice of `auto` refined, if that loses less."""
    from kveil.algorithms.least_loss.refine import refine

    new = refine(table, chosen.solution, tries, None, progress)
    refined = finish_solution(table, settle_unless_dearer(table, new, chosen.solution))
    if not loses_less(refined.losses, chosen.losses, table.policy):
        return chosen
    if find_telling(table, refined.solution) is not None:
        return chosen
    options = {"refine": "normal" if tries == NORMAL else tries}
    return replace(chosen, options=options, solution=refined.solution, losses=refined.losses)
