"""What newcomers met on tables that nobody here had seen, a section per point."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter
import zstandard

import kveil
from kveil.files import read_table
from kveil.frames import from_frame
from kveil.report.story import MOST_BARS, tell_public
from kveil.report.warn.followers import following_columns
from label_reader import is_true
from laid_evidence import evidence
from running_studio import Running, start
from support import QUASI, make_policy, refused, run, write_policy

Spec = dict[str, Any]


# D1: the attack on values that are shown as they are


def health_panel(sign: str, **others: str) -> tuple[Spec, pl.DataFrame]:
    """A panel of 120 people with incomes that nothing generalizes, written with a decimal comma or a point."""
    random = Random(3)
    rows = []
    for person in range(120):
        own = {"id": f"p{person}", "sex": random.choice("FM"), "age": str(random.randint(20, 69))}
        incomes = [f"{random.randint(0, 450) / 40:.2f}" for _ in range(random.randint(1, 4))]
        rows += [own | {"income": income.replace(".", sign)} for income in incomes]
    scale = {"from": 0, "to": "11.5", "widths": ["0.5", 1, 2, 4], "open": "both"}
    policy: Spec = {
        "kveil": 1,
        "data": {"separator": ";"},
        "attributes": {
            "id": {"role": "individual"},
            "sex": {"role": "quasi-identifier"},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}},
            },
            "income": {"role": "sensitive", "hierarchy": {"intervals": scale}},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "individual": {"conflicts": "generalize"},
        "release": others,
        "algorithm": "mondrian",
    }
    return policy, pl.DataFrame(rows)


def figures(attacks: list[Spec]) -> list[Spec]:
    return [{key: value for key, value in one.items() if key not in ("sentence", "title")} for one in attacks]


@pytest.mark.parametrize("shape", ["sets", "long"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_d1_a_column_that_is_shown_as_it_is_keeps_its_risk(shape: str, suffix: str, tmp_path: Path) -> None:
    told = {}
    for sign in ",.":
        policy, frame = health_panel(sign, shape=shape)
        (tmp_path / "p.yaml").write_text(json.dumps(policy))
        frame.write_csv(tmp_path / "c.csv", separator=";")
        files = [tmp_path / "p.yaml", "--original", tmp_path / "c.csv", "--release", tmp_path / f"r{suffix}"]
        files += ["--owner", tmp_path / "o.json", "--json"]
        made = ["anonymize", files[0], "--input", files[2], "-o", files[4], "--owner", files[6], "-q"]
        assert run(*made).code == 0
        assert run("verify", *files).code == 0  # it took the sets of its own release for others
        told[sign] = figures(run("attack", *files).json["attacks"])
    assert told[","] == told["."]
    sets = Counter(frozenset(own) for own in frame.group_by("id").agg("income")["income"].to_list())
    known = next(one for one in told[","] if one["attack"] == "fingerprint" and one["items"] is None)
    assert known["after"]["rate"] == pytest.approx(len(sets) / 120)  # whoever shares a set with n finds 1 in n


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_d1_pythons_report_tells_what_its_attack_tells(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, frame = health_panel(",")
    own: Any = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}[kind]
    result = kveil.anonymize(own, kveil.Policy(**policy))
    expected = kveil.attack(result.data, result.policy, own, result.owner).as_json()["attacks"]
    pages: list[Any] = []
    monkeypatch.setattr("kveil.report.page._report_page", lambda story: pages.append(story) or "")
    result.report(tmp_path / "a.html")
    result.report(tmp_path / "b.html", original=own)
    for story in pages:
        assert story.owner.attacks.as_json()["attacks"] == expected


def test_d1_a_star_is_no_guess_and_rows_of_stars_hide_nobody() -> None:
    rows = [("p0", "a", "x"), ("p1", "a", "x"), ("p2", "a", "y"), ("p3", "a", "y"), ("p4", "b", "z"), ("p5", "c", "w")]
    frame = pl.DataFrame(rows, schema=["who", "q", "s"], orient="row")
    policy = kveil.Policy(
        attributes={
            "who": {"role": "individual"},
            "q": {"role": "quasi-identifier"},
            "s": {"role": "sensitive", "hierarchy": {"tree": {"*": {"xy": ["x", "y"], "wz": ["w", "z"]}}}},
        },
        privacy=[{"model": "k-anonymity", "k": 2}, {"model": "kl-diversity", "sensitive": "s", "k": 1, "l": 1}],
        suppression={"limit": "0.4", "show": "star"},
        release={"order": "keep"},
        algorithm="partition",
    )
    stars = pl.DataFrame({"q": ["a"] * 4 + ["*"] * 2, "s": ["x", "x", "y", "y", "*", "*"]})
    attacks = kveil.attack(stars, policy, frame).as_json()["attacks"]
    played = {(one["attack"], one.get("items", "no")): one["after"] for one in attacks}
    assert played["fingerprint", None]["rate"] == pytest.approx((4 * 1 / 2 + 2 * 1 / 2) / 6)  # not one of four
    all_stars = pl.DataFrame({"q": ["a"] * 4 + ["b", "c"], "s": ["*"] * 6})
    attacks = kveil.attack(all_stars, policy, frame).as_json()["attacks"]
    for one in attacks:
        if one["attack"] in ("homogeneity", "best guess"):
            assert one["after"]["rate"] == 0  # it was 100 %: everybody's value is `*`


def test_d1_every_attack_says_in_words_what_it_is_and_what_is_known() -> None:
    policy, frame = health_panel(",")
    result = kveil.anonymize(frame, kveil.Policy(**policy))
    for one in kveil.attack(result.data, result.policy, frame, result.owner).as_json()["attacks"]:
        assert one["title"]
        assert one["knowing"]
        assert one["sentence"]
        if one["attack"] in ("homogeneity", "best guess", "fingerprint"):
            assert one["sensitive"] == "income"


# D2: two tables, one screen

ROWS = "".join(f"{20 + i % 9},{'mf'[i % 2]},{('flu', 'gout', 'cold')[i % 3]}\n" for i in range(60))
SMALL = (
    "kveil: 1\ndata: {path: NAME.csv}\nattributes:\n"
    "  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10, 50]}}}\n"
    "  sex: {role: quasi-identifier}\n  ill: {role: sensitive}\n"
    "privacy:\n  - {model: k-anonymity, k: 3}\nalgorithm: mondrian\n"
)


@pytest.fixture
def two_tables(tmp_path: Path) -> Iterator[Running]:
    """A studio in a folder with two tables, each with a policy."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"age,sex,ill\n{ROWS}")
        (tmp_path / f"{name}.yaml").write_text(SMALL.replace("NAME", name))
    running = start(tmp_path)
    try:
        running.enter()
        yield running
    finally:
        running.stop()


def test_d2_jobs_and_releases_belong_to_the_table_they_were_made_of(two_tables: Running) -> None:
    studio = two_tables

    def do(kind: str) -> None:
        assert studio.job(studio.ask("POST", "jobs", {"do": kind})["number"])["state"] == "done"

    first = studio.ask("POST", "open", {"path": "one.yaml"})
    do("run")
    do("risk")
    second = studio.ask("POST", "open", {"path": "two.yaml"})
    assert second["opening"] > first["opening"]
    assert second["jobs"] == []
    assert studio.ask("GET", "runs")["runs"] == []
    do("run")
    assert [job["kind"] for job in studio.ask("GET", "state")["jobs"]] == ["run"]
    own = {}
    for name, kinds in {"one": ["run", "risk"], "two": ["run"]}.items():
        state = studio.ask("POST", "open", {"path": f"{name}.yaml"})
        assert [job["kind"] for job in state["jobs"]] == kinds
        own[name] = [entry["run"] for entry in studio.ask("GET", "runs")["runs"]]
        assert len(own[name]) == 1
    assert sorted(path.name for path in studio.folder.glob("releases*")) == ["releases", "releases-two"]
    studio.ask("GET", f"runs/{own['one'][0].replace(' ', '%20')}/receipt.json", expect=404)


