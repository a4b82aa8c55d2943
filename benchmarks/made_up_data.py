"""Benchmark files: seeded, generated, never committed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

FLOOR_POLICY = """\
kveil: 1
data: {{path: {data}}}
attributes:
  Race:     {{role: quasi-identifier}}
  Birth:    {{role: quasi-identifier, hierarchy: {{dates: [month, year, decade]}}}}
  Sex:      {{role: quasi-identifier}}
  ZIP:      {{role: quasi-identifier, hierarchy: {{mask: {{keep: [4, 3, 2, 1]}}}}}}
  Height:   {{role: quasi-identifier, hierarchy: {{intervals: {{from: 140, to: 199, widths: [5, 10, 20]}}}}}}
  Weight:   {{role: quasi-identifier, hierarchy: {{intervals: {{from: 40, to: 139, widths: [5, 10, 20]}}}}}}
  Work_Hrs: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 1, to: 60, widths: [5, 10, 20]}}}}}}
  Salary:   {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: 199900, widths: [1000, 10000, 50000]}}}}}}
  Edu:
    role: quasi-identifier
    hierarchy:
      tree:
        "*":
          Basic: {{Primary: [e1, e2, e3, e4], Lower: [e5, e6, e7, e8]}}
          Higher: {{Upper: [e9, e10, e11, e12], University: [e13, e14, e15, e16]}}
privacy:
{privacy}
suppression: {{limit: {limit}}}
algorithm: {algorithm}
"""

ONE_K = "  - {model: k-anonymity, k: 10}"

# Table 2 of the many-constraints paper.
EIGHT_CONSTRAINTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("Race", "Birth", "Sex"), 5),
    (("Birth", "Sex", "ZIP"), 3),
    (("Sex", "ZIP"), 5),
    (("ZIP", "Height"), 3),
    (("Weight", "Work_Hrs", "Salary"), 6),
    (("Work_Hrs", "Salary", "Edu"), 3),
    (("Race", "Birth", "Edu"), 4),
    (("ZIP", "Weight"), 8),
)
EIGHT = "\n".join(
    f"  - {{model: k-anonymity, attributes: [{', '.join(over)}], k: {k}}}" for over, k in EIGHT_CONSTRAINTS
)


def floor_file(path: Path, rows: int, seed: int = 1) -> None:
    """Write the floor file: uniform and independent, nine attributes, nearly all rows distinct."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("1940-01-01") + np.arange(20_000)
    zips = np.array([f"{10_000 + 3 * i:05}" for i in range(30_000)])

    def pick(values: list[str]) -> pl.Series:
        return pl.Series(values, dtype=pl.String).gather(rng.integers(0, len(values), rows))

    pl.DataFrame(
        {
            "Race": pick(["White", "Black", "Asian", "Native", "Other"]),
            "Birth": pick([str(day) for day in days]),
            "Sex": pick(["m", "f"]),
            "ZIP": pick(zips.tolist()),
            "Height": pick([str(i) for i in range(140, 200)]),
            "Weight": pick([str(i) for i in range(40, 140)]),
            "Work_Hrs": pick([str(i) for i in range(1, 61)]),
            "Salary": pick([str(100 * i) for i in range(2_000)]),
            "Edu": pick([f"e{i}" for i in range(1, 17)]),
        }
    ).write_csv(path)


def floor_policy(folder: Path, data: Path, algorithm: str, privacy: str = ONE_K, limit: float = 0.0) -> Path:
    """Write a policy over the floor file."""
    path = folder / f"{data.stem}-{algorithm}.yaml"
    path.write_text(FLOOR_POLICY.format(data=data.name, privacy=privacy, algorithm=algorithm, limit=limit))
    return path


