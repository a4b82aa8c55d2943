"""The flow, one call a room: read, encode, solve, decode, verify, measure, report, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.arrays import Bools
from kveil.errors import DataError, NotVerified, PolicyError, Unmeetable
from kveil.files import Outputs, Source, check_columns, kind_of, read_table, write_table
from kveil.frames import from_frame, to_frame
from kveil.kernels.compiling import compiled_before
from kveil.measures import Losses, measure
from kveil.policy.components import largest_k
from kveil.policy.keys import ALGORITHM_NAMES, AlgorithmChoice
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.owner import Owner, align
from kveil.report.receipt import make_receipt
from kveil.report.warn import release_warnings
from kveil.table.decode import Release, decode
from kveil.table.encode import encode
from kveil.table.reread import read_items, read_release
from kveil.table.table import Table
from kveil.verifier import Verdict, verify_release
from kveil.verifier.guarantees import check_dependency
from kveil.verifier.release import can_verify
from kveil.verifier.rows import ITEM, ROW, original_rows, release_rows, rule_texts
from kveil.words import count, did_you_mean, listing

if TYPE_CHECKING:
    from kveil.algorithms.bound.bound import Bound
    from kveil.attack import Attacks
    from kveil.engines.local import Attempt

COMPILING = " (the first run compiles its loops, which can take a minute; kveil warmup does it ahead)"


@dataclass(frozen=True)
class Result:
    """A verified release in memory: the data, its receipt, and the owner's way back."""

    data: Any
    receipt: dict[str, Any]
    owner: Owner
    _page: Callable[[bool], str] = field(default=lambda public: "", repr=False, compare=False)

    def report(self, path: str | Path, public: bool = False) -> None:
        """Write the report as one HTML file, for the owner's eyes; ``public`` only what the release tells anyway."""
        with Outputs() as outputs:
            file = outputs.open(Path(path), mode=None if public else 0o600)
            outputs.write(file, self._page(public).encode())
            outputs.commit()

    def _repr_html_(self) -> str:
        from kveil.notebook import receipt_html

        return receipt_html(self.receipt)


@dataclass(frozen=True)
class _Run:
    """Everything that one run made, before anything is written."""

    source: Source
    table: Table
    attempt: Attempt
    release: Release
    frame: pl.DataFrame
    verdict: Verdict
    warnings: list[str]
    seconds: dict[str, float]
    bound: Bound | None = None


def input_path(policy: Policy, given: Path | None) -> Path:
    """Return the file to read: what the command line gives, else what the policy names."""
    if given is not None:
        return given
    if policy.data.path is None:
        raise DataError("the policy names no data.path; add it, or give --input.")
    return policy.folder / policy.data.path


def read(policy: Policy, path: Path, hashed: bool = False) -> Source:
    """Read a table that a policy speaks about."""
    return read_table(path, policy.data.separator, policy.attributes, hashed)


def check_input(source: Source, table: Table) -> None:
    """Raise Unmeetable where there are fewer rows than k, DataError where the input breaks a declared rule."""
    policy = table.policy
    k = largest_k(policy)
    if table.records < k:
        raise Unmeetable(
            f"{source.name} has {count(table.records, table.noun)}, fewer than k = {k}: no group can have {k} members; "
            "lower k or add records."
        )
    if policy.dependencies:
        texts = rule_texts(source, policy)
        for rule in policy.dependencies:
            checked = check_dependency(rule, texts, policy.quasi_identifiers)
            if not checked["holds"]:
                raise DataError(
                    f"{source.name} itself breaks the dependency {rule.rule} for "
                    f"{count(checked['broken'], 'left side')}; correct the data or take the rule out."
                )


def _run(source: Source, policy: Policy, started: float, progress: Progress, bounded: bool = False) -> _Run:
    seconds: dict[str, float] = {}

    def lap(stage: str) -> None:
        nonlocal started
        now = perf_counter()
        seconds[stage] = now - started
        started = now

    progress("encoding")
    table = encode(source, policy)
    check_input(source, table)
    lap("read")
    from kveil.choose import attempt  # verify and measure never pay for the algorithms

    found = attempt(table, progress if compiled_before() else lambda stage: progress(stage + COMPILING))
    release = decode(source, table, found.solution)
    lap("solve")
    progress("verifying")
    frame = release.frame(source)
    released = Source("the release", frame, source.kind, source.separator)
    verdict = verify_release(released, policy, source, release.rows)
    if not verdict:
        raise NotVerified(
            f"kveil made a release that its own verifier refuses ({verdict.findings[0].rstrip('.')}); nothing was "
            "written. This is a defect of kveil: please report the policy."
        )
    lap("verify")
    warnings = verdict.warnings + release_warnings(frame, policy, release.labels) + _late(found)
    least = None
    if bounded:
        from kveil.algorithms.bound.bound import lower_bound

        least = lower_bound(table, progress)
        seconds["solve"] += perf_counter() - started
    return _Run(source, table, found, release, frame, verdict, warnings, seconds, least)


