"""`kveil compare`: several algorithms on one table, the same policy, every release verified, nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kveil.algorithms.registry import loops_of
from kveil.choose import Allowance, Trial, algorithms_to_compare, trials
from kveil.databases import Place
from kveil.errors import Refused
from kveil.files import Outputs, Source
from kveil.flow.steps.inputs import check_input, check_targets, read, table_of
from kveil.flow.steps.places import input_path
from kveil.kernels.compiling import compile_some
from kveil.measures import plugged_measures
from kveil.policy.model import Policy
from kveil.progress import Compared, Progress, silent
from kveil.report.comparison import Comparison, ComparisonEntry
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.utility.prediction import Examiner, ask
from kveil.utility.queries import Query, query_error, workload, workload_in_words
from kveil.verifier import verify_release


@dataclass(frozen=True)
class Terms:
    """On which terms algorithms are compared.

    ``seconds`` is for all together, ``seconds_each`` for each of them; ``refine`` is the effort, counted in tries and
    not in time, that each spends on refining what it found. ``predict`` is the column that models are trained for.
    """

    seconds: float | None = None
    seconds_each: float | None = None
    refine: str | None = None
    predict: str | None = None


def compare(
    frame: Any,
    policy: Policy,
    algorithms: Sequence[str] | None = None,
    *,
    seconds: float | None = None,
    seconds_each: float | None = None,
    predict: str | None = None,
) -> Comparison:
    """Compare algorithms on a pandas, Polars or PyArrow table; by default all that honour the policy.

    ``seconds`` is the time for all of them together, ``seconds_each`` for each; what is not done by then is stopped and
    said so. ``predict`` names a released column: a third of the records is held out, and models that are trained on
    each release are tested on it (with scikit-learn).
    """
    return compare_source(
        table_of(frame, policy), policy, algorithms=algorithms, terms=Terms(seconds, seconds_each, predict=predict)
    )


def _check_policy(policy: Policy) -> None:
    if policy.previous:
        raise Refused(
            "the policy names earlier releases under `previous`, which compare does not honour; compare under a policy "
            "without that key, and let anonymize hold the release together with them."
        )


def compare_source(
    source: Source,
    policy: Policy,
    *,
    algorithms: Sequence[str] | None = None,
    terms: Terms | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Compare algorithms on a table that has been read."""
    _check_policy(policy)
    terms = terms or Terms()
    able, unable = algorithms_to_compare(policy, algorithms)
    question = None if terms.predict is None else ask(source, policy, terms.predict)
    if question is not None:
        source = question.train
    progress("encoding")
    table = encode(source, policy)
    check_input(source, table)
    progress("loading the kernels")
    compile_some(loops_of(policy, able))  # so that the first algorithm does not pay for all
    options = {a.name: dict(policy.algorithm.options) if a.name == policy.algorithm.name else {} for a in able}
    if terms.refine is not None:
        options = {name: own | {"refine": terms.refine} for name, own in options.items()}
    tests = _Tests(workload(table, int(policy.seed)), None if question is None else Examiner.of(question, table))
    clock = terms.seconds is not None or terms.seconds_each is not None
    allowance = Allowance(terms.seconds, terms.seconds_each, spare=algorithms is None and not clock)
    entries: list[ComparisonEntry] = []
    for trial in trials(table, able, options, progress, allowance):
        progress(f"verifying {trial.algorithm.name}")
        entries.append(_entry(source, table, trial, tests))
        progress(Compared(f"compared {trial.algorithm.name}", entries[-1]))
    sign = -1 if policy.loss == "precision" else 1

    def order(entry: ComparisonEntry) -> tuple[bool, float]:
        return not entry["solved"], sign * entry["loss"][policy.loss] if entry["solved"] else 0.0

    entries.sort(key=order)  # stable: of equals the first of the registry comes first
    entries += [{"algorithm": name, "solved": False, "seconds": 0.0, "reason": reason} for name, reason in unable]
    return Comparison(
        policy.loss,
        table.records,
        table.noun,
        entries,
        workload_in_words(table, int(policy.seed)) if tests.queries else None,
        None if tests.examiner is None else tests.examiner.figures(),
    )


def compare_file(
    policy: Policy,
    *,
    path: Place | None = None,
    algorithms: Sequence[str] | None = None,
    terms: Terms | None = None,
    progress: Progress = silent,
    report: Path | None = None,
) -> Comparison:
    """Compare algorithms on a file, and write the comparison as a page where one is asked for."""
    _check_policy(policy)
    source = input_path(policy, path)
    algorithms_to_compare(policy, algorithms)  # refused before the table is read
    with Outputs() as outputs:
        page = None
        if report is not None:
            check_targets(policy, source, [report])
            page = outputs.open(report)
        progress("reading")
        comparison = compare_source(read(policy, source), policy, algorithms=algorithms, terms=terms, progress=progress)
        if page is not None:
            from kveil.report.page import comparison_page

            progress("drawing")
            outputs.write(page, comparison_page(policy, comparison).encode())
            outputs.commit()
    return comparison


def _groups(frame: pl.DataFrame, names: list[str]) -> int:
    """Return how many different rows there are; without quasi-identifiers all look the same."""
    return frame.select(names).n_unique() if names and frame.height else min(frame.height, 1)


@dataclass(frozen=True)
class _Tests:
    """What every release is asked: counts, and a model's predictions where that is wanted."""

    queries: list[Query]
    examiner: Examiner | None


def _entry(source: Source, table: Table, trial: Trial, tests: _Tests) -> ComparisonEntry:
    name, solved = trial.algorithm.name, trial.solved
    if solved is None:
        return {"algorithm": name, "solved": False, "seconds": trial.seconds, "reason": trial.reason}
    release = decode(source, table, solved.solution)
    frame = release.frame(source)
    released = Source("the release", frame, source.kind, separator=source.separator)
    verdict = verify_release(released, table.policy, original=source, places=release.rows)
    gone = int(solved.solution.suppressed_anywhere.sum())
    entry: ComparisonEntry = {
        "algorithm": name,
        "solved": True,
        "holds": verdict.holds,
        "loss": solved.losses.as_json(),
        "loss_by_attribute": {name: loss.of(table.policy.loss) for name, loss in solved.losses.attributes.items()},
        "suppressed": gone,
        "suppressed_share": gone / table.records if table.records else 0.0,
        "groups": _groups(frame, table.policy.quasi_identifiers),
        "seconds": trial.seconds,
        "query_error": query_error(table, solved.solution, tests.queries),
        "others": plugged_measures(table, solved.solution),
    }
    if tests.examiner is not None:
        entry["prediction"] = tests.examiner.score(solved.solution)
    if trial.cut:
        entry |= {"cut": True, "reason": trial.reason}
    return entry
