"""Turn the texts of a table into leaf numbers, under the hierarchies of its policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.errors import DataError
from kveil.files import TEXT_TYPES, Source, check_columns
from kveil.policy.attributes import STAR, Intervals, MaxWidth, Ranges
from kveil.policy.builders import build_lines, is_real
from kveil.policy.model import Policy
from kveil.policy.numbers import is_too_long, parse_number
from kveil.policy.privacy import sensitive_of
from kveil.table.columns import Coded, code_columns, stars_in
from kveil.table.persons import Persons, check_conflicts, check_constant, find_persons, nobody
from kveil.table.scale import Scale
from kveil.table.sensitive import as_a_whole, encode_sensitive, error_of_change, sensitive_among, unknown_values
from kveil.table.table import Table
from kveil.table.tree import Tree, build_tree
from kveil.words import count


def encode(source: Source, policy: Policy) -> Table:
    """Return a source as integers; every value must be known to its hierarchy."""
    check_columns(source.columns, policy.attributes, source.name)
    for name, attribute in policy.attributes.items():
        if attribute.role in {"sensitive", "insensitive"}:
            _no_stars(source, policy, name)
    return _encoded(source, policy, None)


def encode_tuples(source: Source, policy: Policy, times: Longs, of_row: Ints) -> Table:
    """Return tuples with counts as integers; the source has the columns that algorithms look at, and no others.

    A tuple is a row of the source, or the rows of one individual where the policy names a column for them: ``of_row``
    gives the tuple of every row, ``times`` how many records, or individuals, each tuple stands for. Every value must be
    known to its hierarchy.
    """
    return _encoded(source, policy, times[of_row], times=times)


def encode_values(values: Iterator[tuple[str, Source, Longs]], policy: Policy, name: str) -> Table:
    """Return a table without rows, with the trees of the quasi-identifiers and the values that models count.

    ``values`` gives every column that is encoded, as a source of its different values, with how many records have each.
    The table called ``name`` has too many rows to be encoded at once; `encode_some` encodes some of them. Every value
    must be known to its hierarchy.
    """
    known = {column: (next(code_columns(source, policy, [column], times=times))) for column, source, times in values}
    trees: list[Tree | Scale] = []
    fractions: dict[str, Bools] = {}
    for attribute in policy.quasi_identifiers:
        trees.append(encode_column(known[attribute], policy, attribute, name)[0])
        if _has_fractions(policy, attribute, known[attribute]):
            fractions[attribute] = np.zeros(0, dtype=bool)
    counted = _counted(policy, persons=policy.individual_column is not None)
    nothing = np.zeros((len(trees), 0), dtype=np.int32)
    return Table(
        policy,
        tuple(policy.quasi_identifiers),
        tuple(trees),
        leaves=nothing,
        low=nothing,
        high=nothing,
        sensitive={own: as_a_whole(encode_sensitive(known[own], policy, own, None, name)) for own in counted},
        persons=None if policy.individual_column is None else nobody(),
        fractions=fractions,
    )


def encoded_columns(policy: Policy) -> list[str]:
    """Return the columns of which a search needs all values: the quasi-identifiers, and what is counted."""
    counted = _counted(policy, persons=policy.individual_column is not None)
    return [*policy.quasi_identifiers, *(name for name in counted if name not in policy.quasi_identifiers)]


def encode_some(
    source: Source,
    whole: Table,
    *,
    times: Longs | None = None,
    of_row: Ints | None = None,
    checked: bool = True,
) -> Table:
    """Return some rows of a table whose trees and values are known, by `encode_values`.

    With ``times`` the rows are tuples with counts, as `encode_tuples` takes them; without, they are records. Unless it
    is to be ``checked``, individuals' records may disagree: whoever holds all of them says so.
    """
    row_times = None if times is None or of_row is None else times[of_row]
    table = _encoded_records(source, whole.policy, row_times, times, whole)
    return table if table.persons is None else _by_person(table, table.persons, source, checked=checked)


def leaves_of_values(source: Source, whole: Table, name: str) -> tuple[Ints, Bools]:
    """Return the leaves of a quasi-identifier's cells in a table whose trees are known, and which are no whole numbers.

    The second is told where the whole table has such numbers in intervals, as `Table.fractions` does.
    """
    coded = next(code_columns(source, whole.policy, [name], times=None))
    leaves = _leaves_among(coded, whole, whole.names.index(name), source.name)
    if name not in whole.fractions:
        return leaves, np.zeros(len(leaves), dtype=bool)
    return leaves, _fractions(coded)


def _fractions(column: Coded) -> Bools:
    """Return which cells are no whole numbers."""
    return np.asarray(np.array([*map(is_real, ([text] for text in column.texts)), False])[column.codes])


def _has_fractions(policy: Policy, name: str, column: Coded) -> bool:
    return isinstance(policy.attributes[name].hierarchy, Intervals) and is_real(column.texts)


def _encoded(source: Source, policy: Policy, row_times: Longs | None, *, times: Longs | None = None) -> Table:
    table = _encoded_records(source, policy, row_times, times, None)
    return table if table.persons is None else _by_person(table, table.persons, source)


def _encoded_records(
    source: Source, policy: Policy, row_times: Longs | None, times: Longs | None, whole: Table | None
) -> Table:
    """Return a table of records, which may be those of individuals; with the trees of a whole one, if it is given."""
    names = tuple(policy.quasi_identifiers)
    leaves = np.empty((len(names), source.rows), dtype=np.int32)
    trees: list[Tree | Scale] = []
    fractions: dict[str, Bools] = {}
    for position, (name, coded) in enumerate(
        zip(names, code_columns(source, policy, names, times=row_times), strict=True)
    ):
        if whole is None:
            tree, column = encode_column(coded, policy, name, source.name)
        else:
            tree, column = whole.trees[position], _leaves_among(coded, whole, position, source.name)
        trees.append(tree)
        leaves[position] = column
        if _has_fractions(policy, name, coded) if whole is None else name in whole.fractions:
            fractions[name] = _fractions(coded)
    persons = find_persons(source, policy)
    counted = _counted(policy, persons=persons is not None)
    sensitive = {
        name: encode_sensitive(coded, policy, name, persons, source.name)
        if whole is None
        else sensitive_among(coded, whole.sensitive[name], persons, source.name)
        for name, coded in zip(counted, code_columns(source, policy, counted, times=row_times), strict=True)
    }
    return Table(
        policy,
        names,
        tuple(trees),
        leaves=leaves,
        low=leaves,
        high=leaves,
        sensitive=sensitive,
        persons=persons,
        others=_others(source, policy, persons),
        ties=_ties(source, policy, counted, persons) if times is None else (),
        fractions=fractions,
        times=times,
    )


def _by_person(table: Table, persons: Persons, source: Source, *, checked: bool = True) -> Table:
    """Return a table of records as one of persons, whose records may disagree only where the policy allows it."""
    policy, leaves = table.policy, table.leaves
    if table.times is None:  # tuples have nothing of the columns that are released as they are
        check_constant(source, policy, persons)
    low, high = persons.lowest(leaves), persons.highest(leaves)
    if policy.individual.conflicts == "error" and checked:
        check_conflicts(table.names, low, high, source.name, times=table.times)
    first = np.take(leaves, persons.first, axis=1)
    if np.array_equal(low, high):
        low = high = first
    elif checked:
        _within_boundaries(table, persons, low, high, source.name)
    fractions = {name: persons.with_any(rows) for name, rows in table.fractions.items()}
    return replace(table, leaves=first, low=low, high=high, fractions=fractions)


def _ties(source: Source, policy: Policy, counted: list[str], persons: Persons | None) -> tuple[pl.Series, ...]:
    """Return the texts of the released columns that are neither quasi-identifiers nor counted by models."""
    names = [*policy.with_role("sensitive"), *policy.with_role("insensitive")]
    texts = [source.texts(name) for name in names if name not in counted]
    return tuple(texts) if persons is None else tuple(text.gather(persons.first) for text in texts)


def _others(source: Source, policy: Policy, persons: Persons | None) -> dict[str, Ints]:
    """Return the columns that dependencies name and that are released as they are, as codes in the order of texts.

    A person's sensitive attribute is the set of its items, which is what a release shows.
    """
    named = {name for rule in policy.dependencies for name in rule.left + rule.right}
    names = [name for name in policy.released if name in named and name not in policy.quasi_identifiers]
    found = {}
    for name, coded in zip(names, code_columns(source, policy, names), strict=True):
        place = {text: i for i, text in enumerate(sorted(coded.texts))}
        rank = np.array([*(place[text] for text in coded.texts), len(place)], dtype=np.int32)  # missing comes last
        codes = rank[coded.codes]
        if persons is not None and policy.attributes[name].role == "sensitive":
            codes = persons.set_codes(codes, len(place))
        elif persons is not None:
            codes = codes[persons.first]
        found[name] = codes
    return found


def _within_boundaries(table: Table, persons: Persons, low: Ints, high: Ints, where: str) -> None:
    """Raise DataError where what covers all of a person's values lies beyond the boundary of one of them."""
    of_record = persons.of_record
    for position, (name, tree) in enumerate(zip(table.names, table.trees, strict=True)):
        boundary = table.policy.attributes[name].boundary
        if isinstance(tree, Tree):
            limit = tree.limit_of[table.leaves[position]]
            outside = (tree.first[limit] > low[position][of_record]) | (tree.last[limit] < high[position][of_record])
            too_far = persons.with_any(outside)
        elif isinstance(boundary, MaxWidth):
            too_far = _too_wide(tree, boundary, low[position], high[position])
        else:
            continue
        beyond = int(too_far.sum() if table.times is None else table.times[too_far].sum())
        if beyond:
            raise DataError(
                f"{where}: the records of {count(beyond, 'person')} disagree on {name} so far that only a "
                "value beyond its boundary covers them; correct them, or move the boundary up."
            )


