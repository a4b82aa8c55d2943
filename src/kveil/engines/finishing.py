"""What is done to a solution once it is known who is released, where its rows lie elsewhere: labels, and losses.

How intervals are written, where spans are drawn and what all of it loses depend, attribute by attribute, on which
leaves are shown as what and by how many. So it is enough to have that counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kveil.engines.summary import (
    FRACTION,
    GONE,
    HIGH,
    IL,
    IS_STAR,
    LABEL,
    LEAF,
    LOW,
    NAME,
    NCP,
    SHOWN_CODE,
    SHOWN_RECORDS,
)
from kveil.measures import AttributeLoss, attribute_losses, starred_classes
from kveil.table.midpoints import as_written
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class FinishedColumn:
    """A quasi-identifier as it is released: labels that are written otherwise than parts wrote them, and its losses."""

    rewritten: dict[str, str]
    loss: AttributeLoss


def finish(whole: Table, counts: pl.DataFrame) -> dict[str, FinishedColumn]:
    """Return every quasi-identifier of a table whose parts counted what they show; ``whole`` has its trees."""
    return {
        name: _finished(whole, position, counts.filter(pl.col(NAME) == name))
        for position, name in enumerate(whole.names)
    }


def _finished(whole: Table, position: int, counts: pl.DataFrame) -> FinishedColumn:
    name, tree = whole.names[position], whole.trees[position]
    counts = counts.group_by(pl.exclude(SHOWN_RECORDS)).agg(pl.col(SHOWN_RECORDS).sum()).sort(pl.all())
    low, high, leaf = (counts[side].to_numpy()[None, :].astype(np.int32) for side in (LOW, HIGH, LEAF))
    fractions = {name: counts[FRACTION].to_numpy().astype(bool)} if name in whole.fractions else {}
    table = replace(
        whole,
        names=(name,),
        trees=(tree,),
        leaves=leaf,
        low=low,
        high=high,
        sensitive={},
        fractions=fractions,
        times=counts[SHOWN_RECORDS].to_numpy().astype(np.int64),
    )
    shown = _shown(tree, counts) if isinstance(tree, Tree) else _numbered(counts)
    gone = counts[GONE].to_numpy().astype(bool)
    solution = Solution((shown,), np.array([gone] * len(table.components)))
    written = as_written(table, solution)
    classes = written.classes.weighed(table.weights)
    losses = attribute_losses(table, written, classes, starred_classes(table, written, classes))
    after = written.shown[0]
    rewritten = {
        old: after.labels[code]
        for old, code, left_out in zip(counts[LABEL].to_list(), after.codes.tolist(), gone.tolist(), strict=True)
        if not left_out and old != after.labels[code]
    }
    return FinishedColumn(rewritten, losses[name])


def _shown(tree: Tree, counts: pl.DataFrame) -> Shown:
    """Return nodes of a tree as they are shown; codes past its nodes are stars of suppression."""
    codes = counts[SHOWN_CODE].to_numpy().astype(np.int32)
    shown = Shown.nodes(tree, codes)
    if int(codes.max(initial=0)) < len(tree.labels):
        return shown
    return _numbered(counts)


def _numbered(counts: pl.DataFrame) -> Shown:
    """Return what is shown with codes of its own: equal texts have one."""
    labels = counts.select(LABEL, NCP, IL, IS_STAR).unique(LABEL, keep="first", maintain_order=True).sort(LABEL)
    place = {label: code for code, label in enumerate(labels[LABEL].to_list())}
    codes = np.array([place[label] for label in counts[LABEL].to_list()], dtype=np.int32)
    ncp, il = labels[NCP].to_numpy(), labels[IL].to_numpy()
    return Shown(codes, tuple(place), ncp, il, labels[IS_STAR].to_numpy().astype(bool))
