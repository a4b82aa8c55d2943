"""New records by an archived release: covered, in new groups, or at the same levels; all together keep the policy."""

from __future__ import annotations

import csv
import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinic_views import write_view
from kveil.datasets import hospital
from support import ROLES, ROWS, refused, run, write_policy, write_rows

QUASI = ("birth", "sex", "zip")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """The hospital with its first 1,600 patients apart from the 400 others."""
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    header, *lines = (tmp_path / "patients.csv").read_text().splitlines(keepends=True)
    (tmp_path / "old.csv").write_text(header + "".join(lines[:1600]))
    (tmp_path / "new.csv").write_text(header + "".join(lines[1600:]))
    return tmp_path


def archive(folder: Path, algorithm: str, limit: float = 0.3, privacy: list[dict[str, Any]] | None = None) -> Path:
    policy = write_view(folder, *QUASI, algorithm=algorithm, limit=limit)
    if privacy is not None:
        policy.write_text(json.dumps({**json.loads(policy.read_text()), "privacy": privacy}))
    made = ["--input", folder / "old.csv", "-o", folder / "one.csv", "--archive", folder / "kept", "-q"]
    done = run("anonymize", policy, *made)
    assert done.code == 0, done.err
    return policy


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def tuple_of(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in QUASI)


def groups_of(*paths: Path) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in (row for path in paths for row in rows_of(path)):
        groups[tuple_of(row)].append(row["diagnosis"])
    return groups


