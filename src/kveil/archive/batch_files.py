"""Batches of new records that a release was applied to: kept beside it, since they show people as it does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO

import polars as pl

from kveil.archive.archive import Archive
from kveil.archive.entry import PEOPLE_FILE, AppliedBatch, ArchivedCounts, BatchManifest, pack, packed_people, time_now
from kveil.archive.ledger import LEDGER, Listed, batch_file, hold_lock, ledger_bytes
from kveil.archive.people import DIGEST, key_check
from kveil.errors import DataError
from kveil.files import Outputs, Source
from kveil.version import __version__

AT_ONCE = 100_000  # rows whose texts are hashed together


@dataclass(frozen=True)
class NewBatch:
    """What a run gives an archive to keep of a batch: what it shows, as Parquet, who each row is, and its counts."""

    release: int
    asked: str
    counts: ArchivedCounts
    content: bytes
    people: pl.Series


@dataclass
class BatchAdditions:
    """An archive that a run adds a batch to, hold_lock against other runs until the run is over."""

    archive: Archive
    files: list[IO[bytes]] = field(default_factory=list)

    def stage(self, outputs: Outputs) -> None:
        """Open the files that will be written; they get their names with the other outputs, in the order opened.

        So a batch is archived before it appears: one that is out and in no archive would be forgotten.
        """
        names = [batch_file(len(self.archive.listed_batches) + 1), LEDGER]
        self.files = [outputs.open(self.archive.folder / name, private=True) for name in names]

    def write(self, batch: NewBatch, outputs: Outputs) -> None:
        """Write a batch, and the ledger that lists it."""
        archive, made = self.archive, time_now()
        number = len(archive.listed_batches) + 1
        manifest: BatchManifest = {
            "number": number,
            "made": made,
            "kveil": __version__,
            "key": key_check(archive.key),
            "before": archive.listed_batches[-1].sha256 if archive.listed_batches else None,
            "release": batch.release,
            "asked": batch.asked,
            "counts": batch.counts,
        }
        raw = pack({"release.parquet": batch.content, PEOPLE_FILE: packed_people(batch.people)}, manifest)
        listed = [*archive.listed_batches, Listed(batch_file(number), sha256(raw).hexdigest(), made)]
        for file, content in zip(self.files, [raw, ledger_bytes(archive.key, archive.listed, listed)], strict=True):
            outputs.write(file, content)


@contextmanager
def applying(folder: Path) -> Iterator[BatchAdditions]:
    """Open an archive to apply one of its releases; nobody else adds to it meanwhile."""
    Archive.open(folder)  # says what is wrong with a folder that cannot even be locked
    with hold_lock(folder):
        yield BatchAdditions(Archive.open(folder))


def asked_hash(source: Source, columns: Sequence[str], key: bytes, extend: str) -> str:
    """Return a keyed hash of some records, and of how they are asked for; without the key nobody can test a guess."""
    told = hashlib.blake2b(digest_size=DIGEST, key=key)
    for name in columns:
        told.update(f"{extend}\0{name}\0{source.rows}\0".encode())
        texts = source.texts(name)
        for start in range(0, len(texts), AT_ONCE):
            for text in texts.slice(start, AT_ONCE).to_list():
                told.update(b"\0\0" if text is None else b"\0" + len(text).to_bytes(8, "big") + text.encode())
    return told.hexdigest()


def same_batch(batches: Sequence[AppliedBatch], asked: str) -> AppliedBatch | None:
    """Return the batch that the same records were, asked for in the same way; None where there is none."""
    return next((batch for batch in batches if batch.asked == asked), None)


def check_same(batch: AppliedBatch, shown: pl.DataFrame, folder: str) -> None:
    """Raise DataError where a batch that was applied before would be shown otherwise now."""
    if batch.shown.frame.equals(shown):
        return
    raise DataError(
        f"these records were applied before, as batch {batch.number} of {folder}, and this version of kveil would show "
        f"them otherwise; take what was published then, which is release.parquet in {batch_file(batch.number)}."
    )
