"""Sensitive attributes as codes, in the order that distances need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.errors import DataError
from kveil.kernels.grouping.equal_rows import add_up
from kveil.policy.attributes import Attribute, Intervals, Ranges
from kveil.policy.builders import build_lines, label_writer
from kveil.policy.model import Policy
from kveil.policy.numbers import LONGEST_NUMBER, is_too_long, parse_number, show_number
from kveil.table.columns import Coded
from kveil.table.persons import Persons
from kveil.table.tree import Tree, build_tree
from kveil.words import count, listing


@dataclass(frozen=True)
class TreeBuilder:
    """Makes an attribute's tree of the values it is given; ``where`` stands in errors."""

    attribute: Attribute
    missing: tuple[str, ...]
    where: str
    has_missing: bool

    def tree(self, values: list[str]) -> Tree:
        """Return the tree whose leaves are some values."""
        lines, _ = build_lines(self.attribute.hierarchy, values, self.where)
        shown = self.missing[0] if self.has_missing else None
        return build_tree(lines.lines, lines.root, self.attribute, shown, missing_texts=self.missing)


@dataclass(frozen=True)
class Sensitive:
    """The values of one sensitive attribute and who has which.

    ``values`` stand in numeric order, else in leaf order, else in the order of texts; their code is their
    position, missing is the code after the last. ``row`` and ``code`` are pairs of a row (a record, or a
    person) and a value it has. ``builder`` makes the tree where the policy has a builder instead of a tree.
    """

    name: str
    values: tuple[str, ...]
    row: Ints
    code: Ints
    tree: Tree | None
    builder: TreeBuilder | None = None

    @property
    def known(self) -> int:
        """How many values there are; also the code of missing."""
        return len(self.values)

    @cached_property
    def most_per_row(self) -> int:
        """How many values one row has at most; missing is none."""
        return max(int(np.bincount(self.row[self.code < self.known], minlength=1).max()), 1)

    @cached_property
    def some_missing(self) -> bool:
        """Whether a row has the value missing."""
        return bool((self.code == self.known).any())

    def as_shown(self, values: Collection[str]) -> list[str]:
        """Return released values in the order in which a set shows them: as leaves of a tree, by size, or by text.

        Values that are not released have no say in it.
        """
        tree = self.tree
        if tree is not None:
            if self.builder is not None:
                tree = self.builder.tree(sorted(values))
            return sorted(values, key=tree.node_of.__getitem__)
        numbers = {value: parse_number(value) for value in values}
        if any(number is None for number in numbers.values()):
            return sorted(values)
        return sorted(values, key=lambda value: (numbers[value], value))

    def nodes_as_shown(self, values: list[str]) -> tuple[Sequence[str], Ints]:
        """Return the texts of the tree's nodes and their places in a set, where ``values`` are all that is released."""
        tree = self.tree
        assert tree is not None
        if self.builder is None:
            return tree.labels, np.arange(len(tree.labels), dtype=np.int32)
        rewrite = label_writer(self.builder.attribute.hierarchy, values)
        labels = [rewrite(label) for label in tree.labels]
        over_released = self.builder.tree(values)
        return labels, np.array([over_released.node_of.get(label, -1) for label in labels], dtype=np.int32)

    @cached_property
    def leaves(self) -> Ints:
        """The leaf of every code in the tree, missing last; -1 where the data has none."""
        tree = self.tree
        assert tree is not None
        missing = -1 if tree.missing is None else tree.missing
        return np.array([*(tree.first[tree.node_of[value]] for value in self.values), missing], dtype=np.int32)

    @cached_property
    def _numbers(self) -> tuple[Decimal | None, ...]:
        return tuple(parse_number(value) for value in self.values)

    def order(self, present: Bools) -> Ints:
        """Return the codes that are present in the order distances need: what is left out has no say in it."""
        codes = np.flatnonzero(present)
        if present[: self.known].all():
            return codes.astype(np.int32)  # as they are: values were sorted when the table was read
        numbers = {code: self._numbers[code] for code in codes.tolist() if code < self.known}
        if all(number is not None for number in numbers.values()):
            ordered = sorted(numbers, key=lambda code: (numbers[code], self.values[code]))
            codes[: len(ordered)] = ordered
        return codes.astype(np.int32)

    def ways(self, present: Bools) -> tuple[Ints, Floats]:
        """Return every code's nodes from its leaf up, -1 past the root, and the weight of the edge above each node.

        An edge weighs half the fall in height along it, over the height of the tree; missing hangs under the root.
        A builder's tree has the present values as its leaves; codes that are not present have no nodes in it.
        """
        tree = self.tree
        assert tree is not None
        if self.builder is not None and not present[: self.known].all():
            tree = self.builder.tree([value for value, here in zip(self.values, present, strict=False) if here])
        missing = len(tree.labels) if tree.missing is None else int(tree.leaf_nodes[tree.missing])
        node = np.array([*(tree.node_of.get(value, -1) for value in self.values), missing], dtype=np.int32)
        parent = np.append(tree.parent, 0)
        height = tree.height.astype(np.float64)
        fall = np.append(height[tree.parent] - height, height[0])
        return _climbs(node, parent), fall / (2 * max(float(height[0]), 1.0))