def _bound(run: _Run) -> dict[str, Any] | None:
    """Return the bound as the receipt has it, with the gap to the release's loss."""
    least = run.bound
    if least is None:
        return None
    loss = run.attempt.losses.of(least.loss)
    gap = loss / least.at_least - 1 if least.at_least > 0 else None
    return {"loss": least.loss, "at_least": least.at_least, "gap": gap}


def bound(frame: Any, policy: Policy) -> Bound:
    """Return a proved lower bound on the loss of any release of a table under a policy.

    It needs no release: `at_least` is in the policy's loss, a share for `ncp` and `precision` (1 − precision), a total
    for `il`.
    """
    from kveil.algorithms.bound.bound import lower_bound

    source = from_frame(frame)
    table = encode(source, policy)
    check_input(source, table)
    return lower_bound(table, silent)


def _late(attempt: Attempt) -> list[str]:
    """Warn where `auto` had no time for everything: another machine may then choose otherwise."""
    late = [entry["algorithm"] for entry in attempt.tried if entry.get("timed_out")]
    if not late:
        return []
    return [f"auto had no time left for {listing(late)}; name one with --algorithm to let it run to its end."]


def _counts(gone: Bools) -> dict[str, int]:
    suppressed = int(gone.sum())
    return {"input": len(gone), "released": len(gone) - suppressed, "suppressed": suppressed}


def _records(run: _Run) -> tuple[dict[str, int], dict[str, int] | None]:
    """Return how many records, and individuals if there are any, came in, were released, were suppressed."""
    gone = run.attempt.solution.suppressed_anywhere
    if run.table.persons is None:
        return _counts(gone), None
    return _counts(gone[run.table.persons.of_record]), _counts(gone)


def _owner(run: _Run, release_sha256: str | None) -> Owner:
    return Owner(run.release.rows, run.table.records, run.attempt.solution.reasons, run.source.sha256, release_sha256)


def _refuse_early(policy: Policy) -> None:
    """Refuse what no algorithm honours before the data is read; what one will need is loaded meanwhile."""
    from threading import Thread

    from kveil.choose import candidates

    able = candidates(policy)
    if len(able) == 1:
        Thread(target=able[0].load, daemon=True).start()


def anonymize(frame: Any, policy: Policy, algorithm: str | None = None, bound: bool = False) -> Result:
    """Return a verified release of a pandas, Polars or PyArrow table, in the same kind of frame.

    With ``bound`` the receipt also says what any release of the policy loses at least.
    Raises PolicyError, DataError, or Unmeetable where the policy cannot be met within its limit.
    """
    started = perf_counter()
    policy = with_algorithm(policy, algorithm)
    _refuse_early(policy)
    run = _run(from_frame(frame), policy, started, silent, bound)
    started = perf_counter()
    data = to_frame(run.source, run.release.columns, run.release.source_rows)
    seconds = run.seconds | {"write": perf_counter() - started}
    receipt = make_receipt(policy, run.attempt, run.verdict, *_records(run), run.warnings, seconds, None, _bound(run))
    return Result(data, receipt, _owner(run, None), lambda public: _report(run, receipt, public))


def _report(run: _Run, receipt: dict[str, Any], public: bool, progress: Progress = silent) -> str:
    """Return the report of a run as HTML."""
    from kveil.attack import play
    from kveil.report.page import report_page
    from kveil.report.story import tell

    policy = run.table.policy
    release = Source("the release", run.frame, run.source.kind, run.source.separator)
    attacks = None
    if not public:
        attacks = play(policy, run.source, release, run.release.rows, progress=progress)
    progress("drawing")
    reasons = {} if public else {reason: len(rows) for reason, rows in run.attempt.solution.reasons.items()}
    story = tell(policy, receipt, release, None if public else run.source, reasons, attacks)
    return report_page(story, policy)


def with_algorithm(policy: Policy, name: str | None) -> Policy:
    """Return the policy with another algorithm, if one is named; options of the policy's own stay with it."""
    if name is None or name == policy.algorithm.name:
        return policy
    if name not in ALGORITHM_NAMES:
        hint = did_you_mean(name, ALGORITHM_NAMES)
        raise PolicyError(f"{name!r} is no algorithm of kveil; there are {listing(ALGORITHM_NAMES, 20)}{hint or '.'}")
    return policy.model_copy(update={"algorithm": AlgorithmChoice(name=name)})


