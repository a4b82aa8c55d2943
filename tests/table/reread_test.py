"""A release made anywhere is read back into the codes it was decoded from."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.frames import from_frame
from kveil.table.decode import decode
from kveil.table.reread import codes_of_release, read_items

TREE = {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}
ATTRIBUTES = {
    "t": {"role": QUASI, "hierarchy": TREE},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}},
    "i": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
}
COLUMNS = {"t": ["a", "b", "c", "a"], "n": ["1", "4", "9", ""], "i": ["31", "35", "62", "90"]}


def test_what_a_release_shows_is_read_with_its_losses() -> None:
    table = coded(COLUMNS, ATTRIBUTES, suppression={"limit": 1, "show": "star"})
    labels = {"t": ["N", "N", "c", "*"], "n": ["1-4", "1-4", "9", "*"], "i": ["30-39", "30-39", "62", "*"]}
    solution = shown_as(table, labels, [[3]])
    release = decode(from_frame(pl.DataFrame(COLUMNS)), table, solution)
    texts = {name: release.frame(from_frame(pl.DataFrame(COLUMNS)))[name] for name in table.names}
    again, unknown = codes_of_release(table, texts, release.rows)
    assert unknown == 0
    assert again.suppressed.tolist() == solution.suppressed.tolist()
    for old, new in zip(solution.shown, again.shown, strict=True):
        assert texts_of(new)[:3] == texts_of(old)[:3]
        assert new.ncp[new.codes].tolist()[:3] == pytest.approx(old.ncp[old.codes].tolist()[:3])


def test_rows_that_are_not_there_are_suppressed_and_strange_labels_counted() -> None:
    table = coded(COLUMNS, ATTRIBUTES, limit=1)
    texts = {"t": pl.Series(["N", "Nowhere"]), "n": pl.Series(["1", "4"]), "i": pl.Series(["31", "35"])}
    found, unknown = codes_of_release(table, texts, np.array([0, 1]))
    assert found.suppressed.tolist() == [[False, False, True, True]]
    assert unknown == 1
    assert found.shown[0].ncp[found.shown[0].codes[1]] == 1.0


def test_stars_that_no_generalization_gives_are_suppression() -> None:
    two = [{"model": "k-anonymity", "attributes": [name], "k": 1} for name in ("t", "n")]
    attributes = {name: ATTRIBUTES[name] for name in ("t", "n")}
    columns = {"t": ["a", "b"], "n": ["1", "4"]}
    table = coded(columns, attributes, privacy=two, suppression={"limit": 1, "show": "star"})
    texts = {"t": pl.Series(["*", "b"]), "n": pl.Series(["1", "*"])}
    found, _ = codes_of_release(table, texts, np.arange(2))
    # A tree's root may be shown; numbers without missing ones never mix into a star.
    assert found.suppressed.tolist() == [[False, False], [False, True]]


def test_items_became_their_lowest_ancestor_in_the_set() -> None:
    attributes = {"who": "individual", "a": QUASI, "s": {"role": "sensitive", "hierarchy": TREE}}
    model = {"model": "kl-diversity", "sensitive": "s", "k": 1, "l": 1}
    columns = {"who": list("ppqq"), "a": ["u"] * 4, "s": ["a", "c", "a", "b"]}
    table = coded(columns, attributes, privacy=[{"model": "k-anonymity", "k": 1}, model])
    sensitive = table.sensitive["s"]
    row = np.array([0, 0, 1, 1])
    nodes, unknown = read_items(table, "s", row, pl.Series(["N", "c", "a", "strange"]), np.arange(2))
    labels = [*sensitive.tree.labels, "lost"]
    shown = {
        (int(r), sensitive.values[code]): labels[node]
        for r, code, node in zip(sensitive.row, sensitive.code, nodes, strict=True)
    }
    assert shown == {(0, "a"): "N", (0, "c"): "c", (1, "a"): "a", (1, "b"): "lost"}
    assert unknown == 1
