"""Engine `spark` by parts: neither driver nor executor holds the table, and the release is the one of memory."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from kveil.engines.spark import slices
from kveil.flow import spark as flow
from kveil.flow.spark_tuples import DriverLimits
from kveil.policy.model import Policy
from on_spark import needs_spark, on_both, started

pytestmark = needs_spark()

POLICY = """
kveil: 1
data: {path: data.parquet, missing: ["", "?"]}
attributes:
  name: {role: identifier}
  note: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  pay: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 99999]}}}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
algorithm: mondrian
"""


@pytest.fixture(scope="module")
def session() -> Any:
    return started()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that may hold no tuples, parts of few, and slices of few rows."""
    monkeypatch.setattr(flow.DriverLimits, "of", lambda session: DriverLimits(0, 60))
    monkeypatch.setattr(slices, "ROWS", 100)


def rows(number: int = 300) -> pl.DataFrame:
    random = Random(5)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(number)],
            "note": [random.choice([None, "", "x", "y"]) for _ in range(number)],
            "age": [*(random.choice([None, 21, 34, 35, 52, 67, 68]) for _ in range(number - 3)), 99, 99, 98],
            "zip": [random.choice(["?", "02138", "02139", "02141", "10001"]) for _ in range(number)],
            "pay": [str(random.randrange(2000, 9000, 50)) for _ in range(number)],
            "illness": [random.choice(["a", "b", "c", None]) for _ in range(number)],
        }
    )


def written(folder: Path, frame: pl.DataFrame, text: str) -> Policy:
    frame.write_parquet(folder / "data.parquet")
    (folder / "policy.yaml").write_text(text)
    return Policy.load(folder / "policy.yaml")


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


BOUNDED = changed(
    POLICY,
    ("widths: [10, 20]}}}", "widths: [10, 20]}}, boundary: {level: 2}}"),
    ("within: [0, 99999]}}}", "within: [0, 99999], bounds: midpoints}}}"),
    ("k: 4}", "k: 9}"),
)
CLOSE = "{model: t-closeness, sensitive: illness, t: 0.5}"
CASES = {
    "everybody": POLICY,
    "halves": changed(POLICY, ("algorithm: mondrian", "algorithm: {name: mondrian, choose: gain}")) + "loss: il\n",
    "dropped": BOUNDED + "suppression: {limit: 0.4}\n",
    "starred": changed(BOUNDED, ("{model: l-diversity, sensitive: illness, l: 2}", CLOSE))
    + "suppression: {limit: 0.4, show: star}\nrelease: {order: shuffle}\n",
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("case", CASES)
def test_mondrian_by_parts_gives_the_release_of_memory(case: str, tmp_path: Path) -> None:
    frame = rows()
    if case == "halves":
        frame = frame.with_columns(pl.col("age") + 0.5)
    told = on_both(written(tmp_path, frame, CASES[case]), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["parts"] > 3
    assert (told["records"]["suppressed"] > 0) == (case in {"dropped", "starred"})


DIVIDED = {
    "k-member": changed(POLICY, ("  - {model: l-diversity, sensitive: illness, l: 2}\n", "")),
    "least-loss": BOUNDED + "suppression: {limit: 0.4, show: star}\n",
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", DIVIDED)
def test_divided_tables_are_solved_by_parts_and_give_the_release_of_memory(name: str, tmp_path: Path) -> None:
    text = changed(DIVIDED[name], ("algorithm: mondrian", f"algorithm: {{name: {name}, divide: 80}}"))
    told = on_both(written(tmp_path, rows(), text), tmp_path / "data.parquet", tmp_path)
    assert told["details"]["divided"]["parts"] > 2