def check_targets(policy: Policy, source: Path, targets: list[Path]) -> None:
    """Raise DataError where two outputs are one file, or one of them is what the run reads."""
    inputs = {path.resolve() for path in (source, *policy.files)}
    written = [path.resolve() for path in targets]
    if len(set(written)) < len(written) or inputs.intersection(written):
        raise DataError(
            "all outputs must be different files, none of them the input, the policy or a hierarchy; "
            "change one of the names."
        )


def anonymize_file(
    policy: Policy,
    source_path: Path,
    output: Path,
    receipt: Path | None = None,
    owner: Path | None = None,
    progress: Progress = silent,
    report: Path | None = None,
    public: bool = False,
    bounded: bool = False,
) -> dict[str, Any]:
    """Make a release from a file and write it, with receipt, owner's file and report; return the receipt.

    The files appear together after verification, the release last; whatever fails before leaves nothing.
    """
    started = perf_counter()
    _refuse_early(policy)
    kind_of(output)
    check_targets(policy, source_path, [path for path in (output, receipt, owner, report) if path is not None])
    with Outputs() as outputs:  # opened first: a folder that cannot be written to should not cost a whole run
        receipt_file = outputs.open(receipt) if receipt is not None else None
        owner_file = outputs.open(owner, mode=0o600) if owner is not None else None
        report_file = outputs.open(report, mode=None if public else 0o600) if report is not None else None
        output_file = outputs.open(output)
        progress("reading")
        run = _run(read(policy, source_path, hashed=owner is not None), policy, started, progress, bounded)
        started = perf_counter()
        progress("writing")
        digest = write_table(run.frame, output_file, output, run.source.separator, policy.data.missing[0])
        if owner_file is not None:
            outputs.write_json(owner_file, _owner(run, digest).as_json(), indent=None)
        seconds = run.seconds | {"write": perf_counter() - started}
        content = make_receipt(
            policy, run.attempt, run.verdict, *_records(run), run.warnings, seconds, digest, _bound(run)
        )
        if receipt_file is not None:
            outputs.write_json(receipt_file, content)
        if report_file is not None:
            outputs.write(report_file, _report(run, content, public, progress).encode())
        outputs.commit()
    return content


def verify(release: Any, policy: Policy, original: Any = None, owner: Owner | None = None) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    Rows are aligned by ``owner``, or by position where the policy says `order: keep` and none is missing.
    """
    return verify_sources(from_frame(release), policy, None if original is None else from_frame(original), owner)


def verify_sources(release: Source, policy: Policy, original: Source | None, owner: Owner | None) -> Verdict:
    """Check a release that has been read."""
    can_verify(policy)
    if original is None:
        return verify_release(release, policy)
    rows = align(
        owner,
        policy.release.order == "keep",
        release_rows(release, policy).height,
        original_rows(original, policy)[0].height,
    )
    return verify_release(release, policy, original, rows)


def attack_sources(
    release: Source,
    policy: Policy,
    original: Source,
    owner: Owner | None,
    attacker: Source | None = None,
    progress: Progress = silent,
) -> Attacks:
    """Play the attacker on a release made by anyone; return every attack with its success before and after."""
    from kveil.attack import play

    absent = [name for name in policy.released if name not in release.frame.columns]
    if absent:
        raise DataError(f"{release.name} lacks {', '.join(absent)}, which a release of this policy has.")
    check_columns(original.frame.columns, policy.attributes, original.name)
    places = align(
        owner,
        policy.release.order == "keep",
        release_rows(release, policy).height,
        original_rows(original, policy)[0].height,
    )
    return play(policy, original, release, places, attacker=attacker, progress=progress)


def measure_sources(
    release: Source, policy: Policy, original: Source, owner: Owner | None
) -> tuple[Losses, dict[str, int], list[str]]:
    """Return all losses of a release made by anyone, its record counts, and warnings."""
    table = encode(original, policy)
    counted = policy.quasi_identifiers + (policy.with_role("sensitive") if table.persons is not None else [])
    absent = [name for name in counted if name not in release.frame.columns]
    if absent:
        raise DataError(f"{release.name} lacks {', '.join(absent)}, which a release of this policy has.")
    shown = release_rows(release, policy)
    rows = align(owner, policy.release.order == "keep", shown.height, table.records)
    starred = shown.starred.to_numpy() if table.stars_take_part else None
    solution, unknown = read_release(table, {n: shown.texts[n] for n in shown.texts.columns}, rows, starred)
    items = {}
    for name in policy.generalized:
        pairs = shown.items[name]
        items[name], strangers = read_items(table, name, pairs[ROW].to_numpy(), pairs[ITEM], rows)
        unknown += strangers
    solution = replace(solution, items=items)
    suppressed = int(solution.suppressed_anywhere.sum())
    warnings = [f"{count(unknown, 'label')} unknown to their hierarchies, counted as fully general."] if unknown else []
    records = {"input": table.records, "released": table.records - suppressed, "suppressed": suppressed}
    return measure(table, solution), records, warnings