def test_d2_releases_that_lie_together_from_before_are_told_apart_by_their_policies(two_tables: Running) -> None:
    studio = two_tables
    studio.ask("POST", "open", {"path": "one.yaml"})
    assert studio.job(studio.ask("POST", "jobs", {"do": "run"})["number"])["state"] == "done"
    (made,) = (studio.folder / "releases").iterdir()
    made.rename(made.with_name("2026-01-01 10.00.00"))
    studio.edit({"path": ["data", "path"], "value": "two.csv"})  # the policy now speaks of the other table
    assert studio.ask("GET", "runs")["runs"] == []
    studio.ask("POST", "policy/undo")
    assert len(studio.ask("GET", "runs")["runs"]) == 1


def test_d2_a_change_meant_for_one_table_never_reaches_another(two_tables: Running) -> None:
    studio = two_tables
    first = studio.ask("POST", "open", {"path": "one.yaml"})
    late = {"number": first["project"]["number"], "changes": [{"path": ["seed"], "value": 9}], "words": "late"}
    studio.ask("POST", "open", {"path": "two.yaml"})
    studio.ask("POST", "policy/edit", late, expect=409)
    studio.ask("PUT", "policy/text", {"number": late["number"], "text": SMALL}, expect=409)
    shown = studio.own(**{"kveil-opening": str(first["opening"])})
    assert studio.raw("GET", "/api/values?column=ill", shown)[0] == 409
    assert (studio.folder / "two.yaml").read_text() == SMALL.replace("NAME", "two")


def test_d2_what_was_said_of_a_policy_that_has_changed_since_is_known_as_that(two_tables: Running) -> None:
    studio = two_tables
    studio.ask("POST", "open", {"path": "one.yaml"})
    studio.edit({"path": ["attributes", "age", "hierarchy", "intervals", "to"], "value": 22})
    for kind in ("run", "risk"):
        assert studio.job(studio.ask("POST", "jobs", {"do": kind})["number"])["state"] == "refused"
    assert all(job["current"] for job in studio.ask("GET", "state")["jobs"])
    studio.edit({"path": ["attributes", "age", "hierarchy", "intervals", "to"], "value": 99})
    assert not any(job["current"] for job in studio.ask("GET", "state")["jobs"])


# D3: labels that are true when read

BREEDS = "Abyssinian Akita Beagle Birman Bombay Boxer Briard Burmese Collie Korat Korean Korthals LaPerm Lhasa Löwchen"


def seen_by_everybody(rng: random.Random, kind: str) -> list[str]:
    """Return a column of texts, dates or numbers: some values are frequent, and many are a single record's."""
    if kind == "moments":
        often = [f"2016/0{month}/{day:02} 02:28:48" for month in (1, 3) for day in (1, 31)]
        rare = [
            f"20{rng.randint(15, 17)}/{rng.randint(1, 12):02}/{rng.randint(1, 28):02} {rng.randint(0, 23):02}:00:00"
            for _ in range(80)
        ]
    elif kind == "dates":
        often = ["01.01.2016", "31.03.2016", "24.12.2017"]
        rare = [f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(2012, 2019)}" for _ in range(80)]
    elif kind == "codes":
        often = ["1", "2", "3", "12"]
        rare = [str(rng.randint(4, 60)) for _ in range(80)]
    else:
        often = ["Korean Jindo", "LaPerm", "ECCO", "Folwell"]
        words = BREEDS.split()
        rare = [f"{rng.choice(words)}{rng.choice(('', ' mix', '-' + rng.choice(words), ' (old)'))}" for _ in range(120)]
    texts = [value for value in often for _ in range(40)] + rare
    rng.shuffle(texts)
    return texts[:200]