def _too_wide(scale: Scale, boundary: MaxWidth, low: Ints, high: Ints) -> Bools:
    """Return which spans of a scale show more than a largest width; numbers beside missing show anything."""
    spans, span_of = np.unique(np.array([low, high]), axis=1, return_inverse=True)
    wide = np.zeros(spans.shape[1], dtype=bool)
    for number, (first, last) in enumerate(spans.T.tolist()):
        wide[number] = scale.shows_more(first, last, boundary.max_width)
    return np.asarray(wide[span_of.reshape(-1)])


def _counted(policy: Policy, *, persons: bool) -> list[str]:
    """Return the sensitive attributes that are encoded: those models count, those with a hierarchy, all of persons."""
    used = {name for model in policy.privacy for name in sensitive_of(model)}
    return [
        name
        for name in policy.with_role("sensitive")
        if persons or name in used or policy.attributes[name].hierarchy is not None
    ]


def _no_stars(source: Source, policy: Policy, name: str) -> None:
    if isinstance(source.dtype(name), TEXT_TYPES) and STAR not in policy.data.missing:
        stars = int((source.texts(name) == STAR).sum())
        if stars:
            raise stars_in(source.name, name, stars)


def encode_column(column: Coded, policy: Policy, name: str, where: str) -> tuple[Tree | Scale, Ints]:
    """Return an attribute's tree and every record's leaf in it."""
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    absent = bool((column.codes < 0).any())
    if isinstance(spec, Ranges):
        return _encode_numbers(column, spec, policy, name, where)
    fixed = policy.fixed_lines(name)
    if fixed is None:
        fixed, unknown = build_lines(spec, column.texts, f"{where}: attributes.{name}")
        if unknown:
            raise unknown_values(column, unknown, policy, name, where)
    missing = policy.data.missing[0] if absent else None
    tree = build_tree(fixed.lines, fixed.root, attribute, missing, missing_texts=policy.data.missing)
    leaf_of = _leaf_of(tree)
    leaves = [*map(leaf_of.get, column.texts)]
    if None in leaves:
        unknown = [text for text, leaf in zip(column.texts, leaves, strict=True) if leaf is None]
        raise unknown_values(column, unknown, policy, name, where)
    leaves.append(-1 if tree.missing is None else tree.missing)
    return tree, np.take(np.array(leaves, dtype=np.int32), column.codes)


