"""`kveil apply`: new records get the values that an archived release shows for records like them."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import polars as pl

from kveil.algorithms.full_domain.levels import levels_of
from kveil.archive import Archive, Archived, key_texts
from kveil.archive.batch_files import BatchAdditions, NewBatch, applying, asked_hash, check_same, same_batch
from kveil.archive.entry import AppliedBatch
from kveil.archive.growth import align_parts, grow_release
from kveil.arrays import Bools, Ints, Longs
from kveil.choose import attempt, candidates
from kveil.errors import DataError, NotVerified, Unmeetable
from kveil.files import (
    CategorySource,
    Outputs,
    Source,
    as_categories,
    as_texts,
    check_written,
    frame_of,
    parse_table,
    write_table,
)
from kveil.flow.archive import release_of
from kveil.flow.steps.inputs import read
from kveil.flow.steps.outputs import write_release
from kveil.flow.steps.shown_batch import lapses_of_batch
from kveil.flow.steps.stages import Stages
from kveil.guarantee import Guarantee
from kveil.measures import LossFigures, measure_solution
from kveil.policy.components import largest_k, most_suppressed
from kveil.policy.keys import Suppression
from kveil.policy.model import Policy
from kveil.previous.covering import cover_rows
from kveil.previous.fixed_attributes import rows_of_table
from kveil.previous.joining import rows_that_may_join
from kveil.progress import Progress, silent
from kveil.report.account import Counts
from kveil.table.columns import code_columns
from kveil.table.decode import decode
from kveil.table.encode import encode, encode_column
from kveil.table.sensitive import encode_sensitive
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.verifier import verify_release
from kveil.verifier.rows import release_rows
from kveil.words import count, plural_of

LEVELS = {"datafly": "steps", "incognito": "levels"}  # full-domain algorithms, and what their details call levels
NO_PROMISE = "the same levels for another table promise nothing by themselves: kveil verify says what holds."


@dataclass(frozen=True)
class Application:
    """What `apply` is asked for: which release of an archive, and what becomes of records that it shows nothing for.

    Where it may be ``weaker``, people whom other releases show may get less than these promised.
    """

    folder: Path
    number: int | None = None
    extend: bool = False
    levels: bool = False
    weaker: bool = False


class ApplyAccount(TypedDict):
    """What `apply` did: whom an archived release covers, who is in new groups, and what holds on all together."""

    archive: str
    release: int
    records: Counts | None
    individuals: Counts | None
    covered: int
    extended: int
    guarantees: list[Guarantee]
    loss: LossFigures
    warnings: list[str]
    sha256: dict[str, str]


@dataclass(frozen=True)
class _Applied:
    """The new table with what it shows: who was covered, who is in new groups, who is left out."""

    table: Table
    solution: Solution
    covered: int
    extended: int


@dataclass(frozen=True)
class _NewRecords:
    """The new records as they are shown, with the row of the source that each is, and what is told of them."""

    released: Source
    rows: Longs
    counts: Counts
    individuals: bool
    covered: int
    extended: int
    _: KW_ONLY
    loss: LossFigures


def apply_file(asked: Application, path: Path, output: Path, *, progress: Progress = silent) -> ApplyAccount:
    """Write the new records as an archived release shows such records, and return what was done.

    Old and new together satisfy the whole policy, within its limit, with all batches that were applied before; nothing
    is written before that is verified. The archive keeps what the batch shows, of whom.
    """
    stages = Stages(progress)
    check_written(output)
    with _opened(asked) as additions:
        archive = additions.archive
        archived = release_of(archive, asked.number)
        stages.begin("reading")
        source = read(archived.policy, path)
        check_known_values(source, archived)
        if asked.levels:
            return _levels_account(source, archived, asked, stages, output)
        people = archive.hashes(key_texts(source, archived.policy))
        told = asked_hash(source, list(archived.policy.attributes), archive.key, f"{archived.number} {asked.extend}")
        again = same_batch(archived.batches, told)
        earlier = [batch for batch in archived.batches if again is None or batch.number < again.number]
        together = grow_release(archived, earlier)
        new = _new_records(source, together, asked, stages)
        stages.begin("verifying")
        _check_truth(new.released, source, together, new.rows)
        source = replace(source, frame=source.frame.clear())  # what is judged now needs room; the rest is what it says
        guarantees = _check_together(new.released, together)
        content, shown = _as_kept(new.released, archived.policy)
        warnings = _warnings(new.released, archived, people.gather(new.rows), together.people)
        if again is None:
            number = len(archive.listed_batches) + 1
            own = AppliedBatch(number, archived.number, told, new.counts, shown, people.gather(new.rows))
            warnings += lapses_of_batch(archive, archived, own, weaker=asked.weaker)
        else:
            check_same(again, shown.frame, asked.folder.name)
        with Outputs() as outputs:
            if again is None:
                additions.stage(outputs)
            file = outputs.open(output)
            digest = write_release(new.released, source, archived.policy, file, output)
            if again is None:
                additions.write(NewBatch(archived.number, told, new.counts, content, people.gather(new.rows)), outputs)
            outputs.commit()
    return _account(asked, archived, new, guarantees, warnings, digest)


def _opened(asked: Application) -> AbstractContextManager[BatchAdditions]:
    """Return the archive that a release is taken from; nobody else adds to it where a batch will be added."""
    if asked.levels:
        return nullcontext(BatchAdditions(Archive.open(asked.folder)))
    return applying(asked.folder)


def _levels_account(
    source: Source, archived: Archived, asked: Application, stages: Stages, output: Path
) -> ApplyAccount:
    """Write the new records at the levels of a release, which promises nothing, and is no batch of it."""
    new = _new_records(source, archived, asked, stages)
    stages.begin("verifying")
    _check_truth(new.released, source, archived, new.rows)
    with Outputs() as outputs:
        digest = write_release(new.released, source, archived.policy, outputs.open(output), output)
        outputs.commit()
    return _account(asked, archived, new, [], [NO_PROMISE], digest)


def _account(
    asked: Application,
    archived: Archived,
    new: _NewRecords,
    guarantees: list[Guarantee],
    warnings: list[str],
    digest: str,
) -> ApplyAccount:
    return {
        "archive": asked.folder.name,
        "release": archived.number,
        "records": None if new.individuals else new.counts,
        "individuals": new.counts if new.individuals else None,
        "covered": new.covered,
        "extended": new.extended,
        "guarantees": guarantees,
        "loss": new.loss,
        "warnings": warnings,
        "sha256": {"release": digest},
    }


def _as_kept(released: Source, policy: Policy) -> tuple[bytes, Source]:
    """Return the bytes that an archive keeps of new records, and what they are read as."""
    held = [name for name, kind in released.frame.schema.items() if isinstance(kind, pl.Categorical)]
    written, path = io.BytesIO(), Path("release.parquet")
    write_table(released.frame.with_columns(as_texts(released.frame[name]) for name in held), written, path)
    return written.getvalue(), replace(parse_table(written.getvalue(), path), name=released.name)


def _new_records(source: Source, archived: Archived, asked: Application, stages: Stages) -> _NewRecords:
    """Show the records of a source as an archived release shows such records; what that takes is gone at the end."""
    table = encode(source, archived.policy)
    stages.begin("applying")
    applied = _levels(table, archived) if asked.levels else _applied(table, archived, asked, stages.progress)
    release = decode(source, table, applied.solution)
    out = int(applied.solution.suppressed_anywhere.sum())
    return _NewRecords(
        Source(
            "the new records",
            release.frame(source),
            source.kind,
            separator=source.separator,
            codebook=release.codebook(source, archived.policy),
        ),
        release.rows,
        {"input": table.records, "released": table.records - out, "suppressed": out},
        table.persons is not None,
        applied.covered,
        applied.extended,
        loss=measure_solution(table, applied.solution).as_json(),
    )


def check_known_values(source: Source, archived: Archived) -> None:
    """Raise DataError with a sentence per attribute that has values its hierarchy does not know."""
    policy, sentences = archived.policy, []
    for name in [*policy.quasi_identifiers, *policy.with_role("sensitive")]:
        try:
            (coded,) = code_columns(source, policy, [name])
            if policy.attributes[name].role == "sensitive":
                encode_sensitive(coded, policy, name, None, source.name)
            else:
                encode_column(coded, policy, name, source.name)
        except DataError as error:
            sentences.append(str(error))
    if sentences:
        raise DataError(" ".join(sentences))


def _applied(table: Table, archived: Archived, asked: Application, progress: Progress) -> _Applied:
    """Give every record that a shown tuple covers that tuple, and solve the others where that is asked for."""
    policy = archived.policy
    covered = cover_rows(table, release_rows(archived.release, policy).texts)
    joined = rows_that_may_join(table, covered, archived)
    before = archived.account["individuals"] or archived.account["records"]
    allowed = most_suppressed(policy, int(before["input"]) + table.records) - int(before["suppressed"])
    rest = ~joined
    shown = covered.shown(table)
    extended = 0
    if asked.extend and rest.any():
        for some in (rest, np.ones_like(rest)):  # too few for groups of their own take the other new ones along
            shown, solved = _extended(table, covered.shown(table), some, max(allowed, 0), progress)
            extended, left = int(solved.sum()), rest & ~solved
            if int(left.sum()) <= allowed:
                break
        joined, rest = joined & ~solved, left
    lost = int(rest.sum())
    if lost > allowed:
        raise Unmeetable(
            f"{count(lost, table.noun)} of {table.records:,} would be left out, since the archived release shows "
            f"nothing for such {plural_of(table.noun)}, and the limit leaves room for {max(allowed, 0):,}; "
            f"{'make a new release' if asked.extend else 'solve them as new groups with --extend'}.",
            lost=lost,
        )
    reasons = {"the archived release shows nothing that covers them": np.flatnonzero(rest).astype(np.int32)}
    suppressed = np.tile(rest, (len(table.components), 1))
    solution = Solution(shown, suppressed, {reason: rows for reason, rows in reasons.items() if len(rows)})
    return _Applied(table, solution, int(joined.sum()), extended)


def _extended(
    table: Table, shown: tuple[Shown, ...], rest: Bools, allowed: int, progress: Progress
) -> tuple[tuple[Shown, ...], Bools]:
    """Solve the rows that are left as new groups; return what all rows show, and which of those left are shown."""
    number = int(rest.sum())
    limit = f"{min((10 * allowed + 1) / (10 * number), 1.0):.15f}"
    policy = table.policy.model_copy(update={"suppression": Suppression(limit=limit, show="drop")})
    some = rows_of_table(table, rest).changed(policy=policy)
    if number < largest_k(policy):
        return shown, np.zeros_like(rest)
    try:
        solution = attempt(some, candidates(policy), progress).solution
    except Unmeetable:
        return shown, np.zeros_like(rest)
    kept = ~solution.suppressed_anywhere
    rows = np.flatnonzero(rest)[kept]
    columns = [
        Shown.joined((own, replace(new, codes=new.codes[kept])), (np.arange(table.rows), rows), table.rows)
        for own, new in zip(shown, solution.shown, strict=True)
    ]
    solved = np.zeros_like(rest)
    solved[rows] = True
    return tuple(columns), solved


def _levels(table: Table, archived: Archived) -> _Applied:
    """Show every record at the levels of a full-domain release, whoever it is like."""
    name = str(archived.account["algorithm"])
    # Of what an archive has of a release, the account alone says at which levels all records stand. What is shown does
    # not: two levels may show the same for the values of that release, and something else for new ones.
    details = archived.account["details"].get(LEVELS.get(name, ""))
    if not isinstance(details, dict):
        raise DataError(
            f"{archived.name} was made by {name}, which has no levels for all records; use apply without --as, or an "
            f"archived release of {' or '.join(LEVELS)}."
        )
    shown = []
    for attribute, tree, leaves in zip(table.names, table.trees, table.low, strict=True):
        assert isinstance(tree, Tree)  # full-domain algorithms take no others
        levels = levels_of(tree, np.unique(tree.leaf_nodes[leaves]))
        place = int(np.searchsorted(levels.numbers, int(details[attribute]), side="right")) - 1
        node: Ints = levels.maps[place][tree.leaf_nodes[leaves]]
        shown.append(Shown.nodes(tree, node))
    nobody = np.zeros((len(table.components), table.rows), dtype=bool)
    return _Applied(table, Solution(tuple(shown), nobody), table.records, 0)


def _check_truth(released: Source, source: Source, archived: Archived, rows: Longs) -> None:
    """Raise NotVerified where a cell of the new records is not true, or beyond its boundary."""
    verdict = verify_release(released, archived.policy, original=source, places=rows)
    wrong = [part for part in (verdict.truth, verdict.boundaries, verdict.unchanged) if part and part["violations"]]
    if wrong:
        raise NotVerified(
            "kveil applied a release and its own verifier refuses what it made; nothing was written. This is a defect "
            "of kveil: please report the policy."
        )


def _joined(old: pl.Series, new: pl.Series, *, as_labels: bool) -> pl.Series:
    """Return a column of old and new together; labels, which are few, as categories, in a fraction of the room."""
    both = pl.concat([old, new])
    return as_categories(both) if as_labels and both.dtype == pl.String else both


def _check_together(released: Source, archived: Archived) -> list[Guarantee]:
    """Return the guarantees of old and new together; raise Unmeetable where one does not hold."""
    old, new = align_parts(archived.release.frame, released.frame, archived.policy)
    generalized = set(archived.policy.quasi_identifiers)
    both = frame_of(_joined(old[name], new[name], as_labels=name in generalized) for name in old.columns)
    verdict = verify_release(CategorySource("old and new together", both, archived.release.kind), archived.policy)
    if not verdict:
        raise Unmeetable(
            f"old and new together do not keep the policy ({verdict.findings[0].rstrip('.')}); nothing was written. "
            "Make one new release of both."
        )
    return list(verdict.guarantees)


def _warnings(released: Source, archived: Archived, people: pl.Series, before: pl.Series) -> list[str]:
    """Say whom somebody can tell apart who has the archived release, too, and who is shown twice."""
    rows = release_rows(released, archived.policy)
    k = largest_k(archived.policy)
    sizes = rows.texts.group_by(rows.texts.columns).len()["len"]
    few = int(sizes.filter(sizes < k).sum())
    warnings = []
    if few:
        warnings.append(
            f"{count(few, rows.noun)} of the new ones show what fewer than {k} new ones show: old and new together "
            "keep the policy, but whoever has the archived release as well can tell the new ones apart. Where that "
            "matters, make a release with --previous instead."
        )
    twice = int(people.is_in(before.implode()).sum())
    if twice:
        warnings.append(
            f"{count(twice, rows.noun)} of the new ones were shown by the release, or by an earlier batch, before: old "
            "and new together count them twice."
        )
    return warnings
