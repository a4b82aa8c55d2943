"""The verifier against a recount by hand: on random releases, on releases with one change, on the papers' own."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.algorithms.registry import ALGORITHMS, able
from kveil.flow.verify import verify
from kveil.policy.model import Policy
from kveil.verifier import Verdict
from made_releases import GARBAGE, frame_of, labels_of, other_value, owner_of, released_columns, some_release
from naive import release as naive
from places import GOLDEN
from strategies import Case, Placed, cases, examples, placed, rows_of


def agree(verdict: Verdict, found: naive.Recount) -> None:
    """The verdict says what the recount says: the same answer, the same numbers."""
    assert verdict.holds == (not found.broken), (verdict.findings, found.broken)
    for said, counted in zip(verdict.guarantees, found.guarantees, strict=True):
        assert {key: said[key] for key in counted} == counted
    assert [rule["holds"] for rule in verdict.dependencies] == found.dependencies
    assert verdict.suppression["records"] == found.suppressed
    assert verdict.suppression["starred"] == found.starred
    assert verdict.suppression["holds"] == found.limit_holds
    if verdict.truth is not None:
        assert verdict.truth == {"violations": found.untrue}
        assert verdict.boundaries == {"violations": found.beyond}
        assert verdict.unchanged == {"violations": found.changed}


# ---------------------------------------------------------------------------------------------- random releases


def dependencies_for(case: Case, draw: st.DataObject) -> Case:
    """The case with a functional dependency between two released columns, now and then."""
    names = [name for name in case.columns if name != "name"]
    if len(names) < 2 or draw.draw(st.integers(0, 2)):
        return case
    left, right = draw.draw(st.sampled_from([(names[0], names[1]), (names[1], names[0])]))
    return replace(case, policy=f"{case.policy}dependencies: ['{left} -> {right}']\n")


@given(case=cases(with_ranges=True, max_width=True, models=GROUP_MODELS), seed=st.integers(0, 9999), data=st.data())
@examples(100)
def test_the_verifier_agrees_with_a_recount_on_any_release(case: Case, seed: int, data: st.DataObject) -> None:
    with placed(dependencies_for(case, data)) as here:
        rows, aligned = some_release(here, Random(seed))
        release = frame_of(rows, released_columns(here))
        found = naive.recount(here.twin, rows, case.records, aligned)
        event("holds" if not found.broken else "broken")
        agree(verify(release, here.policy, original=case.frame(), owner=owner_of(aligned, len(case.rows))), found)
        agree(verify(release, here.policy), naive.recount(here.twin, rows))


ILLNESS = {"role": "sensitive", "hierarchy": {"tree": {"*": {"lungs": ["f", "g", "h"], "heart": ["i", "j", "k", "l"]}}}}


@pytest.mark.parametrize(
    "model",
    [
        {"model": "l-diversity", "variant": "entropy", "l": 1.5},
        *({"model": "t-closeness", "t": 0.9, "distance": each} for each in ("equal", "ordered", "hierarchical")),
    ],
    ids=["entropy", "equal", "ordered", "hierarchical"],
)
def test_figures_are_the_same_to_the_last_digit_in_any_order_of_rows(model: dict[str, Any]) -> None:
    random = Random(1)
    rows = [(random.choice("xyzw"), random.choice("fghijkl")) for _ in range(300)]
    policy = Policy(
        kveil="1", attributes={"a": {"role": "quasi-identifier"}, "s": ILLNESS}, privacy=[{**model, "sensitive": "s"}]
    )
    worst = set()
    for _ in range(25):
        random.shuffle(rows)
        worst.add(verify(pl.DataFrame(rows, schema=["a", "s"], orient="row"), policy).guarantees[0]["worst"])
    assert len(worst) == 1


# ---------------------------------------------------------------------------------------------- one change


KINDS = ("another node", "its own value", "garbage", "unchanged cell", "star", "swap", "forget", "delete", "duplicate")


def change(
    here: Placed, rows: list[naive.Row], aligned: list[int], random: Random
) -> tuple[str, list[naive.Row], list[int]]:
    """The release with one cell or one row changed, and the alignment that fits it."""
    twin, records = here.twin, here.case.records
    rows, aligned = [dict(row) for row in rows], list(aligned)
    kind = random.choices(KINDS, weights=(8, 7, 5, 5 * bool(twin.unchanged), 1, 2, 2, 1, 1))[0]
    cells = [(i, name) for i in range(len(rows)) for name in twin.quasi]
    general = [(i, name) for i, name in cells if rows[i][name] != twin.text(records[aligned[i]][name])]
    if kind == "its own value" and not general:
        kind = "another node"
    i, name = random.choice(general if kind == "its own value" else cells)
    was = twin.text(records[aligned[i]][name])
    if kind == "another node":
        hierarchy = twin.hierarchy(name, [row[name] for row in records])
        labels = [label for label in labels_of(hierarchy, was) if label != rows[i][name]]
        rows[i][name] = random.choice(labels)
    elif kind == "its own value":
        rows[i][name] = was
    elif kind == "garbage":
        rows[i][name] = random.choice([GARBAGE, "?", "*x", was + " "])
    elif kind == "unchanged cell":
        other = random.choice(twin.unchanged)
        rows[i][other] = random.choice([other_value(here, other)] * 5 + [rows[random.randrange(len(rows))][other]])
    elif kind == "star":
        rows[i] |= dict.fromkeys(random.choice(twin.components), "*")
    elif kind == "swap":
        j = random.randrange(len(rows))
        rows[i], rows[j] = rows[j], rows[i]
    elif kind == "forget":
        del rows[i], aligned[i]
    elif kind == "delete":
        del rows[i]
    else:
        rows.append(dict(rows[i]))
    return kind, rows, aligned


@pytest.mark.parametrize("models", [(), GROUP_MODELS], ids=["k", "every model"])
def test_the_verifier_catches_every_single_change_that_breaks_something(models: Sequence[str]) -> None:
    # Two halves, so that they run side by side: together more than a thousand changes that break something.
    tally: Counter[str] = Counter()

    @given(case=cases(most_rows=16, with_ranges=True, models=models), seed=st.integers(0, 9999))
    @examples(60, shrink=False)
    def run(case: Case, seed: int) -> None:
        with placed(case) as here:
            random = Random(seed)
            willing = [algorithm for algorithm in ALGORITHMS if able(algorithm, here.policy)]
            assume(willing)
            try:
                result = kveil.anonymize(case.frame(), here.policy, algorithm=random.choice(willing).name)
            except kveil.Unmeetable:
                assume(False)
            rows, aligned = rows_of(result.data), result.owner.rows.tolist()
            assume(rows)
            for _ in range(36):
                kind, changed, places = change(here, rows, aligned, random)
                release = frame_of(changed, released_columns(here))
                # Rows that are there twice, or not any more, are aligned with nothing: the texts alone must tell.
                if len(places) != len(changed) or random.random() < 0.1:
                    found = naive.recount(here.twin, changed)
                    verdict = verify(release, here.policy)
                else:
                    found = naive.recount(here.twin, changed, case.records, places)
                    owner = owner_of(places, len(case.rows))
                    verdict = verify(release, here.policy, original=case.frame(), owner=owner)
                agree(verdict, found)
                tally["broken" if found.broken else "fine"] += 1
                tally[kind] += bool(found.broken)
                tally.update(f"by {reason.split()[0]}" for reason in found.broken)

    run()
    assert tally["broken"] >= 550, tally
    assert tally["fine"] >= 80, tally
    reasons = ["guarantee", "untrue", "beyond", "changed", "limit", "unknown"]
    for seen in (*KINDS[:4], "swap", "forget", *(f"by {reason}" for reason in reasons)):
        assert tally[seen], (seen, tally)


# ---------------------------------------------------------------------------------------------- small releases


def policy_of(text: str) -> kveil.Policy:
    return Policy.parse(text, "policy.yaml", Path())


def table(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


PLAIN = """
kveil: 1
data: {missing: ["", "?"]}
attributes:
  a: {role: quasi-identifier}
  b: {role: quasi-identifier}
  n: {role: identifier}
  s: {role: sensitive}
