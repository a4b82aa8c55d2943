"""Refining under declared dependencies: they hold, the loss never rises, and it falls where rules are planted."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.registry import find
from kveil.algorithms.rules.follow import followers_of
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.measures import measure_solution
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.verifier import verify_release

QUASI = "quasi-identifier"
WARDS = {f"{zone}{i}": zone for zone in "nsew" for i in range(4)}
TREES = {
    "ward": {"tree": {"*": {"north-south": {zone: [w for w in WARDS if WARDS[w] == zone] for zone in "ns"},
                            "east-west": {zone: [w for w in WARDS if WARDS[w] == zone] for zone in "ew"}}}},
    "doctor": {"tree": {"*": {"A": ["a1", "a2", "a3"], "B": ["b1", "b2", "b3"]}}},
    "house": {"tree": {"*": ["main", "new", "old"]}},
    "age": {"intervals": {"from": 0, "to": 79, "widths": [10, 20]}},
}  # fmt: skip


def spec_of(random: Random, **more: Any) -> dict[str, Any]:
    """A policy with planted rules, chains and circles among them."""
    attributes: dict[str, Any] = {name: {"role": QUASI, "hierarchy": tree} for name, tree in TREES.items()}
    if random.random() < 0.3:
        attributes["doctor"]["boundary"] = ["A", "B"]
    rules = random.choice(
        [["ward -> doctor"], ["ward -> doctor", "doctor -> house"], ["ward -> doctor, house"],
         ["ward -> doctor", "doctor -> ward"], ["ward, age -> doctor"], ["house -> doctor", "ward -> house"]]
    )  # fmt: skip
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": random.choice([2, 3, 5])}]
    if random.random() < 0.3:
        privacy.append({"model": "l-diversity", "sensitive": "illness", "l": 2})
    return {
        "kveil": 1,
        "attributes": {**attributes, "illness": {"role": "sensitive"}},
        "dependencies": rules,
        "privacy": privacy,
        "suppression": {"limit": random.choice([0, "0.2"])},
        "algorithm": "mondrian",
        **more,
    }


def rows_of(random: Random, number: int, kept: float = 0.98) -> pl.DataFrame:
    """Rows in which the ward gives the doctor and the doctor the house, but for a few."""
    doctor = {ward: random.choice(["a1", "a2", "a3", "b1", "b2", "b3"]) for ward in WARDS}
    house = {name: random.choice(["main", "new", "old"]) for name in ("a1", "a2", "a3", "b1", "b2", "b3")}
    wards = [random.choice(list(WARDS)) for _ in range(number)]
    doctors = [doctor[ward] if random.random() < kept else "a1" for ward in wards]
    return pl.DataFrame(
        {
            "ward": wards,
            "doctor": doctors,
            "house": [house[name] for name in doctors],
            "age": [str(random.randrange(80)) for _ in wards],
            "illness": [random.choice(["flu", "gout", "asthma"]) for _ in wards],
        }
    )


def loss(table: Table, solution: Solution) -> float:
    return measure_solution(table, solution).of(table.policy.loss)


@pytest.mark.parametrize("name", ["mondrian", "datafly", "least-loss"])
def test_rules_hold_and_the_loss_falls(name: str) -> None:
    random = Random(len(name))
    done = lower = 0
    while done < 12:
        frame = rows_of(random, random.randint(30, 90), random.choice([0.98, 1]))
        table = encode(from_frame(frame), kveil.Policy(**spec_of(random)))
        try:
            # Of few rows least-loss itself takes the best of all algorithms, which leaves less to be refined.
            plain = run(find("mondrian" if name == "least-loss" else name), table, {"refine": "off"})
            refined = run(find(name), table, {"refine": "2"})
        except kveil.Unmeetable:
            continue
        done += 1
        source = from_frame(frame)
        release = decode(source, table, refined)
        verdict = verify_release(from_frame(release.frame(source)), table.policy, original=source, places=release.rows)
        assert verdict.findings == []
        assert loss(table, refined) <= loss(table, plain)
        lower += loss(table, refined) < loss(table, plain)
    assert lower >= 9


def test_a_right_side_follows_its_left_side() -> None:
    frame = pl.DataFrame({"ward": ["n0", "n1", "s0"], "doctor": ["a1", "a2", "b1"], "house": ["main"] * 3,
                          "age": ["1", "2", "3"], "illness": ["flu"] * 3})  # fmt: skip
    spec = spec_of(Random(1), dependencies=["ward -> doctor"])
    bounded = encode(from_frame(frame), kveil.Policy(**spec))
    assert "boundary" in spec["attributes"]["doctor"]
    assert followers_of(bounded, range(4), rules_of(bounded, multivalued=False)) == []
    spec["attributes"]["doctor"].pop("boundary")
    table = encode(from_frame(frame), kveil.Policy(**spec))
    (follower,) = followers_of(table, range(4), rules_of(table, multivalued=False))
    ward, doctor = table.trees[0], table.trees[1]
    shown = {ward.labels[v]: doctor.labels[node] for v, node in enumerate(follower.node)}  # type: ignore[union-attr]
    assert {label: shown[label] for label in ("n0", "n1", "n", "s0", "s")} == {
        "n0": "a1", "n1": "a2", "n": "A", "s0": "b1", "s": "b1",
    }  # fmt: skip


def test_circles_leave_one_side_free() -> None:
    spec = spec_of(Random(0), dependencies=["ward -> doctor", "doctor -> house", "house -> ward"])
    spec["attributes"]["doctor"].pop("boundary", None)
    table = encode(from_frame(rows_of(Random(0), 40)), kveil.Policy(**spec))
    found = followers_of(table, range(4), rules_of(table, multivalued=False))
    assert [(f.left, f.right) for f in found] == [(0, 1), (1, 2)]


def test_fingerprints_go_together_with_a_largest_width() -> None:
    policy = {
        "kveil": 1,
        "attributes": {
            "p": {"role": "individual"},
            "age": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}, "boundary": {"max_width": 10}},
            "item": {"role": "sensitive", "hierarchy": {"tree": {"*": ["x", "y"]}}},
        },
        "privacy": [{"model": "kl-diversity", "sensitive": "item", "k": 2, "l": 1}],
        "algorithm": "least-loss",
    }
    frame = pl.DataFrame({"p": ["1", "2"], "age": ["20", "21"], "item": ["x", "x"]})
    assert kveil.anonymize(frame, kveil.Policy(**policy)).data.rows() == [("20", ["x"]), ("21", ["x"])]