@pytest.mark.parametrize("kind", ["moments", "dates", "codes", "names"])
def test_d3_labels_that_init_makes_hold_for_every_value_below_them(tmp_path: Path, kind: str) -> None:
    rng = random.Random(kind)
    texts = seen_by_everybody(rng, kind)
    name = {"moments": "incident_date", "dates": "visit_date", "codes": "type_code", "names": "breed"}[kind]
    frame = pl.DataFrame({name: texts, "sex": rng.choices("FM", k=200), "income": rng.choices(range(900), k=200)})
    frame.write_csv(tmp_path / "t.csv")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "t.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "t.yaml")
    lines = policy.fixed_lines(name)
    assert lines is not None
    assert max(map(len, lines.lines)) > 2
    for value, *above in lines.lines:
        for label in above:
            assert is_true(label, value), (label, value)
    values = set(texts)
    rare = {value for value in values if texts.count(value) < 3}
    for label in {label for line in lines.lines for label in line[1:-1]}:
        assert label not in values
        assert not any(value in label for value in rare if len(value) > 2)
    done = run("anonymize", tmp_path / "t.yaml", "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    assert done.code == 0, done.err
    given = ["--original", tmp_path / "t.csv", "--owner", tmp_path / "o.json"]
    assert run("verify", tmp_path / "t.yaml", "--release", tmp_path / "r.csv", *given).code == 0


HOODS = {"*": {"Other": ["Hale"], "%s": ["ECCO", "East Phillips", "Folwell"]}}


def hood_files(folder: Path, label: str) -> list[str | Path]:
    """Write a table, its release and a policy with a tree whose node has this label; return how to verify it."""
    tree = {"*": {label: HOODS["*"]["%s"], "Other": HOODS["*"]["Other"]}}
    policy = {
        "kveil": 1,
        "data": {"path": "t.csv"},
        "attributes": {"hood": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "release": {"order": "keep"},
        "algorithm": "datafly",
    }
    (folder / "p.yaml").write_text(json.dumps(policy), encoding="utf-8")
    hoods = ["ECCO", "ECCO", "East Phillips", "Folwell", "Folwell", "Hale", "Hale"]
    pl.DataFrame({"hood": hoods}).write_csv(folder / "t.csv")
    pl.DataFrame({"hood": [label] * 5 + ["Other"] * 2}).write_csv(folder / "r.csv")
    return [folder / "p.yaml", "--release", folder / "r.csv"]


@pytest.mark.parametrize("label", ["ECCO … Folwell", "Eb… to Fo…", "F… to H…"])
def test_d3_verify_finds_a_label_with_two_ends_that_a_value_below_lies_outside_of(tmp_path: Path, label: str) -> None:
    verify = hood_files(tmp_path, label)
    for given in ([], ["--original", tmp_path / "t.csv"]):
        done = run("verify", *verify, *given)
        assert done.code == 1
        assert "found: hood shows a label with two ends that a value below lies outside of" in done.out
    done = run("anonymize", verify[0], "-o", tmp_path / "new.csv")
    assert done.code == 2
    assert "rename such labels" in done.err
    assert not (tmp_path / "new.csv").exists()
    assert "the hierarchy of hood has 1 label with two ends" in run("check", verify[0]).out


@pytest.mark.parametrize("label", ["E… to F…", "East-Folwell", "E and F", "Central", "part 1 of 2"])
def test_d3_verify_finds_nothing_in_labels_that_hold_or_are_no_range(tmp_path: Path, label: str) -> None:
    verify = hood_files(tmp_path, label)
    assert run("verify", *verify, "--original", tmp_path / "t.csv").code == 0
    assert run("anonymize", verify[0], "-o", tmp_path / "new.csv").code == 0
    assert "two ends" not in run("check", verify[0]).out


def test_d3_hierarchy_check_and_build_agree_on_what_labels_say(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("18;18-25;*\n26;18-25;*\n30;26-40;*\n", encoding="utf-8")
    assert "1 label with two ends" in run("hierarchy", "check", tmp_path / "h.csv").out
    hoods = [f"{word} {end}" for word in BREEDS.split() for end in ("East", "west", "2")]
    pl.DataFrame({"hood": hoods * 6}).write_csv(tmp_path / "t.csv")
    build = run("hierarchy", "build", tmp_path / "t.csv", "--column", "hood", "--as", "balanced")
    (tmp_path / "b.csv").write_text(build.out, encoding="utf-8")
    assert "two ends" not in run("hierarchy", "check", tmp_path / "b.csv").out
    lines = [line.split(";") for line in build.out.splitlines()]
    assert all(is_true(label, value) for value, *above in lines for label in above)
    assert any("…" in label for line in lines for label in line)


# D4: why l cannot be had


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"model": "l-diversity", "l": 3}, "t.csv has 2 values of sick, fewer than l = 3"),
        ({"model": "l-diversity", "l": 3, "variant": "entropy"}, "t.csv has 2 values of sick, fewer than l = 3"),
        ({"model": "l-diversity", "l": 1.95, "variant": "entropy"}, "too unevenly spread for entropy l = 1.95"),
        ({"model": "l-diversity", "l": 2, "variant": "recursive", "c": 2}, "too unevenly spread for recursive l = 2"),
        ({"model": "l-diversity", "l": 2, "variant": "frequency"}, "more than the share 1/l = 0.5"),
        ({"model": "alpha-k", "alpha": 0.5, "k": 2}, "more than the share alpha = 0.5"),
        ({"model": "p-sensitive", "p": 3}, "t.csv has 2 values of sick, fewer than p = 3"),
    ],
)
def test_d4_check_says_why_a_promise_is_impossible_as_anonymize_does(
    model: dict[str, Any], told: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("age,sick\n30,yes\n31,no\n40,yes\n41,yes\n50,no\n51,yes\n", encoding="utf-8")
    policy = {
        "kveil": 1,
        "data": {"path": "t.csv"},
        "attributes": {"age": {"role": "quasi-identifier"}, "sick": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}, {"sensitive": "sick", **model}],
    }
    path = tmp_path / "p.yaml"
    path.write_text(json.dumps(policy), encoding="utf-8")
    checked, content = run("check", path), run("check", path, "--json").json
    assert checked.code == 1
    assert told in " ".join(checked.out.split())
    assert "raise suppression.limit" not in checked.out or "lower l" in checked.out or "raise alpha" in checked.out
    (promise,) = content["impossible_promises"]
    assert promise["privacy"] == 1
    assert [promise["why"]] == content["impossible"]
    made = run("anonymize", path, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    assert made.code == 1
    assert promise["why"] in made.err


FEW = (
    "kveil: 1\ndata: {path: few.csv}\nattributes:\n  age: {role: quasi-identifier}\n  sick: {role: sensitive}\n"
    "  ill: {role: sensitive}\n  same: {role: sensitive}\nprivacy:\n  - {model: k-anonymity, k: 2}\n"
)


@pytest.fixture
def few_values(tmp_path: Path) -> Iterator[Running]:
    """A studio with a table whose protected columns have two values, four uneven ones, and one."""
    ills = ["flu"] * 45 + ["gout"] * 9 + ["cold"] * 4 + ["cough"] * 2
    rows = "".join(f"{20 + i % 2},{'yn'[i % 2]},{ill},x\n" for i, ill in enumerate(ills))
    (tmp_path / "few.csv").write_text(f"age,sick,ill,same\n{rows}")
    (tmp_path / "few.yaml").write_text(FEW)
    running = start(tmp_path)
    try:
        running.enter()
        running.ask("POST", "open", {"path": "few.yaml"})
        yield running
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("asked", "proposed"),
    [
        ({"model": "l-diversity", "sensitive": "sick", "l": 3}, {"l": 2}),
        ({"model": "l-diversity", "sensitive": "ill", "l": 3}, {"l": 3}),
        ({"model": "l-diversity", "sensitive": "ill", "l": 9}, {"l": 4}),
        ({"model": "l-diversity", "sensitive": "ill", "l": 3, "variant": "entropy"}, {"l": 2}),
        ({"model": "l-diversity", "sensitive": "ill", "l": 3, "variant": "frequency"}, None),
        ({"model": "l-diversity", "sensitive": "ill", "l": 3, "variant": "recursive", "c": 4}, {"l": 2}),
        ({"model": "l-diversity", "sensitive": "same", "l": 3}, None),
        ({"model": "p-sensitive", "sensitive": "same", "p": 2}, None),
        ({"model": "p-sensitive", "sensitive": "ill", "p": 7}, {"p": 4}),
        ({"model": "alpha-k", "sensitive": "ill", "alpha": 0.5, "k": 5}, {"alpha": "0.75"}),
        ({"model": "alpha-k", "sensitive": "sick", "alpha": 0.5, "k": 500}, {"k": 60}),
        ({"model": "t-closeness", "sensitive": "ill", "t": 0.2}, {"t": 0.2}),
        ({"model": "k-anonymity", "k": 1000}, {"k": 60}),
    ],
)
def test_d4_the_studio_proposes_what_the_column_can_give(few_values: Running, asked: object, proposed: object) -> None:
    answer = few_values.ask("POST", "proposal", {"model": asked})
    assert isinstance(asked, dict)
    if proposed is None:
        assert answer["model"] is None
        assert "few.csv has" in answer["why"]
        return
    assert isinstance(proposed, dict)
    kept = {key: value for key, value in answer["model"].items() if key not in ("k", *proposed)}
    assert {key: answer["model"][key] for key in proposed} == proposed
    assert kept == {key: value for key, value in asked.items() if key not in ("k", *proposed)}
    assert (answer["why"] is None) == (answer["model"] == asked)
    few_values.edit({"path": ["privacy"], "value": [{"model": "k-anonymity", "k": 2}, answer["model"]]})


def test_d4_the_check_names_the_promise_at_fault(few_values: Running) -> None:
    promise = {"model": "l-diversity", "sensitive": "sick", "l": 3}
    few_values.edit({"path": ["privacy"], "value": [{"model": "k-anonymity", "k": 2}, promise]})
    until = time.monotonic() + 60
    while (check := few_values.ask("GET", "state")["check"])["state"] == "running" and time.monotonic() < until:
        time.sleep(0.05)
    assert not check["possible"]
    assert [each["privacy"] for each in check["impossible_promises"]] == [1]
    assert "2 values of sick, fewer than l = 3" in check["impossible_promises"][0]["why"]


# D5: which column gives which back


