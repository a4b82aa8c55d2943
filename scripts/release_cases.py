"""The tables and policies whose releases `releases.py` records, each with the algorithms that it is released by.

They are the worked examples of the papers, the demo's hospital, many small random tables, and, where the real data lies
beside the project, Adult and diabetes130.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from kveil.policy.keys import ALGORITHM_NAMES

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
ALGORITHMS = tuple(name for name in ALGORITHM_NAMES if name != "auto")
RANDOM_TABLES = 120


@dataclass(frozen=True)
class Case:
    """A table, the policy it is released under, and the folder that the policy's hierarchy files are relative to."""

    name: str
    frame: pl.DataFrame
    document: Mapping[str, Any]
    folder: Path = ROOT

    def policy_in(self, folder: Path, data: str) -> Path:
        """Write the policy into a folder, about a table there, and return its path."""
        attributes = {name: dict(entry) for name, entry in self.document["attributes"].items()}
        for entry in attributes.values():
            if isinstance(entry.get("hierarchy"), str):
                entry["hierarchy"] = str(self.folder / entry["hierarchy"])
        described = {**self.document.get("data", {}), "path": data}
        path = folder / "policy.yaml"
        content = {**self.document, "data": described, "attributes": attributes}
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path


def golden() -> Iterator[Case]:
    """Yield the papers' worked examples, each with every algorithm."""
    folder = ROOT / "tests" / "golden"
    for path in sorted(folder.glob("*/policy*.yaml")):
        frame = pl.read_csv(path.parent / "input.csv", infer_schema=False, empty_string_is_null=False)
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for algorithm in (document["algorithm"], "auto", *ALGORITHMS):
            name = f"golden/{path.parent.name}/{path.stem}/{algorithm}"
            yield Case(name, frame, {**document, "algorithm": algorithm}, path.parent)


def hospital() -> Iterator[Case]:
    """Yield the demo's two policies, each with every algorithm."""
    folder = ROOT / "src" / "kveil" / "data" / "hospital"
    for stem, data in (("policy", "patients.csv"), ("everything", "visits.csv")):
        frame = pl.read_csv(folder / data, infer_schema=False, empty_string_is_null=False)
        document = yaml.safe_load((folder / f"{stem}.yaml").read_text(encoding="utf-8"))
        for algorithm in ("auto", *ALGORITHMS):
            yield Case(f"hospital/{stem}/{algorithm}", frame, {**document, "algorithm": algorithm}, folder)


