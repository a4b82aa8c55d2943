"""Nothing that kveil checks hides in an `assert`: with `python -O` it refuses what it refuses without."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import polars as pl
import kveil
from kveil.algorithms.registry import find
from kveil.plugins import Algorithm, NoOptions, Search
from kveil.testing import check_algorithm

print("asserts are left out" if sys.flags.optimize else "asserts are run", file=sys.stderr)
rows = [(str(20 + i % 7), "abc"[i % 3], "xyz"[i % 2 + i % 3 // 2]) for i in range(24)]
frame = pl.DataFrame(rows, schema=["age", "city", "ill"], orient="row")
QUASI = "quasi-identifier"
attributes = {
    "age": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
    "city": {"role": QUASI, "boundary": {"level": 0}},
    "ill": {"role": "sensitive"},
}


def told(what, call):
    try:
        found = call()
    except (kveil.KveilError, AssertionError) as error:
        print(what, type(error).__name__, error)
    else:
        print(what, found)


def policy(**more):
    content = {"attributes": attributes, "privacy": [{"model": "k-anonymity", "k": 3}], "algorithm": "mondrian"}
    return kveil.Policy(**{**content, **more})


for algorithm in ("datafly", "mondrian", "greedy-cka", "k-msd", "least-loss", "auto"):
    told(algorithm, lambda: kveil.anonymize(frame, policy(algorithm=algorithm)).data.write_csv())
    far = policy(algorithm=algorithm, privacy=[{"model": "k-anonymity", "k": 9}])
    told(algorithm, lambda: kveil.anonymize(frame, far))
result = kveil.anonymize(frame, policy())
wrong = result.data.with_columns(pl.lit("30-39").alias("age"))
told("tampered", lambda: kveil.verify(wrong, policy(), original=frame, owner=result.owner).findings)
told("alone", lambda: kveil.verify(result.data.head(2), policy()).findings)
told("refused", lambda: kveil.anonymize(frame, policy(algorithm="k-member")))
told("unknown", lambda: kveil.anonymize(frame, policy(algorithm="mondrain")))
told("columns", lambda: kveil.anonymize(frame.drop("age"), policy()))
told("values", lambda: kveil.anonymize(frame.with_columns(pl.lit("old").alias("age")), policy()))
gives_up = Search(lambda table, options, rng: (_ for _ in ()).throw(kveil.Unmeetable("no.")), NoOptions)
told("battery", lambda: check_algorithm(Algorithm("idle", lambda: gives_up, frozenset(), "", ""), examples=10))
"""


def said(*options: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def plain() -> str:
    out, err = said()
    assert err == "asserts are run\n"
    return out


def test_what_is_refused_is_refused_without_assertions_too(plain: str) -> None:
    out, err = said("-O")
    assert err == "asserts are left out\n"
    assert out == plain


def test_the_program_comes_to_what_it_is_to_show(plain: str) -> None:
    lines = plain.splitlines()
    failed = [
        line.split()[:2]
        for line in lines
        if len(line.split()) > 1 and line.split()[1].endswith(("Error", "able", "Refused"))
    ]
    kinds = {(what, kind) for what, kind in failed}
    assert {("refused", "Refused"), ("battery", "AssertionError"), ("auto", "Unmeetable")} <= kinds
    assert {kind for what, kind in kinds if what in ("columns", "values")} == {"DataError"}
    assert "battery AssertionError idle met 0 of" in plain
    for what in ("tampered", "alone"):
        assert next(line for line in lines if line.startswith(what)) != f"{what} []"
