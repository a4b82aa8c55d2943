"""Which tuple of an earlier release a record gets: the one that loses least by the policy's own measure."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.frames import from_frame
from kveil.previous.covering import cover_rows
from kveil.table.encode import encode

# Much of the first tree, but only half of the way up; little of the second, but two of three steps.
WIDE = {"tree": {"*": {"P": [f"a{n}" for n in range(9)], "Q": ["b"]}}}
DEEP = {"tree": {"*": {"R": {"r": ["c0", "c1"]}, "S": {"s": [f"d{n}" for n in range(18)]}}}}


@pytest.mark.parametrize(("loss", "chosen"), [("ncp", ("a0", "R")), ("precision", ("P", "c0")), ("il", ("P", "c0"))])
def test_a_tuple_is_chosen_by_the_loss_that_the_policy_names(loss: str, chosen: tuple[str, str]) -> None:
    quasi = {"role": "quasi-identifier"}
    policy = kveil.Policy.model_validate(
        {
            "kveil": 1,
            "attributes": {"wide": {**quasi, "hierarchy": WIDE}, "deep": {**quasi, "hierarchy": DEEP}},
            "privacy": [{"model": "k-anonymity", "k": 1}],
            "loss": loss,
        }
    )
    table = encode(from_frame(pl.DataFrame({"wide": ["a0"], "deep": ["c0"]})), policy)
    covered = cover_rows(table, pl.DataFrame({"wide": ["a0", "P"], "deep": ["R", "c0"]}))
    assert covered.tuples.row(int(covered.group[0])) == chosen


def test_weights_make_an_attribute_dearer() -> None:
    quasi = {"role": "quasi-identifier"}
    policy = kveil.Policy.model_validate(
        {
            "kveil": 1,
            "attributes": {"wide": {**quasi, "hierarchy": WIDE}, "deep": {**quasi, "hierarchy": DEEP, "weight": 20}},
            "privacy": [{"model": "k-anonymity", "k": 1}],
        }
    )
    table = encode(from_frame(pl.DataFrame({"wide": ["a0"], "deep": ["c0"]})), policy)
    covered = cover_rows(table, pl.DataFrame({"wide": ["a0", "P"], "deep": ["R", "c0"]}))
    assert covered.tuples.row(int(covered.group[0])) == ("P", "c0")
