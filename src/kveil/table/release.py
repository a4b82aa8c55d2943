"""From a solution to released texts, and from released texts back to codes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.files import Source, as_texts
from kveil.policy.model import STAR, Policy
from kveil.table.encode import Table
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Bools, Ints, Scale, Tree

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Release:
    """The released texts in their order; ``rows`` gives every released row's input row, from 0.

    ``columns`` holds the generalized columns; None stands for a column that is taken over unchanged.
    """

    columns: dict[str, pl.Series | None]
    rows: Rows

    def frame(self, source: Source) -> pl.DataFrame:
        """Return the release as a Polars frame."""
        return pl.DataFrame(
            {
                name: source.frame[name].gather(self.rows) if column is None else column
                for name, column in self.columns.items()
            }
        )


def decode(source: Source, table: Table, solution: Solution) -> Release:
    """Return the texts of a solution, in the policy's order."""
    policy = table.policy
    if policy.suppression.show == "drop":
        kept = np.flatnonzero(~solution.suppressed_anywhere)
    else:
        kept = np.arange(table.records)
    component_of = {name: c for c, part in enumerate(table.components) for name in part.attributes}
    released = [name for name in source.frame.columns if name in set(policy.released)]
    codes: dict[str, Ints] = {}
    labels: dict[str, list[str]] = {}
    for position, name in enumerate(table.names):
        shown = solution.shown[position]
        starred = solution.suppressed[component_of[name]]
        codes[name], labels[name] = _used(shown, starred, kept)
    order = _order(source, policy, released, codes, labels, kept)
    columns: dict[str, pl.Series | None] = {}
    for name in released:
        if name in codes:
            texts = pl.Series(name, labels[name], dtype=pl.String)
            columns[name] = texts.gather(codes[name][order])
        else:
            columns[name] = None
    return Release(columns, kept[order])


def _used(shown: Shown, starred: Bools, kept: Rows) -> tuple[Ints, list[str]]:
    """Return the kept records' codes among the labels that are used, and those labels in the order of texts."""
    codes = shown.codes[kept]
    if starred.any():
        codes[starred[kept]] = len(shown.labels)
    names = [*shown.labels, STAR]
    used = [(names[code], code) for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist()]
    labels = sorted({label for label, _ in used})
    rank = {label: position for position, label in enumerate(labels)}
    renumber = np.zeros(len(names), dtype=np.int32)
    for label, code in used:
        renumber[code] = rank[label]
    return renumber[codes], labels


def _order(
    source: Source,
    policy: Policy,
    released: list[str],
    codes: dict[str, Ints],
    labels: dict[str, list[str]],
    kept: Rows,
) -> Rows:
    if policy.release.order == "keep":
        return np.arange(len(kept))
    if policy.release.order == "shuffle":
        # Never the policy's seed: whoever reads the policy could undo the shuffle.
        return np.random.default_rng(secrets.randbits(128)).permutation(len(kept))
    keys: list[tuple[NDArray[Any], int]] = []
    for name in released:
        if name in codes:
            keys.append((codes[name], len(labels[name])))
        else:
            texts = as_texts(source.frame[name].gather(kept)).fill_null("")
            distinct = texts.unique().sort().to_list()
            keys.append((texts.cast(pl.Enum(distinct)).to_physical().to_numpy(), len(distinct)))
    return sort_rows(keys, len(kept))


def sort_rows(keys: list[tuple[NDArray[Any], int]], rows: int) -> Rows:
    """Return the stable order of rows by several rank columns, given with how many ranks each has.

    Columns are packed into 63-bit words, so that few sorts do.
    """
    words: list[NDArray[np.int64]] = []
    room = 0
    for column, cardinality in keys:
        if cardinality < 2:
            continue
        if words and room * cardinality < 2**62:
            words[-1] = words[-1] * cardinality + column
            room *= cardinality
        else:
            words.append(column.astype(np.int64))
            room = cardinality
    order = np.arange(rows)
    for word in reversed(words):
        order = order[np.argsort(word[order], kind="stable")]
    return order


def read_release(table: Table, texts: dict[str, pl.Series], rows: Rows) -> tuple[Solution, int]:
    """Return a release made anywhere as codes, and how many cells show what their hierarchy does not know.

    ``texts`` are the released quasi-identifiers, ``rows`` every released row's input row. Input rows that are
    not there are suppressed; so are rows of stars, and components whose stars no generalization can give.
    """
    absent = np.ones(table.records, dtype=bool)
    absent[rows] = False
    shown: list[Shown] = []
    unknown = 0
    for position, name in enumerate(table.names):
        tree = table.trees[position]
        column, strangers = _read_column(tree, texts[name])
        codes = np.zeros(table.records, dtype=np.int32)
        codes[rows] = column.codes
        shown.append(Shown(codes, column.labels, column.ncp, column.il, column.is_star))
        unknown += strangers
    suppressed = np.zeros((len(table.components), table.records), dtype=bool)
    star = [s.is_star[s.codes] for s in shown]
    everything = np.logical_and.reduce(star)
    for c, component in enumerate(table.components):
        positions = table.positions(component.attributes)
        all_star = np.logical_and.reduce([star[p] for p in positions])
        forced = np.logical_or.reduce([_cannot_star(table, p) for p in positions])
        suppressed[c] = absent | everything | (all_star & forced)
    return Solution(tuple(shown), suppressed), unknown


def _cannot_star(table: Table, position: int) -> Bools:
    """Return the records whose value no generalization may show as `*`."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        if not tree.is_star[0]:
            return np.ones(table.records, dtype=bool)
        return np.asarray(tree.limit_of[table.leaves[position]] != 0)
    return np.full(table.records, table.trees[position].missing is None)


def _read_column(tree: Tree | Scale, texts: pl.Series) -> tuple[Shown, int]:
    distinct = texts.unique().sort().to_list()
    physical = texts.cast(pl.Enum(distinct)).to_physical().to_numpy()
    if isinstance(tree, Tree):
        strangers = [text for text in distinct if text not in tree.node_of]
        number: dict[str, int] = {text: len(tree.labels) + i for i, text in enumerate(strangers)}
        number |= {text: tree.node_of[text] for text in distinct if text in tree.node_of}
        ones = np.ones(len(strangers))
        labels: tuple[str, ...] = (*tree.labels, *strangers)
        ncp: Any = np.concatenate([tree.ncp, ones])
        il: Any = np.concatenate([tree.il, ones])
        count = sum(1 for text in strangers if text != STAR)
    else:
        number = {text: position for position, text in enumerate(distinct)}
        labels = tuple(distinct)
        ncp = il = np.array([tree.loss_of_text(text) for text in distinct])
        count = 0
    codes = np.array([number[text] for text in distinct], dtype=np.int32)[physical]
    is_star = np.array([label == STAR for label in labels], dtype=bool)
    return Shown(codes, labels, ncp, il, is_star), count
