"""`kveil archive`: what an archive holds, told without a word about anybody in it."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from kveil.archive import Archive, Archived, check_archive
from kveil.archive.entry import ArchivedReceipt
from kveil.errors import DataError
from kveil.words import count, listing, model_in_words, row_noun


class ListedRelease(TypedDict):
    """What `kveil archive list` says about one release."""

    number: int
    made: str
    algorithm: str
    released: int
    suppressed: int
    ncp: float
    promises: list[str]
    sha256: str


class ArchiveList(TypedDict):
    """The releases of an archive, the earliest first."""

    archive: str
    releases: list[ListedRelease]


class ShownRelease(ListedRelease):
    """One release with its receipt, the column that says who is who, and the same in sentences."""

    receipt: ArchivedReceipt  # as it was written then, by whichever version
    key: str | None
    sentences: list[str]


class ArchiveCheck(TypedDict):
    """Whether an archive is whole, unchanged and private, and a sentence per thing that is not."""

    archive: str
    holds: bool
    releases: int
    findings: list[str]


def _listed(archived: Archived) -> ListedRelease:
    """Return what `list` says about a release."""
    account = archived.account
    counts = account["individuals"] or account["records"]
    return {
        "number": archived.number,
        "made": archived.made,
        "algorithm": account["algorithm"],
        "released": counts["released"],
        "suppressed": counts["suppressed"],
        "ncp": account["loss"]["ncp"],
        "promises": [model_in_words(guarantee) for guarantee in archived.receipt["guarantees"]],
        "sha256": archived.release_sha256,
    }


def list_releases(folder: Path) -> ArchiveList:
    """Return the releases of an archive, the earliest first."""
    return {"archive": folder.name, "releases": [_listed(archived) for archived in Archive.open(folder).releases()]}


def release_of(archive: Archive, number: int | None) -> Archived:
    """Return one release of an archive, by default the latest."""
    releases = archive.releases()
    if number is None:
        number = len(releases)
    if not 1 <= number <= len(releases):
        raise DataError(
            f"{archive.folder.name} has {count(len(releases), 'release')}, and none with the number {number}; "
            "kveil archive list names them."
        )
    return releases[number - 1]


def show_release(folder: Path, number: int | None) -> ShownRelease:
    """Return one release's receipt and policy, and the same in sentences."""
    archived = release_of(Archive.open(folder), number)
    told, policy = _listed(archived), archived.policy
    noun = row_noun(people=archived.account["individuals"] is not None)
    sentences = [
        f"Release {told['number']} of {folder.name}, made {told['made']} by {told['algorithm']}: "
        f"{count(told['released'], noun)} released, {told['suppressed']:,} left out, NCP {told['ncp']:.2%}.",
        f"It shows {listing(policy.released, 20)}; people are known by {policy.key_column}.",
        *(f"It promises {promise}." for promise in told["promises"]),
    ]
    return {**told, "receipt": archived.receipt, "key": policy.key_column, "sentences": sentences}


def check_releases(folder: Path) -> ArchiveCheck:
    """Return whether an archive is whole, unchanged and private, and a sentence per thing that is not."""
    findings = check_archive(folder)
    number = 0 if findings else len(Archive.open(folder).listed)
    return {"archive": folder.name, "holds": not findings, "releases": number, "findings": findings}
