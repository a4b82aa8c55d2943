"""Columns as distinct texts and codes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.errors import DataError
from kveil.frames import from_frame
from kveil.table import columns as module
from kveil.table.columns import Coded, code_columns, code_texts, codes_among
from support import make_policy

POLICY = make_policy({"a": "quasi-identifier", "b": "quasi-identifier"}, data={"missing": ["", "?"]})


def decoded(coded: Coded) -> list[str | None]:
    return [None if code < 0 else coded.texts[code] for code in coded.codes.tolist()]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_codes_say_what_the_texts_said_and_missing_is_apart(
    seed: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS_WORTH_A_THREAD", 0 if threads else 10**9)
    random = np.random.default_rng(seed)
    texts = {name: random.choice(["x", "y", "", "?", "zz", "7"], 30).tolist() for name in ("a", "b")}
    texts["a"][3] = None
    for name, coded in zip("ab", code_columns(from_frame(pl.DataFrame(texts)), POLICY, ["a", "b"]), strict=True):
        assert decoded(coded) == [None if text in ("", "?", None) else text for text in texts[name]]
        assert len(set(coded.texts)) == len(coded.texts)
        assert not {"", "?"} & set(coded.texts)


def test_a_literal_star_is_an_error_with_its_number() -> None:
    frame = from_frame(pl.DataFrame({"a": ["x", "*", "*"]}))
    with pytest.raises(DataError, match="a is `\\*` in 2 records"):
        list(code_columns(frame, POLICY, ["a"]))
    with pytest.raises(DataError, match="in 7 records"):
        list(code_columns(frame, POLICY, ["a"], times=np.array([1, 3, 4])))


def test_records_with_some_texts_are_counted() -> None:
    coded = Coded(["x", "y"], np.array([0, 1, 1, -1], dtype=np.int32))
    assert (coded.count({"y"}), coded.count({"x", "y"}), coded.count({"z"})) == (2, 3, 0)
    weighed = Coded(coded.texts, coded.codes, np.array([5, 1, 2, 9]))
    assert weighed.count({"y", "x"}) == 8


def test_codes_are_places_among_known_texts_or_among_the_sorted_ones() -> None:
    assert codes_among(pl.Series(["b", None, "a"]), ["a", "c", "b"]).tolist() == [2, -1, 0]
    coded = code_texts(pl.Series(["b", None, "a", "b"]))
    assert (coded.texts, coded.codes.tolist()) == (["a", "b"], [1, -1, 0, 1])
