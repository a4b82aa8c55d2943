"""`kveil anonymize`: load, read, encode, solve, decode, verify, measure, report, write, one call per room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import loops_of
from kveil.choose import Attempt, attempt, candidates
from kveil.databases import Place
from kveil.engines.choosing import check_on_spark, refuse_on_spark, store_of
from kveil.engines.memory import BeingRead, MemoryStore
from kveil.engines.store import ReleaseFile, Store
from kveil.errors import Refused, Unmeetable
from kveil.files import Outputs, Source, as_json
from kveil.flow.cancelling import cancellable
from kveil.flow.inputs import check_input, check_targets, check_values, table_of, with_algorithm
from kveil.flow.judging import check_verdict
from kveil.flow.outputs import Destination, Targets, check_destination, written_meanwhile
from kveil.flow.publish import policy_sha256
from kveil.flow.result import Result, without_names
from kveil.flow.stages import Stages
from kveil.frames import is_spark_frame, to_frame
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.account import Account, make_account
from kveil.report.receipt import make_receipt
from kveil.report.run import Run
from kveil.report.warn import evidence_of, owners_warnings, release_warnings
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.table.tuples import in_tuples
from kveil.verifier.release import lay_beside, verify_rows

if TYPE_CHECKING:  # imported by the runs that need them, which few do
    from kveil.algorithms.bound.bound import Bound
    from kveil.archive import Entry
    from kveil.archive.archive import Additions
    from kveil.flow.previous import EarlierReleases


def anonymize(
    frame: Any,
    policy: Policy,
    algorithm: str | None = None,
    *,
    bound: bool = False,
    previous: Sequence[str | Path] = (),
    progress: Progress = silent,
) -> Result:
    """Return a verified release of a pandas, Polars or PyArrow table, in the same kind of frame.

    ``algorithm`` replaces the policy's. With ``bound`` the account also says what any release of the policy loses at
    least. ``previous`` are archives of earlier releases, beside those that the policy names, that the release holds
    together with. ``progress`` is told of every stage, in words. Raises PolicyError, DataError, Unmeetable where the
    policy cannot be met within its limit, or Cancelled: see :class:`kveil.Stop`.
    """
    with cancellable():
        return _anonymized(frame, policy, algorithm, bound=bound, previous=previous, progress=progress)


def _anonymized(
    frame: Any,
    policy: Policy,
    algorithm: str | None,
    *,
    bound: bool,
    previous: Sequence[str | Path],
    progress: Progress,
) -> Result:
    stages = Stages(progress)
    policy = with_algorithm(policy, algorithm)
    earlier = _earlier_releases(policy, [Path(folder) for folder in previous])
    asked = _Request(policy, _able(policy, earlier), bound, earlier)
    if is_spark_frame(frame):
        return _anonymized_on_spark(frame, asked, stages)
    run = _release(table_of(frame, policy), asked, stages, MemoryStore(), None)
    data = to_frame(run.source, run.release.columns, run.release.source_rows)
    if isinstance(frame, pl.LazyFrame):
        data = data.lazy()
    stages.end("write")
    account = make_account(run, seconds=stages.seconds, release_sha256=None)
    receipt = make_receipt(account, run)
    return Result(data, policy, account, receipt, run.owner(None), without_names(run.source, policy))


def _anonymized_on_spark(frame: Any, asked: _Request, stages: Stages) -> Result:
    """Return a verified release of a frame of Spark; it has no way back, since its rows have no places."""
    from kveil.flow.spark import able_on_spark, anonymize_spark_frame
    from kveil.flow.spark_request import SparkRequest

    refuse_on_spark("--previous" if asked.earlier is not None else "")
    able = able_on_spark(asked.policy, asked.able)
    data, run = anonymize_spark_frame(frame, SparkRequest(asked.policy, able, asked.bounded), stages)
    account = make_account(run, seconds=stages.seconds, release_sha256=None)
    return Result(data, asked.policy, account, make_receipt(account, run), None)


def _earlier_releases(policy: Policy, given: Sequence[Path]) -> EarlierReleases | None:
    """Return the earlier releases that a policy and the caller name, None where that is nothing."""
    if not policy.previous and not given:
        return None
    from kveil.flow.previous import EarlierReleases

    return EarlierReleases.of(policy, given)


def _able(policy: Policy, earlier: EarlierReleases | None) -> list[Algorithm]:
    """Return the algorithms that a policy's choice stands for; what none honours is refused before a table is read."""
    able = candidates(policy)
    return able if earlier is None else earlier.able(policy)


