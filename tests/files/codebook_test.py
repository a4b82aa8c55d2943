"""What a release says again of what files of SPSS and Stata say of their columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.files.codebook import Codebook, ColumnNotes

AGE = ColumnNotes(label="Age in years", values={98: "old"}, ranges=((99, 99),), measure="scale")
BOOK = Codebook(
    labels={"sex": {"f": 1, "m": 2}},
    columns={"age": AGE, "sex": ColumnNotes(label="Sex", values={1: "f", 2: "m"})},
    absent={"age": pl.Series([None, 99.0, None])},
)


def test_of_generalized_columns_only_their_descriptions_are_said_again() -> None:
    some = BOOK.of_release(["sex"])
    assert some.of("age") == ColumnNotes(label="Age in years")
    assert some.of("sex").values == {1: "f", 2: "m"}
    assert (dict(some.labels), dict(some.absent)) == ({"sex": {"f": 1, "m": 2}}, {})
    assert BOOK.of_release([]).labels == {}
    assert BOOK.of("other") == ColumnNotes()


def test_codes_for_missing_are_those_of_released_rows() -> None:
    released = BOOK.of_release(["age"], rows=np.array([1, 0]))
    assert released.absent["age"].to_list() == [99.0, None]
    assert released.without_codes_in(["age"]).absent == {}


def test_what_the_original_does_not_say_is_strange_and_less_is_not() -> None:
    assert BOOK.of_release(["age"]).strange_to(BOOK) == []
    assert Codebook(columns={"age": ColumnNotes(label="Age in")}).strange_to(BOOK) == []  # cut short, as Stata does
    for notes in (
        ColumnNotes(label="Ann is 31"),
        ColumnNotes(values={98: "Ann"}),
        ColumnNotes(ranges=((97, 99),)),
        ColumnNotes(letters=("a",)),
        ColumnNotes(measure="nominal"),
    ):
        assert Codebook(columns={"age": notes}).strange_to(BOOK) == ["age"]
