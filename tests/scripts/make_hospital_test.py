"""The hospital that ships with kveil: made by its script, and as its README says."""

import csv
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

import make_hospital
from places import ROOT

HOSPITAL = ROOT / "src" / "kveil" / "data" / "hospital"
HIERARCHIES = ["zip", "city", "state", "diagnosis", "department"]
GENERATED = sorted(["patients.csv", "visits.csv", *(f"{name}.csv" for name in HIERARCHIES)])
PERSON = ["name", "birth", "sex", "zip", "city", "state", "weight"]

Rows = list[dict[str, str]]


def rows_of(table: str) -> Rows:
    with (HOSPITAL / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines_of(hierarchy: str) -> list[list[str]]:
    with (HOSPITAL / f"{hierarchy}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


@pytest.fixture(scope="module")
def patients() -> Rows:
    return rows_of("patients")


@pytest.fixture(scope="module")
def visits() -> Rows:
    return rows_of("visits")


@pytest.fixture(params=["patients", "visits"])
def table(request: pytest.FixtureRequest) -> Rows:
    rows: Rows = request.getfixturevalue(request.param)
    return rows


def test_script_reproduces_the_shipped_bytes(tmp_path: Path) -> None:
    make_hospital.generate(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == GENERATED
    for name in GENERATED:
        assert (tmp_path / name).read_bytes() == (HOSPITAL / name).read_bytes(), name


def test_files_are_small_and_have_unix_line_ends() -> None:
    contents = [(HOSPITAL / name).read_bytes() for name in GENERATED]
    assert sum(map(len, contents)) < 1_200_000
    assert not any(b"\r" in content for content in contents)


def test_columns(patients: Rows, visits: Rows) -> None:
    start = ["patient_id", "name", "birth", "sex", "zip", "city", "state", "weight"]
    assert list(patients[0]) == [*start, "department", "phone", "diagnosis", "insurance"]
    assert list(visits[0]) == [*start, "visit_date", "department", "phone", "diagnosis"]


def test_sizes(patients: Rows, visits: Rows) -> None:
    assert len(patients) == len({row["patient_id"] for row in patients}) == 2000
    assert len(visits) == 5857
    counts = Counter(row["patient_id"] for row in visits)
    assert counts.keys() == {row["patient_id"] for row in patients}
    assert min(counts.values()) == 1
    assert max(counts.values()) == 8
    levels = {name: [len(set(level)) for level in zip(*lines_of(name), strict=True)] for name in HIERARCHIES}
    assert levels == {
        "zip": [81, 21, 6, 3, 1],
        "city": [21, 6, 3, 1],
        "state": [6, 3, 1],
        "diagnosis": [120, 62, 13, 1],
        "department": [12, 4, 1],
    }


@pytest.mark.parametrize(
    ("left", "right"),
    [("department", "phone"), ("phone", "department"), ("zip", "city"), ("city", "state")],
)
def test_planted_dependencies_hold(table: Rows, left: str, right: str) -> None:
    assert len({(row[left], row[right]) for row in table}) == len({row[left] for row in table})


@pytest.mark.parametrize("name", HIERARCHIES)
def test_hierarchy_knows_exactly_the_values_of_the_data(patients: Rows, visits: Rows, name: str) -> None:
    leaves = {line[0] for line in lines_of(name)}
    assert {row[name] for row in patients} == leaves
    assert {row[name] for row in visits} == leaves


@pytest.mark.parametrize("name", HIERARCHIES)
def test_hierarchy_is_a_tree_of_unique_labels(name: str) -> None:
    lines = lines_of(name)
    assert len({line[0] for line in lines}) == len(lines)
    assert {line[-1] for line in lines} == {"*"}
    places = {(label, level) for line in lines for level, label in enumerate(line)}
    edges = {(line[i], line[i + 1]) for line in lines for i in range(len(line) - 1)}
    labels = {label for label, _ in places}
    assert len(places) == len(labels)
    assert len(edges) == len(labels) - 1
    assert all(label == label.strip() != "" and not set(label) & set(';,|"') for label in labels)


def test_place_hierarchies_agree_with_each_other_and_the_data(table: Rows) -> None:
    places = {(line[0], line[1], line[2]) for line in lines_of("zip")}
    assert {(row["zip"], row["city"], row["state"]) for row in table} <= places
    assert {tuple(line[1:]) for line in lines_of("zip")} == {tuple(line) for line in lines_of("city")}
    assert {tuple(line[1:]) for line in lines_of("city")} == {tuple(line) for line in lines_of("state")}


def test_values_are_well_formed(table: Rows) -> None:
    for row in table:
        assert row["patient_id"].startswith("P-")
        assert len(row["patient_id"]) == 8
        assert row["sex"] in {"", "F", "M"}
        assert len(row["zip"]) == 5
        assert row["zip"].isdigit()
        assert row["weight"] == "" or 0 < int(row["weight"]) <= 200
        assert 0 <= 2024 - date.fromisoformat(row["birth"]).year <= 97
        assert row["phone"].startswith("617-555-01")
        assert all(row[column] for column in row if column not in {"sex", "weight"})


def test_a_few_values_are_missing(patients: Rows) -> None:
    assert 1 <= sum(row["sex"] == "" for row in patients) <= 20
    assert 20 <= sum(row["weight"] == "" for row in patients) <= 100


def test_some_zips_begin_with_zero() -> None:
    assert sum(line[0].startswith("0") for line in lines_of("zip")) >= 10


def test_person_is_the_same_at_every_visit_and_in_both_tables(patients: Rows, visits: Rows) -> None:
    persons = {row["patient_id"]: [row[column] for column in PERSON] for row in patients}
    assert all(persons[row["patient_id"]] == [row[column] for column in PERSON] for row in visits)


def test_patients_show_the_most_recent_visit(patients: Rows, visits: Rows) -> None:
    days = {(row["patient_id"], row["visit_date"]) for row in visits}
    assert len(days) == len(visits)
    latest = {row["patient_id"]: row for row in sorted(visits, key=lambda row: row["visit_date"])}
    for row in patients:
        last = latest[row["patient_id"]]
        assert (row["department"], row["diagnosis"]) == (last["department"], last["diagnosis"])


def test_nobody_visits_before_birth(visits: Rows) -> None:
    assert all(row["birth"] <= row["visit_date"] <= "2024-12-31" for row in visits)


def test_departments_vary_and_diagnoses_repeat_over_visits(visits: Rows) -> None:
    departments = {(row["patient_id"], row["department"]) for row in visits}
    assert len(departments) > 3000
    diagnoses = Counter((row["patient_id"], row["diagnosis"]) for row in visits)
    assert len({patient for (patient, _), count in diagnoses.items() if count > 1}) > 500


def test_diagnoses_and_departments_fit_the_person(visits: Rows) -> None:
    chapters = {line[0]: line[2] for line in lines_of("diagnosis")}
    for row in visits:
        adult = int(row["visit_date"][:4]) - int(row["birth"][:4]) > 18
        assert not (row["sex"] == "M" and chapters[row["diagnosis"]] == "Pregnancy")
        assert not (row["department"] == "Pediatrics" and adult)