def anonymize_file(
    policy: Policy,
    table: Place | BeingRead,
    targets: Targets,
    *,
    bounded: bool = False,
    previous: Sequence[Path] = (),
    progress: Progress = silent,
) -> Account:
    """Make a release of a file and write it, with all that is asked for beside it; return the account.

    The files appear together after verification, the release last; whatever fails before leaves nothing.
    """
    stages = Stages(progress)
    path = table.place if isinstance(table, BeingRead) else table
    earlier = _earlier_releases(policy, previous)
    asked = _Request(policy, _able(policy, earlier), bounded, earlier)
    if policy.engine == "spark":
        return _written_by_spark(asked, path, targets, stages)
    if targets.owner_key:
        raise Refused("only engine spark goes by --owner-key, others by the numbers of rows; leave it out.")
    check_destination(targets.release)
    chosen = store_of(policy, [path], output=targets.release, local=_only_local(targets, earlier))
    check_targets(policy, path, [*(target for target, _ in targets.beside()), targets.release])
    with _adding_to(targets.archive, policy, earlier) as additions, Outputs() as outputs, ExitStack() as exits:
        # Opened first: a folder that cannot be written to should not cost a whole run.
        if additions is not None:
            additions.stage(outputs)
        files = {target: outputs.open(target, private=private) for target, private in targets.beside()}
        destination = exits.enter_context(Destination(targets.release, outputs))  # the last to get its name
        stages.begin("reading")
        source = (
            table.source() if isinstance(table, BeingRead) else chosen.store.open(policy, path, hashed=targets.hashed)
        )
        people = None if additions is None else additions.people_of(source, policy)
        run = _release(source, asked, stages, chosen.store, destination.file)
        stages.begin("writing")
        digest = run.release_sha256 or destination.write(run.released.frame, source, policy)
        stages.end("write")
        run.private_warnings.extend([] if chosen.why is None else [chosen.why])
        account = make_account(run, seconds=stages.seconds, release_sha256=digest)
        for target, content in _beside(run, account, targets, stages.progress):
            outputs.write(files[target], content)
        if additions is not None and people is not None:
            entry = _entry(run, account, people.gather(run.release.rows), destination)
            additions.write(entry, outputs)
        destination.commit()
    return account


def _written_by_spark(asked: _Request, path: Place, targets: Targets, stages: Stages) -> Account:
    """Make a release on Spark; what it cannot do is refused before anything is read."""
    from kveil.flow.spark import able_on_spark, anonymize_on_spark
    from kveil.flow.spark_request import SparkRequest

    refuse_on_spark(_only_local(targets, asked.earlier))
    if targets.owner is not None and not targets.owner_key and asked.policy.individual_column is None:
        raise Refused(
            "engine spark has no numbers of rows for --owner; name columns with --owner-key whose values are all "
            "different."
        )
    check_on_spark([path], output=targets.release)
    able = able_on_spark(asked.policy, asked.able)
    check_targets(asked.policy, path, [*(target for target, _ in targets.beside()), targets.release])
    return anonymize_on_spark(SparkRequest(asked.policy, able, asked.bounded), path, targets, stages)


def _adding_to(
    folder: Path | None, policy: Policy, earlier: EarlierReleases | None
) -> AbstractContextManager[Additions | None]:
    """Return the archive that the release is added to, locked while it is open; None where there is none.

    A policy that does not say who is who is refused before the table is read.
    """
    if folder is None:
        return nullcontext()
    from kveil.archive.archive import adding_to
    from kveil.archive.people import key_column_of

    key_column_of(policy)
    return adding_to(folder, [] if earlier is None else [earlier.archive])


@dataclass(frozen=True)
class _Request:
    """What a run is asked for: a policy, the algorithms its choice stands for, a bound, and earlier releases."""

    policy: Policy
    able: Sequence[Algorithm]
    bounded: bool
    earlier: EarlierReleases | None


def _only_local(targets: Targets, earlier: EarlierReleases | None) -> str:
    """Return the first thing a run is asked for that only the local engine can do, nothing where there is none."""
    for wanted, what in ((targets.report, "--report"), (targets.archive, "--archive"), (earlier, "--previous")):
        if wanted is not None:
            return what
    return ""