privacy: [{model: k-anonymity, k: 2}]
release: {order: keep}
"""


def test_the_public_name_is_a_function_before_and_after_a_run() -> None:
    script = """
import kveil, polars as pl
from pathlib import Path
from kveil.policy.model import Policy
policy = Policy.parse("{kveil: 1, attributes: {a: {role: quasi-identifier}}, privacy: [{model: k-anonymity, k: 2}]}",
                      "p", Path())
frame = pl.DataFrame({"a": ["x", "x"]})
for _ in range(2):
    result = kveil.anonymize(frame, policy, algorithm="datafly")
    verdict = kveil.verify(result.data, policy, original=frame, owner=result.owner)
    assert verdict and isinstance(verdict, kveil.Verdict)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_labels_of_a_frame_are_no_positions() -> None:
    # A shuffled index changed a checker's answer from 1 to 2.
    columns = {"a": list("xxyyz"), "b": list("mmnnn"), "s": list("12345")}
    for index in (None, [4, 3, 2, 1, 0], [0, 0, 0, 0, 0]):
        verdict = verify(pd.DataFrame(columns, index=index), policy_of(PLAIN))
        assert verdict.guarantees[0]["worst"] == 1
        assert not verdict


def test_missing_is_a_value_in_every_count() -> None:
    # A unique record with a missing value is a group of one; written two ways it is one value.
    policy = policy_of(PLAIN)
    alone = table(a=["x", "x", ""], b=["m", "m", "m"], s=["1", "2", "3"])
    assert (
        verify(alone, policy).guarantees[0] | {"worst": 1, "groups": 2, "holds": False}
        == verify(alone, policy).guarantees[0]
    )
    pair = table(a=["x", "x", "", "?"], b=["m"] * 4, s=list("1234"))
    assert verify(pair, policy).guarantees[0]["worst"] == 2
    null = pl.DataFrame({"a": ["x", "x", None, ""], "b": ["m"] * 4, "s": list("1234")})
    assert verify(null, policy).guarantees[0]["groups"] == 2
    floats = pd.DataFrame({"a": [1.0, 1.0, float("nan")], "b": ["m"] * 3, "s": list("123")})
    assert verify(floats, policy).guarantees[0]["worst"] == 1


