"""What newcomers met on tables that nobody here had seen, a section per point."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import kveil
from label_reader import is_true
from support import run

# D1: the attack on values that are shown as they are

# D2: two tables, one screen

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

# D5: which column gives which back

# D6: what SPSS and Stata files say of their columns

# D8: types that the README's uses rely on

# D9: small things
