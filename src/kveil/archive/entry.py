"""One archived release as the bytes of one file, and back.

A ZIP file, so that its owner can look into it with any tool: what was lost or changed shows by the hashes that its
`manifest.json` has of every other part.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np
import polars as pl

from kveil.archive.people import DIGEST
from kveil.errors import DataError
from kveil.files import FileLayout, Source, parse_table, with_points
from kveil.free_form import Details, JsonObject
from kveil.guarantee import Guarantee
from kveil.policy.attributes import HierarchyFile
from kveil.policy.model import Policy
from kveil.policy.yaml_text import hierarchy_csv

VERSION = 1
MANIFEST, POLICY, PEOPLE_FILE = "manifest.json", "policy.yaml", "people"
JSON_PARTS = ("receipt.json", "account.json", "owner.json")
BATCH_PARTS = frozenset({PEOPLE_FILE})
RELEASE_PARTS = frozenset({POLICY, PEOPLE_FILE, *JSON_PARTS})
EARLIEST = (1980, 1, 1, 0, 0, 0)  # a ZIP tells when its parts were made; the manifest says it for all of them


class Damaged(Exception):
    """What is wrong with the bytes of an archived release, as the end of a sentence."""


@dataclass(frozen=True)
class Entry:
    """What a run gives an archive to keep: nothing of the original but who each released row is, by a keyed hash."""

    policy: Policy
    release: bytes
    suffix: str
    receipt: JsonObject
    account: JsonObject
    owner: JsonObject
    _: KW_ONLY
    people: pl.Series

    def parts(self) -> dict[str, bytes]:
        """Return the parts of the file by name."""
        text, hierarchies = policy_parts(self.policy)
        documents = zip(JSON_PARTS, (self.receipt, self.account, self.owner), strict=True)
        return {
            POLICY: text.encode(),
            **{name: content.encode() for name, content in hierarchies.items()},
            f"release{self.suffix}": self.release,
            **{name: json.dumps(content, ensure_ascii=False).encode() + b"\n" for name, content in documents},
            PEOPLE_FILE: packed_people(self.people),
        }


def time_now() -> str:
    """Return the time as archives write it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def packed_people(people: pl.Series) -> bytes:
    """Return keyed hashes as the bytes that an archive keeps."""
    return bytes.fromhex("".join(people.to_list()))


def unpacked_people(raw: bytes) -> pl.Series:
    """Return keyed hashes from the bytes that an archive keeps."""
    return pl.Series("person", np.frombuffer(raw.hex().encode(), dtype=f"S{2 * DIGEST}")).cast(pl.String)


def policy_parts(policy: Policy) -> tuple[str, dict[str, str]]:
    """Return a policy as a text that is whole without its folder, and its hierarchy files by the names it gives them.

    Where the table lies, and which archives there were, is left out: neither says what was promised.
    """
    content = policy.content
    content["data"] = {key: value for key, value in content.get("data", {}).items() if key != "path"}
    content.pop("previous", None)
    content["algorithm"] = {"name": policy.algorithm.name, **policy.algorithm.options}
    files: dict[str, str] = {}
    for name, attribute in policy.attributes.items():
        if isinstance(attribute.hierarchy, HierarchyFile):
            lines = policy.fixed_lines(name)
            assert lines is not None
            path = f"hierarchies/{len(files) + 1}.csv"
            files[path] = hierarchy_csv(lines.lines)
            content["attributes"][name]["hierarchy"] = path
    return json.dumps(content, ensure_ascii=False, indent=1, default=str) + "\n", files


class Manifest(TypedDict):
    """What an archived release says of itself: its number, when and by what it was made, and what came before it."""

    number: int
    made: str
    kveil: str
    key: str
    before: str | None


class ArchivedCounts(TypedDict):
    """How many records, or people, a run had, showed and left out."""

    input: int
    released: int
    suppressed: int


class BatchManifest(Manifest):
    """What a batch says of itself: also which release it was shown as, and its own counts.

    ``before`` is the batch before it. ``asked`` tells, by a keyed hash, the same records asked for in the same way.
    """

    release: int
    asked: str
    counts: ArchivedCounts


class PackedManifest(Manifest):
    """A manifest as the file has it: with the form it is written in, and the hash of every other part."""

    archive: int
    files: dict[str, str]
    release: NotRequired[int]
    asked: NotRequired[str]
    counts: NotRequired[ArchivedCounts]


