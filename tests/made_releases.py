"""Releases of random quality made from a case, for the verifier and the measures to judge: some hold, some do not."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import polars as pl

from kveil.report.owner import Owner
from naive import release as naive
from strategies import SENSITIVE_VALUES, Placed

GARBAGE = "no such label"


def frame_of(rows: Sequence[naive.Row], columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String), orient="row")


def owner_of(aligned: Sequence[int], records: int) -> Owner:
    return Owner(np.array(aligned, dtype=np.int64), records, {})


def released_columns(here: Placed) -> list[str]:
    return [name for name in here.case.columns if here.twin.attributes[name]["role"] != "identifier"]


def some_release(here: Placed, random: Random) -> tuple[list[naive.Row], list[int]]:
    """A release of some quality: groups that show what their members share, stars, errors, left-out rows."""
    twin, records = here.twin, here.case.records
    hierarchies = {name: twin.hierarchy(name, [row[name] for row in records]) for name in twin.quasi}
    aligned = random.sample(range(len(records)), len(records))
    if random.random() < 0.3:
        aligned = aligned[: random.randrange(len(aligned) + 1)]
    size = random.choice([1, 2, 3, 4, len(records)])
    rows: list[naive.Row] = [{} for _ in aligned]
    by_value = sorted(range(len(aligned)), key=lambda i: [records[aligned[i]][name] for name in twin.quasi])
    for start in range(0, len(aligned), size):
        members = by_value[start : start + size]
        for name in twin.quasi:
            values = [twin.text(records[aligned[i]][name]) for i in members]
            hierarchy = hierarchies[name]
            shared = hierarchy.bounds(values) if isinstance(hierarchy, naive.Ranges) else hierarchy.lca(values)
            for i in members:
                rows[i][name] = shared
    noise = random.choice([0, 0, 0.05, 0.3])
    for i, row in enumerate(rows):
        for component in twin.components:
            if random.random() < noise:
                row |= dict.fromkeys(component, "*")
        for name in twin.quasi:
            if random.random() < noise:
                row[name] = random.choice(labels_of(hierarchies[name], twin.text(records[aligned[i]][name])))
        for name in twin.unchanged:
            row[name] = records[aligned[i]][name] if random.random() >= noise / 3 else other_value(here, name)
    return rows, aligned


def other_value(here: Placed, name: str) -> str:
    """Another value for a sensitive or insensitive cell, one that its hierarchy knows."""
    return SENSITIVE_VALUES[name][-1] if "hierarchy" in here.twin.attributes[name] else "other"


def labels_of(hierarchy: naive.Hierarchy | naive.Ranges, was: str) -> list[str]:
    """Texts to show for a value: true ones and others."""
    if isinstance(hierarchy, naive.Ranges):
        return [was, "*", "0-5", "[-20,80]", "3", GARBAGE, hierarchy.missing]
    return [*hierarchy.ways[was], *hierarchy.ways[was], *sorted(hierarchy.labels), "*", GARBAGE]