def _random_table(draw: random.Random) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a small random table with a random policy that uses a few things at once."""
    rows = draw.choice([6, 12, 30, 80])
    people = draw.random() < 0.3
    tree = {"*": {"A": ["a1", "a2", "a3"], "B": {"B1": ["b1", "b2"], "b3": []}, "c": []}}
    kinds: list[tuple[dict[str, Any], Callable[[], str]]] = [
        ({"hierarchy": {"tree": tree}}, lambda: draw.choice(["a1", "a2", "a3", "b1", "b2", "b3", "c"])),
        ({"hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10, 20]}}}, lambda: str(draw.randrange(100))),
        (
            {"hierarchy": {"mask": {"keep": [2, 1]}}},
            lambda: f"{draw.randrange(1, 4)}{draw.randrange(3)}{draw.randrange(3)}",
        ),
        ({}, lambda: draw.choice("MFX")),
        ({"hierarchy": {"ranges": {"within": [0, 50]}}}, lambda: str(draw.randrange(51))),
    ]
    width = draw.randrange(2, 5)
    attributes: dict[str, Any] = {}
    columns: dict[str, list[str]] = {}
    person = [f"p{draw.randrange(max(rows // 3, 4))}" for _ in range(rows)]
    if people:
        attributes["pid"], columns["pid"] = {"role": "individual"}, person
    for i in range(width):
        kind, value = kinds[draw.randrange(5 if draw.random() < 0.3 else 4)]
        entry = {"role": "quasi-identifier", **kind}
        if "tree" in kind.get("hierarchy", {}) and draw.random() < 0.4:
            entry["boundary"] = ["A", "B"]
        missing = draw.random() < 0.2
        own = {p: "" if missing and draw.random() < 0.1 else value() for p in person} if people else {}
        attributes[f"q{i}"] = entry
        columns[f"q{i}"] = (
            [own[p] for p in person]
            if people
            else ["" if missing and draw.random() < 0.1 else value() for _ in range(rows)]
        )
    attributes["s"] = {
        "role": "sensitive",
        "hierarchy": {"tree": {"*": {"X": ["flu", "cold"], "Y": ["hiv", "gout", "acne"]}}},
    }
    columns["s"] = [draw.choice(["flu", "cold", "hiv", "gout", "acne"]) for _ in range(rows)]
    names = [f"q{i}" for i in range(width)]
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": draw.choice([2, 3])}]
    if draw.random() < 0.4:
        privacy = [
            {"model": "k-anonymity", "k": draw.choice([2, 3, 4]), "attributes": names[:2]},
            {
                "model": "k-anonymity",
                "k": draw.choice([2, 3]),
                "attributes": names[1:] if draw.random() < 0.6 else names[2:] or names,
            },
        ]
    if draw.random() < 0.5:
        privacy.append(
            draw.choice(
                [
                    {"model": "l-diversity", "sensitive": "s", "l": 2},
                    {"model": "l-diversity", "sensitive": "s", "l": 2, "variant": "entropy"},
                    {"model": "p-sensitive", "sensitive": "s", "p": 2},
                    {"model": "alpha-k", "sensitive": "s", "alpha": 0.6, "k": 2},
                    {
                        "model": "t-closeness",
                        "sensitive": "s",
                        "t": 0.4,
                        "distance": draw.choice(["equal", "hierarchical"]),
                    },
                    *([{"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 2}] if people else []),
                ]
            )
        )
    document: dict[str, Any] = {
        "kveil": 1,
        "attributes": attributes,
        "privacy": privacy,
        "suppression": {"limit": draw.choice([0, 0.1, 0.3]), "show": draw.choice(["drop", "star"])},
        "loss": draw.choice(["ncp", "il", "precision"]),
    }
    if not people and draw.random() < 0.2:
        document["dependencies"] = ["q0 -> q1"]
        first: dict[str, str] = {}
        columns["q1"] = [first.setdefault(a, b) for a, b in zip(columns["q0"], columns["q1"], strict=True)]
    return pl.DataFrame(columns), document


def random_tables() -> Iterator[Case]:
    """Yield small random tables and policies, each with every algorithm."""
    for seed in range(RANDOM_TABLES):
        frame, document = _random_table(random.Random(seed))
        for algorithm in ("auto", *ALGORITHMS):
            yield Case(f"random/{seed}/{algorithm}", frame, {**document, "algorithm": algorithm})


def adult() -> Iterator[Case]:
    """Yield policies on Adult with the trees of ARX."""
    folder = SHARED / "adult"
    if not folder.exists():
        return
    frame = pl.read_csv(folder / "adult_arx.csv", separator=";", infer_schema=False)
    quasi = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": str(folder / f"hierarchies_arx/adult_hierarchy_{name}.csv"),
        }
        for name in quasi
    }
    attributes["salary-class"] = {"role": "sensitive"}
    few = {name: attributes[name] for name in frame.columns}
    ten: dict[str, Any] = {"kveil": 1, "attributes": few, "privacy": [{"model": "k-anonymity", "k": 10}]}
    some = {**ten, "suppression": {"limit": 0.05}}
    diverse = {**some, "privacy": [*ten["privacy"], {"model": "l-diversity", "sensitive": "salary-class", "l": 2}]}
    close = {**some, "privacy": [*ten["privacy"], {"model": "t-closeness", "sensitive": "salary-class", "t": 0.2}]}
    share = {**some, "privacy": [{"model": "alpha-k", "sensitive": "salary-class", "alpha": 0.8, "k": 5}]}
    many = {
        **some,
        "privacy": [
            {"model": "k-anonymity", "k": 20, "attributes": ["age", "sex", "race"]},
            {"model": "k-anonymity", "k": 10, "attributes": ["education", "occupation", "sex"]},
            {"model": "k-anonymity", "k": 5, "attributes": ["workclass", "marital-status", "native-country"]},
        ],
    }
    bounded = {
        **some,
        "attributes": {
            name: {**entry, "boundary": {"level": 1}} if name in ("education", "native-country") else entry
            for name, entry in few.items()
        },
    }
    wide = {
        **some,
        "attributes": {**few, "age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 100]}}}},
    }
    for name, document, algorithms in (
        ("k10", ten, ("datafly", "mondrian", "classfly", "k-member", "k-msd", "least-loss")),
        ("k10 some", some, ("incognito", "classfly+partial")),
        ("diverse", diverse, ("mondrian", "pk-clustering", "classfly+complete")),
        ("close", close, ("mondrian", "datafly")),
        ("share", share, ("pk-clustering",)),
        ("many", many, ("datafly", "classfly+complete", "classfly+naive", "mondrian", "least-loss")),
        ("bounded", bounded, ("greedy-cka", "mondrian", "k-msd-ag")),
        ("ranges", wide, ("mondrian", "greedy-cka")),
    ):
        for algorithm in algorithms:
            yield Case(f"adult/{name}/{algorithm}", frame, {**document, "algorithm": algorithm})


def diabetes() -> Iterator[Case]:
    """Yield policies on the patients of diabetes130, several diagnoses per patient."""
    folder = SHARED / "diabetes130"
    if not folder.exists():
        return
    patients = pl.read_csv(folder / "patients.csv.gz", infer_schema=False)
    codes = pl.read_csv(folder / "diagnoses.csv.gz", infer_schema=False).select(
        "patient_nbr", pl.col("icd9").str.split(".").list.first().alias("icd9")
    )
    digits = pl.col("icd9").str.contains(r"^[0-9]+$")
    codes = codes.with_columns(
        pl.when(digits).then(pl.col("icd9").str.pad_start(3, "0")).otherwise("icd9").alias("icd9")
    )
    quasi = ["race", "gender", "age", "payer_code", "medical_specialty"]
    frame = (
        patients.select("patient_nbr", *quasi).join(codes, on="patient_nbr", how="inner").unique(maintain_order=True)
    )
    trees = folder / "hierarchies"
    attributes: dict[str, Any] = {"patient_nbr": {"role": "individual"}}
    for name in quasi:
        tree = trees / f"{name}.txt"
        attributes[name] = {"role": "quasi-identifier", **({"hierarchy": str(tree)} if tree.exists() else {})}
    attributes["icd9"] = {"role": "sensitive", "hierarchy": str(trees / "icd9_even.txt")}
    document: dict[str, Any] = {
        "kveil": 1,
        "data": {"missing": ["?"]},
        "attributes": attributes,
        "privacy": [{"model": "kl-diversity", "sensitive": "icd9", "k": 10, "l": 5}],
    }
    plain = {**document, "privacy": [{"model": "k-anonymity", "k": 10}]}
    sets = {**document, "privacy": [{"model": "kl-diversity", "sensitive": "icd9", "k": 10, "l": 1}]}
    for name, asked, algorithm in (
        ("kl", document, "1m-generalization"),
        ("kl", document, "least-loss"),
        ("k", plain, "mondrian"),
        ("k", plain, "datafly"),
        ("sets", sets, "partition"),
    ):
        yield Case(f"diabetes/{name}/{algorithm}", frame, {**asked, "algorithm": algorithm})


SETS = {"golden": golden, "hospital": hospital, "random": random_tables, "adult": adult, "diabetes": diabetes}