RULES_POLICY = """\
kveil: 1
data: {{path: {data}}}
attributes:
  Birth:  {{role: quasi-identifier, hierarchy: {{dates: [month, year, decade]}}}}
  Sex:    {{role: quasi-identifier}}
  ZIP:    {{role: quasi-identifier, hierarchy: {{mask: {{keep: [4, 3, 2, 1]}}}}}}
  City:   {{role: quasi-identifier, hierarchy: {{mask: {{keep: [3, 2]}}}}}}
  State:  {{role: quasi-identifier, hierarchy: {{mask: {{keep: [1]}}}}}}
  Height: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 140, to: 199, widths: [5, 10, 20]}}}}}}
  Hours:  {{role: quasi-identifier, hierarchy: {{intervals: {{from: 1, to: 60, widths: [5, 10, 20]}}}}}}
  Dept:   {{role: quasi-identifier, hierarchy: {{mask: {{keep: [3, 2]}}}}}}
  Phone:  {{role: quasi-identifier, hierarchy: {{mask: {{keep: [6, 5, 4, 3]}}}}}}
privacy: [{{model: k-anonymity, k: 10}}]
dependencies: ["ZIP -> City", "City -> State", "Dept -> Phone"]
algorithm: k-msd-ag
"""


def rules_file(path: Path, rows: int, seed: int = 1) -> None:
    """Write a file of nine attributes in which ZIP -> City -> State and Dept -> Phone hold."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("1940-01-01") + np.arange(20_000)
    zips = rng.integers(0, 30_000, rows)
    departments = rng.integers(0, 500, rows)

    def pick(values: list[str], at: NDArray[np.int64]) -> pl.Series:
        return pl.Series(values, dtype=pl.String).gather(at)

    def anyhow(values: list[str]) -> pl.Series:
        return pick(values, rng.integers(0, len(values), rows))

    pl.DataFrame(
        {
            "Birth": anyhow([str(day) for day in days]),
            "Sex": anyhow(["m", "f"]),
            "ZIP": pick([f"{10_000 + 3 * i:05}" for i in range(30_000)], zips),
            "City": pick([f"c{i // 60:03}" for i in range(30_000)], zips),
            "State": pick([f"{i // 600:02}" for i in range(30_000)], zips),
            "Height": anyhow([str(i) for i in range(140, 200)]),
            "Hours": anyhow([str(i) for i in range(1, 61)]),
            "Dept": pick([f"d{i:03}" for i in range(500)], departments),
            "Phone": pick([f"{8_000_000 + 1_000 * i + i % 7:07}" for i in range(500)], departments),
        }
    ).write_csv(path)


def rules_policy(folder: Path, data: Path) -> Path:
    """Write the policy of the file with rules."""
    path = folder / f"{data.stem}-rules.yaml"
    path.write_text(RULES_POLICY.format(data=data.name))
    return path


# ---------------------------------------------------------------------------------------------- the clustering file

# Eight attributes like Adult's: how many values, and how many children the nodes of each level have, leaves first.
CLUSTERED: dict[str, tuple[int, tuple[int, ...]]] = {
    "education": (16, (4, 2)),
    "workclass": (8, (4,)),
    "marital": (7, (3,)),
    "occupation": (14, (4,)),
    "race": (5, ()),
    "sex": (2, ()),
    "age": (74, (5, 2, 2)),
    "country": (41, (6, 3)),
}
WIDE = 30_000


def _tree(name: str, values: int, fans: tuple[int, ...]) -> str:
    """Return a balanced tree over a column's values, as a policy writes it."""
    level = [(f"{name}{i}", "[]") for i in range(values)]
    for depth, fan in enumerate(fans):
        level = [
            (f"{name}-{depth}-{i // fan}", "{" + ", ".join(f"{n}: {below}" for n, below in level[i : i + fan]) + "}")
            for i in range(0, len(level), fan)
        ]
    return '{"*": {' + ", ".join(f"{label}: {below}" for label, below in level) + "}}"


