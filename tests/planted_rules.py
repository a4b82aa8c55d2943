"""Random tables in which rules were planted, with policies that declare them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import yaml

from kveil.algorithms.algorithm import BOUNDARIES, MANY, MAX_WIDTH, RANGES, Algorithm
from naive import release as naive
from strategies import DUMPER, Case, Spec

RuleNames = tuple[tuple[str, ...], tuple[str, ...]]


def breaks(rows: list[dict[str, str]], rules: Sequence[RuleNames]) -> bool:
    return not all(naive.functional(rows, left, right) for left, right in rules)


def plant(
    rows: list[dict[str, str]], rules: Sequence[RuleNames], values: dict[str, tuple[str, ...]], rng: Random
) -> None:
    """Change rows so that rules hold: right sides are functions of left sides; rows that still break go."""
    for left, right in rules:
        image: dict[tuple[str, ...], dict[str, str]] = {}
        for row in rows:
            new = {name: rng.choice(values[name]) for name in right}
            row.update(image.setdefault(tuple(row[name] for name in left), new))
    for _ in range(4):
        for left, right in rules:
            seen: dict[tuple[str, ...], dict[str, str]] = {}
            for row in rows:
                first = seen.setdefault(tuple(row[name] for name in left), row)
                row.update({name: first[name] for name in right})
    kept: list[dict[str, str]] = []
    for row in rows:
        if not breaks([*kept, row], rules):
            kept.append(row)
    rows[:] = kept


def grown(rng: Random, name: str) -> tuple[Spec, tuple[str, ...]]:
    """A hierarchy over some values, as a policy writes it: a tree of two levels, unbalanced, or a builder."""
    form = rng.choice(["tree", "tree", "tree", "mask", "intervals", "ranges", "none"])
    if form == "tree":
        leaves = [f"{name}{i}" for i in range(rng.randint(3, 8))]
        cut = rng.randint(1, len(leaves) - 1)
        middle = rng.randint(cut, len(leaves))
        upper: Spec = {f"{name}A": leaves[:cut], f"{name}B": {f"{name}C": leaves[cut:middle]} if middle > cut else []}
        for leaf in leaves[middle:]:
            upper[leaf] = []
        if not upper[f"{name}B"]:
            del upper[f"{name}B"]
        return {"hierarchy": {"tree": {rng.choice(["*", "*", "*", "All"]): upper}}}, tuple(leaves)
    if form == "mask":
        return {"hierarchy": {"mask": {"keep": [2, 1]}}}, ("111", "112", "121", "211", "212", "221")
    if form == "intervals":
        return {"hierarchy": {"intervals": {"from": 0, "to": 19, "widths": [2, 10]}}}, ("1", "2", "3", "11", "12", "19")
    if form == "ranges":
        spec: Spec = {"within": [-5, 30]} | rng.choice([{}, {"round": 5}])
        return {"hierarchy": {"ranges": spec}}, ("-3", "0", "7", "8", "20", "21.5")
    return {}, ("x", "y", "z")


def bounded(rng: Random, algorithm: Algorithm, spec: Spec, values: Sequence[str]) -> Spec:
    hierarchy = spec.get("hierarchy", {})
    if "ranges" in hierarchy:
        return {"boundary": {"max_width": rng.choice([5, 10, 30])}} if MAX_WIDTH in algorithm.honours else {}
    if BOUNDARIES not in algorithm.honours:
        return {}
    if "tree" in hierarchy and rng.random() < 0.5:
        (below,) = hierarchy["tree"].values()
        return {"boundary": rng.sample(sorted(below), rng.randint(1, len(below)))}
    return {"boundary": {"level": rng.randint(0, 2)}}


def planted(algorithm: Algorithm, rng: Random, outside: bool = True, individuals: bool = False) -> Case:
    """A case with one to three rules: chains, composite sides, cycles, shared right sides, other columns."""
    quasi = ["zip", "age", "job", "city"][: rng.randint(2, 4)]
    attributes: dict[str, Spec] = {}
    values: dict[str, tuple[str, ...]] = {}
    for name in quasi:
        spec, values[name] = grown(rng, name)
        while "ranges" in spec.get("hierarchy", {}) and RANGES not in algorithm.honours:
            spec, values[name] = grown(rng, name)
        attributes[name] = {"role": "quasi-identifier"} | spec
        if rng.random() < 0.25:
            attributes[name] |= bounded(rng, algorithm, spec, values[name])
        if rng.random() < 0.2:
            values[name] += ("",)
    attributes |= {"ward": {"role": "insensitive"}, "disease": {"role": "sensitive"}}
    values |= {"ward": ("w1", "w2"), "disease": ("flu", "cold", "gout")}
    rules: list[RuleNames] = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        names = rng.sample(quasi, len(quasi))
        if outside and rng.random() < 0.15:
            names = rng.sample([*quasi[:2], rng.choice(["ward", "disease"])], 3)
        wide = 2 if len(names) > 2 and rng.random() < 0.3 else 1
        rules.append((tuple(names[:wide]), tuple(names[wide : wide + rng.choice([1, 1, 2])])))
    if len(rules) == 2 and rng.random() < 0.3:
        rules[1] = (rules[0][1], rules[0][0])  # a cycle
    kinds = [{name: rng.choice(values[name]) for name in attributes} for _ in range(rng.randint(3, 22))]
    rows = [dict(kind) for kind in kinds for _ in range(rng.choice([1, 1, 2, 3]))]
    for row in rows:
        row |= {name: rng.choice(values[name]) for name in ("ward", "disease")}
    plant(rows, rules, values, rng)
    policy: Spec = {
        "kveil": 1,
        "attributes": attributes,
        "privacy": privacy(rng, algorithm, quasi),
        "dependencies": [f"{', '.join(left)} -> {', '.join(right)}" for left, right in rules],
        "suppression": {"limit": rng.choice([0, "0.1", "0.25", "0.5", 1]), "show": rng.choice(["drop", "star"])},
    }
    columns = list(attributes)
    if individuals:
        attributes["person"] = {"role": "individual"}
        columns.append("person")
        for i, row in enumerate(rows):
            row["person"] = f"p{i}"
    text = yaml.dump(policy, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
    return Case(text, (), tuple(columns), tuple(tuple(row[name] for name in columns) for row in rows))


def privacy(rng: Random, algorithm: Algorithm, quasi: list[str]) -> list[Spec]:
    """Constraints with their own k that cover all quasi-identifiers, now and then a model over the sensitive values."""
    if MANY not in algorithm.honours or rng.random() < 0.3:
        return [{"model": "k-anonymity", "k": rng.randint(2, 4)}]
    rest = rng.sample(quasi, len(quasi))
    found: list[Spec] = []
    while rest:
        size = rng.randint(1, len(rest))
        over = sorted({*rest[:size], *rng.sample(quasi, rng.choice([0, 0, 1]))})
        found.append({"model": "k-anonymity", "attributes": over, "k": rng.randint(2, 3)})
        rest = rest[size:]
    kinds = [
        {"model": "l-diversity", "sensitive": "disease", "l": 2},
        {"model": "l-diversity", "sensitive": "disease", "l": "1.5", "variant": "entropy"},
        {"model": "p-sensitive", "sensitive": "disease", "p": 2},
        {"model": "alpha-k", "sensitive": "disease", "alpha": "0.75", "k": 2},
        {"model": "t-closeness", "sensitive": "disease", "t": "0.5"},
    ]
    if rng.random() < 0.3:
        model = rng.choice(kinds)
        if model["model"] in algorithm.honours:
            found.append(model | {"attributes": sorted(rng.sample(quasi, rng.randint(1, len(quasi))))})
    return found
