"""The attacker: every rate against a slow twin that tries every row for every target."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given

import kveil
from kveil.attacker.rate import wilson
from naive import release as naive
from played_attacks import attacked, attacks_of
from strategies import Case, cases, examples, placed
from support import ROWS, refused, run, write_policy, write_rows

STAR = "*"


def played(place: Any) -> tuple[dict[str, Any], list[naive.Row], list[naive.Row], list[int]]:
    case, policy = place.case, place.policy
    frame = case.frame()
    try:
        result = kveil.anonymize(frame, policy, algorithm="mondrian")
    except kveil.Unmeetable:
        assume(False)
    content = attacked(result.data, policy, frame, result.owner)
    return content, case.records, result.data.to_dicts(), result.owner.rows.tolist()


@examples(60)
@given(cases(with_ranges=True, models=("l-diversity",)))
def test_linking_agrees_with_trying_every_row(case: Case) -> None:
    with placed(case) as place:
        content, original, release, rows = played(place)
        twin = place.twin
        hierarchies = {n: twin.hierarchy(n, [r[n] for r in original]) for n in twin.quasi}
        row_of = {place: row for row, place in enumerate(rows)}
        for names, entry in attacks_of(content, "prosecutor").items():
            everyone, released, most = [], [], []
            stars = [r for r, row in enumerate(release) if all(row[n] == STAR for n in names)]
            for target, record in enumerate(original):
                fits = [
                    r
                    for r, row in enumerate(release)
                    if all(
                        row[n] == STAR or hierarchies[n].true(twin.text(record[n]), twin.text(row[n])) for n in names
                    )
                ]
                candidates = [r for r in fits if r not in stars] or fits
                own = row_of.get(target)
                chance = 1 / len(candidates) if own in candidates else 0.0
                everyone.append(chance)
                if own is not None:
                    released.append(chance)
                    alike = [r for r, row in enumerate(release) if all(row[n] == release[own][n] for n in names)]
                    most.append(max(chance, 0.0 if own in stars else 1 / len(alike)))
            before = Counter(tuple(twin.text(r[n]) for n in names) for r in original)
            exact = [1 / before[tuple(twin.text(r[n]) for n in names)] for r in original]
            assert entry["before"]["rate"] == pytest.approx(sum(exact) / len(exact))
            assert entry["before"]["certain"] == exact.count(1.0)
            if released:
                assert entry["after"]["rate"] == pytest.approx(sum(released) / len(released))
                assert entry["after"]["worst"] == pytest.approx(max(released))
                assert entry["after"]["at_most"] == pytest.approx(sum(most) / len(most))
            marketer = attacks_of(content, "marketer")[names]
            assert marketer["after"]["rate"] == pytest.approx(sum(everyone) / len(everyone))
            named = []
            for r, row in enumerate(release):
                if r in stars:
                    continue
                fit = [
                    t
                    for t, record in enumerate(original)
                    if all(
                        row[n] == STAR or hierarchies[n].true(twin.text(record[n]), twin.text(row[n])) for n in names
                    )
                ]
                named.append(1 / len(fit) if rows[r] in fit else 0.0)
            journalist = attacks_of(content, "journalist")[names]
            assert journalist["after"]["targets"] == len(named)
            if named:
                assert journalist["after"]["rate"] == pytest.approx(sum(named) / len(named))


@examples(30)
@given(cases(models=("l-diversity",), order="keep"))
def test_labels_in_blocks_give_what_labels_at_once_give(case: Case) -> None:
    with placed(case) as place, pytest.MonkeyPatch.context() as patch:
        whole = played(place)[0]
        patch.setattr("kveil.attacker.disclose.CELLS", 1)
        assert played(place)[0] == whole


@examples(40)
@given(cases(models=("l-diversity",), order="keep"))
def test_disclosure_agrees_with_trying_every_row(case: Case) -> None:
    with placed(case) as place:
        content, original, release, _ = played(place)
        twin = place.twin
        hierarchies = {n: twin.hierarchy(n, [r[n] for r in original]) for n in twin.quasi}
        for entry in content["attacks"]:
            if entry["attack"] not in {"homogeneity", "best guess"}:
                continue
            names, sensitive = entry["attributes"], entry["sensitive"]
            targets = [r for r in original if twin.value(r[sensitive]) is not None]
            sure, guessed = [], []
            for record in targets:
                fits = [
                    twin.value(row[sensitive])
                    for row in release
                    if not all(row[n] == STAR for n in names)
                    and all(
                        row[n] == STAR or hierarchies[n].true(twin.text(record[n]), twin.text(row[n])) for n in names
                    )
                ]
                values = Counter(value for value in fits if value is not None)
                sure.append(len(values) > 0 and values[record[sensitive]] == len(fits))
                best = min(values, key=lambda v: (-values[v], v), default=None)
                guessed.append(best == record[sensitive])
            seen = sure if entry["attack"] == "homogeneity" else guessed
            assert entry["after"]["targets"] == len(targets)
            assert entry["after"]["rate"] == pytest.approx(sum(seen) / len(seen))


def test_a_k_anonymous_release_keeps_its_promise_against_the_prosecutor(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, k=4)
    data = write_rows(tmp_path / "data.csv")
    assert run("anonymize", policy, "--input", data, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json").code == 0
    done = run(
        "attack", policy, "--original", data, "--release", tmp_path / "r.csv", "--owner", tmp_path / "o.json", "--json"
    )
    assert done.code == 0
    (entry,) = [e for e in done.json["attacks"] if e["attack"] == "prosecutor"]
    assert entry["after"]["worst"] <= 1 / 4
    assert entry["promised"]
    assert "knows who is in the table" in done.json["assumption"]


def test_an_attackers_file_is_joined_for_real(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, k=4)
    data = write_rows(tmp_path / "data.csv")
    run("anonymize", policy, "--input", data, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    register = tmp_path / "register.csv"
    register.write_text("name,age,sex,club\nAnn,31,F,chess\nIvy,95,F,golf\nZoe,44,F,golf\n", encoding="utf-8")
    arguments = ("--original", data, "--release", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    done = run("attack", policy, *arguments, "--attacker", register, "--json")
    assert done.code == 0, done.err
    entry = done.json["attacks"][-1]
    assert entry["attack"] == "attacker's file"
    assert entry["attributes"] == ["age", "sex"]
    assert entry["judged_by"] == ["name"]
    # Ann shares her age and sex with Fay; Ivy is alone in the original and left out of the release; Zoe is not there.
    assert entry["before"]["targets"] == 2
    assert entry["before"]["rate"] == pytest.approx((1 / 2 + 1) / 2)
    assert entry["after"]["rate"] == pytest.approx((1 / 4 + 0) / 2)
    assert entry["matched"]["before"] == {"none": 1, "one": 1}
    nameless = tmp_path / "nameless.csv"
    nameless.write_text("age,club\n31,chess\n", encoding="utf-8")
    done = run("attack", policy, *arguments, "--attacker", nameless, "--json")
    assert done.json["attacks"][-1]["after"] is None
    clubs = tmp_path / "clubs.csv"
    clubs.write_text("club\nchess\n", encoding="utf-8")
    refused(run("attack", policy, *arguments, "--attacker", clubs), "none of the quasi-identifiers", "--attacker")


def test_no_identifying_value_is_told(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, k=4)
    data = write_rows(tmp_path / "data.csv")
    run("anonymize", policy, "--input", data, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    arguments = ("--original", data, "--release", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    for form in ("--json", "--quiet"):
        done = run("attack", policy, *arguments, "--attacker", data, form)
        assert done.code == 0
        for row in ROWS:
            assert row[0] not in done.out + done.err
    assert done.out == ""


def test_intervals_hold_the_rate() -> None:
    assert wilson(0, 100) == (pytest.approx(0), pytest.approx(0.0370, abs=1e-4))
    low, high = wilson(0.5, 100)
    assert low == pytest.approx(0.4038, abs=1e-4)
    assert high == pytest.approx(0.5962, abs=1e-4)
    assert wilson(0.5, 0) == (0.0, 1.0)


def test_a_release_that_cannot_be_aligned_is_refused(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, k=4)
    data = write_rows(tmp_path / "data.csv")
    run("anonymize", policy, "--input", data, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    refused(run("attack", policy, "--original", data, "--release", tmp_path / "r.csv"), "--owner")


def women(left_out: set[str]) -> tuple[kveil.Policy, pl.DataFrame, pl.DataFrame, kveil.Owner]:
    """Ten women, six with HIV, and a release without some of them."""
    rows = [(str(age), "HIV" if age in (22, 24, 26, 28, 29, 30) else f"d{age}") for age in range(21, 31)]
    frame = pl.DataFrame(rows, schema=["age", "d"], orient="row")
    policy = kveil.Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 99]}}},
                    "d": {"role": "sensitive"}},
        privacy=[{"model": "l-diversity", "sensitive": "d", "l": 2, "variant": "frequency"}],
        suppression={"limit": 0.3},
    )  # fmt: skip
    kept = [i for i, (age, _) in enumerate(rows) if age not in left_out]
    spans = [f"{21 + i // 2 * 2}-{22 + i // 2 * 2}" for i in range(10)]
    release = pl.DataFrame([(spans[i], rows[i][1]) for i in kept], schema=["age", "d"], orient="row")
    return policy, frame, release, kveil.Owner(np.array(kept), 10, {}, None, None)


def test_people_who_are_missing_are_guessed() -> None:
    policy, frame, release, owner = women({"29", "30"})
    (entry,) = [e for e in attacked(release, policy, frame, owner)["attacks"] if e["attack"] == "who is missing"]
    assert entry["left_out"] == 2
    assert entry["before"]["rate"] == pytest.approx(6 / 10)
    assert (entry["after"]["rate"], entry["after"]["certain"], entry["after"]["targets"]) == (1, 2, 2)
    assert "2 fit no released row by age" in entry["sentence"]
    # Whoever is left out of a group that is shown is not seen to be missing.
    policy, frame, release, owner = women({"21", "29", "30"})
    (entry,) = [e for e in attacked(release, policy, frame, owner)["attacks"] if e["attack"] == "who is missing"]
    assert (entry["left_out"], entry["after"]["targets"]) == (3, 2)
    policy, frame, release, owner = women(set())
    assert not [e for e in attacked(release, policy, frame, owner)["attacks"] if e["attack"] == "who is missing"]