def clustering_file(path: Path, rows: int, wide: bool = False, seed: int = 2) -> None:
    """Write the clustering file: independent columns, values ever rarer (as 1 / rank), leaves in random places.

    ``wide`` replaces country by a ZIP code of 30,000 values.
    """
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (number, _) in CLUSTERED.items():
        number = WIDE if wide and name == "country" else number
        share = 1 / np.arange(1, number + 1)
        codes = rng.permutation(number)[rng.choice(number, rows, p=share / share.sum())]
        texts = [f"{10_000 + 3 * i:05}" if number == WIDE else f"{name}{i}" for i in range(number)]
        columns[name] = pl.Series(texts, dtype=pl.String).gather(codes)
    pl.DataFrame(columns).write_csv(path)


def clustering_policy(folder: Path, data: Path, algorithm: str, k: int = 10, wide: bool = False) -> Path:
    """Write a policy over the clustering file."""
    lines = []
    for name, (number, fans) in CLUSTERED.items():
        hierarchy = "{mask: {keep: [4, 3, 2, 1]}}"
        if not (wide and name == "country"):
            hierarchy = f"{{tree: {_tree(name, number, fans)}}}"
        lines.append(f"  {name}: {{role: quasi-identifier, hierarchy: {hierarchy}}}\n")
    path = folder / f"{data.stem}-{algorithm}.yaml"
    path.write_text(
        f"kveil: 1\ndata: {{path: {data.name}}}\nattributes:\n{''.join(lines)}"
        f"privacy:\n  - {{model: k-anonymity, k: {k}}}\nalgorithm: {algorithm}\n"
    )
    return path


PEOPLE_POLICY = """\
kveil: 1
data: {{path: {data}}}
attributes:
  pid:  {{role: individual}}
  age:  {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: 99, widths: [5, 10, 20]}}}}}}
  sex:  {{role: quasi-identifier}}
  zip:  {{role: quasi-identifier, hierarchy: {{mask: {{keep: [4, 3, 2, 1]}}}}}}
  job:  {{role: quasi-identifier, hierarchy: {{mask: {{keep: [2]}}}}}}
  item: {{role: sensitive, hierarchy: items.csv}}
privacy:
  - {{model: kl-diversity, sensitive: item, k: 10, l: 5}}
  - {{model: k-anonymity, k: 10}}
algorithm: 1m-generalization
"""
ITEMS = 3_125  # a tree of fan-out 5, as the 1:M paper has it


def people_file(folder: Path, people: int, seed: int = 1) -> Path:
    """Write people with four items each, the first ones more frequent, and their policy; return the latter."""
    rng = np.random.default_rng(seed)
    items = (ITEMS * rng.random((people, 4)) ** 3).astype(np.int64)
    for column in range(1, 4):  # a second throw makes nearly all of them different
        same = (items[:, :column] == items[:, column : column + 1]).any(axis=1)
        items[same, column] = rng.integers(0, ITEMS, int(same.sum()))
    person = np.repeat(np.arange(people), 4)
    data = folder / f"people-{people}.csv"

    def pick(values: list[str]) -> pl.Series:
        return pl.Series(values, dtype=pl.String).gather(rng.integers(0, len(values), people)).gather(person)

    pl.DataFrame(
        {
            "pid": person,
            "age": pick([str(age) for age in range(100)]),
            "sex": pick(["f", "m"]),
            "zip": pick([f"{10_000 + 7 * i:05}" for i in range(2_000)]),
            "job": pick([f"{group}{i}" for group in range(10, 22) for i in range(5)]),
            "item": pl.Series([f"i{i:04}" for i in range(ITEMS)], dtype=pl.String).gather(items.reshape(-1)),
        }
    ).write_csv(data)
    lines = []
    for item in range(ITEMS):
        above = [f"n{depth}-{item // 5**depth}" for depth in range(1, 5)]
        lines.append(";".join([f"i{item:04}", *above, "*"]))
    (folder / "items.csv").write_text("\n".join(lines) + "\n")
    policy = folder / f"people-{people}.yaml"
    policy.write_text(PEOPLE_POLICY.format(data=data.name))
    return policy
