"""Of a policy only what the release shows counts: for its hash, and for the trees that others get."""

from __future__ import annotations

from typing import Any

import polars as pl

import kveil
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.shown_policy import labels_needed, policy_sha256, shown_tree
from kveil.verifier.rows import release_rows
from support import QUASI, policy_dict

TREE = {"*": {"North": ["Oslo", "Narvik"], "South": {"Italy": ["Rome", "Pisa"], "Spain": ["Madrid"]}}}
SHOWN = pl.DataFrame({"city": ["North", "North", "Rome", "Rome"], "s": list("abab")})


def written(**city: Any) -> dict[str, Any]:
    attributes = {"who": "identifier", "city": {"role": QUASI, "hierarchy": {"tree": TREE}, **city}, "s": "sensitive"}
    return policy_dict(attributes, data={"missing": ["", "?"]}, seed=7)


def test_the_hash_changes_with_promises_and_not_with_values_that_nobody_sees() -> None:
    content = written()
    policy = kveil.Policy(**content)
    rows = release_rows(table_of(SHOWN, policy), policy)
    own = policy_sha256(policy, rows)
    stricter = kveil.Policy(**{**content, "privacy": [{"model": "k-anonymity", "k": 3}]})
    assert policy_sha256(stricter, rows) != own
    more = {"*": {**TREE["*"], "North": ["Oslo", "Narvik", "Bergen"]}}
    attributes = {**content["attributes"], "city": {"role": QUASI, "hierarchy": {"tree": more}}}
    assert policy_sha256(kveil.Policy(**{**content, "attributes": attributes}), rows) == own
    assert policy_sha256(kveil.Policy(**{**content, "seed": 8}), rows) == own


def test_labels_are_needed_of_what_others_know_and_of_no_identifier() -> None:
    policy = kveil.Policy(**written())
    needed = labels_needed(policy, release_rows(table_of(SHOWN, policy), policy))
    assert list(needed) == ["city", "s"]
    assert needed["city"] == {"North", "Rome"}


def test_a_tree_has_what_is_shown_and_the_marks_above_it() -> None:
    policy = kveil.Policy(**written(boundary=["North", "South"]))
    tree = shown_tree(policy, "city", {"North", "Rome"})
    assert tree is not None
    assert tree.lines == (("North", "*"), ("Rome", "South", "*"))
    assert tree.boundary == ["North", "South"]
    assert shown_tree(kveil.Policy(**written()), "city", set()) is None
