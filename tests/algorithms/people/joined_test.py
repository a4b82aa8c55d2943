"""Items beside everything else: models that generalize sets joined with widths, distances and each other."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
import yaml

import kveil
from kveil.algorithms.people.combinations import SharedCombinations, generalize_combinations
from kveil.frames import from_frame
from kveil.models.distributions import Close
from kveil.models.fingerprints import as_shown
from kveil.models.groups import Groups, Pairs
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.verifier.distances import COUNT, GROUP, distances
from kveil.verifier.rows import ITEM
from strategies import seeds

ILLNESS = {"*": {"viral": {"flu": [], "airways": ["cold", "cough", "asthma"]}, "other": ["gout", "ulcer", "rash"]}}
ILLNESSES = ("flu", "cold", "cough", "asthma", "gout", "ulcer", "rash")
DRUG = {"*": {"a": ["a1", "a2"], "b": ["b1", "b2"]}}
DRUGS = ("a1", "a2", "b1", "b2")
AGES = {"ranges": {"within": [0, 80]}}


def people_policy(*models: str, age: str = "", algorithm: str = "auto", illness: object = None) -> Policy:
    attributes = {
        "who": {"role": "individual"},
        "age": {"role": "quasi-identifier", "hierarchy": AGES, **yaml.safe_load(age or "{}")},
        "sex": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive", "hierarchy": illness or {"tree": ILLNESS}},
        "drug": {"role": "sensitive", "hierarchy": {"tree": DRUG}},
    }
    text = {"kveil": 1, "attributes": attributes, "privacy": [yaml.safe_load(f"{{{model}}}") for model in models]}
    more = {"suppression": {"limit": 0.1}, "algorithm": algorithm, "release": {"shape": "sets"}}
    return Policy.parse(yaml.safe_dump({**text, **more}), "policy.yaml", Path())


def visits(people: int, seed: int = 0) -> pl.DataFrame:
    draw = Random(seed)
    rows = []
    for person in range(people):
        base = {"who": f"p{person}", "age": str(draw.randint(0, 80)), "sex": draw.choice("fm")}
        rows += [
            {**base, "illness": draw.choice(ILLNESSES), "drug": draw.choice(DRUGS)}
            for _ in range(draw.choice([1, 1, 2]))
        ]
    return pl.DataFrame(rows)


K_KM = "model: k-km-anonymity, sensitive: illness, k: 3, m: 2"
KL = "model: kl-diversity, sensitive: illness, k: 3, l: 2"


@pytest.mark.parametrize(
    "models",
    [
        (KL, "model: t-closeness, sensitive: drug, t: 0.5"),
        (KL, "model: t-closeness, sensitive: illness, t: 0.6, distance: equal"),
        (KL, "model: t-closeness, sensitive: illness, t: 0.6, distance: ordered"),
        (KL, "model: t-closeness, sensitive: illness, t: 0.6, distance: hierarchical"),
        (K_KM, "model: l-diversity, sensitive: drug, l: 2"),
        (K_KM, "model: l-diversity, sensitive: illness, l: 2", "model: k-anonymity, attributes: [sex], k: 9"),
        (K_KM, "model: p-sensitive, sensitive: illness, p: 2"),
        (K_KM, "model: t-closeness, sensitive: illness, t: 0.6, distance: hierarchical"),
        (K_KM, "model: kl-diversity, sensitive: drug, k: 3, l: 2"),
        (K_KM, "model: k-km-anonymity, sensitive: [illness, drug], attributes: [age], k: 2, m: 1"),
    ],
    ids=str,
)
@pytest.mark.parametrize("age", ["", "boundary: {max_width: 40}"], ids=["", "max_width"])
def test_models_of_sets_go_together_with_everything(models: tuple[str, ...], age: str) -> None:
    frame, policy = visits(60), people_policy(*models, age=age)
    result = kveil.anonymize(frame, policy)
    verdict = kveil.verify(result.data, policy, frame, result.owner)
    assert verdict.findings == []
    assert len(verdict.guarantees) == len(models)


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_how_far_apart_labels_lie_is_asked_of_a_tree_only(distance: str) -> None:
    model = f"model: t-closeness, sensitive: illness, t: 0.5, distance: {distance}"
    with pytest.raises(kveil.PolicyError, match="write it as a tree or a file, or use distance: equal"):
        people_policy(KL, model, illness={"mask": {"keep": [2, 1]}})


def random_items(table: Table, name: str, draw: Random) -> np.ndarray:
    """Every pair of a person and an item at a random node above its leaf."""
    sensitive = table.sensitive[name]
    tree = sensitive.tree
    assert tree is not None
    nodes = []
    for leaf in sensitive.leaves[sensitive.code].tolist():
        node = int(tree.leaf_nodes[leaf])
        for _ in range(draw.choice([0, 0, 1, 2])):
            node = int(tree.parent[node])
        nodes.append(node)
    return np.array(nodes, dtype=np.int32)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances_between_shown_items_are_the_verifiers(distance: str) -> None:
    model = f"model: t-closeness, sensitive: illness, t: 0.5, distance: {distance}"
    policy = people_policy("model: k-km-anonymity, sensitive: illness, k: 2, m: 1", model)
    asked = policy.privacy[1]
    assert isinstance(asked, TCloseness)
    for seed in seeds(0, 20):
        draw = Random(seed)
        table = encode(from_frame(visits(12, seed)), policy)
        shown = as_shown(table, {"illness": random_items(table, "illness", draw)}).sensitive["illness"]
        group = np.array([draw.randrange(3) for _ in range(table.rows)], dtype=np.int32)
        ours = Close("illness", 0.5, distance, shown).distances(
            Groups(
                group,
                3,
                np.ones(table.rows, dtype=np.int64),
                {"illness": Pairs(shown.row, shown.code, np.ones(len(shown.row), dtype=np.int64), shown.known)},
            )
        )
        texts = [*shown.values, None]
        pairs = pl.DataFrame(
            {GROUP: group[shown.row], ITEM: [texts[code] for code in shown.code]}, schema_overrides={ITEM: pl.String}
        )
        histogram = pairs.group_by(GROUP, ITEM).agg(pl.len().cast(pl.Int64).alias(COUNT)).sort(GROUP, ITEM)
        theirs = distances(asked, policy, histogram, 3)
        used = np.unique(group)
        assert ours[used] == pytest.approx(theirs[used])


def test_combinations_are_shared_and_never_shown_finer_than_given() -> None:
    policy = people_policy("model: k-km-anonymity, sensitive: [illness, drug], k: 3, m: 2")
    for seed in seeds(0, 20):
        draw = Random(seed)
        table = encode(from_frame(visits(20, seed)), policy)
        names = ("illness", "drug")
        given = {name: random_items(table, name, draw) for name in names}
        label = np.array([draw.choice([0, 0, 1, 1, -1]) for _ in range(table.rows)], dtype=np.int32)
        shown, _ = generalize_combinations(table, SharedCombinations(names, 3, 2), label, given=given)
        sets: dict[int, set[tuple[str, int]]] = {row: set() for row in range(table.rows)}
        for name in names:
            sensitive = table.sensitive[name]
            tree = sensitive.tree
            assert tree is not None
            assert (tree.depth[shown[name]] <= tree.depth[given[name]])[label[sensitive.row] >= 0].all()
            for row, node in zip(sensitive.row.tolist(), shown[name].tolist(), strict=True):
                sets[row].add((name, node))
        for cluster in (0, 1):
            members = np.flatnonzero(label == cluster).tolist()
            if len(members) < 3:
                continue
            for size in (1, 2):
                for wanted in {chosen for row in members for chosen in combinations(sorted(sets[row]), size)}:
                    assert sum(set(wanted) <= sets[row] for row in members) >= 3


def test_an_item_that_one_of_a_class_has_while_others_have_none_is_hidden() -> None:
    rows = [
        {"who": f"p{i}", "age": "5", "sex": "f", "illness": "flu" if i == 0 else "", "drug": "a1"} for i in range(4)
    ]
    result = kveil.anonymize(pl.DataFrame(rows), people_policy(K_KM, algorithm="rmerger"))
    assert result.data["illness"].to_list() == [["*"]] * 4
