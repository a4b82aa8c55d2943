"""A release with the batches that it was applied to: one that has grown, as far as nobody is shown twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from kveil.archive.entry import AppliedBatch, Archived, ArchivedAccount, ArchivedCounts
from kveil.files import as_texts, joined_items
from kveil.policy.model import Policy
from kveil.verifier.rows import INDIVIDUAL


def grow_release(archived: Archived, batches: Sequence[AppliedBatch]) -> Archived:
    """Return a release with some batches as if it had had all these records from the beginning."""
    if not batches:
        return replace(archived, batches=())
    frame = archived.release.frame
    for batch in batches:
        old, new = align_parts(frame, batch.shown.frame, archived.policy)
        frame = pl.concat([old, new])
    return replace(
        archived,
        release=replace(archived.release, frame=frame),
        people=pl.concat([archived.people, *(batch.people for batch in batches)]),
        account=_with_counts(archived.account, batches),
        batches=(),
    )


def releases_with_batches(archived: Archived, batches: Sequence[AppliedBatch]) -> list[Archived]:
    """Return what a release and its batches show as releases in which nobody is shown twice.

    A batch of people who were not there before is part of the release; one with somebody who was is a release of its
    own, since whoever has both sees the same person twice.
    """
    own: list[AppliedBatch] = []
    apart: list[Archived] = []
    people = archived.people
    for batch in batches:
        if batch.people.is_in(people.implode()).any():
            name = f"batch {batch.number} for {archived.name}"
            shown = replace(archived, name=name, release=batch.shown, people=batch.people, batches=())
            apart.append(replace(shown, release_sha256=""))  # no file that anybody has was archived as it
        else:
            own.append(batch)
            people = pl.concat([people, batch.people])
    return [grow_release(archived, own), *apart]


def align_parts(old: pl.DataFrame, new: pl.DataFrame, policy: Policy) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return two parts of a release with the same columns, types and numbering of people."""
    new = new.select(old.columns)
    if INDIVIDUAL in old.columns and policy.release.shape == "long":  # both are numbered from 1
        before = old[INDIVIDUAL].cast(pl.Int64).max() or 0
        new = new.with_columns((pl.col(INDIVIDUAL).cast(pl.Int64) + before).cast(old.schema[INDIVIDUAL]))
    if old.schema != new.schema:
        return _as_texts(old, policy.data.missing[0]), _as_texts(new, policy.data.missing[0])
    return old, new


def _as_texts(frame: pl.DataFrame, missing: str) -> pl.DataFrame:
    """Return a frame as a CSV shows it: every cell a text, a set its items."""
    return frame.select(
        joined_items(column).fill_null(missing) if column.dtype == pl.List else as_texts(column) for column in frame
    )


def _with_counts(account: ArchivedAccount, batches: Sequence[AppliedBatch]) -> ArchivedAccount:
    def add(counts: ArchivedCounts) -> ArchivedCounts:
        return {
            "input": counts["input"] + sum(batch.counts["input"] for batch in batches),
            "released": counts["released"] + sum(batch.counts["released"] for batch in batches),
            "suppressed": counts["suppressed"] + sum(batch.counts["suppressed"] for batch in batches),
        }

    people = account["individuals"]
    if people is None:
        return {**account, "records": add(account["records"])}
    return {**account, "individuals": add(people)}