def table_with_rules(random: Random) -> dict[str, list[str]]:
    """A quasi-identifier that is hidden, and columns that give it back, follow from it, or neither."""
    values = [f"v{i}" for i in range(random.randint(4, 12))]
    kinds: dict[str, Callable[[str], str]] = {
        "region": lambda value: f"r{int(value[1:]) % 2}",
        "code": lambda value: f"{value}-{random.randint(0, 2)}",
        "same": lambda value: f"s{value}",
        "noise": lambda _: random.choice("abc"),
    }
    rows = [random.choice(values) for _ in range(random.randint(30, 80))]
    columns = {name: [make(value) for value in rows] for name, make in kinds.items() if random.random() < 0.7}
    for cells in columns.values():
        if random.random() < 0.3:
            cells[random.randrange(len(cells))] = "odd"
    return {"zip": rows, **columns}


def right_guesses(known: list[str], hidden: list[str]) -> int:
    """Of how many rows the most frequent hidden value beside the known one is theirs."""
    beside = defaultdict(Counter)  # type: ignore[var-annotated]
    for one, other in zip(known, hidden, strict=True):
        beside[one][other] += 1
    return sum(max(counts.values()) for counts in beside.values())


def test_d5_which_column_gives_which_back_is_what_counting_says() -> None:
    ways = Counter[str]()
    for seed in range(150):
        table = table_with_rules(Random(seed))
        others = [name for name in table if name != "zip"]
        rows = len(table["zip"])
        roles = {"zip": {"role": "quasi-identifier"}} | {name: {"role": "insensitive"} for name in others}
        policy = kveil.Policy(attributes=roles, privacy=[{"model": "k-anonymity", "k": rows}])
        for warning in following_columns(evidence(policy, table, {**table, "zip": ["*"] * rows})):
            back = re.match(r"(.+?) (?:each give|gives) zip back", warning)
            follow = re.match(r"(.+?) (?:each follow|follows) from zip", warning)
            found = back or follow
            assert found is not None
            for name in re.split(", | and ", found[1]):
                ways["back" if back else "follow"] += 1
                known = right_guesses(table[name], table["zip"])
                if back:
                    assert known >= 0.95 * rows
                    assert f"{known:,} of {rows} records" in warning or f"{name} of {known:,}" in warning
                else:
                    assert known < 0.95 * rows
                    assert right_guesses(table["zip"], table[name]) >= 0.95 * rows
                    beside = [
                        len({zip_ for zip_, own in zip(table["zip"], table[name], strict=True) if own == value})
                        for value in set(table[name])
                    ]
                    low, high = min(beside), max(beside)
                    assert f"beside {low} to {high}" in warning or (f"beside {low}" in warning and low == high)
                assert name != "noise"
                assert not any(value in warning.split() for value in {*table["zip"], *table[name]} - {"odd"})
    assert min(ways["back"], ways["follow"]) > 30


def test_d5_a_school_leaving_certificate_does_not_give_people_back() -> None:
    people = [str(number) for number in range(40) for _ in range(3)]
    school = [f"s{int(number) % 4}" for number in people]
    policy = kveil.Policy(
        attributes={"person": {"role": "quasi-identifier"}, "school": {"role": "insensitive"}},
        privacy=[{"model": "k-anonymity", "k": 50}],
    )
    (warning,) = following_columns(
        evidence(policy, {"person": people, "school": school}, {"person": ["*"] * 120, "school": school})
    )
    assert warning.startswith("school follows from person")
    assert (
        "it does not give person back, but narrows it down (each of its values stands beside 10 of person)" in warning
    )
    assert "120 records of 120 fall below k 50" in warning


# D6: what SPSS and Stata files say of their columns

SURVEY = pl.DataFrame(
    {
        "idno": [float(i) for i in range(40)],
        "agea": [float(20 + 7 * i % 60) for i in range(39)] + [999.0],
        "gndr": [1.0, 2.0] * 20,
        "side": ([1.0, 2.0, 3.0, 77.0, None] * 8),
        "vote": ([1.0, 2.0, 9.0, 1.0] * 10),
        "word": ["a", "b", "-", "c"] * 10,
    }
)
ABOUT = {
    "idno": "Respondent",
    "agea": "Age of respondent",
    "gndr": "Gender",
    "side": "Side",
    "vote": "Vote",
    "word": "W",
}
VALUES = {
    "agea": {999: "No answer"},
    "gndr": {1: "Male", 2: "Female"},
    "side": {1: "Left", 2: "Right", 5: "Nobody"},
    "vote": {1: "A", 2: "B", 9: "Refused", 8: "Unasked"},
    "word": {"a": "Letter a"},
}
RANGES = {"agea": [999], "side": [77], "vote": [{"lo": 8, "hi": 9}], "word": ["-"]}
MEASURES = {"agea": "scale", "side": "nominal", "vote": "ordinal"}
SURVEY_ROLES = {
    "idno": "identifier",
    "agea": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}},
    "gndr": "quasi-identifier",
    "side": "sensitive",
    "vote": "sensitive",
    "word": "insensitive",
}


def survey(folder: Path, suffix: str = ".sav") -> Path:
    path = folder / f"s{suffix}"
    pyreadstat.write_sav(
        SURVEY,
        path,
        file_label="Secret title",
        note="Secret note",
        row_compress=suffix == ".sav",
        compress=suffix == ".zsav",
        column_labels=ABOUT,
        variable_value_labels=VALUES,
        missing_ranges=RANGES,
        variable_measure=MEASURES,
    )
    return path


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_d6_what_spss_says_of_unchanged_columns_comes_back(tmp_path: Path, suffix: str) -> None:
    source, release, owner = survey(tmp_path, suffix), tmp_path / "r.sav", tmp_path / "o.json"
    models = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "sensitive": "side", "l": 2}]
    policy = write_policy(tmp_path, SURVEY_ROLES, algorithm="mondrian", privacy=models)
    done = run("anonymize", policy, "--input", source, "-o", release, "--owner", owner)
    assert done.code == 0, done.err
    frame, told = pyreadstat.read_sav(release, user_missing=True, output_format="polars")
    rows = kveil.Owner.load(owner).rows
    for name in ("side", "vote", "word"):
        assert frame[name].to_list() == SURVEY[name].gather(rows).to_list(), name  # 77 is 77 still
    assert told.column_names_to_labels == {name: ABOUT[name] for name in frame.columns}
    assert told.variable_value_labels == {  # of values that somebody in the release has, and of no other
        "side": {1: "Left", 2: "Right"},
        "vote": {1: "A", 2: "B", 9: "Refused"},
        "word": {"a": "Letter a"},
    }
    assert told.missing_ranges["side"] == [{"lo": 77, "hi": 77}]
    assert told.missing_ranges["vote"] == [{"lo": 8, "hi": 9}]
    assert told.missing_ranges["word"] == [{"lo": "-", "hi": "-"}]
    assert "agea" not in told.missing_ranges
    assert {name: told.variable_measure[name] for name in ("agea", "side", "vote")} == {
        **MEASURES,
        "agea": "unknown",  # it is text now
    }
    assert not told.notes
    assert not told.file_label
    assert told.creation_time.year == 2000
    assert b"Secret" not in release.read_bytes()
    assert b"Nobody" not in release.read_bytes()
    for more in ((), ("--original", source, "--owner", owner)):
        verified = run("verify", policy, "--release", release, *more)
        assert verified.code == 0, verified.out
        assert "byte for byte" not in verified.out
    again = tmp_path / "again.sav"
    assert run("anonymize", policy, "--input", source, "-o", again).code == 0
    assert again.read_bytes() == release.read_bytes()


