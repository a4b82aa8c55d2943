"""Random batches that releases are applied to, one after another: all files together keep the policy, always."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

from naive.audiences import Published, fallen
from support import QUASI, run, write_policy, write_rows

COLUMNS = ["who", "a", "b", "d"]
ROLES: dict[str, Any] = {
    "who": "identifier",
    "a": {"role": QUASI, "hierarchy": {"tree": {"*": {"A": ["a1", "a2"], "B": ["a3", "a4"]}}}},
    "b": {"role": QUASI},
    "d": "sensitive",
}
MODELS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 3},
    {"model": "l-diversity", "sensitive": "d", "l": 2},
    {"model": "l-diversity", "sensitive": "d", "l": 1.5, "variant": "frequency"},
    {"model": "p-sensitive", "sensitive": "d", "p": 2},
    {"model": "alpha-k", "sensitive": "d", "alpha": 0.6, "k": 2},
]


def _people(rng: random.Random, number: int, name: str) -> list[list[str]]:
    values = rng.choice(["uuvw", "uvwx"])
    return [[f"{name}{i}", f"a{rng.randint(1, 4)}", rng.choice("xy"), rng.choice(values)] for i in range(number)]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("seed", range(10))
def test_all_batches_together_keep_the_policy(tmp_path: Path, seed: int) -> None:
    rng = random.Random(f"batches {seed}")
    privacy = rng.sample(MODELS, 2)
    limit = rng.choice([0.2, 0.4])
    policy = write_policy(
        tmp_path, ROLES, limit=limit, data={"path": "t.csv", "key": "who"}, privacy=privacy, algorithm="mondrian"
    )
    write_rows(tmp_path / "t.csv", _people(rng, 40, "p"), COLUMNS)
    kept = tmp_path / "kept"
    made = run("anonymize", policy, "-o", tmp_path / "r0.csv", "--archive", kept, "--json")
    assert made.code == 0, made.err
    counts = [made.json["records"]]
    files = [tmp_path / "r0.csv"]
    for number in range(1, 6):
        new, out = tmp_path / f"n{number}.csv", tmp_path / f"r{number}.csv"
        write_rows(new, _people(rng, rng.choice([1, 3, 12]), f"n{number}_"), COLUMNS)
        extend = ["--extend"] if rng.random() < 0.5 else []
        done = run("apply", kept, "--input", new, "-o", out, *extend, "--json")
        assert done.code in {0, 1}, done.err
        assert out.exists() == (done.code == 0)
        if done.code == 0:
            counts.append(done.json["records"])
            files.append(out)
        shown = [row for file in files for row in _rows(file)]
        one = Published(
            {name: own if isinstance(own, str) else own["role"] for name, own in ROLES.items()},
            privacy,
            {f"row {i}": row for i, row in enumerate(shown)},
        )
        assert fallen([one])[0] == set()
        gone, everyone = (sum(each[key] for each in counts) for key in ("suppressed", "input"))
        assert gone <= limit * everyone
        lines = sorted(",".join(row.values()) for row in shown)
        (tmp_path / "all.csv").write_text("\n".join([",".join(COLUMNS[1:]), *lines, ""]))
        told = run("verify", policy, "--release", tmp_path / "all.csv")
        assert told.code == 0, told.out
    assert run("archive", "check", kept, "-q").code == 0
    assert len(list(kept.glob("batch-*.zip"))) == len(files) - 1
