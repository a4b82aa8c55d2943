"""Months of random tables for random audiences: what is released keeps every promise that was ever given."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from naive.audiences import Published, fallen
from support import Outcome, run

QUASI = "quasi-identifier"
TREES = {
    "a": {"tree": {"*": {"A": ["a1", "a2"], "B": ["a3", "a4"]}}},
    "b": {"tree": {"*": {"X": ["b1", "b2", "b3"], "Y": ["b4"]}}},
}
LEAVES = {"a": ["a1", "a2", "a3", "a4"], "b": ["b1", "b2", "b3", "b4"], "c": ["c1", "c2"], "d": ["u", "v", "w", "x"]}
COLUMNS = ["who", *LEAVES]
Person = dict[str, str]


def _person(rng: random.Random, who: str) -> Person:
    return {"who": who, **{name: rng.choice(values) for name, values in LEAVES.items()}}


def _month(rng: random.Random, people: list[Person], month: int) -> list[Person]:
    """Return the people a month later: some left, some joined, some have changed."""
    stay = [dict(person) for person in people if rng.random() < rng.choice([0.9, 1.0])]
    for person in stay:
        if rng.random() < 0.03:
            name = rng.choice(list(LEAVES))
            person[name] = rng.choice(LEAVES[name])
    return [*stay, *(_person(rng, f"m{month}p{i}") for i in range(rng.choice([0, 0, 2, 8])))]


def _promises(rng: random.Random, quasi: list[str], sensitive: list[str]) -> list[dict[str, Any]]:
    """Return one or two promises, perhaps over some columns, and one that the first one implies."""
    promises: list[dict[str, Any]] = []
    for _ in range(rng.choice([1, 1, 2])):
        kind = rng.choice(["k", "k", "distinct", "frequency", "p", "alpha"]) if sensitive else "k"
        promise: dict[str, Any] = {
            "k": {"model": "k-anonymity", "k": rng.choice([1, 2, 3, 5])},
            "distinct": {"model": "l-diversity", "sensitive": "d", "l": rng.choice([2, 3])},
            "frequency": {"model": "l-diversity", "sensitive": "d", "l": 1.5, "variant": "frequency"},
            "p": {"model": "p-sensitive", "sensitive": "d", "p": 2},
            "alpha": {"model": "alpha-k", "sensitive": "d", "alpha": 0.7, "k": 2},
        }[kind]
        if len(quasi) > 1 and rng.random() < 0.4:
            promise["attributes"] = sorted(rng.sample(quasi, rng.randrange(1, len(quasi))))
        promises.append(promise)
    if rng.random() < 0.3:
        promises.append({"model": "k-anonymity", "k": 2, "attributes": [rng.choice(quasi)]})
    covered = {name for promise in promises for name in promise.get("attributes", quasi)}
    if covered != set(quasi):
        promises.append({"model": "k-anonymity", "k": rng.choice([1, 2])})
    return promises


def _policy(rng: random.Random, first: bool) -> dict[str, Any]:
    quasi = sorted(rng.sample(["a", "b", "c"], rng.choice([1, 2, 2, 3])))
    roles = {name: QUASI if name in quasi else rng.choice(["identifier"] * 4 + ["insensitive"]) for name in "abc"}
    roles["d"] = rng.choice(["sensitive"] * 6 + ["identifier", "insensitive"])
    privacy = _promises(rng, quasi, ["d"] if roles["d"] == "sensitive" else [])
    star = first and rng.random() < 0.3
    return {
        "kveil": 1,
        "data": {"path": "t.csv", "key": "who"},
        "attributes": {
            "who": {"role": "identifier"},
            **{
                n: {"role": r, **({"hierarchy": TREES[n]} if r == QUASI and n in TREES else {})}
                for n, r in roles.items()
            },
        },
        "privacy": privacy,
        "suppression": {"limit": rng.choice([0.2, 0.6, 1]), "show": "star" if star else "drop"},
        "algorithm": rng.choice(["least-loss", "mondrian", "auto"]),
    }


def _published(policy: Mapping[str, Any], folder: Path, people: list[Person]) -> Published:
    """Return a release as it lies in a folder, with who each row is."""
    with (folder / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    places = json.loads((folder / "o.json").read_bytes())["rows"]
    roles = {name: own["role"] for name, own in policy["attributes"].items()}
    shown = {people[place - 1]["who"]: row for place, row in zip(places, rows, strict=True)}
    return Published(roles, policy["privacy"], shown, stars=policy["suppression"]["show"] == "star")


def _anonymize(folder: Path, *more: object) -> Outcome:
    made = ["-o", folder / "r.csv", "--owner", folder / "o.json", "--receipt", folder / "rec.json", "--json"]
    return run("anonymize", folder / "p.yaml", *made, *more)


def _verify(folder: Path, *more: object) -> Outcome:
    beside = ["--original", folder / "t.csv", "--owner", folder / "o.json", "--previous", folder / "kept", "--json"]
    return run("verify", folder / "p.yaml", "--release", folder / "r.csv", *beside, *more)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_released_keeps_every_promise_ever_given(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    people = [_person(rng, f"p{i}") for i in range(rng.choice([12, 30, 60]))]
    kept = tmp_path / "kept"
    releases: list[Published] = []
    last: dict[str, Any] = {}
    for month in range(4):
        policy = _policy(rng, first=not releases)
        if releases and rng.random() < 0.3:  # the same audience again
            policy["privacy"], policy["attributes"] = last["privacy"], last["attributes"]
        (tmp_path / "p.yaml").write_text(json.dumps(policy))
        with (tmp_path / "t.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(people)
        previous = ["--previous", kept] if releases else []
        done = _anonymize(tmp_path, "--archive", kept, *previous)
        assert done.code in {0, 1}, (done.err, policy)
        assert "defect" not in done.err, (done.err, policy)
        if done.code == 0:
            releases.append(_published(policy, tmp_path, people))
            assert fallen(releases)[:2] == (set(), set()), policy
            if len(releases) > 1:
                told = _verify(tmp_path)
                assert told.code == 0, (told.out, policy)
                assert done.json["previous"]["below"] == 0
            last = policy
        elif releases:
            _check_weaker(tmp_path, [*releases], policy, people)
        people = _month(rng, people, month)


def _check_weaker(folder: Path, releases: list[Published], policy: dict[str, Any], people: list[Person]) -> None:
    """See that a release that keeps less says of how many people, and that the verifier finds that by itself."""
    done = _anonymize(folder, "--previous", folder / "kept", "--weaker")
    assert done.code in {0, 1}, (done.err, policy)
    assert "defect" not in done.err, (done.err, policy)
    if done.code == 1:
        return
    releases.append(_published(policy, folder, people))
    own, earlier, promised = fallen(releases)
    assert own == set()
    assert done.json["previous"]["below"] == len(promised)
    lapsed = [warning for warning in done.json["warnings"] if "--weaker allows" in warning]
    assert bool(lapsed) >= bool(earlier)
    assert "weaker" not in (folder / "rec.json").read_text()
    told = _verify(folder, "--weaker")
    assert told.code == 0, told.out
    assert told.json["previous"]["below"] == len(promised)
    strict = _verify(folder)
    assert strict.code >= bool(earlier)
    assert not earlier or any("promised by" in finding for finding in strict.json["findings"])
