"""Labels that would name a rare value which a solution shows nowhere: a choice among solutions passes those over.

The verifier judges the texts of a release, and refuses such ones; this only spares a search what it would refuse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints
from kveil.errors import PolicyError
from kveil.policy.components import largest_k
from kveil.policy.numbers import parse_number
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

LONGEST = 300  # characters of a label that are looked at
_RUN = re.compile(r"(.*?\S)\s*(?:…|\.\.\.)\s*(\S.*)", re.DOTALL)
_LISTS = tuple(map(re.compile, (r"\s*[,;]\s*", r"\s*[/&+]\s*", r"\s+(?:to|and|or|-|–|—)\s+", r"-|–|—")))


@dataclass(frozen=True)
class _NamedValues:
    """A node whose label names rare values, and the nodes of these."""

    node: int
    values: Ints


def refuse_labels(table: Table, solution: Solution) -> PolicyError | None:
    """Return why the labels of a solution tell too much, None where they do not."""
    a = find_telling(table, solution)
    if a is None:
        return None
    least = max(largest_k(table.policy), 2)
    return PolicyError(
        f"{table.names[a]} shows a label that names a value which fewer than {least} have and which is released "
        "nowhere; rename such labels in its hierarchy, by number for example."
    )


def find_telling(table: Table, solution: Solution) -> int | None:
    """Return the first attribute of which a solution shows a label that names a rare value and not the value itself.

    Nothing is told of an attribute in which people have several values.
    """
    named: dict[int, list[_NamedValues]] = table.once("labels that name rare values", lambda: _named(table))
    part_of = {name: c for c, component in enumerate(table.components) for name in component.attributes}
    for a, names in named.items():
        component = part_of.get(table.names[a])
        out = solution.suppressed_anywhere if table.whole_rows or component is None else solution.suppressed[component]
        shown = _shown(table.trees[a], solution.shown[a].codes, out)
        if any(shown[own.node] and not shown[own.values].all() for own in names):
            return a
    return None


def _shown(tree: object, codes: Ints, out: Bools) -> Bools:
    """Return which nodes of a tree are shown by rows that are released."""
    assert isinstance(tree, Tree)
    shown = np.zeros(len(tree.labels) + 1, dtype=bool)  # a place for what is shown as `*` beside the tree
    shown[np.minimum(codes[~out], len(tree.labels))] = True
    return shown


def _named(table: Table) -> dict[int, list[_NamedValues]]:
    """Return for the attributes with trees of their own the nodes whose labels name rare values."""
    policy, least = table.policy, max(largest_k(table.policy), 2)
    found: dict[int, list[_NamedValues]] = {}
    for a, (name, tree) in enumerate(zip(table.names, table.trees, strict=True)):
        fixed = policy.fixed_lines(name) if name in policy.quasi_identifiers else None
        if fixed is None or not isinstance(tree, Tree) or not np.array_equal(table.low[a], table.high[a]):
            continue
        people = np.zeros(len(tree.labels), dtype=np.int64)
        people[tree.leaf_nodes] = table.tally(table.leaves[a], tree.leaves)
        named = {node: values for node in range(1, len(tree.labels)) if (values := _named_by(tree, node))}
        if any((people[values] == 0).any() for values in map(np.array, named.values())):
            continue  # a tree that names what nobody has was not made from the table
        rare = (people > 0) & (people < least)
        rare[[tree.node_of[text] for text in policy.data.missing if text in tree.node_of]] = False
        own = [
            _NamedValues(node, np.array([v for v in values if rare[v]], dtype=np.int32))
            for node, values in named.items()
        ]
        if any(len(names.values) for names in own):
            found[a] = [names for names in own if len(names.values)]
    return found


def _named_by(tree: Tree, node: int) -> list[int]:
    """Return the leaves that a node's label names: the ends of a run, or all parts of a list if they lie below it."""
    label = tree.labels[node][:LONGEST].strip()
    if not tree.height[node]:
        return []
    run = _RUN.fullmatch(label)
    if run is not None:
        ends = (tree.node_of.get(end.strip()) for end in run.groups())
        return [end for end in ends if end is not None and tree.height[end] == 0]
    for separator in _LISTS:
        parts = {part.strip() for part in separator.split(label.strip("{}[]()"))}
        nodes = [tree.node_of.get(part) for part in sorted(parts)]
        if len(parts) > 1 and None not in nodes and any(parse_number(part) is None for part in parts):
            leaves = [own for own in nodes if own is not None]
            below = all(tree.height[o] == 0 and tree.first[node] <= tree.first[o] <= tree.last[node] for o in leaves)
            return leaves if below else []
    return []