def test_missing_generalizes_to_the_root_and_to_nothing_else() -> None:
    policy = policy_of(
        PLAIN.replace("a: {role: quasi-identifier}", "a: {role: quasi-identifier, hierarchy: {mask: {keep: [1]}}}")
    )
    original = table(a=["11", "12", "?", ""], b=["m"] * 4, n=list("pqrs"), s=list("1234"))
    for shown, untrue in (("*", 0), ("", 0), ("?", 0), ("1*", 2), ("11", 2)):
        release = table(a=["1*", "1*", shown, shown], b=["m"] * 4, s=list("1234"))
        verdict = verify(release, policy, original=original)
        assert verdict.truth == {"violations": untrue}, shown


def test_25_is_not_in_20_to_25() -> None:
    intervals = "a: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [5]}}}"
    policy = policy_of(PLAIN.replace("a: {role: quasi-identifier}", intervals))
    for value, shown, true in (("25", "[20,25)", False), ("25", "[25,30)", True), ("24.5", "[20,25)", True)):
        original = table(a=[value, value, "0.5", "0.5"], b=["m"] * 4, n=list("pqrs"), s=list("1234"))
        release = table(a=[shown, shown, "[0,5)", "[0,5)"], b=["m"] * 4, s=list("1234"))
        assert verify(release, policy, original=original).holds == true
    for value, shown, true in (("25", "20-24", False), ("25", "25-29", True), ("24", "20-24", True)):
        original = table(a=[value, value], b=["m"] * 2, n=list("pq"), s=list("12"))
        assert verify(table(a=[shown] * 2, b=["m"] * 2, s=list("12")), policy, original=original).holds == true


def test_every_constraint_is_counted_with_its_own_k() -> None:
    entry = "{{model: k-anonymity, attributes: [{}], k: {}}}"
    for order in ((("a", 3), ("b", 2)), (("b", 2), ("a", 3))):
        policy = policy_of(
            PLAIN.replace("{model: k-anonymity, k: 2}", ", ".join(entry.format(*part) for part in order))
        )
        verdict = verify(table(a="xxxyyy", b="mmnnoo", s="123456"), policy)
        assert verdict.holds
        assert [(g["attributes"], g["k"], g["worst"]) for g in verdict.guarantees] == [([a], k, k) for a, k in order]
        assert not verify(table(a="xxyyzz", b="mmmnnn", s="123456"), policy)


