"""Random tables with two sets of attributes, and a count of their releases that shares no code with kveil."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import polars as pl

Spec = dict[str, Any]
PARTS = (("a", "b"), ("c", "e"))
QUASI = "quasi-identifier"
ATTRIBUTES: Spec = {
    "a": {"role": QUASI, "hierarchy": {"tree": {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"], "c1": []}}}},
    "b": {"role": QUASI},
    "c": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 39, "widths": [10]}}},
    "e": {"role": QUASI},
    "d": {"role": "sensitive"},
}


def random_model(random: Random, names: tuple[str, ...]) -> Spec:
    """Return one of several models over some attributes."""
    k = random.choice([2, 3])
    return random.choice(
        [
            {"model": "k-anonymity", "attributes": names, "k": k},
            {"model": "k-anonymity", "attributes": names, "k": k},
            {"model": "l-diversity", "attributes": names, "sensitive": "d", "l": 2},
            {"model": "l-diversity", "attributes": names, "sensitive": "d", "l": 2, "variant": "frequency"},
            {"model": "alpha-k", "attributes": names, "sensitive": "d", "alpha": 0.6, "k": k},
        ]
    )


def random_case(seed: int) -> tuple[pl.DataFrame, Spec]:
    """Return a table and what a policy asks of it: models over each of two sets of attributes, and over less."""
    random = Random(seed)
    rows = random.choice([6, 10, 16, 30])
    values = {
        "a": ["a1", "a2", "b1", "b2", "c1"],
        "b": list("xyzw"),
        "c": [str(i) for i in range(40)],
        "e": list("mnop"),
    }
    columns = {name: [random.choice(own) for _ in range(rows)] for name, own in values.items()}
    columns["d"] = [random.choice(["HIV", "HIV", "flu", "gout", "acne"]) for _ in range(rows)]
    privacy = []
    for part in PARTS:
        privacy.append(random_model(random, part))
        if random.random() < 0.4:
            privacy.append(random_model(random, (random.choice(part),)))
    suppression = {"limit": random.choice([0, 0.1, 0.3]), "show": random.choice(["drop", "star"])}
    return pl.DataFrame(columns), {"attributes": ATTRIBUTES, "privacy": privacy, "suppression": suppression}


def holds(model: Spec, group: list[dict[str, str]]) -> bool:
    """Tell whether a group of rows satisfies a model."""
    values = Counter(row["d"] for row in group)
    most = max(values.values())
    if len(group) < model.get("k", 1):
        return False
    if model["model"] == "alpha-k":
        return most <= Fraction(str(model["alpha"])) * len(group)
    if model["model"] == "l-diversity":
        return most * 2 <= len(group) if model.get("variant") == "frequency" else len(values) >= 2
    return True


def broken(rows: list[dict[str, str]], policy: Spec, records: int) -> list[str]:
    """Return what a release breaks, rows of stars as a group or as suppressed; the original had so many records."""
    everywhere = {i for i, row in enumerate(rows) if all(row[name] == "*" for part in PARTS for name in part)}
    suppressed = set(everywhere)
    wrong = []
    for part in PARTS:
        models = [model for model in policy["privacy"] if set(model["attributes"]) <= set(part)]
        stars = {i for i, row in enumerate(rows) if all(row[name] == "*" for name in part)} - everywhere
        # A row that hides its value says that it is suppressed.
        hiding = {i for i in stars if rows[i]["d"] == "*" and any("sensitive" in model for model in models)}
        group = [rows[i] for i in stars - hiding]
        out = hiding if group and all(holds(model, group) for model in models) else stars
        for model in models:
            groups = defaultdict(list)
            for i, row in enumerate(rows):
                if i not in out | everywhere:
                    groups[tuple(row[name] for name in model["attributes"])].append(row)
            wrong += [f"{model}: {shown}" for shown, own in groups.items() if not holds(model, own)]
        suppressed |= out
    lost = records - len(rows) + len(suppressed)
    if lost > Fraction(str(policy["suppression"]["limit"])) * records:
        wrong.append(f"{lost} of {records} suppressed")
    return wrong
