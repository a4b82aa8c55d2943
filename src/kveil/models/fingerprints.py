"""Fingerprints: the sets of sensitive values people have, as values that models can count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kveil.arrays import Ints
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.items.partition import group_sets
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.policy.privacy import KLDiversity, PrivacyModel, sensitive_of
from kveil.table.sensitive import Sensitive, ShownItems
from kveil.table.table import Table


def fingerprint_name(model: PrivacyModel) -> str:
    """Return the name under which a table holds the fingerprints that a model counts; no column can have it."""
    return "\0".join(("fingerprint", *sensitive_of(model)))


def sharers_of_fingerprints(policy: Policy) -> dict[str, int]:
    """Return how many people must share each fingerprint, per name of fingerprints that models count."""
    found: dict[str, int] = {}
    for model in policy.privacy:
        if isinstance(model, KLDiversity):
            name = fingerprint_name(model)
            found[name] = max(model.k, found.get(name, 0))
    return found


def shown_pairs(table: Table, name: str, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the different pairs of a row and a shown node, sorted; ``nodes`` are those of the table's pairs."""
    sensitive = table.sensitive[name]
    assert sensitive.tree is not None
    width = len(sensitive.tree.labels) + 1
    row, node = np.divmod(np.unique(sensitive.row.astype(np.int64) * width + nodes), width)
    return row.astype(np.int32), node.astype(np.int32)


def fingerprints(table: Table, names: tuple[str, ...], items: dict[str, Ints]) -> tuple[Ints, Ints]:
    """Return every row's fingerprint over some attributes as a number, and the first row of each.

    ``items`` are the shown nodes of the attributes' pairs. Numbers depend on the order of the rows.
    """
    rows, nodes, offset = [], [], 0
    for name in names:
        row, node = shown_pairs(table, name, items[name])
        tree = table.sensitive[name].tree
        assert tree is not None
        rows.append(row)
        nodes.append(node + offset)
        offset += len(tree.labels) + 1
    row, node = np.concatenate(rows), np.concatenate(nodes)
    if len(names) == 1:
        return group_sets(run_starts(row, table.rows), node)
    by_row = members_by_group(row, table.rows)
    return group_sets(by_row.starts, node[by_row.rows])


def run_starts(row: Ints, rows: int) -> NDArray[np.int64]:
    """Return where each row's run starts among sorted row numbers, with the end as last entry."""
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int64)


def as_shown(table: Table, items: dict[str, Ints]) -> Table:
    """Return a table whose sensitive values are what its people will show, with the fingerprints models count."""
    found: dict[str, Sensitive] = {}
    for name, sensitive in table.sensitive.items():
        found[name] = sensitive if name not in items else _shown_values(table, name, items[name])
    everyone = np.arange(table.rows, dtype=np.int32)
    for model in table.policy.privacy:
        if isinstance(model, KLDiversity):
            code, first = fingerprints(table, sensitive_of(model), items)
            name = fingerprint_name(model)
            found[name] = Sensitive(name, ("",) * len(first), everyone, code, None)
    return table.changed(sensitive=found)


def _shown_values(table: Table, name: str, nodes: Ints) -> Sensitive:
    tree = table.sensitive[name].tree
    assert tree is not None
    row, node = shown_pairs(table, name, nodes)
    missing = -1 if tree.missing is None else int(tree.leaf_nodes[tree.missing])
    used = np.unique(node)
    used = used[used != missing]  # in depth-first order, a node before what lies below it
    labels = [tree.labels[n] for n in used.tolist()]
    numbers = [parse_number(label) for label in labels]
    if all(number is not None for number in numbers):
        used = used[sorted(range(len(used)), key=lambda i: (numbers[i], labels[i]))]
    code = np.full(len(tree.labels), len(used), dtype=np.int32)
    code[used] = np.arange(len(used))
    return ShownItems(name, tuple(tree.labels[n] for n in used.tolist()), row, code[node], None, nodes_in=tree)