def test_d6_stata_keeps_its_kinds_of_missing(tmp_path: Path) -> None:
    cells = {"age": [20, 30, 40, "a"] * 8, "grp": [1, 2, 3, "z"] * 8, "zip": ["x", "y"] * 16}
    source, release, owner = tmp_path / "g.dta", tmp_path / "r.dta", tmp_path / "o.json"
    pyreadstat.write_dta(
        pd.DataFrame(cells),
        source,
        file_label="Secret",
        column_labels={"age": "Age in years", "grp": "Group", "zip": "Place"},
        variable_value_labels={
            "age": {20: "Twenty", "a": "Asked"},
            "grp": {1: "A", 2: "B", 9: "Nobody", "z": "Refused"},
        },
        missing_user_values={"age": ["a"], "grp": ["z"]},
        version=14,
    )
    policy = write_policy(tmp_path, {"age": "insensitive", "grp": "sensitive", "zip": QUASI}, algorithm="mondrian")
    done = run("anonymize", policy, "--input", source, "-o", release, "--owner", owner)
    assert done.code == 0, done.err
    frame, told = pyreadstat.read_dta(release, user_missing=True)
    assert frame["grp"].tolist() == [cells["grp"][row] for row in kveil.Owner.load(owner).rows]
    assert told.variable_value_labels == {"age": {20: "Twenty", "a": "Asked"}, "grp": {1: "A", 2: "B", "z": "Refused"}}
    assert told.column_labels == ["Age in years", "Group", "Place"]
    assert not told.file_label
    for more in ((), ("--original", source, "--owner", owner)):
        verified = run("verify", policy, "--release", release, *more)
        assert verified.code == 0, verified.out
        assert "byte for byte" not in verified.out
    for other in (".sav", ".csv", ".parquet"):  # which have no such letters
        target = tmp_path / f"r{other}"
        assert run("anonymize", policy, "--input", source, "-o", target).code == 0
        assert read_table(target).frame["age"].null_count() + (read_table(target).texts("age") == "").sum() >= 8
        assert run("verify", policy, "--release", target).code == 0


def test_d6_verify_tells_what_does_not_belong(tmp_path: Path) -> None:
    source, release, owner = survey(tmp_path), tmp_path / "r.sav", tmp_path / "o.json"
    policy = write_policy(tmp_path, SURVEY_ROLES, algorithm="mondrian")
    assert run("anonymize", policy, "--input", source, "-o", release, "--owner", owner).code == 0
    frame, told = pyreadstat.read_sav(release, user_missing=True, output_format="polars")
    fine = {
        "column_labels": told.column_names_to_labels,
        "variable_value_labels": told.variable_value_labels,
        "missing_ranges": told.missing_ranges,
    }

    def found(changed: pl.DataFrame, **settings: Any) -> str:
        pyreadstat.write_sav(changed, tmp_path / "x.sav", **(fine | settings))
        done = run("verify", policy, "--release", tmp_path / "x.sav", "--original", source, "--owner", owner)
        return f"{done.code} {done.out}"

    assert found(frame).startswith("0")
    strange = "descriptions, labels or missing codes that the original does not have"
    assert f"{strange} (vote)" in found(frame, column_labels={**ABOUT, "vote": "Ann is the first"})
    assert f"{strange} (side)" in found(frame, variable_value_labels={**told.variable_value_labels, "side": {1: "Ann"}})
    assert "columns that are generalized (agea)" in found(
        frame, missing_ranges={**told.missing_ranges, "agea": ["20-39"]}
    )
    assert "a title" in found(frame, file_label="Ann")
    assert "notes" in found(frame, note="Ann")
    other = frame.with_columns(pl.when(pl.col("vote") == 9).then(8.0).otherwise("vote").alias("vote"))
    assert "vote (sensitive) differs from the original in" in found(other)
    unused = {**told.variable_value_labels, "side": {1: "Left", 2: "Right", 5: "Nobody"}}
    assert "labels of 1 value that no row shows" in found(frame, variable_value_labels=unused)


def test_d6_the_order_of_codes_for_missing_tells_nothing_of_the_input(tmp_path: Path) -> None:
    codes = [77.0, 88.0, None] * 6
    releases = set()
    for shift in range(3):
        frame = pl.DataFrame({"a": [1.0] * 18, "d": codes[shift:] + codes[:shift]})
        pyreadstat.write_sav(frame, tmp_path / "t.sav", missing_ranges={"d": [77, 88]})
        policy = write_policy(tmp_path, {"a": QUASI, "d": "sensitive"}, algorithm="mondrian")
        assert run("anonymize", policy, "--input", tmp_path / "t.sav", "-o", tmp_path / "r.sav").code == 0
        releases.add((tmp_path / "r.sav").read_bytes())
    assert len(releases) == 1


def test_d6_a_release_of_fewer_values_is_read_as_the_original_is(tmp_path: Path) -> None:
    """Where all codes of a release have labels, and not all of the original's, labels would be read as values."""
    frame = pl.DataFrame({"a": [1.0] * 6 + [2.0], "d": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0]})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"d": {1: "Left", 2: "Right"}})
    policy = write_policy(tmp_path, {"a": QUASI, "d": "sensitive"}, k=3, limit=0.5)
    done = run(
        "anonymize", policy, "--input", tmp_path / "t.sav", "-o", tmp_path / "r.sav", "--owner", tmp_path / "o.json"
    )
    assert done.code == 0, done.err
    shown = read_table(tmp_path / "r.sav").frame["d"]
    assert set(shown.drop_nulls()) <= {1.0, 2.0, 3.0}
    beside = ("--original", tmp_path / "t.sav", "--owner", tmp_path / "o.json")
    assert run("verify", policy, "--release", tmp_path / "r.sav", *beside).code == 0


def test_d6_init_reads_descriptions_and_labels(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "agea": draw.integers(15, 95, 300).astype(float),
            "hinctnta": draw.integers(1, 11, 300).astype(float),
            "v9": draw.choice([1.0, 2.0, 9.0], 300),
            "polintr": draw.choice([1.0, 2.0, 3.0], 300),
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "t.sav",
        column_labels={"agea": "Age of respondent", "hinctnta": "Household's total net income", "polintr": "Interest"},
        variable_value_labels={"v9": {1: "Male", 2: "Female"}, "polintr": {1: "Much", 2: "Little"}},
    )
    assert run("init", tmp_path / "t.sav", "-o", tmp_path / "p.yaml").code == 0
    policy, text = kveil.Policy.load(tmp_path / "p.yaml"), (tmp_path / "p.yaml").read_text()
    assert policy.attributes["agea"].role == "quasi-identifier"
    assert isinstance(policy.attributes["agea"].hierarchy, kveil.Intervals)
    assert policy.attributes["hinctnta"].role == "sensitive"
    assert policy.attributes["v9"].role == "quasi-identifier"
    assert policy.attributes["polintr"].role == "insensitive"
    for told in ('"Age of respondent".', '"Household\'s total net income".', "Codes: 1 Male, 2 Female.", '"Interest".'):
        assert told in text.replace("\n  # ", " ")


# D8: types that the README's uses rely on