@dataclass(frozen=True)
class WholeValues(Sensitive):
    """The values of a whole table, of which rows have some: sets show their items in the order of all of them."""

    def as_shown(self, values: Collection[str]) -> list[str]:
        """Return values in the order that all values of the whole table have."""
        chosen = set(values)
        return [value for value in super().as_shown(self.values) if value in chosen]

    def as_released(self, values: Collection[str]) -> list[str]:
        """Return values in the order that they have where they are all that is released."""
        return super().as_shown(values)


def as_a_whole(sensitive: Sensitive) -> WholeValues:
    """Return an attribute whose values are those of a whole table."""
    return WholeValues(**{own.name: getattr(sensitive, own.name) for own in fields(Sensitive)})


@dataclass(frozen=True)
class ShownItems(Sensitive):
    """Items as they will be shown: nodes of a tree, each a value like any other.

    For distances, an item that is shown as an inner node is a leaf of its own under that node.
    """

    nodes_in: Tree | None = None

    def ways(self, present: Bools) -> tuple[Ints, Floats]:
        """Return every code's nodes from its leaf up, as `Sensitive.ways`; leaves of their own follow the tree's."""
        tree = self.nodes_in
        assert tree is not None
        size = len(tree.labels)
        missing = size if tree.missing is None else int(tree.leaf_nodes[tree.missing])
        own = np.array([tree.node_of[value] for value in self.values], dtype=np.int32)
        inner = tree.height[own] > 0
        first = np.where(inner, size + 1 + np.arange(len(own)), own)
        parent = np.concatenate([tree.parent, [0], own]).astype(np.int32)
        node = np.append(first, missing).astype(np.int32)
        height = np.concatenate([tree.height, [0], np.zeros(len(own))]).astype(np.float64)
        return _climbs(node, parent), (height[parent] - height) / (2 * max(float(tree.height[0]), 1.0))


def _climbs(node: Ints, parent: Ints) -> Ints:
    """Return the nodes from each node up to the root, a row per node, -1 past the root."""
    levels = []
    while (node >= 0).any():
        levels.append(node)
        node = np.where(node > 0, parent[np.maximum(node, 0)], -1).astype(np.int32)
    return np.array(levels).T


def encode_sensitive(column: Coded, policy: Policy, name: str, persons: Persons | None, where: str) -> Sensitive:
    """Return a sensitive attribute's values and pairs; a value its hierarchy does not know is an error."""
    tree = _tree(column, policy, name, where)
    numbers = {text: parse_number(text) for text in column.texts}
    if tree is not None:
        leaf_of = {tree.labels[node]: leaf for leaf, node in enumerate(tree.leaf_nodes.tolist())}
    if all(number is not None for number in numbers.values()):
        values = sorted(column.texts, key=lambda text: (numbers[text], text))
    elif tree is not None:
        values = sorted(column.texts, key=leaf_of.__getitem__)
    else:
        values = sorted(column.texts)
    rank = {value: position for position, value in enumerate(values)}
    renumber = np.array([*(rank[text] for text in column.texts), len(values)], dtype=np.int32)
    codes = renumber[column.codes]
    builder = None
    if tree is not None and policy.fixed_lines(name) is None:
        missing = policy.data.missing
        builder = TreeBuilder(policy.attributes[name], missing, f"{where}: attributes.{name}", tree.missing is not None)
    if persons is None:
        return Sensitive(name, tuple(values), np.arange(len(codes), dtype=np.int32), codes, tree, builder)
    row, code = _person_pairs(persons, codes, len(values))
    return Sensitive(name, tuple(values), row, code, tree, builder)


def sensitive_among(column: Coded, whole: Sensitive, persons: Persons | None, where: str) -> Sensitive:
    """Return who has which of an attribute's values, where these are known from a whole table."""
    place = {value: code for code, value in enumerate(whole.values)}
    codes = np.array([*(place.get(text, -1) for text in column.texts), whole.known], dtype=np.int32)[column.codes]
    if (codes < 0).any():
        raise error_of_change(where)
    if persons is None:
        return replace(whole, row=np.arange(len(codes), dtype=np.int32), code=codes)
    row, code = _person_pairs(persons, codes, whole.known)
    return replace(whole, row=row, code=code)


def error_of_change(where: str) -> DataError:
    """Return the error about a table that has a value which it did not have when it was read before."""
    return DataError(f"{where} changed while kveil read it; nothing was written. Run again once it stays as it is.")