def test_new_records_show_what_such_records_show(clinic: Path) -> None:
    archive(clinic, "mondrian")
    out = clinic / "two.csv"
    done = run("apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out, "--json")
    assert done.code == 0, done.err
    told = done.json
    assert told["covered"] == told["records"]["released"] == len(rows_of(out))
    assert told["records"]["input"] == 400
    assert told["covered"] > 300
    old = groups_of(clinic / "one.csv")
    assert all(tuple_of(row) in old for row in rows_of(out))
    assert all(len(own) >= 5 and len(set(own) - {""}) >= 3 for own in groups_of(clinic / "one.csv", out).values())
    assert all(guarantee["holds"] for guarantee in told["guarantees"])
    assert "can tell the new ones apart" in told["warnings"][0]
    printed = run("apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out)
    assert "Old and new together:" in printed.out
    again = out.read_bytes()
    assert run("apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out, "-q").code == 0
    assert out.read_bytes() == again


def test_who_is_not_covered_is_left_out_within_the_limit_or_solved(clinic: Path) -> None:
    archive(clinic, "least-loss", limit=0)
    out = clinic / "two.csv"
    to = "apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out
    refused(run(*to), "would be left out", "--extend", code=1)
    assert not out.exists()
    done = run(*to, "--extend", "--json")
    assert done.code == 0, done.err
    assert done.json["extended"] > 0
    assert done.json["records"]["suppressed"] == 0
    both = groups_of(clinic / "one.csv", out)
    assert all(len(own) >= 5 and len(set(own) - {""}) >= 3 for own in both.values())
    assert sum(map(len, both.values())) == 2000


SHARES = [
    [{"model": "alpha-k", "sensitive": "diagnosis", "alpha": 0.3, "k": 5}],
    [{"model": "k-anonymity", "k": 5}, {"model": "t-closeness", "sensitive": "diagnosis", "t": 0.6}],
    [{"model": "l-diversity", "sensitive": "diagnosis", "l": 3, "variant": "frequency"}],
]


@pytest.mark.parametrize("privacy", SHARES, ids=lambda privacy: str(privacy[-1]["model"]))
def test_nobody_joins_a_group_that_would_break_its_promise(clinic: Path, privacy: list[dict[str, Any]]) -> None:
    policy = archive(clinic, "mondrian", privacy=privacy)
    out = clinic / "two.csv"
    done = run("apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out, "--json")
    assert done.code == 0, done.err
    assert done.json["covered"] > 0
    header = (clinic / "one.csv").read_text().split("\n", 1)[0]
    lines = [*(clinic / "one.csv").read_text().splitlines()[1:], *out.read_text().splitlines()[1:]]
    (clinic / "both.csv").write_text("\n".join([header, *sorted(lines)]) + "\n")
    assert run("verify", policy, "--release", clinic / "both.csv", "-q").code == 0


def test_the_same_levels_for_another_table(clinic: Path) -> None:
    archive(clinic, "datafly")
    out = clinic / "two.csv"
    done = run("apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out, "--as", "levels", "--json")
    assert done.code == 0, done.err
    assert done.json["records"]["released"] == 400
    assert "promise nothing" in done.json["warnings"][0]
    for name in QUASI:  # the old release shows whatever the new one does, but for values that only one of them has
        old, new = ({row[name] for row in rows_of(clinic / path)} for path in ("one.csv", "two.csv"))
        assert len(new - old) <= len(new) // 4
    archive(clinic, "mondrian")
    to = "apply", clinic / "kept", "--input", clinic / "new.csv", "-o", out, "--as", "levels"
    refused(run(*to), "no levels")
    assert run(*to, "--number", "1", "-q").code == 0
    refused(run(*to, "--extend"), "--extend")


def test_unknown_values_get_a_sentence_per_attribute(tmp_path: Path) -> None:
    trees = {
        **ROLES,
        "sex": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": ["F", "M"]}}},
    }
    write_policy(tmp_path, trees, data={"path": "t.csv", "key": "name"})
    write_rows(tmp_path / "t.csv")
    kept = tmp_path / "kept"
    assert run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", "--archive", kept, "-q").code == 0
    write_rows(tmp_path / "new.csv", [["Zoe", "130", "X", "flu", "w1"], ["Yan", "31", "X", "flu", "w1"], ROWS[0]])
    done = run("apply", kept, "--input", tmp_path / "new.csv", "-o", tmp_path / "s.csv")
    told = refused(done, "sex", "age", "2 records", "1 record")
    assert "Zoe" not in told
    assert not (tmp_path / "s.csv").exists()


def test_a_number_between_the_bounds_of_a_span_is_covered(tmp_path: Path) -> None:
    ages = {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 99]}}, "boundary": {"max_width": 40}}
    policy = write_policy(
        tmp_path, {**ROLES, "age": ages}, limit=0.5, data={"path": "t.csv", "key": "name"}, algorithm="mondrian"
    )
    write_rows(tmp_path / "t.csv")
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--archive", tmp_path / "kept", "-q").code == 0
    new = [["Zoe", "37", "F", "flu", "w1"], ["Yan", "99", "M", "flu", "w1"], ["Xia", "", "M", "flu", "w1"]]
    write_rows(tmp_path / "new.csv", new)
    done = run("apply", tmp_path / "kept", "--input", tmp_path / "new.csv", "-o", tmp_path / "s.csv", "--json")
    assert done.code == 0, done.err
    assert [row["sex"] for row in rows_of(tmp_path / "s.csv")] == ["F"]


PEOPLE = {
    "kveil": "1",
    "attributes": {
        "patient_id": {"role": "individual"},
        "birth": {"role": "quasi-identifier", "hierarchy": {"dates": ["year", "decade"]}},
        "sex": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": "3"}, {"model": "l-diversity", "sensitive": "diagnosis", "l": "2"}],
    "suppression": {"limit": "0.5"},
    "individual": {"conflicts": "generalize"},
    "algorithm": "mondrian",
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("shape", ["sets", "long"])
def test_people_with_several_records_are_archived_held_together_and_applied(
    tmp_path: Path, shape: str, suffix: str
) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({**PEOPLE, "release": {"shape": shape}}))
    visits = pl.read_csv(hospital() / "visits.csv", infer_schema=False).select(
        "patient_id", "birth", "sex", "diagnosis"
    )
    months = [visits[:500], visits[40:620]]
    inputs = [tmp_path / f"month{number}{suffix}" for number in (1, 2)]
    for month, path in zip(months, inputs, strict=True):
        month.write_csv(path) if suffix == ".csv" else month.write_parquet(path)
    kept, out = tmp_path / "kept", tmp_path / f"out{suffix}"
    for number, path in enumerate(inputs):
        previous = ["--previous", kept] if number else []
        done = run("anonymize", policy, "--input", path, "-o", out, "--archive", kept, *previous, "--json")
        assert done.code == 0, done.err
    together = done.json["previous"]
    assert all(guarantee["holds"] for guarantee in together["guarantees"])
    # They were shown in the first month, and most in the second: once more gives some of them less than was promised.
    apply = "apply", kept, "--input", inputs[0], "-o", tmp_path / f"applied{suffix}"
    refused(run(*apply), "whom other releases of kept show would get less", "--weaker", code=1)
    applied = run(*apply, "--weaker", "--json")
    assert applied.code == 0, applied.err
    assert any("--weaker allows" in warning for warning in applied.json["warnings"])
    assert run("archive", "check", kept, "-q").code == 0
    assert applied.json["covered"] > 100
    assert applied.json["records"] is None
    assert applied.json["individuals"]["input"] == months[0]["patient_id"].n_unique()
    assert all(guarantee["holds"] for guarantee in applied.json["guarantees"])


def test_an_archive_with_a_batch_of_stars_stays_whole(tmp_path: Path) -> None:
    """Who is left out stands in the file, too, where it shows `*` for them."""
    roles = {"id": "identifier", "q": "quasi-identifier", "d": "sensitive"}
    write_rows(tmp_path / "t.csv", [[f"P{i}", "a", "uv"[i % 2]] for i in range(4)], ["id", "q", "d"])
    write_rows(tmp_path / "new.csv", [["N1", "a", "u"], ["N2", "b", "v"]], ["id", "q", "d"])
    policy = write_policy(
        tmp_path,
        roles,
        k=2,
        data={"path": "t.csv", "key": "id"},
        algorithm="mondrian",
        suppression={"limit": 0.5, "show": "star"},
    )
    kept, out = tmp_path / "kept", tmp_path / "a.csv"
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--archive", kept, "-q").code == 0
    assert run("apply", kept, "--input", tmp_path / "new.csv", "-o", out, "-q").code == 0
    assert [row["q"] for row in rows_of(out)] == ["*", "a"]
    check = run("archive", "check", kept)
    assert check.code == 0, check.err
    write_rows(tmp_path / "more.csv", [["N3", "a", "v"]], ["id", "q", "d"])
    assert run("apply", kept, "--input", tmp_path / "more.csv", "-o", out, "-q").code == 0


def test_nobody_joins_a_release_that_shows_nothing(tmp_path: Path) -> None:
    roles = {"id": "identifier", "q": "quasi-identifier", "d": "sensitive"}
    write_rows(tmp_path / "t.csv", [["P1", "a", "u"], ["P2", "b", "v"]], ["id", "q", "d"])
    write_rows(tmp_path / "new.csv", [["N1", "a", "u"]], ["id", "q", "d"])
    models = [{"model": "l-diversity", "sensitive": "d", "l": 2}]
    policy = write_policy(
        tmp_path, roles, data={"path": "t.csv", "key": "id"}, algorithm="mondrian", limit=1, privacy=models
    )
    kept = tmp_path / "kept"
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--archive", kept, "-q").code == 0
    done = run("apply", kept, "--input", tmp_path / "new.csv", "-o", tmp_path / "a.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["records"] == {"input": 1, "released": 0, "suppressed": 1}


def test_intervals_of_whole_numbers_cover_no_fractions(tmp_path: Path) -> None:
    steps = {"intervals": {"from": 20, "to": 69, "widths": [10]}}
    roles = {"id": "identifier", "age": {"role": "quasi-identifier", "hierarchy": steps}, "d": "sensitive"}
    write_rows(tmp_path / "t.csv", [[f"P{i}", str(21 + i), "uv"[i % 2]] for i in range(4)], ["id", "age", "d"])
    policy = write_policy(tmp_path, roles, k=4, data={"path": "t.csv", "key": "id"}, algorithm="mondrian", limit=0.2)
    kept, out = tmp_path / "kept", tmp_path / "a.csv"
    assert run("anonymize", policy, "-o", tmp_path / "r.csv", "--archive", kept, "-q").code == 0
    write_rows(tmp_path / "new.csv", [["N1", "29.5", "u"], ["N2", "28", "v"]], ["id", "age", "d"])
    done = run("apply", kept, "--input", tmp_path / "new.csv", "-o", out, "-q")
    assert done.code == 0, done.err
    assert [row["age"] for row in rows_of(out)] == ["20-29"]
