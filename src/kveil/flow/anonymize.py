"""`kveil anonymize`, of a frame and of a file: read, make a release and verify it, tell of it, write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from kveil.databases import Place
from kveil.engines.choosing import ChosenStore, refuse_earlier, store_of
from kveil.engines.memory import BeingRead, MemoryStore
from kveil.errors import Refused
from kveil.flow.spark.entrances import spark_result, write_on_spark
from kveil.flow.steps.cancelling import cancellable
from kveil.flow.steps.inputs import check_targets, table_of, with_algorithm
from kveil.flow.steps.make_release import make_release
from kveil.flow.steps.outputs import Targets, check_destination
from kveil.flow.steps.request import Request
from kveil.flow.steps.result import Result, without_names
from kveil.flow.steps.run_outputs import RunOutputs
from kveil.flow.steps.stages import Stages
from kveil.frames import ArrowStream, KnownFrame, as_given, is_spark_frame, to_frame
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.account import Account, make_account
from kveil.report.receipt import make_receipt


@overload
def anonymize(
    frame: KnownFrame,
    policy: Policy,
    algorithm: str | None = None,
    *,
    bound: bool = False,
    previous: Sequence[str | Path] = (),
    weaker: bool = False,
    progress: Progress = silent,
) -> Result[KnownFrame]: ...


@overload
def anonymize(
    frame: ArrowStream,
    policy: Policy,
    algorithm: str | None = None,
    *,
    bound: bool = False,
    previous: Sequence[str | Path] = (),
    weaker: bool = False,
    progress: Progress = silent,
) -> Result[Any]: ...


def anonymize(
    frame: Any,
    policy: Policy,
    algorithm: str | None = None,
    *,
    bound: bool = False,
    previous: Sequence[str | Path] = (),
    weaker: bool = False,
    progress: Progress = silent,
) -> Result[Any]:
    """Return a verified release of a table, in the same kind of frame: pandas, Polars, PyArrow or DuckDB.

    Of whatever else gives its rows by Arrow (`__arrow_c_stream__`) the release is a Polars frame. ``algorithm``
    replaces the policy's. With ``bound`` the account also says what any release of the policy loses at least.
    ``previous`` are archives of earlier releases, beside those that the policy names, that the release holds together
    with, and whose promises it keeps, too; where it may be ``weaker``, a warning says how many people get less than
    they were promised. ``progress`` is told of every stage, in words. Raises PolicyError, DataError, Unmeetable where
    the policy cannot be met within its limit, or Cancelled: see `kveil.Stop`.
    """
    with cancellable():
        stages = Stages(progress)
        policy = with_algorithm(policy, algorithm)
        on_spark = is_spark_frame(frame)
        if on_spark:
            refuse_earlier(policy, previous)
        asked = Request.of(policy, bounded=bound, previous=previous, weaker=weaker)
        if on_spark:
            return spark_result(frame, asked, stages)
        run = make_release(table_of(frame, policy), asked, stages, MemoryStore(), None)
        data = to_frame(run.source, run.release.columns, run.release.source_rows)
        stages.end("write")
        account = make_account(run, seconds=stages.seconds, release_sha256=None)
        kept = without_names(run.source, policy)
        return Result(as_given(data, frame), policy, account, make_receipt(account, run), run.owner(None), kept)


def anonymize_file(
    asked: Request, table: Place | BeingRead, targets: Targets, *, progress: Progress = silent
) -> Account:
    """Make the release of a file that is asked for and write it, with all that belongs beside it; return the account.

    The files appear together after verification, the release last; whatever fails before leaves nothing.
    """
    stages = Stages(progress)
    path = table.place if isinstance(table, BeingRead) else table
    if asked.policy.engine == "spark":
        return write_on_spark(asked, path, targets, stages)
    chosen = _store(asked, path, targets)
    with RunOutputs(asked, targets) as outputs:
        stages.begin("reading")
        if isinstance(table, BeingRead):
            source = table.source()
        else:
            source = chosen.store.open(asked.policy, path, hashed=targets.hashed)
        outputs.look_at_people(source)
        run = make_release(source, asked, stages, chosen.store, outputs.release_file)
        run = run if chosen.why is None else run.with_warning(chosen.why)
        account = outputs.write(run, stages)
        outputs.commit()
    return account


def _store(asked: Request, path: Place, targets: Targets) -> ChosenStore:
    """Return where the table of a run is held; refuse places that cannot be written to, or that the run reads."""
    if targets.owner_key:
        raise Refused("only engine spark goes by --owner-key, others by the numbers of rows; leave it out.")
    check_destination(targets.release)
    chosen = store_of(asked.policy, [path], output=targets.release, local=asked.only_local(targets))
    if targets.archive is not None:
        from kveil.archive.people import key_column_of

        key_column_of(asked.policy)  # said before a large table is read
    check_targets(asked.policy, path, [*(target for target, _ in targets.beside()), targets.release])
    return chosen