def pack(parts: Mapping[str, bytes], manifest: Manifest | BatchManifest) -> bytes:
    """Return the bytes of an archived release, or batch: its parts, and a manifest with their hashes."""
    hashes = {name: sha256(part).hexdigest() for name, part in parts.items()}
    told = {**manifest, "archive": VERSION, "files": hashes}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in {MANIFEST: json.dumps(told, indent=2).encode() + b"\n", **parts}.items():
            file.writestr(zipfile.ZipInfo(name, EARLIEST), part, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unpack(raw: bytes, *, needed: frozenset[str] = RELEASE_PARTS) -> tuple[PackedManifest, dict[str, bytes]]:
    """Return the manifest and the parts of an archived release, or of a batch, which has other ``needed`` parts.

    Raises Damaged where they are not what was written.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as file:
            parts = {name: file.read(name) for name in file.namelist()}
        manifest = json.loads(parts.pop(MANIFEST))
        listed = dict(manifest["files"])
        number, version = int(manifest["number"]), int(manifest["archive"])
    except Exception:  # zipfile raises many kinds, and their texts quote what they read
        raise Damaged("cannot be read as an archived release") from None
    if version != VERSION or number < 1:
        raise Damaged("was written by another version of kveil")
    for name in listed:
        if name not in parts:
            raise Damaged(f"has lost its part {name}")
        if sha256(parts[name]).hexdigest() != listed[name]:
            raise Damaged(f"has a changed part {name}")
    if set(parts) != set(listed):
        raise Damaged("has a part that was not written by kveil")
    if not needed <= set(parts) or not any(name.startswith("release.") for name in parts):
        raise Damaged("lacks a part that every archived release has")
    return manifest, parts


class ArchivedLoss(TypedDict):
    """What a release lost, as far as later runs ask for it."""

    ncp: float


class ArchivedReceipt(TypedDict):
    """What later runs read in the receipt of an archived release; an older version may have written more or less."""

    guarantees: list[Guarantee]


class ArchivedAccount(TypedDict):
    """What later runs read in the account of an archived release; an older version may have written more or less.

    ``details`` are figures of the algorithm, by names that it chose.
    """

    algorithm: str
    records: ArchivedCounts
    individuals: ArchivedCounts | None
    loss: ArchivedLoss
    details: Details


@dataclass(frozen=True)
class AppliedBatch:
    """New records that a release was applied to: what they show, who they are, and how many were left out.

    ``release`` is the number of that release; ``asked`` tells the same records asked for in the same way.
    """

    number: int
    release: int
    asked: str
    counts: ArchivedCounts
    shown: Source
    people: pl.Series

    @classmethod
    def of(cls, raw: bytes, name: str) -> AppliedBatch:
        """Return a batch from the bytes of its file; raise Damaged where they are not what was written."""
        manifest, parts = unpack(raw, needed=BATCH_PARTS)
        try:
            release, asked, counts = manifest["release"], manifest["asked"], manifest["counts"]
        except KeyError:
            raise Damaged("is no batch of an archive") from None
        path = next(Path(part) for part in parts if part.startswith("release."))
        shown = replace(parse_table(parts[str(path)], path), name=name)
        return cls(
            int(manifest["number"]), int(release), str(asked), counts, shown, unpacked_people(parts[PEOPLE_FILE])
        )


@dataclass(frozen=True)
class Archived:
    """An archived release as later runs use it.

    ``name`` stands in sentences. ``people`` has a keyed hash per released row, or per person where the policy names
    individuals; ``release_sha256`` is of the released file. ``batches`` were shown as its records are, later.
    """

    name: str
    number: int
    made: str
    policy: Policy
    release: Source
    people: pl.Series
    _: KW_ONLY
    receipt: ArchivedReceipt
    account: ArchivedAccount
    release_sha256: str
    batches: tuple[AppliedBatch, ...] = ()

    @classmethod
    def of(cls, raw: bytes, name: str) -> Archived:
        """Return an archived release from its bytes."""
        try:
            manifest, parts = unpack(raw)
        except Damaged as damage:
            raise DataError(f"{name} {damage}; kveil archive check tells more, and a copy may help.") from None
        files = {path: part.decode() for path, part in parts.items() if path.startswith("hierarchies/")}
        policy = Policy.parse(parts[POLICY].decode(), f"the policy of {name}", Path(), files)
        path = next(Path(part) for part in parts if part.startswith("release."))
        data = policy.data
        layout = FileLayout(separator=data.separator)
        release = parse_table(parts[str(path)], path, layout=layout, columns=policy.released)
        shown = with_points(release, policy.numeric, data.missing, decimal=data.decimal, sets=policy.sets)
        receipt, account, _ = (json.loads(parts[part]) for part in JSON_PARTS)
        return cls(
            name,
            int(manifest["number"]),
            str(manifest["made"]),
            policy,
            replace(shown, name=name),
            unpacked_people(parts[PEOPLE_FILE]),
            receipt=receipt,
            account=account,
            release_sha256=sha256(parts[str(path)]).hexdigest(),
        )
