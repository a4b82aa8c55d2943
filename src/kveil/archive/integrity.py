"""Whether an archive is whole, unchanged and private."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from kveil.archive.entry import BATCH_PARTS, PEOPLE_FILE, AppliedBatch, Archived, Damaged, unpack
from kveil.archive.ledger import (
    KEY_FILE,
    LEDGER,
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    RELEASE_FILE,
    Listed,
    batch_file,
    read_key,
    read_ledger,
    read_listed_batches,
    release_file,
)
from kveil.archive.people import DIGEST, KEY_BYTES, key_check
from kveil.errors import DataError, KveilError
from kveil.verifier.rows import release_rows

LEFT_BEHIND = ".kveil-"  # what a file is called until it gets its name, where the system has no files without one


def check_archive(folder: Path) -> list[str]:
    """Return what is wrong with an archive, a sentence per thing; raise DataError where there is no archive."""
    if not folder.is_dir() or not any((folder / name).exists() for name in (LEDGER, KEY_FILE, release_file(1))):
        raise DataError(f"{folder.name} is no archive of kveil; name a folder that --archive made.")
    findings = list(_loose_modes(folder))
    try:
        check, listed = read_ledger(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return [*findings, f"{folder.name} has lost its {LEDGER}, or it was changed: what it held cannot be told."]
    try:
        key = read_key(folder)
        if len(key) != KEY_BYTES or key_check(key) != check:
            findings.append(f"the key of {folder.name} was changed: nobody in it can be recognized any more.")
    except (OSError, ValueError):
        findings.append(f"{folder.name} has lost its key: nobody in it can be recognized any more.")
    before: str | None = None
    for number, entry in enumerate(listed, 1):
        findings += _release(folder, number, entry, before, check)
        before = entry.sha256
    try:
        batches = read_listed_batches(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return [*findings, f"the {LEDGER} of {folder.name} was changed: which batches it had cannot be told."]
    last: str | None = None
    for number, entry in enumerate(batches, 1):
        findings += _batch(folder, number, entry, last, check)
        last = entry.sha256
    return findings + list(_strangers(folder, listed, batches, check))


def _loose_modes(folder: Path) -> Iterator[str]:
    """Tell of what others than the owner may read."""
    if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE_FOLDER:
        yield f"others may look into {folder.name}: chmod 700 it."
    loose = [path.name for path in sorted(folder.iterdir()) if stat.S_IMODE(path.lstat().st_mode) & ~PRIVATE_FILE]
    for name in loose:
        yield f"others may read {name} in {folder.name}: chmod 600 it."


def _release(folder: Path, number: int, entry: Listed, before: str | None, check: str) -> Iterator[str]:
    """Tell what is wrong with one release."""
    path = folder / entry.file
    name = f"release {number} of {folder.name}"
    try:
        raw = path.read_bytes()
    except OSError:
        yield f"{name} is lost: its file {entry.file} cannot be read."
        return
    if entry.file != release_file(number) or sha256(raw).hexdigest() != entry.sha256:
        yield f"{name} was changed: its file {entry.file} is not what was written."
        return
    try:
        yield from _whole(raw, name, number, before, check)
    except Damaged as damage:
        yield f"{name} {damage}."


def _whole(raw: bytes, name: str, number: int, before: str | None, check: str) -> Iterator[str]:
    manifest, parts = unpack(raw)
    if manifest.get("number") != number or manifest.get("before") != before or manifest.get("key") != check:
        yield f"{name} does not follow the release before it: it is of another archive, or one between them is lost."
        return
    try:
        archived = Archived.of(raw, name)
        rows = release_rows(archived.release, archived.policy).height
    except KveilError:
        yield f"{name} cannot be read any more by this version of kveil."
        return
    if rows * DIGEST != len(parts[PEOPLE_FILE]):
        yield f"{name} has {rows:,} rows and says who {len(parts[PEOPLE_FILE]) // DIGEST:,} of them are."


def _batch(folder: Path, number: int, entry: Listed, before: str | None, check: str) -> Iterator[str]:
    """Tell what is wrong with one batch."""
    name = f"batch {number} of {folder.name}"
    try:
        raw = (folder / entry.file).read_bytes()
    except OSError:
        yield f"{name} is lost: its file {entry.file} cannot be read."
        return
    if entry.file != batch_file(number) or sha256(raw).hexdigest() != entry.sha256:
        yield f"{name} was changed: its file {entry.file} is not what was written."
        return
    yield from _whole_batch(raw, name, number, before, check)


def _whole_batch(raw: bytes, name: str, number: int, before: str | None, check: str) -> Iterator[str]:
    try:
        manifest, _ = unpack(raw, needed=BATCH_PARTS)
        batch = AppliedBatch.of(raw, name)
    except Damaged as damage:
        yield f"{name} {damage}."
        return
    except KveilError:
        yield f"{name} cannot be read any more by this version of kveil."
        return
    if manifest["number"] != number or manifest.get("before") != before or manifest.get("key") != check:
        yield f"{name} does not follow the batch before it: it is of another archive, or one between them is lost."
    elif len(batch.people) not in (batch.counts["released"], batch.counts["input"]):  # all, where `*` stands for some
        yield f"{name} shows {batch.counts['released']:,} and says who {len(batch.people):,} of them are."


def _strangers(folder: Path, listed: list[Listed], batches: list[Listed], check: str) -> Iterator[str]:
    """Tell of files that do not belong here; what a killed run wrote whole, but did not list, does."""
    known = {LEDGER, KEY_FILE, *(entry.file for entry in (*listed, *batches))}
    following, next_batch = release_file(len(listed) + 1), batch_file(len(batches) + 1)
    for path in sorted(folder.iterdir()):
        if path.name in known or path.name.startswith(LEFT_BEHIND):
            continue
        if path.name == next_batch:
            last = batches[-1].sha256 if batches else None
            number = len(batches) + 1
            yield from _whole_batch(path.read_bytes(), f"batch {number} of {folder.name}", number, last, check)
            continue
        if path.name != following or not RELEASE_FILE.fullmatch(path.name):
            yield f"{folder.name} has a file {path.name} that is not listed: it is not kveil's, or its ledger is old."
            continue
        number, before = len(listed) + 1, listed[-1].sha256 if listed else None
        try:
            yield from _whole(path.read_bytes(), f"release {number} of {folder.name}", number, before, check)
        except Damaged as damage:
            yield f"release {number} of {folder.name} {damage}."
