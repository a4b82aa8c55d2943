"""A promise is called impossible only where it is, and wherever all records as one group break it."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.algorithms.impossible import (
    WhyImpossible,
    promises_beyond_limits,
    promises_beyond_rows,
    promises_beyond_values,
)
from kveil.algorithms.proofs import count_never_kept, never_kept
from kveil.flow.steps.inputs import table_of
from kveil.table.encode import encode
from kveil.table.table import Table
from strategies import seeds

ANY = {"role": "quasi-identifier", "hierarchy": {"tree": {"any": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}}}}


def some_model(draw: Random) -> dict[str, Any]:
    """Draw a promise about d that a small table may or may not keep."""
    variants: list[dict[str, Any]] = [
        {"model": "l-diversity", "l": draw.choice([2, 3, 4])},
        {"model": "l-diversity", "l": draw.choice([1.5, 1.9, 2.5, 3]), "variant": "entropy"},
        {"model": "l-diversity", "l": draw.choice([2, 3]), "variant": "recursive", "c": draw.choice([0.5, 1, 2, 3])},
        {"model": "l-diversity", "l": draw.choice([1.5, 2, 2.5]), "variant": "frequency"},
        {"model": "p-sensitive", "p": draw.choice([2, 3])},
        {"model": "alpha-k", "alpha": draw.choice([0.3, 0.5, 0.6, 0.75]), "k": 2},
    ]
    return {"sensitive": "d", **draw.choice(variants)}


def drawn(number: int, *, limit: float) -> tuple[pl.DataFrame, kveil.Policy]:
    """Draw a small table and a policy with one promise about its values."""
    draw = Random(number)
    size = draw.randint(2, 9)
    d = [draw.choice(["x", "x", "x", "y", "z", ""]) for _ in range(size)]
    frame = pl.DataFrame({"q": [draw.choice(["a1", "a2", "b1", "b2", "b3"]) for _ in range(size)], "d": d})
    policy = {"attributes": {"q": ANY, "d": "sensitive"}, "privacy": [some_model(draw)]}
    policy["attributes"]["d"] = {"role": "sensitive"}  # type: ignore[call-overload, index]
    release = {"order": "keep"}
    return frame, kveil.Policy(**policy, release=release, suppression={"limit": limit})  # type: ignore[arg-type]


def encoded(frame: pl.DataFrame, policy: kveil.Policy) -> Table:
    return encode(table_of(frame, policy), policy)


def why(table: Table) -> WhyImpossible:
    falling = table.count(never_kept(table, certain=False))
    return WhyImpossible.of("t", table, out=count_never_kept(table), falling=falling)


@pytest.mark.parametrize("number", seeds(0, 300))
def test_without_suppression_a_promise_is_impossible_where_one_group_of_all_breaks_it(number: int) -> None:
    frame, policy = drawn(number, limit=0)
    everybody = pl.DataFrame({"q": ["any"] * len(frame), "d": frame["d"]})
    found = promises_beyond_values("t", encoded(frame, policy)) or promises_beyond_rows("t", encoded(frame, policy))
    assert bool(found) != bool(kveil.verify(everybody, policy, frame))


@pytest.mark.parametrize("number", seeds(1000, 1200))
def test_what_is_called_impossible_has_no_release_with_records_left_out_either(number: int) -> None:
    frame, policy = drawn(number, limit=Random(number).choice([0.2, 0.4, 0.6]))
    told = why(encoded(frame, policy))
    if told.sentences:
        with pytest.raises(kveil.Unmeetable) as caught:
            kveil.anonymize(frame, policy)
        values = promises_beyond_values(caught.value.args[0].split(" has ")[0], encoded(frame, policy))
        if values:  # anonymize and check say the same
            assert str(caught.value) == values[0].why
        names = re.findall(r"\b[xyz]\b", " ".join(told.sentences))
        assert not names  # no value of the table


@pytest.mark.parametrize("model", ["t-closeness", "k-anonymity"])
def test_a_boundary_that_makes_a_promise_impossible_is_told_with_the_promise(model: str) -> None:
    asked = {"model": "t-closeness", "sensitive": "d", "t": 0.1} if model == "t-closeness" else {"model": model, "k": 3}
    rows = pl.DataFrame({"q": ["a1", "a2", "b1", "b2", "b3"], "d": ["x", "x", "y", "y", "y"]})
    attributes = {"q": {**ANY, "boundary": ["A", "B"]}, "d": {"role": "sensitive"}}
    privacy = [{"model": "k-anonymity", "k": 1}, asked]
    table = encoded(rows, kveil.Policy(attributes=attributes, privacy=privacy))  # type: ignore[arg-type]
    (found,) = promises_beyond_limits(table)
    assert found.position == 1
    assert model in found.why
    assert "relax a boundary" in found.why
    assert why(table).promises == (found,)


def test_promises_that_are_impossible_together_alone_have_one_sentence() -> None:
    rows = pl.DataFrame({"q": ["a1", "b1", "b1", "b1"], "r": ["c", "c", "c", "d"]})
    fixed = {"role": "quasi-identifier", "boundary": {"level": 0}}
    privacy = [{"model": "k-anonymity", "k": 2, "attributes": [name]} for name in "qr"]
    policy = {"attributes": {"q": fixed, "r": fixed}, "privacy": privacy, "suppression": {"limit": 0.25}}
    told = why(encoded(rows, kveil.Policy(**policy)))  # type: ignore[arg-type]
    assert told.promises == ()
    assert told.sentences == [
        "2 records of 4 can never be kept, and the suppression limit allows 1; relax a boundary, ask for less, or "
        "raise suppression.limit."
    ]
