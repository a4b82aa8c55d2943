"""A table is changed by one method, keeps what was reckoned, and holds nothing that is not released."""

import pickle

import numpy as np
import polars as pl

from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.table.columns import code_texts, codes_among
from kveil.table.encode import encode
from kveil.table.order import sorted_rows
from kveil.table.table import Table
from kveil.table.tree import Tree

POLICY = """
kveil: 1
attributes:
  name: {role: identifier}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}, boundary: {level: 1}}
  disease: {role: sensitive}
  ward: {role: insensitive}
privacy: [{model: k-anonymity, k: 2}]
"""


def table() -> Table:
    from pathlib import Path

    frame = pl.DataFrame(
        {
            "name": ["Ada Lovelace", "Bea", "Cid", "Dan"],
            "zip": ["02138", "02138", "02139", "02140"],
            "disease": ["flu", "gout", "flu", "flu"],
            "ward": ["b", "a", "b", "a"],
        }
    )
    return encode(from_frame(frame), Policy.parse(POLICY, "policy.yaml", Path()))


def test_a_changed_table_keeps_what_was_reckoned_and_the_first_one_stays() -> None:
    first = table()
    distinct, components = first.distinct, first.components
    other = first.changed(policy=first.policy.model_copy(update={"loss": "il"}))
    assert other.distinct is distinct
    assert other.components is components
    assert (first.policy.loss, other.policy.loss) == ("ncp", "il")


def test_rows_apart_are_tuples_of_their_own() -> None:
    first = table()
    assert len(first.distinct.weights) == 3
    apart = first.changed(rows_apart=True)
    assert apart.distinct.weights.tolist() == [1, 1, 1, 1]
    assert len(first.distinct.weights) == 3


def test_what_breaks_ties_decides_the_canonical_order() -> None:
    first = table()
    assert first.canonical.tolist() == [0, 1, 2, 3]  # by disease
    assert first.changed(ties=first.ties[1:]).canonical.tolist() == [1, 0, 2, 3]  # by ward
    assert first.changed(ties=()).canonical.tolist() == [0, 1, 2, 3]  # as they came


def test_a_table_holds_no_identifier() -> None:
    first = table()
    assert b"Lovelace" not in pickle.dumps([texts.to_list() for texts in first.ties])
    assert not any(callable(getattr(first, name)) for name in vars(first))


def test_the_limit_of_every_node_is_the_first_marked_one_above_it() -> None:
    tree = table().trees[0]
    assert isinstance(tree, Tree)
    for node, limit in enumerate(tree.limit_of_node.tolist()):
        up = node
        while not tree.limit[up]:
            up = int(tree.parent[up])
        assert limit == up
    assert (tree.limit_of_node[tree.leaf_nodes] == tree.limit_of).all()


def test_texts_become_codes_in_their_order_and_null_is_apart() -> None:
    coded = code_texts(pl.Series(["b", None, "a", "b"]))
    assert coded.texts == ["a", "b"]
    assert coded.codes.tolist() == [1, -1, 0, 1]
    assert codes_among(pl.Series(["x", None], dtype=pl.String), ["y", "x"]).tolist() == [1, -1]


def test_rows_are_sorted_by_many_keys_as_lexsort_does_it() -> None:
    rng = np.random.default_rng(0)
    for columns in (1, 2, 7, 40):
        keys = [rng.integers(0, int(most), 500).astype(np.int32) for most in rng.integers(1, 5000, columns)]
        assert (sorted_rows(keys) == np.lexsort(tuple(reversed(keys)))).all()
    assert sorted_rows([]).tolist() == []