def _solved(table: Table, able: Sequence[Algorithm], told: Progress, *, by_tuples: bool) -> Attempt:
    """Return what the algorithms find; on tuples with counts, where that is the same for all of them."""
    if not by_tuples or "refine" in table.policy.algorithm.options or not all(one.on_tuples for one in able):
        return attempt(table, able, told)
    tuples = in_tuples(table)
    found = attempt(tuples.table, able, told)
    if tuples.table is table:
        return found
    return replace(found, solution=found.solution.spread(tuples.of_row))


def _release(source: Source, asked: _Request, stages: Stages, store: Store, out: ReleaseFile | None) -> Run:
    """Make and verify a release of a table, alone and together with earlier ones."""
    policy, earlier = asked.policy, asked.earlier
    stages.begin("encoding")
    if store.by_tuples and earlier is None and out is not None:
        from kveil.flow.few_rows import few_rows, release_few_rows

        few = few_rows(source, policy, asked.able)
        if few is not None:
            return release_few_rows(few, source, asked.able, stages, out, bounded=asked.bounded)
    source = store.hold(policy, source)
    table = encode(source, policy)
    check_input(source, table)
    check_values(source, table)
    stages.end("read")
    together = people = None
    told = stages.told_when_compiling(loops_of(policy, asked.able))
    if earlier is None:
        try:
            chosen = _solved(table, asked.able, told, by_tuples=store.by_tuples)
        except Unmeetable as error:
            from kveil.flow.check import proved_or_not_found

            raise proved_or_not_found(error, table) from None
    else:
        people = earlier.people_of(source, policy)
        together = earlier.attempt(table, people, asked.able, told)
        chosen = together.attempt
    release = decode(source, table, chosen.solution)
    stages.end("solve")
    laid = store.lay_out(policy, source, release, out)
    stages.end("write")
    stages.begin("verifying")
    with written_meanwhile(laid, source, policy, out) as written:
        released = laid.source
        aligned = lay_beside(released, source, release.rows, policy)
        verdict = verify_rows(released, aligned.rows, policy, aligned)
        if earlier is not None and people is not None:
            verdict = verdict.with_previous(*earlier.check(released, policy, people.gather(release.rows)))
        check_verdict(verdict, aligned, policy, chosen.algorithm)
        warnings = release_warnings(released, policy, release.labels)
        private_warnings = owners_warnings(evidence_of(policy, aligned))
        private_warnings += [] if together is None else together.warnings(table.noun)
        digest = policy_sha256(policy, aligned.rows)
        stages.end("verify")
        least = _bound(table, stages) if asked.bounded else None
        told_of = warnings, private_warnings, digest, least, store.engine, written()
        stages.end("write")
    return Run(source, table, chosen, release, aligned, verdict, *told_of)


def _bound(table: Table, stages: Stages) -> Bound:
    from kveil.algorithms.bound.bound import lower_bound

    least = lower_bound(table, stages.progress)
    stages.end("solve")
    return least


def _entry(run: Run, account: Account, people: pl.Series, destination: Destination) -> Entry:
    """Return what an archive keeps of a run."""
    from kveil.archive import Entry

    owner = run.owner(account["sha256"]["release"]).as_json()
    content, suffix = destination.content(run.released.frame, run.policy)
    return Entry(run.policy, content, suffix, make_receipt(account, run), account, owner, people)


def _beside(run: Run, account: Account, targets: Targets, progress: Progress) -> Iterator[tuple[Path, bytes]]:
    """Return what is written beside the release, file by file."""
    if targets.receipt is not None:
        yield targets.receipt, as_json(make_receipt(account, run))
    if targets.account is not None:
        yield targets.account, as_json(account)
    if targets.owner is not None:
        yield targets.owner, as_json(run.owner(account["sha256"]["release"]).as_json(), indent=None)
    if targets.report is not None:
        from kveil.report.page import owners_page, public_page

        if targets.public:
            page = public_page(run.policy, make_receipt(account, run), run.released)
        else:
            owner = run.owner(account["sha256"]["release"])
            page = owners_page(run.policy, account, run.released, run.source, owner, progress)
        yield targets.report, page.encode()