def _leaves_among(column: Coded, whole: Table, position: int, where: str) -> Ints:
    """Return every record's leaf in a tree that is known."""
    tree = whole.trees[position]
    if isinstance(tree, Scale):
        ranks = whole.once(("ranks", position), lambda: {number: rank for rank, number in enumerate(tree.numbers)})
        leaves = [ranks.get(parse_number(text), -1) for text in column.texts]
    else:
        known = whole.once(("leaves", position), lambda: _leaf_of(tree))
        leaves = [known.get(text, -1) for text in column.texts]
    leaves.append(-1 if tree.missing is None else tree.missing)
    codes = np.array(leaves, dtype=np.int32)[column.codes]
    if (codes < 0).any():
        raise error_of_change(where)
    return codes


def _leaf_of(tree: Tree) -> dict[str, int]:
    """Return the leaf of every text that is one, missing aside."""
    leaf_of = {tree.labels[node]: leaf for leaf, node in enumerate(tree.leaf_nodes.tolist())}
    if tree.missing is not None:
        del leaf_of[tree.labels[tree.leaf_nodes[tree.missing]]]
    return leaf_of


def _encode_numbers(column: Coded, spec: Ranges, policy: Policy, name: str, where: str) -> tuple[Scale, Ints]:
    """Return the scale of a `ranges` attribute and every record's rank on it."""
    low, high = spec.within
    numbers = [parse_number(text) for text in column.texts]
    unknown = [
        text
        for text, number in zip(column.texts, numbers, strict=True)
        if number is None or not low <= number <= high or is_too_long(text)
    ]
    if unknown:
        raise unknown_values(column, unknown, policy, name, where)
    ordered = tuple(sorted({number for number in numbers if number is not None}))
    rank = {number: position for position, number in enumerate(ordered)}
    missing = len(ordered) if (column.codes < 0).any() else None
    leaves = [rank[number] for number in numbers if number is not None]
    leaves.append(-1 if missing is None else missing)
    return Scale(ordered, spec, missing, policy.data.missing[0]), np.array(leaves, dtype=np.int32)[column.codes]
