"""What `init` makes of tables with the trouble of those that nobody here had seen, and that its policies run."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

import kveil
from kveil.frames import from_frame
from kveil.suggestion import Suggestion, suggest
from strange_tables import TABLES, StrangeTable
from support import run


def suggested(name: str) -> Suggestion:
    table = next(table for table in TABLES if table.name == name)
    return suggest(from_frame(pl.DataFrame(table.columns())))


def test_there_are_fifteen_tables() -> None:
    assert len({table.name for table in TABLES}) == 15


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_goes_from_init_to_verify_as_it_is(table: StrangeTable, tmp_path: Path) -> None:
    data, policy, release, owner = (tmp_path / name for name in ("t.csv", "p.yaml", "r.csv", "o.csv"))
    data.write_bytes(table.raw())
    if table.refused is not None:
        done = run("init", data, "-o", policy)
        assert (done.code, table.refused in done.err) == (2, True), done.err
    done = run("init", data, "-o", policy, *table.told)
    assert done.code == 0, done.err
    loaded, text = kveil.Policy.load(policy), policy.read_text()
    assert {name: loaded.attributes[name].role for name in table.roles} == table.roles
    flowing = " ".join(line.strip().removeprefix("# ") for line in text.splitlines())
    for piece in table.says:
        assert piece.lower() in flowing.lower()
    for name in loaded.with_role("sensitive"):
        assert f"sensitive: {name}" in text or f"CHECK: nothing is asked for {name}" in text
    done = run("check", policy)
    assert done.code == 0, done.err
    done = run("anonymize", policy, "--algorithm", "mondrian", "-o", release, "--owner", owner, "--quiet")
    assert done.code == 0, done.err
    read = tmp_path / str(loaded.data.path)
    done = run("verify", policy, "--release", release, "--original", read, "--owner", owner)
    assert done.code == 0, done.out


def test_numbers_are_asked_to_be_spread_and_a_rare_value_is_told() -> None:
    models = {model.name: model for model in suggested("court").models}
    assert models["decile_score"].model == "l-diversity"  # ten values
    assert models["is_violent"].model is None
    assert "have one value" in models["is_violent"].reason
    income = next(model for model in suggested("survey").models if model.name == "income")
    assert (income.model, income.settings) == ("t-closeness", (("t", "0.3"), ("distance", "ordered")))


def test_bands_hold_whatever_numbers_the_next_month_brings(tmp_path: Path) -> None:
    random = Random(7)
    this_month = [
        {
            "age": random.randint(18, 80),
            "weight": random.randint(45, 110),
            "height": round(random.uniform(1.5, 2), 2),
            "tenure": int(random.lognormvariate(5, 2)),
        }
        for _ in range(120)
    ]
    pl.DataFrame(this_month).write_csv(tmp_path / "t.csv")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "p.yaml").code == 0
    next_month = [dict(record) for record in this_month]
    for at in range(12):  # four of each kind
        age, weight, height, tenure = [(0, -3, -1.5, -9), (131, 999, 2e9, 10**9), (104, 0, 3, 7)][at % 3]
        next_month[at] |= {"age": age, "weight": weight - at, "height": height - at, "tenure": tenure - at}
    pl.DataFrame(next_month).write_csv(tmp_path / "next.csv")
    done = run(
        "anonymize", tmp_path / "p.yaml", "--input", tmp_path / "next.csv", "--algorithm", "mondrian",
        "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.csv", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    done = run(
        "verify", tmp_path / "p.yaml", "--release", tmp_path / "r.csv", "--original", tmp_path / "next.csv",
        "--owner", tmp_path / "o.csv",
    )  # fmt: skip
    assert done.code == 0, done.out
    released = pl.read_csv(tmp_path / "r.csv", infer_schema=False)
    assert any(text.startswith(">=") for text in released["weight"])
    assert any(text.startswith("<") for text in released["height"])


def test_answers_in_codes_get_no_intervals() -> None:
    rows = {"education": [str(code) for code in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99)] * 30}
    way = suggest(from_frame(pl.DataFrame(rows))).guesses[0].way
    assert way is not None
    assert way.builder is None
    assert way.doubtful


def test_advice_fits_the_error(tmp_path: Path) -> None:
    done = run("init", tmp_path / "absent.csv")
    assert done.code == 2
    assert "check the path" in done.err
    assert "--columns" not in done.err
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    assert "--columns" in run("init", tmp_path / "twice.csv").err


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["m", "w"] * 20, "quasi-identifier"),
        (["H", "F", "X"] * 20, "quasi-identifier"),
        (["F", "G"] * 20, "insensitive"),  # one of them is no sex anybody here knows
        (["Weiblich", "Männlich", "divers"] * 20, "quasi-identifier"),
        (["Hombre", "Mujer"] * 20, "quasi-identifier"),
        (["Paris", "Austin", "Lyon", "Graz"] * 20, "insensitive"),  # a few towns that are names, too
        (["€ 12,50", "€ 3,00", "€ 14,10"] * 20, "sensitive"),
        ([str(n * n + 10_007) for n in range(60)], "identifier"),
    ],
)
def test_values_alone(values: list[str], role: str) -> None:
    other = {"age": [str(20 + n % 40) for n in range(len(values))]}
    found = suggest(from_frame(pl.DataFrame({"v": values} | other)))
    assert found.guesses[0].role == role


def test_the_policy_of_a_table_with_many_sensitive_columns_runs(tmp_path: Path) -> None:
    random = Random(1)
    table = {"age": [str(random.randint(20, 60)) for _ in range(80)]}
    table |= {f"score{n}": [str(random.randint(0, 500)) for _ in range(80)] for n in range(6)}
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "p.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "p.yaml")
    text = (tmp_path / "p.yaml").read_text()
    asked = sum(model.model != "k-anonymity" for model in policy.privacy)
    assert asked + text.count("CHECK: nothing is asked for") == 6
