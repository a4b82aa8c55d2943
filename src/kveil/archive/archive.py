"""A private folder with releases: opened, read, and added to."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import IO

import polars as pl

from kveil.archive.entry import AppliedBatch, Archived, Entry, Manifest, pack, time_now
from kveil.archive.integrity import check_archive
from kveil.archive.ledger import (
    KEY_FILE,
    LEDGER,
    PRIVATE_FOLDER,
    Listed,
    has_releases,
    hold_lock,
    ledger_bytes,
    read_batches,
    read_key,
    read_releases,
    release_file,
)
from kveil.archive.people import KEY_BYTES, key_check, key_texts, keyed_hashes
from kveil.errors import DataError, FileError
from kveil.files import Outputs, Source
from kveil.policy.model import Policy
from kveil.version import __version__


@dataclass(frozen=True)
class Archive:
    """An archive: its folder, its key, and the releases and batches of its ledger. Its ``repr`` tells no key."""

    folder: Path
    key: bytes
    listed: tuple[Listed, ...]
    listed_batches: tuple[Listed, ...] = ()

    def __repr__(self) -> str:
        return f"Archive({self.folder.name}: {len(self.listed)} releases)"

    @classmethod
    def open(cls, folder: Path) -> Archive:
        """Open an archive, and see that nothing of it was lost or changed; raise DataError where something was."""
        findings = check_archive(folder)
        if findings:
            more = f" ({len(findings) - 1} more with kveil archive check)" if len(findings) > 1 else ""
            raise DataError(f"{findings[0].rstrip('.')}{more}; bring back a copy of the archive, or name another.")
        return cls(folder, read_key(folder), tuple(read_releases(folder)), tuple(read_batches(folder)))

    def releases(self) -> list[Archived]:
        """Return the archived releases, the earliest first."""
        return [self.release(number) for number in range(1, len(self.listed) + 1)]

    def release(self, number: int) -> Archived:
        """Return one archived release; the earliest is number 1."""
        raw = (self.folder / self.listed[number - 1].file).read_bytes()
        archived = Archived.of(raw, f"release {number} of {self.folder.name}")
        return replace(archived, batches=tuple(batch for batch in self._batches if batch.release == number))

    @cached_property
    def _batches(self) -> list[AppliedBatch]:
        """The batches that releases were applied to, the earliest first."""
        told = [(number, self.folder / one.file) for number, one in enumerate(self.listed_batches, 1)]
        return [AppliedBatch.of(file.read_bytes(), f"batch {number} of {self.folder.name}") for number, file in told]

    def hashes(self, texts: pl.Series) -> pl.Series:
        """Return the keyed hashes of texts that say who somebody is."""
        return keyed_hashes(texts, self.key)


def open_archives(folders: Sequence[Path]) -> list[Archive]:
    """Open several archives, which must know people by the same key."""
    archives = [Archive.open(folder) for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    others = [archive for archive in archives[1:] if archive.key != archives[0].key]
    if others:
        raise DataError(
            f"{archives[0].folder.name} and {others[0].folder.name} were made with different keys, so that nobody can "
            "tell who is who in both; keep releases about the same people in one archive, or begin a new archive with "
            "--previous of the other, which takes over its key."
        )
    return archives


@dataclass
class Additions:
    """An archive that a run adds a release to, hold_lock against other runs until the run is over."""

    folder: Path
    key: bytes
    listed: tuple[Listed, ...]
    new: bool
    batches: tuple[Listed, ...] = ()
    files: list[IO[bytes]] = field(default_factory=list)

    def people_of(self, source: Source, policy: Policy) -> pl.Series:
        """Return who the people of a table are, by the archive's key."""
        return keyed_hashes(key_texts(source, policy), self.key)

    def stage(self, outputs: Outputs) -> None:
        """Open the files that will be written; they get their names with the other outputs, in the order opened.

        So a release is archived before it appears: one that is out and in no archive would be forgotten.
        """
        names = [release_file(len(self.listed) + 1), LEDGER]
        self.files = [outputs.open(self.folder / name, private=True) for name in names]

    def write(self, entry: Entry, outputs: Outputs) -> None:
        """Write a release, and the ledger that lists it; an archive that begins has its key and an empty ledger first.

        A ledger that is there before any release makes a lost one different from one that no run came to write.
        """
        if self.new:
            with Outputs() as first:
                for name, content in ((KEY_FILE, self.key.hex().encode() + b"\n"), (LEDGER, self._ledger([]))):
                    first.write(first.open(self.folder / name, private=True), content)
                first.commit()
        made = time_now()
        manifest: Manifest = {
            "number": len(self.listed) + 1,
            "made": made,
            "kveil": __version__,
            "key": key_check(self.key),
            "before": self.listed[-1].sha256 if self.listed else None,
        }
        raw = pack(entry.parts(), manifest)
        listed = [*self.listed, Listed(release_file(len(self.listed) + 1), sha256(raw).hexdigest(), made)]
        for file, content in zip(self.files, [raw, self._ledger(listed)], strict=True):
            outputs.write(file, content)

    def _ledger(self, listed: Sequence[Listed]) -> bytes:
        return ledger_bytes(self.key, listed, self.batches)


@contextmanager
def adding_to(folder: Path, previous: Sequence[Archive]) -> Iterator[Additions]:
    """Open an archive to add a release, or begin one; nobody else adds to it meanwhile.

    A new archive takes over the key of the ``previous`` ones, so that people are known in both. A folder that was made
    for it and stays empty, since the run failed, is taken away again.
    """
    made = _make_private(folder)
    with hold_lock(folder):
        if has_releases(folder):
            own, *_ = open_archives([folder, *(archive.folder for archive in previous)])
            _check_as_read(own, previous)
            yield Additions(folder, own.key, own.listed, new=False, batches=own.listed_batches)
            return
        try:
            yield Additions(folder, previous[0].key if previous else secrets.token_bytes(KEY_BYTES), (), new=True)
        finally:
            if not has_releases(folder):
                for name in (LEDGER, KEY_FILE):
                    (folder / name).unlink(missing_ok=True)
                if made and not any(folder.iterdir()):
                    folder.rmdir()


def _check_as_read(own: Archive, previous: Sequence[Archive]) -> None:
    """Raise FileError where an archive has grown since it was read: nobody held the new release together with that."""
    for read in previous:
        same_folder = read.folder.resolve() == own.folder.resolve()
        if same_folder and (read.listed, read.listed_batches) != (own.listed, own.listed_batches):
            raise FileError(f"{own.folder.name}: another run has added to this archive meanwhile; run this one again.")


def _make_private(folder: Path) -> bool:
    """Make an archive's folder where there is none; raise FileError where it is something else, or others read it."""
    try:
        folder.mkdir(mode=PRIVATE_FOLDER)
        return True
    except FileExistsError:
        pass
    except OSError as error:
        raise FileError(f"{folder.name} cannot be made ({error.strerror}); check the path of --archive.") from None
    if not folder.is_dir():
        raise FileError(f"{folder.name} is no folder; name a folder for --archive.")
    if folder.stat().st_mode & 0o077:
        raise FileError(f"others may look into {folder.name}; an archive is private: chmod 700 it first.")
    if not has_releases(folder) and any(path.name not in {LEDGER, KEY_FILE} for path in folder.iterdir()):
        raise FileError(f"{folder.name} has other files and is no archive; name a new folder for --archive.")
    return False
