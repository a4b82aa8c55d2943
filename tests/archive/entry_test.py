"""One archived release as bytes: packed and unpacked it is the same, and whatever was changed is found."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from kveil.archive.entry import JSON_PARTS, MANIFEST, PEOPLE_FILE, POLICY, Archived, Damaged, pack, policy_parts, unpack
from kveil.errors import DataError
from kveil.policy.model import Policy
from support import policy_dict

PARTS = {POLICY: b"p", PEOPLE_FILE: b"", "release.csv": b"a\n1\n", **dict.fromkeys(JSON_PARTS, b"{}\n")}


def changed(raw: bytes, *, out: str | None = None, **parts: bytes) -> bytes:
    """Return the bytes of an archived release with some parts replaced, added or left out; hashes stay."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        found = {name: file.read(name) for name in file.namelist() if name != out}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, part in {**found, **parts}.items():
            file.writestr(name, part)
    return made.getvalue()


def test_what_is_packed_comes_back_and_tells_no_time_but_its_own() -> None:
    raw = pack(PARTS, {"number": 3, "made": "then"})
    manifest, parts = unpack(raw)
    assert parts == PARTS
    assert (manifest["number"], manifest["made"]) == (3, "then")
    assert pack(PARTS, {"number": 3, "made": "then"}) == raw
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        assert {info.date_time[0] for info in file.infolist()} == {1980}


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ({"out": "release.csv"}, "has lost its part release.csv"),
        ({POLICY: b"q"}, "has a changed part policy.yaml"),
        ({"stranger": b""}, "has a part that was not written by kveil"),
        ({"out": MANIFEST}, "cannot be read"),
        ({MANIFEST: b"[]"}, "cannot be read"),
    ],
)
def test_what_was_lost_changed_or_added_is_told(harm: dict[str, object], told: str) -> None:
    raw = changed(pack(PARTS, {"number": 1}), **harm)  # type: ignore[arg-type]
    with pytest.raises(Damaged, match=told):
        unpack(raw)


@pytest.mark.parametrize("lost", [POLICY, PEOPLE_FILE, "account.json", "release.csv"])
def test_a_release_that_never_had_a_part_is_none(lost: str) -> None:
    with pytest.raises(Damaged, match="lacks a part"):
        unpack(pack({name: part for name, part in PARTS.items() if name != lost}, {"number": 1}))


def test_another_version_or_no_number_is_told() -> None:
    raw = pack(PARTS, {"number": 0})
    with pytest.raises(Damaged, match="another version"):
        unpack(raw)
    with pytest.raises(DataError, match=r"^release 1 of kept was written by another version"):
        Archived.of(raw, "release 1 of kept")
    with pytest.raises(Damaged, match="cannot be read"):
        unpack(b"PK no zip")


def test_a_policy_goes_along_without_where_its_table_lies() -> None:
    given = policy_dict(data={"path": "secret/t.csv", "missing": ["?"]}, previous=["kept"], algorithm="mondrian")
    policy = Policy.parse(json.dumps(given), "policy.yaml", Path())
    text, files = policy_parts(policy)
    content = json.loads(text)
    assert files == {}
    assert content["data"] == {"missing": ["?"]}
    assert "previous" not in content
    assert content["algorithm"]["name"] == "mondrian"