def snippets(page: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


USES = """
import pandas as pd
import polars as pl
import pyarrow as pa

import kveil


def eager(table: pl.DataFrame, policy: kveil.Policy) -> pl.DataFrame:
    return kveil.anonymize(table, policy).data


def lazy(table: pl.LazyFrame, policy: kveil.Policy) -> pl.LazyFrame:
    return kveil.anonymize(table, policy, "mondrian", bound=True).data


def panda(table: pd.DataFrame, policy: kveil.Policy) -> pd.DataFrame:
    result: kveil.Result[pd.DataFrame] = kveil.anonymize(table, policy)
    return result.data


def arrow(table: pa.Table, policy: kveil.Policy) -> pa.Table:
    return kveil.anonymize(table, policy).data


reveal_type(kveil.anonymize(pl.DataFrame(), kveil.Policy.load("p.yaml")).data)
reveal_type(kveil.anonymize(pl.LazyFrame(), kveil.Policy.load("p.yaml")).data)
wrong: int = kveil.anonymize(pl.DataFrame(), kveil.Policy.load("p.yaml")).data
"""


def test_d8_what_comes_back_has_the_type_of_what_was_given(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent
    (tmp_path / "uses.py").write_text(USES)
    files = [tmp_path / "uses.py"]
    for page in (root / "README.md", root / "docs" / "python.md"):
        files.append(tmp_path / f"{page.stem.lower()}_uses.py")
        files[-1].write_text(snippets(page))
        assert "kveil.anonymize(" in files[-1].read_text()
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-pandas.*,pyarrow.*]\nignore_missing_imports = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "mypy.ini", "--cache-dir", tmp_path / "c", *files],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": ""},
        capture_output=True,
        text=True,
    )
    told = done.stdout.splitlines()
    assert [line.split("note: ")[1] for line in told if "Revealed type" in line] == [
        'Revealed type is "polars.dataframe.frame.DataFrame"',
        'Revealed type is "polars.lazyframe.frame.LazyFrame"',
    ]
    errors = [line for line in told if ": error: " in line]
    assert len(errors) == 1, done.stdout + done.stderr
    assert "Incompatible types in assignment" in errors[0]


