"""Policies that would take all memory or all time get a sentence instead, and soon."""

import time
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil import PolicyError
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.table.encode import encode

BASE = """
kveil: 1
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [5, 10]}}%s}
privacy: [{model: k-anonymity, k: %s}]
"""

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)

WRONG = {
    "an alias bomb": (BOMB + "kveil: 1\n", "more than 1,000,000 texts"),
    "a recursive alias": ("kveil: 1\nattributes: &a [*a]\n", "line 2: an alias stands inside of what it repeats"),
    "a recursive mapping": ("kveil: 1\nattributes: &a {x: *a}\n", "an alias stands inside of what it repeats"),
    "3,000 levels": ("kveil: 1\nattributes: " + "[" * 3000 + "]" * 3000 + "\n", "nested too deeply"),
    "k beyond all": (BASE % ("", "1e999"), "privacy[0].k must be a whole number of at most 2,147,483,647"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_policy_that_asks_too_much_is_refused_within_a_second(what: str) -> None:
    text, sentence = WRONG[what]
    start = time.process_time()
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text, "policy.yaml", Path())
    assert sentence in str(caught.value)
    assert time.process_time() - start < 1


def test_a_level_above_every_root_limits_nothing_and_is_found_at_once() -> None:
    policy = Policy.parse(BASE % (", boundary: {level: 100000000}", "1"), "policy.yaml", Path())
    start = time.process_time()
    table = encode(from_frame(pl.DataFrame({"age": ["1", "7", "99"]})), policy)
    assert time.process_time() - start < 1
    assert table.trees[0].limit_of.tolist() == [0, 0, 0]  # type: ignore[union-attr]


def test_aliases_that_stay_small_are_written_out() -> None:
    text = """
kveil: 1
attributes:
  a: &qi {role: quasi-identifier}
  b: *qi
privacy: [{model: k-anonymity, k: 2}]
"""
    assert Policy.parse(text, "policy.yaml", Path()).quasi_identifiers == ["a", "b"]


def test_many_widths_are_no_defect() -> None:
    widths = [2**i for i in range(1300)]
    spec = kveil.Intervals(**{"from": 0, "to": 2**1310, "widths": widths})  # type: ignore[arg-type]
    from kveil.policy.interval_scale import IntervalScale

    scale = IntervalScale(spec, real=False)
    assert scale.height(spec.from_, 1299) == 1299


def test_a_part_made_by_itself_is_worded_like_a_file() -> None:
    with pytest.raises(PolicyError, match=r"^KAnonymity: k must be at least 1, not '0'\.$"):
        kveil.KAnonymity(k=0)
    with pytest.raises(PolicyError, match=r"^Policy: privacy\[0\]\.k must be at least 1, not '0'\.$"):
        kveil.Policy(  # type: ignore[call-arg]
            attributes={"a": {"role": "quasi-identifier"}},  # type: ignore[dict-item]
            privacy=({"model": "k-anonymity", "k": "0"},),  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("inside", [True, False])
def test_errors_show_labels_only_of_files_below_the_policys_folder(tmp_path: Path, *, inside: bool) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    where = folder / "h.csv" if inside else tmp_path / "h.csv"
    where.write_text("root:x:0:0;secret one\ndaemon:x:1:1;secret two\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(
        "kveil: 1\nattributes:\n  a: {role: quasi-identifier, hierarchy: "
        + ("h.csv" if inside else "../h.csv")
        + "}\nprivacy: [{model: k-anonymity, k: 2}]\n",
        encoding="utf-8",
    )
    with pytest.raises(PolicyError) as caught:
        Policy.load(folder / "policy.yaml")
    assert ("secret one" in str(caught.value)) is inside
    assert "two roots" in str(caught.value)
