"""Random policies that join everything a policy can say, each with a table of at most 400 rows that fits it.

A case is drawn from a number alone, so that one that fails can be named by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import yaml

import kveil

Spec = dict[str, Any]

CITIES = ("Oslo", "Bergen", "Narvik", "Rome", "Pisa", "Madrid", "Lima", "Cusco")
CITY_TREE = {
    "*": {
        "Europe": {"North": ["Oslo", "Bergen", "Narvik"], "South": {"Italy": ["Rome", "Pisa"], "Spain": ["Madrid"]}},
        "America": ["Lima", "Cusco"],
    }
}
COUNTRY = {
    "Oslo": "N",
    "Bergen": "N",
    "Narvik": "N",
    "Rome": "I",
    "Pisa": "I",
    "Madrid": "S",
    "Lima": "P",
    "Cusco": "P",
}
ILLNESSES = ("flu", "cold", "cough", "gout", "asthma", "ulcer", "rash")
ILLNESS_TREE = {"*": {"viral": {"flu": [], "airways": ["cold", "cough", "asthma"]}, "other": ["gout", "ulcer", "rash"]}}
ZONE_TREE = {"*": {"west": ["1f", "1m", "2f"], "east": ["2m", "3f", "3m", "4f", "4m"]}}
DRUGS = ("a1", "a2", "b1", "b2", "c1")
DRUG_TREE = {"*": {"a": ["a1", "a2"], "b": ["b1", "b2"], "c": ["c1"]}}

QUASI: dict[str, list[Spec]] = {
    "age": [
        {"hierarchy": {"intervals": {"from": 0, "to": 79, "widths": [5, 10, 20]}}},
        {"hierarchy": {"ranges": {"within": [0, 80]}}},
        {"hierarchy": {"ranges": {"within": [0, 80], "round": 5}}},
        {"hierarchy": {"ranges": {"within": [0, 80]}}, "boundary": {"max_width": 20}},
        {"hierarchy": {"ranges": {"within": [0, 80], "round": 2}}, "boundary": {"max_width": 40}},
        {"hierarchy": {"intervals": {"from": 0, "to": 79, "widths": [5, 10, 20]}}, "boundary": {"level": 2}},
        {"hierarchy": {"ranges": {"within": [0, 80], "bounds": "midpoints"}}},
    ],
    "city": [
        {"hierarchy": {"tree": CITY_TREE}},
        {"hierarchy": {"tree": CITY_TREE}, "boundary": ["Europe", "America"]},
        {"hierarchy": {"tree": CITY_TREE}, "boundary": ["North", "South"]},
        {"hierarchy": {"tree": CITY_TREE}, "weight": 3},
    ],
    "country": [{}, {"boundary": {"level": 1}}],
    "sex": [{}],
    "zip": [
        {"hierarchy": {"mask": {"keep": [2, 1]}}},
        {"hierarchy": {"mask": {"keep": [2, 1]}}, "boundary": {"level": 2}},
    ],
    "born": [
        {"hierarchy": {"dates": ["month", "year", "decade"]}},
        {"hierarchy": {"dates": ["quarter", "year"]}, "boundary": {"level": 2}},
    ],
    "temp": [
        {"hierarchy": {"ranges": {"within": [-10, 20], "round": "2.5"}}, "boundary": {"max_width": 10}},
        {"hierarchy": {"ranges": {"within": [-10, 20]}}, "weight": "0.5"},
        {"hierarchy": {"intervals": {"from": -5, "to": 15, "widths": ["2.5", 5, 10], "open": "both"}}},
    ],
    "zone": [{"hierarchy": {"tree": ZONE_TREE}}, {"hierarchy": {"tree": ZONE_TREE}, "boundary": {"level": 1}}],
}
SENSITIVE: dict[str, Spec] = {
    "illness": {"role": "sensitive", "hierarchy": {"tree": ILLNESS_TREE}},
    "drug": {"role": "sensitive", "hierarchy": {"tree": DRUG_TREE}},
    "income": {"role": "sensitive"},
}


@dataclass(frozen=True)
class JointCase:
    """A policy and a table that fits it, with the number they were drawn from."""

    seed: int
    text: str
    frame: pl.DataFrame

    def policy(self) -> kveil.Policy:
        return kveil.Policy.parse(self.text, f"joint {self.seed}", Path())


def joint_case(seed: int, most_rows: int = 400) -> JointCase:
    """Draw a policy that joins models, boundaries, rules, people and limits, and its table."""
    draw = Random(seed)
    people = draw.random() < 0.45
    items = people and draw.random() < 0.5
    sensitive = draw.sample(sorted(SENSITIVE), draw.choice([1, 2, 2, 3]))
    plain_sets = items and sensitive != ["income"] and draw.random() < 0.06  # no quasi-identifier at all
    names = [] if plain_sets else draw.sample(sorted(QUASI), draw.choice([1, 2, 3, 3, 4, 5]))
    attributes: dict[str, Spec] = {name: {"role": "quasi-identifier", **draw.choice(QUASI[name])} for name in names}
    for name in names:
        if draw.random() < 0.15:
            attributes[name]["weight"] = draw.choice(["0.5", 2, 5])
    attributes |= {name: dict(SENSITIVE[name]) for name in sensitive}
    if draw.random() < 0.3:
        attributes["ward"] = {"role": "insensitive"}
    if "drug" in sensitive and not people and draw.random() < 0.3:
        attributes["class"] = {"role": "insensitive"}  # what a drug is, which a rule may say
    if draw.random() < 0.2:
        attributes["name"] = {"role": "identifier"}
    if people:
        attributes["who"] = {"role": "individual"}
    policy: Spec = {
        "kveil": 1,
        "data": {"missing": ["", "?"]},
        "attributes": attributes,
        "privacy": _privacy(draw, names, sensitive, items=items),
        "suppression": {
            "limit": draw.choice([0, 0, "0.02", "0.1", "0.3"]),
            "show": draw.choice(["drop", "drop", "star"]),
        },
        "release": {"order": draw.choice(["sorted", "shuffle", "keep"])},
        "loss": draw.choice(["ncp", "ncp", "ncp", "il", "precision"]),
        "seed": draw.randint(0, 3),
    }
    if people:
        policy["individual"] = {"conflicts": draw.choice(["error", "generalize"])}
        shape = draw.choice(["sets", "long"])
        if shape == "sets" or not (items and len(sensitive) > 1):
            policy["release"]["shape"] = shape
    rules = _rules(draw, names, attributes, policy)
    if rules:
        policy["dependencies"] = rules
    text = yaml.safe_dump(policy, sort_keys=False, allow_unicode=True)
    return JointCase(seed, text, _table(draw, list(attributes), policy, most_rows))


def _privacy(draw: Random, names: list[str], sensitive: list[str], *, items: bool) -> list[Spec]:
    models: list[Spec] = []
    generalizing = [name for name in sensitive if name != "income"]
    if items and generalizing:
        models += [_model_of_sets(draw, generalizing) for _ in range(draw.choice([1, 1, 1, 2]))]
    if not names:
        return models
    models += [_model(draw, sensitive) for _ in range(draw.choice([0, 1, 1, 2, 3]))]
    if not models:
        models.append({"model": "k-anonymity", "k": draw.choice([2, 3, 5, 10])})
    for model in models:
        if len(names) > 1 and draw.random() < 0.5:
            model["attributes"] = draw.sample(names, draw.randint(1, len(names)))
    covered = {name for model in models for name in model.get("attributes", names)}
    left = [name for name in names if name not in covered]
    if left:
        more = draw.sample(names, draw.randint(0, len(names)))
        models.append(
            {"model": "k-anonymity", "k": draw.choice([2, 4]), "attributes": list(dict.fromkeys(left + more))}
        )
    return models


def _model_of_sets(draw: Random, generalizing: list[str]) -> Spec:
    own = draw.sample(generalizing, draw.randint(1, len(generalizing)))
    kind = draw.choice(["kl-diversity", "kl-diversity", "k-km-anonymity"])
    size = {"l": draw.choice([1, 2, 2, 3])} if kind == "kl-diversity" else {"m": draw.choice([1, 2])}
    return {"model": kind, "sensitive": own, "k": draw.choice([2, 3, 5]), **size}


def _model(draw: Random, sensitive: list[str]) -> Spec:
    name = draw.choice(["k-anonymity", "k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness"])
    if name == "k-anonymity":
        return {"model": name, "k": draw.choice([2, 3, 5, 8])}
    column = draw.choice(sensitive)
    if name == "l-diversity":
        variant = draw.choice(["distinct", "entropy", "recursive", "frequency"])
        wanted = draw.choice([2, 2, 3, "1.5"] if variant in ("entropy", "frequency") else [2, 2, 3])
        model = {"model": name, "sensitive": column, "variant": variant, "l": wanted}
        return {**model, "c": draw.choice([1, 2, 4])} if variant == "recursive" else model
    if name == "p-sensitive":
        return {"model": name, "sensitive": column, "p": draw.choice([2, 3])}
    if name == "alpha-k":
        return {"model": name, "sensitive": column, "alpha": draw.choice(["0.5", "0.7"]), "k": draw.choice([2, 4])}
    distances = ["equal", "ordered"] if column == "income" else ["equal", "ordered", "hierarchical"]
    return {
        "model": name,
        "sensitive": column,
        "t": draw.choice(["0.2", "0.4", "0.6"]),
        "distance": draw.choice(distances),
    }


def _rules(draw: Random, names: list[str], attributes: dict[str, Spec], policy: Spec) -> list[str]:
    """Return rules that hold in every table: with one or several attributes on a side, functional and multivalued."""
    rules = []
    if {"city", "country"} <= set(names) and draw.random() < 0.6:
        rules.append("city -> country")
        if "sex" in names and draw.random() < 0.5:
            rules.append("city, sex -> country")
        elif draw.random() < 0.3:
            rules.append("city ->> country")
    if {"zip", "sex", "zone"} <= set(names) and draw.random() < 0.7:
        rules.append(draw.choice(["zip, sex -> zone", "zip, sex ->> zone"]))
        if "country" in names and "city" in names and draw.random() < 0.5:
            rules.append("city, zip, sex -> country, zone")
    if "class" in attributes and draw.random() < 0.7:
        rules.append("drug -> class")
    if "ward" in attributes and {"city", "sex"} <= set(names) and "individual" not in policy and draw.random() < 0.5:
        rules.append("city, sex -> ward")
    return rules


def _table(draw: Random, columns: list[str], policy: Spec, most_rows: int) -> pl.DataFrame:
    people = "individual" in policy
    number = draw.choice([10, 20, 40, 80, 150, most_rows])
    spread = draw.random()
    rows: list[dict[str, str]] = []
    person = 0
    while len(rows) < number:
        base = _person(draw, spread)
        person += 1
        for _ in range(draw.choice([1, 1, 2, 3]) if people else 1):
            row = dict(base)
            row |= {
                "illness": draw.choice(ILLNESSES[: 3 + int(4 * spread)]),
                "drug": draw.choice(DRUGS),
                "income": draw.choice(["10", "20", "20", "35", "70", "9.5"]),
                "who": f"p{person}",
            }
            row["class"] = "c" + row["drug"][0]
            row["name"] = f"n{len(rows)}"
            if people and policy["individual"]["conflicts"] == "generalize" and draw.random() < 0.05:
                _disagree(draw, row, policy)
            rows.append(row)
        if draw.random() < 0.06:  # a person's own value is missing, in all of their records
            _lose(draw, rows[-1]["who"], rows)
    return pl.DataFrame(
        [{name: row[name] for name in columns} for row in rows], schema=dict.fromkeys(columns, pl.String)
    )


def _disagree(draw: Random, row: dict[str, str], policy: Spec) -> None:
    """Let a record of a person differ in a value that no rule names and no boundary keeps from being covered."""
    free = [name for name in ("zip", "born", "temp") if "boundary" not in policy["attributes"].get(name, {})]
    free = [name for name in free if not (name == "zip" and "zone" in policy["attributes"])]
    if free:
        name = draw.choice(free)
        row[name] = _person(draw, 1.0)[name]


def _lose(draw: Random, who: str, rows: list[dict[str, str]]) -> None:
    """Leave out a value of the last person, for good where it is known of the person and not of a record."""
    name = draw.choice(["age", "born", "temp", "illness", "income"])
    if name in ("illness", "income"):
        rows[-1][name] = draw.choice(["", "?"])
        return
    text = draw.choice(["", "?"])
    for row in reversed(rows):
        if row["who"] != who:
            break
        row[name] = text


def _person(draw: Random, spread: float) -> dict[str, str]:
    city = draw.choice(CITIES[: 2 + int(6 * spread)])
    sex = draw.choice("fm")
    code = draw.choice("1234") + draw.choice("12")
    return {
        "age": str(draw.randint(0, 10 + int(69 * spread))),
        "city": city,
        "country": COUNTRY[city],
        "sex": sex,
        "zip": code,
        "zone": code[0] + sex,
        "temp": f"{draw.randint(-20, -20 + int(50 * spread)) / 2:g}",
        "born": f"{1950 + draw.randint(0, int(49 * spread))}-{draw.randint(1, 12):02}-01",
        "ward": f"w{CITIES.index(city) % 3}{sex}",
    }