def test_stars_are_outside_and_counted_against_the_limit() -> None:
    policy = policy_of(PLAIN + "suppression: {limit: 0.25, show: star}\n")
    verdict = verify(table(a="xxx*", b="mmm*", s="123*"), policy)
    assert verdict.holds
    assert verdict.guarantees[0]["groups"] == 1
    assert verdict.suppression["records"] == 1
    assert "fewer than 2" in " ".join(verdict.warnings)
    assert not verify(table(a="xx**", b="mm**", s="12**"), policy)
    # A star in one attribute is a value like others: this group of one is one.
    assert verify(table(a="xxx*", b="mmmm", s="1234"), policy).guarantees[0]["worst"] == 1


BOUNDED = """
kveil: 1
attributes:
  a: {role: quasi-identifier, hierarchy: {tree: {"*": {L: [a1, a2], M: [b1, b2]}}}, boundary: [L, M]}
  b: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [a], k: 2}
  - {model: k-anonymity, attributes: [b], k: 2}
"""


def test_a_missing_value_may_be_a_star_where_others_may_not() -> None:
    # Missing hangs under the root, so its generalization is `*` even where every listed value has its limit
    # below. With or without the original a group of them must hold.
    frame = table(a=["a1", "a2", "", ""], b=["x"] * 4)
    release = table(a=["L", "L", "*", "*"], b=["x"] * 4)
    policy = policy_of(BOUNDED + "release: {order: keep}\n")
    assert verify(release, policy, original=frame).findings == []
    assert verify(release, policy).findings == []
    assert not verify(release[:3], policy, original=frame[:3])  # one alone is suppressed


def test_stars_that_no_generalization_gives_are_suppression() -> None:
    release = table(a=["L", "L", "*", "*"], b=["x"] * 4)
    original = table(a=["a1", "a2", "b1", "b2"], b=["x"] * 4)
    keep = BOUNDED + "release: {order: keep}\n"
    verdict = verify(release, policy_of(keep), original=original)
    assert verdict.boundaries == {"violations": 0}
    assert verdict.suppression["records"] == 2
    assert not verdict
    assert verify(release, policy_of(keep + "suppression: {limit: 0.5, show: star}\n"), original=original)
    # A root that is not `*`, or a boundary at the leaves themselves: the texts alone tell.
    for attribute in (
        "{role: quasi-identifier, hierarchy: {tree: {All: [a1, a2]}}}",
        "{role: quasi-identifier, hierarchy: {tree: {'*': [a1, a2]}}, boundary: {level: 0}}",
        "{role: quasi-identifier, boundary: {level: 0}}",
    ):
        lines = [f"  a: {attribute}" if line.startswith("  a:") else line for line in BOUNDED.splitlines()]
        verdict = verify(table(a=["a1", "a1", "*", "*"], b=["x"] * 4), policy_of("\n".join(lines)))
        assert verdict.suppression["records"] == 2, attribute
        assert not verdict


def test_stars_of_numbers_are_suppression_unless_some_are_missing() -> None:
    # A group of `ranges` shows its bounds; it shows `*` only where it mixes numbers and missing.
    ranged = "  a: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 9]}}}"
    lines = [ranged if line.startswith("  a:") else line for line in BOUNDED.splitlines()]
    policy = policy_of("\n".join([*lines, "release: {order: keep}"]))
    original = table(a=["1", "2", "7", "8"], b=["x"] * 4)
    release = table(a=["1-2", "1-2", "*", "*"], b=["x"] * 4)
    assert verify(release, policy, original=original).suppression["records"] == 2
    with_missing = table(a=["1", "2", "", "8"], b=["x"] * 4)
    assert verify(release, policy, original=with_missing).findings == []


def test_a_star_that_means_missing_is_read_so_in_the_input_alone() -> None:
    # The error about a literal `*` tells people to list it after another text; in a release it is the root.
    policy = policy_of(PLAIN.replace('["", "?"]', '["", "*"]'))
    frame = table(a=["x", "x", "x", "x"], b=["m", "n", "*", ""], n=list("pqrs"), s=list("1234"))
    result = kveil.anonymize(frame, policy, algorithm="datafly")
    assert result.data["b"].to_list() == ["*"] * 4
    assert verify(result.data, policy, original=frame)


