"""Which tuple of an earlier release a record gets: the one that loses least by the policy's own measure."""

from __future__ import annotations

import random

import polars as pl
import pytest

import kveil
from kveil.frames import from_frame
from kveil.previous import covering
from kveil.previous.covering import NOBODY, cover_rows
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


LEAVES = [f"v{n}" for n in range(8)]
TWO_LEVELS = {"tree": {"*": {"low": {"a": LEAVES[:2], "b": LEAVES[2:4]}, "high": {"c": LEAVES[4:6], "d": LEAVES[6:]}}}}
WAYS = {leaf: [leaf, "abcd"[n // 2], "low" if n < 4 else "high", "*"] for n, leaf in enumerate(LEAVES)}
LOSS = {"*": 1.0, "low": 1 / 2, "high": 1 / 2, **dict.fromkeys("abcd", 1 / 4), **dict.fromkeys(LEAVES, 0.0)}  # exact


@pytest.mark.parametrize("at_once", [1, 7, 1_000_000])
@pytest.mark.parametrize("seed", range(6))
def test_every_row_gets_the_tuple_that_a_look_at_all_of_them_finds(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covering, "AT_ONCE", at_once)
    draw = random.Random(seed)
    names = ["x", "y", "z"]
    policy = kveil.Policy.model_validate(
        {
            "kveil": 1,
            "attributes": {name: {"role": "quasi-identifier", "hierarchy": TWO_LEVELS} for name in names},
            "privacy": [{"model": "k-anonymity", "k": 1}],
        }
    )
    rows = [tuple(draw.choice(LEAVES) for _ in names) for _ in range(60)]
    shown = [tuple(draw.choice(WAYS[value]) for value in draw.choice(rows)) for _ in range(25)]
    table = encode(from_frame(pl.DataFrame(rows, schema=names, orient="row")), policy)
    covered = cover_rows(table, pl.DataFrame(shown, schema=names, orient="row"))
    tuples = sorted({labels for labels in shown if labels != ("*", "*", "*")})
    for row, group in zip(rows, covered.group.tolist(), strict=True):
        fitting = [labels for labels in tuples if all(label in WAYS[v] for v, label in zip(row, labels, strict=True))]
        best = min(fitting, key=lambda labels: (sum(LOSS[label] for label in labels), labels), default=None)
        assert (None if group == NOBODY else covered.tuples.row(group)) == best