def _person_pairs(persons: Persons, codes: Ints, known: int) -> tuple[Ints, Ints]:
    """Return distinct (person, value); missing only for a person who has nothing else."""
    key = np.unique(persons.of_record.astype(np.int64) * (known + 1) + codes)
    person, code = np.divmod(key, known + 1)
    has = np.zeros(persons.number, dtype=bool)
    has[person[code < known]] = True
    keep = (code < known) | ~has[person]
    return person[keep].astype(np.int32), code[keep].astype(np.int32)


def _tree(column: Coded, policy: Policy, name: str, where: str) -> Tree | None:
    attribute = policy.attributes[name]
    if attribute.hierarchy is None:
        return None
    lines = policy.fixed_lines(name)
    unknown: list[str] = []
    if lines is None:
        lines, unknown = build_lines(attribute.hierarchy, column.texts, f"{where}: attributes.{name}")
    absent = bool((column.codes < 0).any())
    missing = policy.data.missing
    tree = build_tree(lines.lines, lines.root, attribute, missing[0] if absent else None, missing_texts=missing)
    leaves = {tree.labels[node] for node in tree.leaf_nodes.tolist()}
    unknown = unknown or [text for text in column.texts if text not in leaves]
    if unknown:
        raise unknown_values(column, unknown, policy, name, where)
    return tree


def unknown_values(column: Coded, unknown: list[str], policy: Policy, name: str, where: str) -> DataError:
    """Return the error about values a hierarchy does not know: how many, in how many records, the first few."""
    spec = policy.attributes[name].hierarchy
    remedy = "add them to the hierarchy"
    if isinstance(spec, (Intervals, Ranges)):
        remedy = _other_ends(spec, unknown)
    records = column.count(set(unknown))
    shown = [repr(value if len(value) <= 40 else value[:37] + "...") for value in sorted(unknown)[:3]]
    more = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
    return DataError(
        f"{where}: the hierarchy of {name} does not know {count(len(unknown), 'value')} "
        f"({listing(shown)}{more}) in {count(records, 'record')}; {remedy}, or list texts that mean missing under "
        "data.missing."
    )


def _other_ends(spec: Intervals | Ranges, unknown: list[str]) -> str:
    """Return which numbers a scale takes, and how it would take those that it does not know."""
    numbers = [parse_number(text) for text in unknown]
    if isinstance(spec, Ranges):
        low, high = spec.within
        raised, lowered, widened = "raise the end of `within`", "lower the start of `within`", "widen `within`"
    else:
        low, high = spec.from_, spec.to
        raised, lowered = "raise `to` or write `open: above`", "lower `from` or write `open: below`"
        widened = "widen it or write `open: both`"
    floor = "" if isinstance(spec, Intervals) and spec.open_below else f" from {show_number(low)}"
    ceiling = "" if isinstance(spec, Intervals) and spec.open_above else f" to {show_number(high)}"
    known = [number for number in numbers if number is not None]
    if all(parse_number(text.replace(",", ".")) is not None for text in unknown) and not known:
        change = 'correct them, or write `decimal: ","` under data'
    elif len(known) < len(numbers):
        change = "correct them"
    elif isinstance(spec, Ranges) and any(map(is_too_long, unknown)):
        change = f"round those that take more than {LONGEST_NUMBER} characters to write out"
    elif min(known) >= high:  # half-open intervals leave their end out
        change = raised
    else:
        change = lowered if max(known) < low else widened
    return f"it takes numbers{floor}{ceiling}, so {change}"


def row_pairs(
    sensitive: Sensitive, member: Ints, tuples: int, *, kept: Bools | None = None, times: Longs | None = None
) -> tuple[Ints, Ints, Longs]:
    """Return the pairs of an attribute by tuple: tuple, code and how many records of the tuple have it.

    ``times`` says how many records each row stands for, one where it is not given.
    """
    row, code = sensitive.row, sensitive.code
    if kept is not None:
        row, code = row[kept[row]], code[kept[row]]
    key = member[row].astype(np.int64) * (sensitive.known + 1) + code
    if tuples * (sensitive.known + 1) <= max(8 * len(key), 1 << 22):
        total = np.bincount(key) if times is None else np.bincount(key, weights=times[row]).astype(np.int64)
        keys = np.flatnonzero(total)
        counts = total[keys]
    elif times is None:
        keys, counts = np.unique(key, return_counts=True)
    else:
        keys, of_key = np.unique(key, return_inverse=True)
        counts = add_up(of_key.reshape(-1), times[row], len(keys))
    owner, value = np.divmod(keys, sensitive.known + 1)
    return owner.astype(np.int32), value.astype(np.int32), counts.astype(np.int64)
