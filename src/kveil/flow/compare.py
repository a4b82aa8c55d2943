"""Compare algorithms on one table: the same policy, every release verified, nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kveil.choose import Trial, named, trials
from kveil.files import Outputs, Source
from kveil.flow.anonymize import check_input, check_targets, input_path, read
from kveil.frames import from_frame
from kveil.kernels.compiling import compile_all
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.verifier import verify_release


@dataclass(frozen=True)
class Comparison:
    """What each algorithm made of a table, the smallest loss first, those without a release last.

    ``loss`` is the measure the policy minimizes. Every entry of ``algorithms`` is plain data without a value of
    the table.
    """

    loss: str
    rows: int
    noun: str
    algorithms: list[dict[str, Any]]

    @property
    def best(self) -> str | None:
        """The algorithm with the smallest loss; of equals the first of the registry, as `auto` takes it."""
        return next((entry["algorithm"] for entry in self.algorithms if entry["solved"]), None)

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {"loss": self.loss, self.noun + "s": self.rows, "best": self.best, "algorithms": self.algorithms}

    def _repr_html_(self) -> str:
        from kveil.notebook import comparison_html

        return comparison_html(self.as_json())


def compare(
    frame: Any, policy: Policy, algorithms: Sequence[str] | None = None, seconds: float | None = None
) -> Comparison:
    """Compare algorithms on a pandas, Polars or PyArrow table; by default all that honour the policy.

    ``seconds`` is the time for all of them together; what is not done by then is stopped and said so.
    """
    return compare_source(from_frame(frame), policy, algorithms, seconds)


def compare_source(
    source: Source,
    policy: Policy,
    algorithms: Sequence[str] | None = None,
    seconds: float | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Compare algorithms on a table that has been read."""
    able, unable = named(policy, algorithms)
    progress("encoding")
    table = encode(source, policy)
    check_input(source, table)
    progress("loading the kernels")
    compile_all()  # so that the first algorithm does not pay for all
    options = {a.name: policy.algorithm.options if a.name == policy.algorithm.name else {} for a in able}
    found = []
    for trial in trials(table, able, options, progress, seconds):
        progress(f"verifying {trial.algorithm.name}")
        found.append(_entry(source, table, trial))
    sign = -1 if policy.loss == "precision" else 1  # the sort is stable: of equals the first of the registry
    found.sort(key=lambda entry: (not entry["solved"], sign * entry["loss"][policy.loss] if entry["solved"] else 0))
    found += [{"algorithm": name, "solved": False, "reason": reason, "seconds": 0.0} for name, reason in unable]
    return Comparison(policy.loss, table.records, "record" if table.persons is None else "individual", found)


def compare_file(
    policy: Policy,
    given: Path | None = None,
    algorithms: Sequence[str] | None = None,
    seconds: float | None = None,
    progress: Progress = silent,
    report: Path | None = None,
) -> Comparison:
    """Compare algorithms on a file, and write the comparison as a page where one is asked for."""
    source = input_path(policy, given)
    named(policy, algorithms)
    with Outputs() as outputs:
        page = None
        if report is not None:
            check_targets(policy, source, [report])
            page = outputs.open(report)
        progress("reading")
        found = compare_source(read(policy, source), policy, algorithms, seconds, progress)
        if page is not None:
            from kveil.report.page import comparison_page

            progress("drawing")
            outputs.write(page, comparison_page(policy, found.as_json()).encode())
            outputs.commit()
    return found


def _groups(frame: pl.DataFrame, names: list[str]) -> int:
    """Return how many different rows there are; without quasi-identifiers all look the same."""
    return frame.select(names).n_unique() if names and frame.height else min(frame.height, 1)


def _entry(source: Source, table: Table, trial: Trial) -> dict[str, Any]:
    base: dict[str, Any] = {"algorithm": trial.algorithm.name, "solved": trial.solution is not None}
    if trial.solution is None or trial.losses is None:
        return base | {"reason": trial.reason, "seconds": trial.seconds}
    release = decode(source, table, trial.solution)
    frame = release.frame(source)
    released = Source("the release", frame, source.kind, source.separator)
    verdict = verify_release(released, table.policy, source, release.rows)
    gone = int(trial.solution.suppressed_anywhere.sum())
    return base | {
        "holds": verdict.holds,
        "loss": trial.losses.as_json(),
        "loss_by_attribute": {name: loss.ncp for name, loss in trial.losses.attributes.items()},
        "suppressed": gone,
        "suppressed_share": gone / table.records if table.records else 0.0,
        "groups": _groups(frame, table.policy.quasi_identifiers),
        "seconds": trial.seconds,
    }