def test_columns_that_must_not_be_released_are_findings() -> None:
    release = table(a="xx", b="mm", s="12", n="pq", extra="uv")
    findings = verify(release, policy_of(PLAIN)).findings
    assert len(findings) == 2
    assert "n has role identifier" in findings[0]
    assert "extra" in findings[1]
    assert not any("'p'" in finding or "'q'" in finding for finding in findings)
    with pytest.raises(kveil.DataError, match="lacks s"):
        verify(release.drop("s"), policy_of(PLAIN))


def test_rows_are_aligned_by_the_owner_or_by_kept_order_or_not_at_all() -> None:
    original = table(a="xxyy", b="mmnn", n="pqrs", s="1234")
    release = original.drop("n")
    assert verify(release, policy_of(PLAIN), original=original)
    with pytest.raises(kveil.DataError, match="--owner"):
        verify(release.head(3), policy_of(PLAIN), original=original)
    with pytest.raises(kveil.DataError, match="--owner"):
        verify(release, policy_of(PLAIN.replace("keep", "sorted")), original=original)
    for rows in ([0, 0, 1, 2], [0, 1, 2, 4], [0, 1, 2]):
        with pytest.raises(kveil.DataError, match="owner"):
            verify(release, policy_of(PLAIN), original=original, owner=owner_of(rows, 4))
    shuffled = release[[2, 0, 3, 1]]
    assert not verify(shuffled, policy_of(PLAIN), original=original)
    assert verify(shuffled, policy_of(PLAIN), original=original, owner=owner_of([2, 0, 3, 1], 4))


def test_an_empty_release_is_all_suppressed() -> None:
    policy = PLAIN + "suppression: {limit: %s}\n"
    original = table(a="xx", b="mm", n="pq", s="12")
    nothing = original.drop("n").head(0)
    assert not verify(nothing, policy_of(policy % 0.5), original=original, owner=owner_of([], 2))
    verdict = verify(nothing, policy_of(policy % 1), original=original, owner=owner_of([], 2))
    assert verdict
    assert any("no records" in warning for warning in verdict.warnings)


def test_a_missing_sensitive_cell_is_unchanged_whatever_file_holds_it() -> None:
    # Null in a Parquet file and nothing in a CSV are the same cell.
    original = pl.DataFrame({"a": ["x", "x"], "b": ["m", "m"], "n": ["p", "q"], "s": ["1", None]})
    release = table(a="xx", b="mm", s=["1", ""])
    assert verify(release, policy_of(PLAIN), original=original).unchanged == {"violations": 0}


CLOSE = """
kveil: 1
attributes:
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {viral: [flu, cold], gout: []}}}}
privacy: [{model: t-closeness, sensitive: s, t: 0.5, distance: %s}]
release: {order: keep}
"""


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_a_changed_sensitive_cell_is_a_finding_whatever_counts_it(distance: str) -> None:
    policy = policy_of(CLOSE % distance)
    original = table(a="xxyy", s=["flu", "cold", "gout", "flu"])
    assert verify(original, policy, original=original)
    for other in ("cold", "plague"):
        changed = table(a="xxyy", s=["flu", "cold", "gout", other])
        verdict = verify(changed, policy, original=original)
        assert verdict.unchanged == {"violations": 1}
        assert not verdict


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_a_sensitive_label_that_its_hierarchy_does_not_know_is_a_finding(distance: str) -> None:
    # No distance can be told for it, so that the model cannot be said to hold.
    assert not verify(table(a="xxyy", s=["flu", "cold", "gout", "plague"]), policy_of(CLOSE % distance))


def test_dependencies_are_checked_on_what_is_shown() -> None:
    text = PLAIN + 'dependencies: ["a -> b", "a ->> b"]\nsuppression: {limit: 1, show: star}\n'
    assert verify(table(a="xxyy", b="mmnn", s="1234"), policy_of(text))
    verdict = verify(table(a="xxxx", b="mmnn", s="1234"), policy_of(text))
    assert [rule["holds"] for rule in verdict.dependencies] == [False, True]
    assert not verdict
    # A row of nothing but stars says nothing about a and b.
    assert verify(table(a="xx**", b="mm**", s="12**"), policy_of(text))


