"""What newcomers met on tables that nobody here had seen, a section per point."""

from __future__ import annotations

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


# D4: why l cannot be had

# D5: which column gives which back

# D6: what SPSS and Stata files say of their columns

# D8: types that the README's uses rely on

# D9: small things