class Stream:
    """Rows of which nothing is known but that they come by Arrow, once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._reader = frame.to_arrow().to_reader()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def test_d8_whatever_streams_arrow_is_a_frame() -> None:
    frame = pl.DataFrame({"a": ["1", "1", "2", "2"], "d": ["x", "y", "x", "y"], "n": [1, 2, 3, 4]})
    policy = make_policy({"a": QUASI, "d": "sensitive", "n": "insensitive"}, algorithm="mondrian")
    expected = kveil.anonymize(frame, policy).data
    relation = duckdb.sql("SELECT * FROM frame ORDER BY n")
    released = kveil.anonymize(relation, policy)
    assert type(released.data) is type(relation)
    assert released.data.pl().equals(expected)
    assert kveil.verify(released.data, policy, original=relation, owner=released.owner)
    assert sum(group.size for group in released.groups) == 4
    batch = frame.to_arrow().to_batches()[0]
    for given, kind in ((Stream(frame), pl.DataFrame), (batch, pa.Table), (frame.to_arrow().to_reader(), pa.Table)):
        data = kveil.anonymize(given, policy).data
        assert type(data) is kind
        assert pl.DataFrame(data).equals(expected)
    with pytest.raises(kveil.DataError, match="kveil reads pandas, Polars and PyArrow tables, relations of DuckDB"):
        kveil.anonymize([1, 2], policy)
    with pytest.raises(kveil.DataError, match="cannot be read by Arrow"):
        kveil.anonymize(Broken(), policy)


class Broken:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise RuntimeError("planted")


# D9: small things


def report_of(tmp_path: Path, ages: list[str], spec: Spec, k: int = 2) -> str:
    policy = kveil.Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": spec}, "d": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": 1},
        algorithm="mondrian",
    )
    result = kveil.anonymize(pl.DataFrame({"age": ages, "d": ["x"] * len(ages)}), policy)
    result.report(tmp_path / "r.html")
    return (tmp_path / "r.html").read_text()


def test_d9_labels_of_a_report_stand_in_the_order_of_their_numbers() -> None:
    policy = kveil.Policy(
        attributes={"q": {"role": "quasi-identifier"}}, privacy=[{"model": "k-anonymity", "k": 1}], algorithm="mondrian"
    )
    frame = pl.DataFrame({"q": ["1"]})
    receipt = kveil.anonymize(frame, policy).receipt
    orders = [
        ["<0.5", "[0.5,1)", "[2,3)", "[10,10.5)", "10.25", ">=12", "unknown"],
        ["<-5", "[-10,-3]", "-4", "0-4", "0-9", "5-9", "10-19", ">=20"],
        ["[-10.5,-2)", "[-2,0)", "[0,10)", "[10,20)", "[100,110)"],
    ]
    for order in orders:  # as texts, `<0.5` came last, and numbers below 0 after all others
        for seed in range(5):
            shown = pl.DataFrame({"q": Random(seed).sample(order, len(order))})
            story = tell_public(policy, receipt, from_frame(shown))
            assert [label for label, _ in story.columns[0].after] == order


def test_d9_one_label_more_than_are_drawn_is_drawn(tmp_path: Path) -> None:
    ages = [str(age) for age in range(MOST_BARS + 1)] * 2
    page = report_of(tmp_path, ages, {"intervals": {"from": 0, "to": 99, "widths": [10]}})
    assert "1 other" not in page
    assert f">{MOST_BARS}<" in page


def test_d9_a_printed_report_has_its_colours_its_table_and_its_day(tmp_path: Path) -> None:
    policy = {
        "kveil": 1,
        "attributes": {"age": {"role": "quasi-identifier"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(policy))
    (tmp_path / "visits & more.csv").write_text("age\n1\n2\n")
    arguments = ["--input", tmp_path / "visits & more.csv", "-o", tmp_path / "r.csv", "-q"]
    assert run("anonymize", tmp_path / "p.yaml", *arguments, "--report", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text()
    assert f"Table: visits &amp; more.csv. Report of {date.today().isoformat()}." in page
    assert "<title>Release report: visits &amp; more.csv, " in page
    printed = page.partition("@media print")[2]
    assert re.search(r"\.meter i, \.dot, \.tree \.bar \{ print-color-adjust: exact", printed)
    assert ".card { break-inside: auto; }" in printed  # so that no small column has a page of its own
    assert run("anonymize", tmp_path / "p.yaml", *arguments, "--report", tmp_path / "r.html", "--public").code == 0
    assert "visits" not in (tmp_path / "r.html").read_text().partition('id="again"')[0]


def workbook(path: Path) -> Path:
    made = xlsxwriter.Workbook(path)
    rows = [["a", "d"], *([str(i % 3), "flu" if i % 2 else "gout"] for i in range(24))]
    for name, above in (("notes", 0), ("2024", 3), ("empty", 0), ("other's", 1)):
        sheet = made.add_worksheet(name)
        for line in range(above):
            sheet.write_string(line, 0, f"title {line}")
        for line, row in enumerate(rows if name != "empty" else []):
            sheet.write_row(above + line, 0, row)
    made.close()
    return path


def test_d9_a_sheet_is_chosen_by_name_or_number(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx")
    roles = {"a": QUASI, "d": "sensitive"}
    first = write_policy(tmp_path, roles, algorithm="mondrian", data={"path": "t.xlsx"})
    release, owner, account = tmp_path / "r.xlsx", tmp_path / "o.json", tmp_path / "a.json"
    outputs = ("-o", release, "--owner", owner, "--account", account)
    told = "t.xlsx has something in other sheets, too ('2024' and 'other's')".replace("'other's'", '"other\'s"')
    done = run("anonymize", first, *outputs)
    assert done.code == 0
    assert told in done.out.replace("\n", " ")
    assert any(told in warning for warning in json.loads(account.read_text())["warnings"])
    assert told in run("check", first).out.replace("\n", " ")
    for sheet, skip in (("2024", 3), ("2", 3), (2, 3), ("other's", 1), (4, 1)):
        policy = write_policy(
            tmp_path, roles, algorithm="mondrian", data={"path": "t.xlsx", "sheet": sheet, "skip": skip}
        )
        done = run("anonymize", policy, *outputs)
        assert done.code == 0, done.err
        assert "other sheets" not in done.out
        assert read_table(release).columns == ["a", "d"]  # a release has one sheet, and nothing above its names
        beside = ("--release", release, "--original", table, "--owner", owner)
        for command in ("verify", "measure", "attack"):
            assert run(command, policy, *beside).code == 0
        assert run("check", policy).code == 0
        assert run("dependencies", policy).code == 0
        assert run("compare", policy, "--algorithms", "mondrian,datafly").code == 0
        assert (
            run("hierarchy", "publish", policy, "--release", release, "-o", tmp_path / "public.yaml", "--force").code
            == 0
        )
        assert "sheet" not in (tmp_path / "public.yaml").read_text()
        assert run("verify", tmp_path / "public.yaml", "--release", release).code == 0


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"path": "t.xlsx", "sheet": "2042"}, "t.xlsx has no sheet '2042'; it has 'notes', '2024', 'empty' and"),
        ({"path": "t.xlsx", "sheet": "5"}, "t.xlsx has no sheet '5'"),
        ({"path": "t.xlsx", "sheet": 0}, "t.xlsx has no sheet '0'"),
        ({"path": "t.xlsx", "sheet": "empty"}, "the sheet 'empty' is empty"),
        ({"path": "t.xlsx", "sheet": "notes", "skip": 99}, "the sheet 'notes' has nothing below its row 99"),
        ({"path": "t.csv", "sheet": "1"}, "t.csv has no sheets, as a workbook has; leave sheet out."),
        ({"path": "t.parquet", "skip": 1}, "t.parquet has no lines above its names of columns"),
        ({"path": "t.parquet", "sheet": "x"}, "t.parquet has no sheets"),
        ({"path": "t.csv", "skip": 99}, "t.csv: skip leaves out 99 lines, and it has 25 lines"),
        ({"path": "t.csv", "skip": -1}, "data.skip must be at least 0"),
        ({"path": "t.csv", "skip": "x"}, "data.skip must be a whole number"),
        ({"path": "sqlite:///t.sqlite?table=t", "skip": 1}, "has no lines above its names of columns"),
    ],
)
def test_d9_no_such_sheet_or_line_is_told(tmp_path: Path, data: dict[str, Any], told: str) -> None:
    workbook(tmp_path / "t.xlsx")
    frame = pl.DataFrame({"a": ["1", "2"] * 12, "d": ["x", "y", "z"] * 8})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    with contextlib.closing(sqlite3.connect(tmp_path / "t.sqlite")) as database:
        database.execute("CREATE TABLE t (a, d)")
    for engine in ({}, {"engine": "stream"}) if data["path"] == "t.parquet" else ({},):
        policy = write_policy(tmp_path, {"a": QUASI, "d": "sensitive"}, data=data, **engine)
        refused(run("anonymize", policy, "-o", tmp_path / "r.parquet"), told)
        refused(run("check", policy), told)
        assert not (tmp_path / "r.parquet").exists()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst", ".tsv"])
def test_d9_lines_above_the_names_are_left_out(tmp_path: Path, suffix: str) -> None:
    cut = "\t" if suffix == ".tsv" else ";"
    rows = "".join(f"{i % 3}{cut}{'flu' if i % 2 else 'gout'}\n" for i in range(24))
    text = f'A title, with "one odd quote\r\n\nof;many;words\na{cut}d\n{rows}'.encode()
    path = tmp_path / f"t{suffix}"
    path.write_bytes(
        gzip.compress(text) if suffix.endswith("gz") else zstandard.compress(text) if "zst" in suffix else text
    )
    assert run("init", path, "--skip", "3", "-o", tmp_path / "p.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "p.yaml")
    assert policy.data.skip == 3
    assert list(policy.attributes) == ["a", "d"]
    release, owner = tmp_path / f"r{suffix}", tmp_path / "o.json"
    done = run("anonymize", tmp_path / "p.yaml", "-o", release, "--owner", owner)
    assert done.code == 0, done.err
    assert read_table(release).columns == ["a", "d"]
    verified = run("verify", tmp_path / "p.yaml", "--release", release, "--original", path, "--owner", owner)
    assert verified.code == 0, verified.out
    broken = text + b"1\n"
    path.write_bytes(
        gzip.compress(broken) if suffix.endswith("gz") else zstandard.compress(broken) if "zst" in suffix else broken
    )
    refused(run("check", tmp_path / "p.yaml"), "line 29 has 1 field, the header has 2")


def test_d9_init_writes_the_sheet_and_the_lines(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx")
    assert run("init", table, "--sheet", "2024", "--skip", "3", "-o", tmp_path / "p.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "p.yaml")
    assert (policy.data.sheet, policy.data.skip) == ("2024", 3)
    assert run("check", tmp_path / "p.yaml").code == 0
    assert run("init", table, "-o", tmp_path / "q.yaml").code == 0
    text = (tmp_path / "q.yaml").read_text().replace("\n  # ", " ")
    assert "CHECK: this is the first sheet; there is something in '2024' and \"other's\", too." in text
    assert kveil.Policy.load(tmp_path / "q.yaml").data.sheet is None
    refused(run("init", table, "--sheet", "x"), "has no sheet 'x'")
    refused(run("init", tmp_path / "q.yaml", "--sheet", "x"), "")


def test_d9_apply_reads_new_records_as_the_policy_says(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},{'flu' if i % 2 else 'gout'}\n" for i in range(24))
    (tmp_path / "t.csv").write_text(f"title\nid,a,d\n{rows}")
    (tmp_path / "new.csv").write_text("other title\nid,a,d\n77,1,flu\n78,1,gout\n")
    data = {"path": "t.csv", "skip": 1, "key": "id"}
    policy = write_policy(tmp_path, {"id": "identifier", "a": QUASI, "d": "sensitive"}, algorithm="mondrian", data=data)
    archive = tmp_path / "archive"
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--archive", archive).code == 0
    done = run("apply", archive, "--input", tmp_path / "new.csv", "--output", tmp_path / "out.csv")
    assert done.code == 0, done.err
    assert (tmp_path / "out.csv").read_text().startswith("a,d\n")
    assert run("verify", policy, "--release", tmp_path / "r.csv", "--previous", archive).code in (0, 1)


def test_d9_an_archive_without_a_key_is_told_before_the_table_is_read(tmp_path: Path) -> None:
    policy = {
        "kveil": 1,
        "data": {"path": "absent.csv"},
        "attributes": {"age": {"role": "quasi-identifier"}, "sick": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(policy), encoding="utf-8")
    (tmp_path / "absent.csv").write_text("no table at all", encoding="utf-8")
    done = run("anonymize", tmp_path / "p.yaml", "-o", tmp_path / "r.csv", "--archive", tmp_path / "kept")
    assert done.code == 2
    assert "does not say who somebody is in another table" in " ".join(done.err.split())


def test_d9_several_columns_as_a_key_are_refused_with_what_to_do(tmp_path: Path) -> None:
    policy = {
        "kveil": 1,
        "data": {"key": ["first", "last"]},
        "attributes": {
            "first": {"role": "identifier"},
            "last": {"role": "identifier"},
            "q": {"role": "quasi-identifier"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(policy), encoding="utf-8")
    done = run("check", tmp_path / "p.yaml")
    assert done.code == 2
    assert "join them into one column of the table" in " ".join(done.err.split())


def test_d9_a_text_in_a_pipeline_has_a_sentence_that_tells_no_value() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed; pip install 'kveil[sklearn]' brings it")
    from kveil.sklearn import Anonymizer

    table = [[1.0, "secret"], [2.0, "F"], [3.0, "F"]]
    with pytest.raises(ValueError, match="encode columns of texts first") as caught:
        Anonymizer(k=2).fit(table)
    assert "secret" not in str(caught.value)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40


def test_d9_a_picture_called_a_table_is_no_text_in_any_encoding(tmp_path: Path) -> None:
    (tmp_path / "photo.csv").write_bytes(PNG)
    result = run("init", str(tmp_path / "photo.csv"))
    assert result.code == 2
    assert "photo.csv is no text, but a file of another kind" in result.err


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "utf-16", "utf-16-le", "shift_jis", "gb18030"])
def test_d9_texts_of_other_encodings_are_still_told_by_them(tmp_path: Path, encoding: str) -> None:
    word = "\u4e2d\u6587" if encoding in ("shift_jis", "gb18030") else "Größe"
    (tmp_path / "t.csv").write_bytes(f"name,n\n{word},1\n".encode(encoding) * 20)
    result = run("init", str(tmp_path / "t.csv"))
    assert "it looks like" in result.err


def test_d9_a_table_that_cannot_be_opened_is_not_left_behind_and_may_be_told_more_about(tmp_path: Path) -> None:
    running = start(tmp_path)
    try:
        running.enter()
        octets = running.own(**{"Origin": running.origin, "Content-Type": "application/octet-stream"})

        def drop(name: str, raw: bytes) -> dict[str, object]:
            status, _, content = running.raw("PUT", f"/api/upload?name={name}", octets, raw)
            assert status == 422
            return dict(json.loads(content))

        drop("photo.csv", PNG)
        drop("empty.csv", b"")
        drop("double.csv", b"a,a\n1,2\n")
        told = drop("names.csv", "Größe,Ort\n1,Köln\n2,Bonn\n".encode("cp1252"))
        assert running.ask("GET", "files")["entries"] == []
        state = running.ask("POST", "open", {"path": told["path"], "encoding": told["encoding"]})
        assert state["project"]["content"]["data"]["encoding"] == "cp1252"
        assert [entry["name"] for entry in running.ask("GET", "files")["entries"]] == ["names"]
        drop("photo.csv", PNG)
    finally:
        running.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["names"]


def test_d9_what_varies_within_people_is_told_at_once_with_what_to_do(tmp_path: Path) -> None:
    """One finding for all columns, not one after another, which the page can put right with a click."""
    rows = "".join(f"{i // 2},{i % 2},{'xy'[i % 2]},{20 + i}\n" for i in range(40))
    (tmp_path / "panel.csv").write_text(f"pid,job,town,age\n{rows}")
    text = (
        "kveil: 1\ndata: {path: panel.csv}\nattributes:\n  pid: {role: individual}\n  job: {role: insensitive}\n"
        "  town: {role: insensitive}\n  age: {role: quasi-identifier}\nprivacy:\n  - {model: k-anonymity, k: 2}\n"
    )
    (tmp_path / "panel.yaml").write_text(text)
    policy = kveil.Policy.load(tmp_path / "panel.yaml")
    with pytest.raises(kveil.DataError, match="job and town are insensitive and vary within 20 people") as told:
        kveil.anonymize(pl.read_csv(tmp_path / "panel.csv"), policy)
    assert "Give them role sensitive or identifier" in str(told.value)
    running = start(tmp_path)

    def refused() -> dict[str, object]:
        until = time.monotonic() + 60
        while (check := running.ask("GET", "state")["check"])["state"] == "running" and time.monotonic() < until:
            time.sleep(0.05)
        return dict(check)

    try:
        running.enter()
        running.ask("POST", "open", {"path": "panel.yaml"})
        assert refused()["disagreement"] == {"columns": ["job", "town"], "generalizable": False}
        wish = {"number": running.number, "names": ["job", "town"], "role": "sensitive"}
        running.ask("POST", "policy/roles", wish)
        assert refused()["disagreement"] == {"columns": ["age"], "generalizable": True}
        running.edit({"path": ["individual", "conflicts"], "value": "generalize"})
        assert refused()["state"] == "done"
    finally:
        running.stop()


def test_d9_init_names_the_other_sheets_and_no_library_speaks(tmp_path: Path) -> None:
    made = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    made.add_worksheet("one").write_row(0, 0, ["a", "empty", "d"])
    for line in range(1, 25):
        made.worksheets()[0].write(line, 0, line % 3)
        made.worksheets()[0].write(line, 2, "flu" if line % 2 else "gout")
    made.add_worksheet("two").write(0, 0, "title")
    made.worksheets()[1].write_row(2, 0, ["x", "y", "z"])
    made.close()
    arguments = ["init", str(tmp_path / "t.xlsx"), "-o", str(tmp_path / "p.yaml")]
    done = subprocess.run([sys.executable, "-m", "kveil", *arguments], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    told = "t.xlsx has something in other sheets, too ('two')"
    assert told in done.stdout
    assert told in run(*arguments, "--force", "--json").json["warnings"][0]


def test_d9_hierarchies_are_built_and_checked_where_a_table_lies(tmp_path: Path) -> None:
    table = workbook(tmp_path / "t.xlsx")
    lies = ["--column", "a", "--sheet", "other's", "--skip", "1"]
    assert run("hierarchy", "build", table, *lies, "--as", "{mask: {keep: [0]}}", "-o", tmp_path / "a.csv").code == 0
    assert run("hierarchy", "check", tmp_path / "a.csv", "--data", table, *lies).code == 0
    (tmp_path / "t.csv").write_text("Größe;x\n1,62;a\n1,7;b\n;c\n", encoding="cp1252")
    lies = ["--column", "Größe", "--encoding", "cp1252"]
    intervals = "{intervals: {from: 1, to: 2, widths: [0.5]}}"
    built = run("hierarchy", "build", tmp_path / "t.csv", *lies, "--as", intervals, "-o", tmp_path / "b.csv")
    assert built.code == 0, built.err
    assert (tmp_path / "b.csv").read_text() == "1,62;[1.5,2);*\n1,7;[1.5,2);*\n"
    checked = run("hierarchy", "check", tmp_path / "b.csv", "--data", tmp_path / "t.csv", *lies)
    assert checked.code == 0, checked.out
    assert "two ends" not in checked.out