# ---------------------------------------------------------------------------------------------- the papers' own


def golden(folder: str, expected: str, policy: str = "policy.yaml") -> tuple[kveil.Policy, pl.DataFrame, pl.DataFrame]:
    def frame(name: str) -> pl.DataFrame:
        with (GOLDEN / folder / name).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")

    return kveil.Policy.load(GOLDEN / folder / policy), frame("input.csv"), frame(expected)


def checked(folder: str, expected: str, policy: str = "policy.yaml") -> Verdict:
    loaded, original, release = golden(folder, expected, policy)
    return verify(release, loaded, original=original)


@pytest.mark.parametrize("expected", ["expected-complete.csv", "expected-naive.csv"])
def test_golden_classfly(expected: str) -> None:
    verdict = checked("classfly", expected)
    assert verdict.findings == []
    # Race and Birth: White 1965 four times, Black 1966 three times; t8 and t9 are stars.
    zips = {"expected-complete.csv": (2, 2, 3), "expected-naive.csv": (2, 3, 2)}
    assert [(g["k"], g["worst"], g["groups"]) for g in verdict.guarantees] == [(3, 3, 2), zips[expected]]
    assert verdict.suppression["records"] == 2
    assert verdict.boundaries == verdict.truth == verdict.unchanged == {"violations": 0}


def test_golden_kmsd() -> None:
    assert checked("kmsd", "expected-k-msd.csv").findings == []
    kept = checked("kmsd", "expected-k-msd-ag.csv", "policy-ag.yaml")
    assert kept.findings == []
    assert kept.dependencies == [{"rule": "Department -> Phone", "holds": True, "broken": 0}]
    # K-MSD alone shows Teaching with 85152** and with 85153**.
    broken = checked("kmsd", "expected-k-msd.csv", "policy-ag.yaml")
    assert not broken
    assert broken.dependencies == [{"rule": "Department -> Phone", "holds": False, "broken": 1}]
    assert all(g["holds"] for g in broken.guarantees)


def test_golden_boundaries() -> None:
    verdict = checked("boundaries", "expected.csv")
    assert verdict.findings == []
    assert [(g["worst"], g["groups"]) for g in verdict.guarantees] == [(2, 3)]
    # Lincoln may show Midwest, Wichita only Kansas: one cell each.
    loaded, original, release = golden("boundaries", "expected.csv")
    for row, label, beyond in ((4, "Midwest", 0), (2, "Midwest", 1), (0, "West Coast", 1), (4, "United States", 1)):
        locations = release["Location"].to_list()
        locations[row] = label
        changed = release.with_columns(pl.Series("Location", locations))
        assert verify(changed, loaded, original=original).boundaries == {"violations": beyond}, label


def test_golden_one_to_many() -> None:
    assert checked("one-to-many", "expected.csv").findings == []


def test_the_golden_files_agree_with_the_recount() -> None:
    for folder, expected, policy in (
        ("classfly", "expected-complete.csv", "policy.yaml"),
        ("classfly", "expected-naive.csv", "policy.yaml"),
        ("kmsd", "expected-k-msd.csv", "policy.yaml"),
        ("kmsd", "expected-k-msd-ag.csv", "policy-ag.yaml"),
        ("kmsd", "expected-k-msd.csv", "policy-ag.yaml"),
        ("boundaries", "expected.csv", "policy.yaml"),
    ):
        loaded, original, release = golden(folder, expected, policy)
        twin = naive.Policy.load(GOLDEN / folder / policy)
        found = naive.recount(twin, rows_of(release), rows_of(original), list(range(original.height)))
        agree(verify(release, loaded, original=original), found)


def test_verdicts_are_plain_data() -> None:
    verdict = verify(table(a="xx", b="mm", s="12"), policy_of(PLAIN))
    plain: dict[str, Any] = verdict.as_json()
    assert plain["holds"] is True
    assert (plain["truth"], plain["boundaries"], plain["unchanged"]) == (None, None, None)
