"""Small tables as integers, and solutions that show given labels: what tests of tables and algorithms begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from support import make_policy

QUASI = "quasi-identifier"


def coded(columns: Mapping[str, Sequence[Any]], attributes: Mapping[str, Any], **others: Any) -> Table:
    """Return columns as a table under a policy over attributes."""
    return encode(from_frame(pl.DataFrame(columns)), make_policy(attributes, **{"algorithm": "auto", **others}))


def shown_as(
    table: Table, labels: Mapping[str, Sequence[str]], gone: Sequence[Sequence[int]] | None = None, **others: Any
) -> Solution:
    """Return a solution in which attributes show these labels, and rows are gone from components by number."""
    shown = []
    for name, tree in zip(table.names, table.trees, strict=True):
        if isinstance(tree, Scale):
            texts = list(dict.fromkeys(labels[name]))
            cost = np.array([tree.loss_of_text(text) for text in texts])
            codes = np.array([texts.index(text) for text in labels[name]], dtype=np.int32)
            star = np.array([text == "*" for text in texts])
            shown.append(Shown(codes, tuple(texts), cost, cost, star))
        else:
            nodes = np.array([tree.node_of[label] for label in labels[name]], dtype=np.int32)
            shown.append(Shown.nodes(tree, nodes))
    suppressed = np.zeros((len(table.components), table.rows), dtype=bool)
    for component, rows in enumerate(gone or []):
        suppressed[component, list(rows)] = True
    return Solution(tuple(shown), suppressed, **others)


def texts_of(shown: Shown) -> list[str]:
    """Return what every row shows."""
    return [shown.labels[code] for code in shown.codes.tolist()]


TREE_AND_RANGE = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}},
}


def tree_and_range() -> tuple[Table, Solution]:
    """Return four records, one of them suppressed, with what they show."""
    table = coded({"t": list("abca"), "n": ["1", "4", "9", "4"]}, TREE_AND_RANGE, limit=1)
    return table, shown_as(table, {"t": ["N", "N", "c", "N"], "n": ["1-4", "1-4", "9", "1-4"]}, [[2]])
