"""Texts become leaves, record by record, by counts, or piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from coded_tables import QUASI, coded
from kveil.errors import DataError
from kveil.files import Source
from kveil.frames import from_frame
from kveil.table.encode import encode_some, encode_tuples, encode_values, encoded_columns, leaves_of_values
from kveil.table.scale import Scale
from kveil.table.table import Table
from support import make_policy

ATTRIBUTES: dict[str, Any] = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}},
    "i": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
    "s": "sensitive",
    "w": "insensitive",
}
COLUMNS = {
    "t": ["a", "b", "c", "a"],
    "n": ["1", "4.50", "", "4.5"],
    "i": ["31", "35.5", "62", "90"],
    "s": ["p", "q", "", "p"],
    "w": ["3", "1", "2", ""],
}
MODELS = {"privacy": [{"model": "k-anonymity", "k": 1}, {"model": "p-sensitive", "sensitive": "s", "p": 1}]}


def texts(table: Table, position: int) -> list[str]:
    tree = table.trees[position]
    if isinstance(tree, Scale):
        return [tree.shown(leaf, leaf)[0] for leaf in table.leaves[position].tolist()]
    return [tree.labels[tree.leaf_nodes[leaf]] for leaf in table.leaves[position].tolist()]


def test_every_leaf_says_what_its_text_said() -> None:
    table = coded(COLUMNS, ATTRIBUTES, **MODELS)
    assert texts(table, 0) == COLUMNS["t"]
    assert texts(table, 1) == ["1", "4.5", "", "4.5"]  # numbers, not texts
    assert texts(table, 2) == COLUMNS["i"]
    assert table.sensitive["s"].code.tolist() == [0, 1, 2, 0]
    assert table.fractions["i"].tolist() == [False, True, False, False]
    assert [own.to_list() for own in table.ties] == [COLUMNS["w"]]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"t": ["a", "b", "z", "a"]}, "does not know 1 value"),
        ({"n": ["1", "11", "", "2"]}, "raise the end of `within`"),
        ({"n": ["1", "x", "", "2"]}, "correct them"),
        ({"s": ["p", "*", "", "p"]}, "s is `*` in 1 record"),
        ({"w": ["*", "*", "", "p"]}, "w is `*` in 2 records"),
        ({"x": ["1"] * 4}, "1 column without a role: x"),
    ],
)
def test_what_a_policy_does_not_know_is_refused(change: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        coded({**COLUMNS, **change}, ATTRIBUTES, **MODELS)
    assert sentence in str(caught.value)


def pieces(columns: dict[str, list[str]], names: list[str]) -> Iterator[tuple[str, Source, np.ndarray]]:
    for name in names:
        counted = Counter(columns[name])
        yield name, from_frame(pl.DataFrame({name: list(counted)})), np.array(list(counted.values()))


def test_a_table_encoded_piece_by_piece_has_the_leaves_of_the_whole() -> None:
    policy = make_policy(ATTRIBUTES, algorithm="auto", **MODELS)
    whole = coded(COLUMNS, ATTRIBUTES, **MODELS)
    names = encoded_columns(policy)
    assert names == ["t", "n", "i", "s"]
    empty = encode_values(pieces(COLUMNS, names), policy, "the table")
    assert empty.rows == 0
    for rows in ([0, 1], [2, 3]):
        own = {name: [cells[i] for i in rows] for name, cells in COLUMNS.items()}
        some = encode_some(from_frame(pl.DataFrame(own)), empty)
        assert some.leaves.tolist() == whole.leaves[:, rows].tolist()
        assert some.sensitive["s"].code.tolist() == whole.sensitive["s"].code[rows].tolist()
        assert some.fractions["i"].tolist() == whole.fractions["i"][rows].tolist()
    leaves, real = leaves_of_values(from_frame(pl.DataFrame({"i": ["35.5", "90"]})), empty, "i")
    assert leaves.tolist() == whole.leaves[2][[1, 3]].tolist()
    assert real.tolist() == [True, False]
    strange = from_frame(pl.DataFrame({**COLUMNS, "t": ["a", "b", "c", "d"]}))
    with pytest.raises(DataError, match="changed while kveil read it"):
        encode_some(strange, empty)


def test_tuples_stand_for_as_many_records_as_they_say() -> None:
    policy = make_policy(ATTRIBUTES, algorithm="auto", **MODELS)
    frame = pl.DataFrame({name: COLUMNS[name] for name in encoded_columns(policy)})
    table = encode_tuples(from_frame(frame), policy, np.array([5, 1, 2, 1]), np.arange(4, dtype=np.int32))
    assert (table.rows, table.records) == (4, 9)
    assert table.count(np.array([True, False, True, False])) == 7


def test_persons_whose_values_disagree_are_their_span_or_an_error() -> None:
    attributes = {"who": "individual", "t": ATTRIBUTES["t"]}
    columns = {"who": ["p", "q", "p"], "t": ["a", "c", "b"]}
    with pytest.raises(DataError, match="1 person"):
        coded(columns, attributes)
    table = coded(columns, attributes, individual={"conflicts": "generalize"})
    assert (table.low.tolist(), table.high.tolist()) == ([[0, 2]], [[1, 2]])
    limited = {**attributes, "t": {**ATTRIBUTES["t"], "boundary": {"level": 0}}}
    with pytest.raises(DataError, match="only a value beyond its boundary covers them"):
        coded(columns, limited, individual={"conflicts": "generalize"})
