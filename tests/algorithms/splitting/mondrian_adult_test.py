"""Mondrian on Adult: losses beside those published for its rows and trees (LeFevre, DeWitt and Ramakrishnan 2006)."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

import adult_data
import kveil
from adult_data import needs_adult
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify

QUASI = ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"]
NUMBERS = {"age": (17, 90), "education-num": (1, 16)}
# As in the experiments that others published: only two columns have an inner level, single leaves hang from the root.
TREES: dict[str, dict[str, list[str]]] = {
    "workclass": {
        "Private": [],
        "Self-employed": ["Self-emp-not-inc", "Self-emp-inc"],
        "Government": ["Federal-gov", "Local-gov", "State-gov"],
        "No pay": ["Without-pay", "Never-worked"],
    },
    "marital-status": {
        "Never-married": [],
        "Married": ["Married-civ-spouse", "Married-AF-spouse"],
        "Parted": ["Divorced", "Separated"],
        "Alone": ["Widowed", "Married-spouse-absent"],
    },
}

pytestmark = needs_adult


@cache
def complete_rows() -> pl.DataFrame:
    """The rows without a missing value, with years of education instead of its name."""
    kept = adult_data.raw_rows().filter(~pl.any_horizontal(pl.all() == "?"))
    assert kept.height == 30_162
    return kept.select(*QUASI, "class")


def policy_of(privacy: list[dict[str, Any]], choose: str = "widest", **others: Any) -> kveil.Policy:
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier"} for name in QUASI}
    for name, below in TREES.items():
        attributes[name]["hierarchy"] = {"tree": {"*": below}}
    for name, (low, high) in NUMBERS.items():
        attributes[name]["hierarchy"] = {"ranges": {"within": [low, high]}}
    attributes["class"] = {"role": "sensitive"}
    algorithm = {"name": "mondrian", "choose": choose}
    return kveil.Policy(**{"kveil": 1, "attributes": attributes, "privacy": privacy, "algorithm": algorithm, **others})


def run(privacy: list[dict[str, Any]], choose: str = "widest", frame: pl.DataFrame | None = None) -> Result:
    return kveil.anonymize(complete_rows() if frame is None else frame, policy_of(privacy, choose))


K10 = [{"model": "k-anonymity", "k": 10}]


def sizes(data: pl.DataFrame) -> pl.DataFrame:
    return data.group_by(QUASI).agg(pl.len(), pl.col("class").n_unique().alias("values"))


@pytest.mark.parametrize(("choose", "most"), [("widest", 0.155), ("gain", 0.11)])
def test_loss_at_k_10_without_suppression(choose: str, most: float) -> None:
    result = run(K10, choose)
    assert result.account["records"] == {"input": 30_162, "released": 30_162, "suppressed": 0}
    assert result.account["loss"]["ncp"] <= most
    assert sizes(result.data)["len"].min() >= 10
    assert verify(result.data, policy_of(K10), complete_rows(), result.owner).findings == []
    # The loss counted by hand: spans over their domains, leaves under a node over all leaves.
    assert result.account["loss"]["ncp"] == pytest.approx(loss_by_hand(result.data), abs=1e-12)


def leaves_under(name: str) -> dict[str, int]:
    """How many leaves every label of a column's tree has under it, itself where it is one."""
    values = complete_rows()[name].unique().to_list()
    below = TREES.get(name, {value: [] for value in values})
    found = {label: max(len(under), 1) for label, under in below.items()}
    leaves = [leaf for label, under in below.items() for leaf in under or [label]]
    return found | dict.fromkeys(leaves, 1) | {"*": len(leaves)}


def loss_by_hand(data: pl.DataFrame) -> float:
    total = 0.0
    for name in QUASI:
        counted = data[name].value_counts(name="cells")
        if name in NUMBERS:
            low, high = NUMBERS[name]
            bounds = [(list(map(int, label.split("-"))), cells) for label, cells in counted.iter_rows()]
            total += sum((found[-1] - found[0]) / (high - low) * cells for found, cells in bounds)
            continue
        leaves = leaves_under(name)
        total += sum(leaves[label] / leaves["*"] * cells for label, cells in counted.iter_rows() if leaves[label] > 1)
    return total / len(QUASI) / data.height


@pytest.mark.parametrize("choose", ["widest", "gain"])
def test_the_same_release_for_shuffled_rows(choose: str) -> None:
    first = run(K10, choose)
    shuffled = run(K10, choose, complete_rows().sample(fraction=1, shuffle=True, seed=3))
    assert first.data.equals(shuffled.data)
    assert first.account["loss"] == shuffled.account["loss"]


@pytest.mark.parametrize(
    "model",
    [
        {"model": "l-diversity", "sensitive": "class", "l": 2},
        {"model": "l-diversity", "sensitive": "class", "variant": "entropy", "l": "1.5"},
        {"model": "l-diversity", "sensitive": "class", "variant": "recursive", "l": 2, "c": 4},
        {"model": "alpha-k", "sensitive": "class", "alpha": "0.8", "k": 10},
        {"model": "t-closeness", "sensitive": "class", "t": "0.2"},
    ],
    ids=lambda model: f"{model['model']}-{model.get('variant', '')}",
)
def test_every_kind_of_model_beside_k(model: dict[str, Any]) -> None:
    result = run([*K10, model])
    plain = run(K10).account["loss"]["ncp"]
    assert all(guarantee["holds"] for guarantee in result.account["guarantees"])
    assert plain < result.account["loss"]["ncp"] < 1
    assert sizes(result.data)["values"].min() == 2
    shares = result.data.group_by(QUASI).agg((pl.col("class") == "<=50K").mean().alias("share"))["share"]
    whole = (complete_rows()["class"] == "<=50K").mean()
    if model["model"] == "alpha-k":
        assert max(shares.max(), 1 - shares.min()) <= 0.8
    if model["model"] == "t-closeness":
        assert (shares - whole).abs().max() <= 0.2 + 1e-9


@pytest.mark.parametrize("choose", ["widest", "gain"])
def test_trees_of_several_levels(choose: str) -> None:
    frame = adult_data.complete_rows()
    policy = kveil.Policy(
        kveil=1,
        attributes=adult_data.attributes_of(),
        privacy=K10,
        algorithm={"name": "mondrian", "choose": choose},
    )
    result = kveil.anonymize(frame, policy)
    assert result.account["records"]["suppressed"] == 0
    assert 0 < result.account["loss"]["ncp"] < 1
    assert result.data.group_by(adult_data.QUASI).len()["len"].min() >= 10
    shuffled = kveil.anonymize(frame.sample(fraction=1, shuffle=True, seed=4), policy)
    assert result.data.equals(shuffled.data)
