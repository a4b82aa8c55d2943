"""How many rows fit what is known, beside looking at every pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.attacker import match
from kveil.attacker.match import CodedTexts, EqualRows, code_column, group, matches


class Clue:
    """A table of which value fits which group."""

    def __init__(self, fits: np.ndarray, values: np.ndarray) -> None:
        self.fits, self.values, self.kinds = fits, values, len(fits)

    def table(self, values: np.ndarray) -> np.ndarray:
        return self.fits[values]

    def own(self, values: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return self.fits[values, groups]


@pytest.mark.parametrize("limits", [{}, {"WIDEST": 1, "MATCHED": 1, "CHUNK": 1}, {"SPARSE": 10**9}])
@pytest.mark.parametrize("seed", range(6))
def test_weights_of_groups_that_fit_every_clue_are_added_up(
    seed: int, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in limits.items():
        monkeypatch.setattr(match, name, most)
    random = np.random.default_rng(seed)
    groups, asked = int(random.integers(1, 150)), 9
    clues = [Clue(random.random((4, groups)) < 0.3, random.integers(0, 4, asked)) for _ in range(2)]
    weights = random.integers(0, 9, (groups, 3)).astype(np.float64)
    fits = np.array(
        [[all(clue.fits[clue.values[t], g] for clue in clues) for g in range(groups)] for t in range(asked)]
    )
    expected = [[float(weights[own, column].sum()) for column in range(3)] for own in fits]
    assert matches(clues, asked, weights).tolist() == expected
    assert matches(clues, 0, weights).shape == (0, 3)


@pytest.mark.parametrize("packed", [2**62, 3])
def test_equal_rows_are_grouped_in_the_order_of_their_codes(packed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "PACKED", packed)
    random = np.random.default_rng(0)
    columns = [CodedTexts(list("abc"), random.integers(0, 3, 20)) for _ in range(3)]
    rows = [tuple(int(column.codes[i]) for column in columns) for i in range(20)]
    found: EqualRows = group(columns, 20)
    different = sorted(set(rows))
    assert [different[g] for g in found.member] == rows
    assert found.first.tolist() == [rows.index(row) for row in different]
    assert found.own.tolist() == [rows.count(row) for row in rows]


def test_a_column_keeps_only_the_texts_that_occur() -> None:
    column = code_column(pl.Series(["b", "a", "c", "a"]))
    assert (column.texts, column.codes.tolist()) == (["a", "b", "c"], [1, 0, 2, 0])
    some = column.at(np.array([2, 1]))
    assert (some.texts, some.codes.tolist()) == (["a", "c"], [1, 0])
    assert column.at(np.arange(3)).texts == ["a", "b", "c"]


def test_clues_are_laid_out_in_pieces_never_for_all_values_and_groups_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells: list[int] = []

    class Watched(Clue):
        def table(self, values: np.ndarray) -> np.ndarray:
            cells.append(len(values) * self.fits.shape[1])
            return super().table(values)

    monkeypatch.setattr(match, "CHUNK", 10_000)
    random = np.random.default_rng(0)
    clue = Watched(random.random((900, 640)) < 0.01, random.integers(0, 900, 50))
    matches([clue], 50, np.ones((640, 1)))
    assert sum(cells) == 900 * 640  # each value once, however often it is asked for
    assert max(cells) <= 10_000
