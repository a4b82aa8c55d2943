"""Tables with the trouble of those that nobody here had seen: a survey with households, a medical follow-up, police
stops, court records. All records are made up; what counts is what `init` takes each column for, and that it runs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

import kveil
from kveil.frames import from_frame
from kveil.suggestion import Suggestion, policy_text, suggest
from support import run

FIRST = ("James", "Maria", "Linda", "Robert", "Anna", "David", "Sarah", "Paul", "Emma", "Kevin", "Zora", "Ulf")
LAST = ("Smith", "Jones", "Garcia", "Miller", "Davis", "Wilson", "Clark", "Young", "Baker", "Hill", "Quist", "Oduya")


def survey(random: Random) -> dict[str, list[str]]:
    """People in households: a number that members share, answers as codes with 9 for none, a sex without its name."""
    rows: dict[str, list[str]] = {key: [] for key in ("hh_id", "line", "q1", "q2", "age", "region", "income", "wt")}
    for home in range(200):
        for line in range(random.randint(1, 4)):
            values = (
                100_000 + home * 7, line + 1, random.choice(["male", "female"]), random.choice([1, 2, 3, 4, 9]),
                random.randint(0, 88), random.choice(["north", "south", "east"]), random.randint(0, 90) * 1000,
                round(random.uniform(200, 900), 3),
            )  # fmt: skip
            for key, value in zip(rows, values, strict=True):
                rows[key].append(str(value))
    return rows


def follow_up(random: Random) -> dict[str, list[str]]:
    """Patients seen several times: measurements vary, sex and age do not, and `subject_age` is no subject."""
    rows: dict[str, list[str]] = {key: [] for key in ("subjid", "visit", "gender", "subject_age", "sbp", "relapse")}
    for person in range(120):
        sex, age = random.choice(["M", "F"]), random.randint(20, 90)
        for visit in range(random.randint(2, 4)):
            values = (person * 13 + 5001, visit, sex, age, random.randint(90, 190), random.choice(["yes", "no"]))
            for key, value in zip(rows, values, strict=True):
                rows[key].append(str(value))
    return rows


def stops(random: Random) -> dict[str, list[str]]:
    """Police stops: an officer's hash, a time of day, a precinct and the borough that follows from it."""
    rows: dict[str, list[str]] = {
        key: []
        for key in ("raw_row_number", "time", "precinct", "borough", "subject_age", "subject_sex", "officer", "fine")
    }
    for row in range(600):
        precinct = random.randint(1, 30)
        values = (
            row + 1, f"{random.randint(0, 23)}:{random.randint(0, 59):02d}", precinct, f"B{precinct // 8}",
            random.randint(16, 80), random.choice(["male", "female"]), f"{random.randint(1, 40) * 987654321:010x}a1",
            f"${random.randint(2, 90) * 10}.00",
        )  # fmt: skip
        for key, value in zip(rows, values, strict=True):
            rows[key].append(str(value))
    return rows


def court(random: Random) -> dict[str, list[str]]:
    """Court records: names in columns called otherwise, numbers of cases, scores; `two_year_recid` is no year."""
    rows: dict[str, list[str]] = {
        key: []
        for key in ("case", "given", "family", "sex", "age", "decile_score", "days", "two_year_recid", "is_violent")
    }
    used = random.sample(range(10_000_000, 99_999_999), 400)
    for row in range(400):
        values = (
            used[row], random.choice(FIRST), random.choice(LAST), random.choice(["Male", "Female"]),
            random.randint(18, 70), random.randint(1, 10), random.randint(0, 300), random.randint(0, 1),
            int(random.random() < 0.01),
        )  # fmt: skip
        for key, value in zip(rows, values, strict=True):
            rows[key].append(str(value))
    return rows


TABLES = {
    survey: {
        "hh_id": "identifier", "q1": "quasi-identifier", "age": "quasi-identifier", "region": "quasi-identifier",
        "income": "sensitive", "wt": "quasi-identifier",
    },
    follow_up: {
        "subjid": "individual", "gender": "quasi-identifier", "subject_age": "quasi-identifier", "relapse": "sensitive",
    },
    stops: {
        "raw_row_number": "identifier", "time": "quasi-identifier", "precinct": "quasi-identifier",
        "borough": "quasi-identifier", "subject_age": "quasi-identifier", "subject_sex": "quasi-identifier",
        "officer": "identifier", "fine": "sensitive",
    },
    court: {
        "case": "identifier", "given": "identifier", "family": "identifier", "sex": "quasi-identifier",
        "age": "quasi-identifier", "decile_score": "sensitive", "two_year_recid": "sensitive",
        "is_violent": "sensitive",
    },
}  # fmt: skip


def suggested(table: object) -> Suggestion:
    return suggest(from_frame(pl.DataFrame(table(Random(7)))))  # type: ignore[operator]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_columns_are_taken_for_what_they_hold(table: object) -> None:
    roles = {guess.name: guess.role for guess in suggested(table).guesses}
    expected = TABLES[table]  # type: ignore[index]
    assert {name: roles[name] for name in expected} == expected


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_sensitive_column_has_a_model_or_a_reason(table: object) -> None:
    found = suggested(table)
    assert [model.name for model in found.models if model.model is None and not model.reason] == []
    assert sorted(model.name for model in found.models) == sorted(found.with_role("sensitive"))
    text, _ = policy_text(found, "t.csv", None)
    for name in found.with_role("sensitive"):
        assert f"sensitive: {name}" in text or f"CHECK: nothing is asked for {name}" in text


def test_numbers_are_asked_to_be_spread_and_a_rare_value_is_told() -> None:
    models = {model.name: model for model in suggested(court).models}
    assert models["decile_score"].model == "l-diversity"  # ten values
    assert models["is_violent"].model is None
    assert "have one value" in models["is_violent"].reason
    income = next(model for model in suggested(survey).models if model.name == "income")
    assert (income.model, income.settings) == ("t-closeness", (("t", "0.3"), ("distance", "ordered")))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_policy_runs_as_it_is(table: object, tmp_path: Path) -> None:
    pl.DataFrame(table(Random(7))).write_csv(tmp_path / "t.csv")  # type: ignore[operator]
    done = run("init", tmp_path / "t.csv", "-o", tmp_path / "p.yaml")
    assert done.code == 0, done.err
    done = run("anonymize", tmp_path / "p.yaml", "--algorithm", "mondrian", "-o", tmp_path / "r.csv", "--quiet")
    assert done.code == 0, done.err


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
        (["m", "w"] * 20, "insensitive"),  # one of them is no sex anybody here knows
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
