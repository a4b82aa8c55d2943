"""`loss` means what it says in every algorithm that has a choice: they choose by it, and all choose alike."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.algorithms.registry import ALGORITHMS
from support import make_policy

# Deep and narrow: few values, so that NCP is small, but high, so that IL and precision are not; `site` the other way.
DEEP = {"*": {"deep": {"left": {"l": ["a"]}, "right": {"r": ["b"]}}, "rest": [f"v{i}" for i in range(10)]}}
WIDE = {"*": {"wide": [f"p{i}" for i in range(8)], "z": ["q"]}}
BY_NCP, BY_STEPS = {("deep", "p0"), ("deep", "p1")}, {("a", "wide"), ("b", "wide")}

# Pairs of four records, of which any two agree on one attribute: k 4 has to give up the other.
FRAME = pl.DataFrame(
    {
        "who": [str(i) for i in range(8)],
        "job": ["a", "a", "b", "b"] * 2,
        "site": ["p0", "p1", "p0", "p1"] * 2,
        "item": ["x", "y", "x", "y", "y", "x", "y", "x"],
    }
)
CHOOSING = {"mondrian", "k-member", "greedy-cka", "pk-clustering", "incognito", "least-loss", "auto"}
OF_PEOPLE = {"1m-generalization", "rmerger", "least-loss"}
BY_COUNTS = {"datafly", "classfly", "classfly+naive", "classfly+complete", "classfly+partial", "k-msd", "k-msd-ag"}


def policy(loss: str, algorithm: object, *, people: bool) -> kveil.Policy:
    quasi = {name: {"role": "quasi-identifier", "hierarchy": {"tree": tree}} for name, tree in
             (("job", DEEP), ("site", WIDE))}  # fmt: skip
    models = [{"model": "k-anonymity", "k": 4}]
    if algorithm == "1m-generalization":
        models.append({"model": "kl-diversity", "sensitive": "item", "k": 4, "l": 2})
    elif people:
        models = [{"model": "k-km-anonymity", "sensitive": "item", "k": 4, "m": 1}]
    attributes = {
        "who": {"role": "individual" if people else "identifier"},
        **quasi,
        "item": {"role": "sensitive", "hierarchy": {"tree": {"*": ["x", "y"]}}},
    }
    return make_policy(attributes, limit=0, privacy=models, loss=loss, algorithm=algorithm)


def shown(made: kveil.Result) -> set[tuple[str, ...]]:
    return set(made.data.select("job", "site").rows())


@pytest.mark.parametrize("algorithm", sorted(CHOOSING))
def test_records_give_up_what_the_loss_counts_least(algorithm: str) -> None:
    for loss, wanted in (("ncp", BY_NCP), ("il", BY_STEPS), ("precision", BY_STEPS)):
        assert shown(kveil.anonymize(FRAME, policy(loss, algorithm, people=False))) == wanted


@pytest.mark.parametrize("algorithm", sorted(OF_PEOPLE))
def test_people_give_up_what_the_loss_counts_least(algorithm: str) -> None:
    asked = {"name": "rmerger", "delta": "0.01"} if algorithm == "rmerger" else algorithm
    for loss, wanted in (("ncp", BY_NCP), ("il", BY_STEPS), ("precision", BY_STEPS)):
        assert shown(kveil.anonymize(FRAME, policy(loss, asked, people=True))) == wanted


def test_every_algorithm_chooses_by_the_loss_or_by_counts() -> None:
    rest = {algorithm.name for algorithm in ALGORITHMS} - CHOOSING - OF_PEOPLE - BY_COUNTS
    assert rest == {"partition"}  # where one table is one part
