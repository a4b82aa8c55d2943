"""kveil init: every guess has its reason, and the policy runs as it is."""

import sys
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.datasets import hospital
from kveil.frames import from_frame
from kveil.suggestion import suggest
from kveil.suggestion.hierarchy_guesses import _nice, countries, dates, icd, numbers
from kveil.suggestion.number_categories import spans
from kveil.suggestion.profile import profile
from kveil.suggestion.roles import guess_column, hierarchy_for
from kveil.suggestion.vocabulary import words_of
from support import names_in, refused, run


def column(name: str, values: list[str], times: int = 1) -> object:
    return profile(name, pl.Series(values * times, dtype=pl.String), frozenset({""}))


def role(name: str, values: list[str], times: int = 1) -> str:
    return guess_column(column(name, values, times)).role  # type: ignore[arg-type]


MANY = [str(i) for i in range(100)]


@pytest.mark.parametrize(
    ("name", "values", "times", "expected"),
    [
        ("email", ["a@b.org", "c@d.net"], 10, "identifier"),
        ("kontakt", ["a@b.org", "c@d.net"], 10, "identifier"),
        ("x", ["555-0100", "555-0101", "555 0102"], 10, "identifier"),
        ("token", ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"], 3, "identifier"),
        ("lastName", ["Smith", "Jones"], 10, "identifier"),
        ("account_number", [f"A{i}" for i in range(50)], 1, "identifier"),
        ("number_of_visits", MANY, 3, "quasi-identifier"),
        ("remarks", ["a long text that goes on and on about somebody " + m for m in MANY], 1, "identifier"),
        ("birthDate", ["1990-01-02", "1991-03-04"], 10, "quasi-identifier"),
        ("Sex", ["F", "M"], 10, "quasi-identifier"),
        ("zip_code", ["02138", "02139"], 10, "quasi-identifier"),
        ("city_name", ["Boston", "Lowell"], 10, "quasi-identifier"),
        ("Diagnosis", ["flu", "gout"], 10, "sensitive"),
        ("monthly_income", MANY, 3, "sensitive"),
        ("colour", ["red", "blue"], 10, "insensitive"),
        ("blank", [""], 10, "insensitive"),
        ("same", ["x"], 10, "insensitive"),
        ("v", MANY, 1, "identifier"),  # counts the records through
        ("v", MANY, 5, "quasi-identifier"),
    ],
)
def test_roles(name: str, values: list[str], times: int, expected: str) -> None:
    assert role(name, values, times) == expected


def test_words_of_names() -> None:
    assert words_of("patientNbr") == ["patient", "nbr"]
    assert words_of("Date of Birth (iso)") == ["date", "of", "birth", "iso"]


@pytest.mark.parametrize(
    ("number", "expected"), [("1", "1"), ("1.2", "2"), ("3", "5"), ("7", "10"), ("0.03", "0.05"), ("180", "200")]
)
def test_round_widths(number: str, expected: str) -> None:
    from decimal import Decimal

    assert _nice(Decimal(number)) == Decimal(expected)


def test_numbers_get_round_intervals() -> None:
    found = numbers(column("weight", [str(n) for n in range(3, 157)]))  # type: ignore[arg-type]
    assert found is not None
    assert found.builder == {
        "intervals": {"from": "0", "to": "159", "widths": ["10", "20", "40", "80"], "open": "both"}
    }
    found = numbers(column("depth", ["13.1", "14.25", "21.5"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.builder is not None
    assert set(found.builder["intervals"]["widths"]) <= {"0.5", "1", "2", "4"}
    lopsided = ["0"] * 50 + [str(n) for n in range(60)] + ["99999"]
    found = numbers(column("gain", lopsided))  # type: ignore[arg-type]
    assert found is not None
    assert found.builder == {"intervals": {"from": "0", "to": "79", "widths": ["5", "10", "20", "40"], "open": "both"}}


def test_known_trees() -> None:
    found = countries(column("country", ["France", "Japan", "United-States", "Peru"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.lines is not None
    assert ("United-States", "Northern America", "Americas", "*") in found.lines
    codes = icd(column("diag", ["250.83", "250.01", "401", "V45"]))  # type: ignore[arg-type]
    assert codes is not None
    assert codes.lines is not None
    assert ("250.83", "250*", "Endocrine, nutritional, metabolic, immunity", "*") in codes.lines
    assert countries(column("colour", ["red", "green", "blue"])) is None  # type: ignore[arg-type]


def test_spans_are_joined_two_by_two() -> None:
    found = spans(column("age", ["[0-10)", "[10-20)", "[20-30)", "[30-40)", "[40-50)"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.lines is not None
    assert ("[0-10)", "[0-20)", "[0-40)", "*") in found.lines
    assert ("[40-50)", "*") in found.lines


def test_dates_of_other_forms() -> None:
    found = dates(column("visit", ["31/12/2020", "01/02/2021"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.lines is not None
    assert ("31/12/2020", "2020-12", "2020", "202*", "*") in found.lines
    unsure = dates(column("visit", ["01/12/2020", "01/02/2021"]))  # type: ignore[arg-type]
    assert unsure is not None
    assert unsure.lines is not None
    assert ("01/12/2020", "2020", "202*", "*") in unsure.lines


@pytest.mark.parametrize("table", ["patients", "visits"])
def test_the_hospital_from_raw_file_to_release(table: str, tmp_path: Path) -> None:
    data = tmp_path / "raw.csv"
    data.write_bytes((hospital() / f"{table}.csv").read_bytes())
    assert run("init", data, "-o", tmp_path / "policy.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "policy.yaml")
    assert policy.attributes["diagnosis"].role == "sensitive"
    assert policy.attributes["patient_id"].role == ("identifier" if table == "patients" else "individual")
    for name in ("birth", "sex", "zip", "city", "state"):
        assert policy.attributes[name].role == "quasi-identifier"
    done = run(
        "anonymize", tmp_path / "policy.yaml", "--algorithm", "classfly+naive",
        "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    files = ("--release", tmp_path / "r.csv", "--original", data, "--owner", tmp_path / "o.json")
    assert run("verify", tmp_path / "policy.yaml", *files, "--quiet").code == 0


STRANGE = [
    "a,b\n1,x\n",
    "a\n1\n1\n2\n",
    "x,y\n,\n,\n",
    "name,city\n" + "".join(f"p{i},c{i % 3}\n" for i in range(30)),
    '"a b","c: d","e\nf"\n1,"x, y","- z"\n2,"{q}","# no"\n3,"[w]","*"\n',
    "id,v\n" + "".join(f"{i // 3},{i}\n" for i in range(90)),
    "NO,yes,null\nNO,yes,~\n1,2,3\n",
    "m,n\n-1.5,NaN\n2e3,?\n0,7\n",
    "person_id,tags,zip\n" + "".join(f"{i % 40},a|b,0213{i % 10}\n" for i in range(120)),
    "Ünï,日本\nä,ö\nß,é\n",
]


@pytest.mark.parametrize("text", STRANGE)
def test_whatever_the_table_the_policy_runs(text: str, tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text(text, encoding="utf-8")
    done = run("init", data, "-o", tmp_path / "p.yaml")
    assert done.code == 0, done.err
    done = run("anonymize", tmp_path / "p.yaml", "--algorithm", "mondrian", "-o", tmp_path / "r.csv", "--quiet")
    assert done.code == 0, done.err


def test_without_an_output_it_prints_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("name,age,city\nAda,31,Bonn\nBen,35,Bonn\n", encoding="utf-8")
    done = run("init", "t.csv")
    assert done.code == 0
    assert done.out.startswith("# A starting policy for t.csv")
    assert names_in(tmp_path) == {"t.csv"}
    (tmp_path / "p.yaml").write_text(done.out, encoding="utf-8")
    assert kveil.Policy.load(tmp_path / "p.yaml").attributes["age"].role == "quasi-identifier"
    as_json = run("init", "t.csv", "--json").json
    assert {entry["column"]: entry["role"] for entry in as_json["columns"]}["name"] == "identifier"
    assert "Ada" not in done.out


def test_what_it_refuses(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("39,State-gov,x\n50,Private,y\n", encoding="utf-8")
    refused(run("init", data), "looks like a record")
    data.write_text("a,b\n", encoding="utf-8")
    refused(run("init", data), "no records")
    data.write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text("mine", encoding="utf-8")
    refused(run("init", data, "-o", tmp_path / "p.yaml"), "exists already", "--force")
    assert (tmp_path / "p.yaml").read_text(encoding="utf-8") == "mine"
    assert run("init", data, "-o", tmp_path / "p.yaml", "--force").code == 0
    refused(run("init", data, "--ask"), "needs a terminal")


TOWNS = "city,diagnosis\n" + "".join(f"town{i % 70:03},d{i % 3}\n" for i in range(700))


def test_the_table_itself_is_never_replaced(tmp_path: Path) -> None:
    for name, policy in (("t-city.csv", "t.yaml"), ("t.city.hierarchy.csv", "t.yaml"), ("t.csv", "t.csv")):
        data = tmp_path / name
        data.write_text(TOWNS, encoding="utf-8")
        for more in ((), ("--force",)):
            done = run("init", data, "-o", tmp_path / policy, *more)
            assert data.read_text(encoding="utf-8") == TOWNS
            if name != "t-city.csv":
                refused(done, "is what the run reads and is never replaced", "-o")
        data.unlink()
        (tmp_path / policy).unlink(missing_ok=True)
    (tmp_path / "raw-named.csv").write_text("31,Bonn\n32,Bonn\n", encoding="utf-8")
    (tmp_path / "raw.csv").symlink_to(tmp_path / "raw-named.csv")
    done = run("init", tmp_path / "raw.csv", "--columns", "age,city", "-o", tmp_path / "q.yaml", "--force")
    refused(done, "is what the run reads and is never replaced")


def test_a_hierarchy_that_somebody_worked_on_is_kept(tmp_path: Path) -> None:
    data, edited = tmp_path / "t.csv", tmp_path / "t.city.hierarchy.csv"
    data.write_text(TOWNS, encoding="utf-8")
    edited.write_text("mine", encoding="utf-8")
    refused(run("init", data, "-o", tmp_path / "t.yaml"), "t.city.hierarchy.csv exists already", "--force")
    assert edited.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "t.yaml").exists()
    assert run("init", data, "-o", tmp_path / "t.yaml", "--force").code == 0
    assert edited.read_text(encoding="utf-8").startswith("town000;")
    assert kveil.Policy.load(tmp_path / "t.yaml").attributes["city"].role == "quasi-identifier"


def test_asking_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "t.csv"
    data.write_text("who,age,thing\n" + "".join(f"w{i},{20 + i},t{i % 2}\n" for i in range(30)), encoding="utf-8")
    answers = iter(["zzz", "i", "", "sensitive"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *a, **k: next(answers))
    done = run("init", data, "-o", tmp_path / "p.yaml", "--ask")
    assert done.code == 0, done.err
    policy = kveil.Policy.load(tmp_path / "p.yaml")
    assert [policy.attributes[name].role for name in ("who", "age", "thing")] == [
        "identifier",
        "quasi-identifier",
        "sensitive",
    ]


def test_what_follows_from_a_quasi_identifier_is_not_released_as_is() -> None:
    rows = [(f"0{i % 9}", f"c{i % 9 // 3}") for i in range(90)]
    frame = pl.DataFrame(rows, schema=["zip", "tint"], orient="row")
    found = suggest(from_frame(frame))
    assert ("zip", "tint") in found.follows
    assert {guess.name: guess.role for guess in found.guesses}["tint"] == "quasi-identifier"


def test_open_ranges_are_put_in_order() -> None:
    found = spans(column("weight", ["<50", "[50-75)", "[75-100)", ">100"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.lines is not None
    assert {line[1] for line in found.lines} == {"up to 75", "75 or more"}
    assert spans(column("age", ["0-17", "18 to 64", "65 and over"])) is not None  # type: ignore[arg-type]
    assert spans(column("age", ["0-20", "10-30", "65+"])) is None  # type: ignore[arg-type]


def test_numbers_that_stand_for_something_are_not_counted() -> None:
    way = hierarchy_for(column("occupation_code", [str(n) for n in range(1, 31)], 5))  # type: ignore[arg-type]
    assert way.builder is None
    assert way.doubtful
    assert way.lines is not None
    assert "below 6.5" in {line[-2] for line in way.lines}  # in the order of numbers, not of texts
    assert hierarchy_for(column("race", ["1", "2", "3", "4", "5"])).lines is None  # type: ignore[arg-type]
    assert hierarchy_for(column("visits", [str(n) for n in range(30)])).builder is not None  # type: ignore[arg-type]


def test_values_under_the_word_they_begin_with() -> None:
    names = [f"{kind}-{part}" for kind in ("Surgery", "Pediatrics", "Radiology") for part in ("A", "B", "C")]
    way = hierarchy_for(column("specialty", [*names, "Surgery", "Dentistry"], 5))  # type: ignore[arg-type]
    assert way.lines is not None
    assert ("Surgery", "Surgery*", "*") in way.lines
    assert ("Dentistry", "*") in way.lines


def test_values_in_the_order_of_a_number_that_each_has() -> None:
    grades = ["10th", "11th", "12th", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th"]
    number = {grade: int("".join(filter(str.isdigit, grade))) for grade in grades}
    rows = [(grade, str(number[grade])) for grade in grades for _ in range(20)]
    found = suggest(from_frame(pl.DataFrame(rows, schema=["education", "years"], orient="row")))
    way = found.guesses[0].way
    assert way is not None
    assert way.lines is not None
    assert "by years" in way.reason
    assert "years below 3.5" in {label for line in way.lines for label in line}


def test_values_that_a_known_tree_lacks_are_told() -> None:
    way = countries(column("country", ["France", "Germany", "Italy", "Spain", "Atlantis"]))  # type: ignore[arg-type]
    assert way is not None
    assert way.doubtful
    assert "1 value of 5" in way.reason


def test_a_bare_number_with_something_following_from_it_is_the_individual() -> None:
    rows = [(str(n), str(year), "F" if n % 2 else "M") for n in range(60) for year in range(5)]
    frame = pl.DataFrame(rows, schema=["nr", "year", "sex"], orient="row")
    assert suggest(from_frame(frame)).with_role("individual") == ["nr"]
    mixed = frame.with_columns(sex=pl.Series(["F", "M", "F", "M", "M", "F", "M"] * 43)[: frame.height])
    assert suggest(from_frame(mixed)).with_role("individual") == []


def test_blanks_around_a_mark_do_not_hide_that_it_means_missing() -> None:
    frame = pl.DataFrame({"sex": [" F", " ?", " M", " ?"]})
    assert suggest(from_frame(frame)).missing == [" ?"]


HEADLESS = "39, Private, F\n50, ?, M\n\n38, Private, M\n39, Private, F\n50, Local, M\n38, Private, M\n"


def test_a_file_without_names_gets_them(tmp_path: Path) -> None:
    data = tmp_path / "raw.data"
    data.write_text(HEADLESS)
    refused(run("init", data, "-o", tmp_path / "p.yaml"), "--columns")
    done = run("init", data, "--columns", "age, workclass,sex", "-o", tmp_path / "p.yaml")
    assert done.code == 0, done.err
    named = tmp_path / "raw-named.csv"
    assert named.read_text().splitlines()[:3] == ["age,workclass,sex", "39,Private,F", "50,?,M"]
    assert named.stat().st_mode & 0o777 == 0o600
    policy = kveil.Policy.load(tmp_path / "p.yaml")
    assert policy.data.path == "raw-named.csv"
    assert policy.data.missing == ("?",)
    assert policy.quasi_identifiers == ["age", "workclass", "sex"]


def test_wrong_names_for_a_file_without(tmp_path: Path) -> None:
    data = tmp_path / "raw.data"
    data.write_text(HEADLESS)
    policy = tmp_path / "p.yaml"
    refused(run("init", data, "--columns", "age,sex", "-o", policy), "line 1 has 3 fields, and --columns names 2")
    refused(run("init", data, "--columns", "age,,sex", "-o", policy), "must name every column")
    refused(run("init", data, "--columns", "a,a,b", "-o", policy), "more than once")
    refused(run("init", data, "--columns", "a,b,c"), "give -o too")
    assert not policy.exists()
    (tmp_path / "twice.csv").write_text("a,b,b\n1,2,3\n")
    refused(run("init", tmp_path / "twice.csv"), "--skip 1")
    (tmp_path / "titled.csv").write_text("a table\na,b,b\n1,2,3\n")
    refused(run("init", tmp_path / "titled.csv", "--skip", "1"), "--skip 2")
    pl.DataFrame({"^a$": ["1"]}).write_parquet(tmp_path / "odd.parquet")
    assert "--columns" not in run("init", tmp_path / "odd.parquet").err
    done = run("init", tmp_path / "twice.csv", "--columns", "a,b,c", "--skip", "1", "-o", policy)
    assert done.code == 0, done.err
    assert (tmp_path / "twice-named.csv").read_text() == "a,b,c\n1,2,3\n"


def test_a_first_column_without_a_name_numbers_the_rows(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text('"","age","sex"\n' + "".join(f'"{n}",{20 + n % 5},F\n' for n in range(60)))
    assert run("init", data, "-o", tmp_path / "p.yaml").code == 0
    assert kveil.Policy.load(tmp_path / "p.yaml").with_role("identifier") == [""]
    done = run("anonymize", tmp_path / "p.yaml", "--algorithm", "datafly", "-o", tmp_path / "r.csv")
    assert done.code == 0, done.err
    assert (tmp_path / "r.csv").read_text().startswith("age,sex\n")


def test_icd_codes_without_their_zeros() -> None:
    found = icd(column("diag", ["38", "038.9", "8", "250", "250.8", "V58", "E849", "428"]))  # type: ignore[arg-type]
    assert found is not None
    assert found.lines is not None
    above = {line[0]: line[1:-1] for line in found.lines}
    assert above["38"] == above["038.9"] == ("038*", "Infectious and parasitic diseases")
    assert above["8"][-1] == "Infectious and parasitic diseases"
    assert above["250"] == above["250.8"] == ("250*", "Endocrine, nutritional, metabolic, immunity")
    assert above["E849"] == ("External causes",)
    assert above["428"] == ("Circulatory system",)
    ten = icd(column("icd", ["E119", "E11.9", "I10", "Z99"]))  # type: ignore[arg-type]
    assert ten is not None
    assert ten.lines is not None
    assert {line[0]: line[1] for line in ten.lines} == {
        "E119": "E11*", "E11.9": "E11*", "I10": "Circulatory system", "Z99": "Factors influencing health status",
    }  # fmt: skip


def test_a_table_in_another_encoding_with_decimal_commas_gets_a_policy_that_reads_it(tmp_path: Path) -> None:
    rows = [f"{60 + i % 30},{i % 4 * 25};{'Köln' if i % 2 else 'Zürich'}" for i in range(60)]
    (tmp_path / "t.csv").write_bytes(("weight;city\n" + "\n".join(rows) + "\n").encode("cp1252"))
    told = run("init", tmp_path / "t.csv")
    assert told.code == 2
    assert "(kveil init: --encoding cp1252)" in told.err
    policy = tmp_path / "p.yaml"
    assert run("init", tmp_path / "t.csv", "-o", policy, "--encoding", "cp1252").code == 0
    text = policy.read_text(encoding="utf-8")
    assert "  encoding: cp1252\n" in text
    assert "ranges" in text or "intervals" in text  # numbers, not texts
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--algorithm", "mondrian").code == 0
    assert run("init", tmp_path / "t.csv", "--encoding", "nonsense").code == 2
