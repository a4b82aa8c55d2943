"""The command line: what each command says and exits with, and that a mistake costs one sentence."""

import contextlib
import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from kveil import words
from kveil.cli import _where
from kveil.files import read_table
from kveil.words import visible
from made_by_command import release
from support import (
    HEADER,
    QUASI,
    ROLES,
    ROWS,
    Outcome,
    command,
    csv_text,
    names_in,
    refused,
    run,
    run_process,
    write_policy,
    write_rows,
)

# ---------------------------------------------------------------------------------------------- anonymize


def test_a_release_is_written_and_told(tmp_path: Path) -> None:
    outcome = release(tmp_path)
    assert outcome.code == 0
    assert outcome.err == ""
    assert "8 records of 9 released, 1 suppressed" in outcome.out
    assert (tmp_path / "r.csv").read_text() == (
        "age,sex,diagnosis,ward\n"
        "30-39,F,cough,w2\n30-39,F,flu,w1\n30-39,F,flu,w1\n30-39,F,gout,w2\n"
        "60-69,M,cough,w1\n60-69,M,flu,w1\n60-69,M,flu,w2\n60-69,M,gout,w3\n"
    )


def test_quiet_says_nothing_and_json_nothing_else(tmp_path: Path) -> None:
    assert release(tmp_path, "--quiet") == Outcome(0, "", "")
    told = release(tmp_path, "--json")
    assert (told.code, told.err) == (0, "")
    receipt = told.json
    assert set(receipt) >= {
        *("kveil", "algorithm", "options", "seed", "records", "individuals", "guarantees", "dependencies"),
        *("boundaries", "loss", "bound", "warnings", "seconds", "sha256"),
    }
    assert receipt["kveil"] == kveil.__version__
    assert set(receipt["seconds"]) == {"read", "solve", "verify", "write"}
    assert set(receipt["loss"]) == {
        *("precision", "il", "il_per_cell", "ncp", "sa_ncp", "discernibility", "average_group"),
    }
    (guarantee,) = receipt["guarantees"]
    assert guarantee["model"] == "k-anonymity"
    assert (guarantee["k"], guarantee["holds"], guarantee["worst"], guarantee["groups"]) == (2, True, 4, 2)


def test_the_release_stands_beside_the_input_by_default(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    assert run("anonymize", write_policy(tmp_path, data={"path": "t.csv"})).code == 0
    assert names_in(tmp_path) == {"t.csv", "policy.yaml", "t-release.csv"}


def test_input_overrides_the_policys_path_which_starts_at_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    write_rows(folder / "t.csv")
    policy = write_policy(folder, data={"path": "t.csv"})
    monkeypatch.chdir(tmp_path)
    assert run("anonymize", "policies/policy.yaml", "--output", "a.csv", "--json").json["records"]["input"] == 9
    write_rows(tmp_path / "other.csv", ROWS[:8])
    assert run("anonymize", policy, "--input", "other.csv", "--output", "b.csv", "--json").json["records"]["input"] == 8
    refused(run("anonymize", write_policy(folder), "--output", "c.csv"), "data.path", "--input")


@pytest.mark.parametrize(
    ("rows", "settings", "released"),
    [
        ([["n", "31", "F", "flu", "w1"]] * 5, {}, "31,F,flu,w1\n" * 5),
        ([["n", "31", "F", "flu", "w1"]] * 2, {}, "31,F,flu,w1\n" * 2),
        ([["n", "31", "F", "flu", "w1"]], {"k": 1}, "31,F,flu,w1\n"),
    ],
    ids=["all rows equal", "as many as k", "one row, k 1"],
)
def test_tables_that_need_nothing_come_out_as_they_are(
    tmp_path: Path, rows: list[list[str]], settings: dict[str, Any], released: str
) -> None:
    assert release(tmp_path, "--quiet", rows=rows, limit=0, **settings) == Outcome(0, "", "")
    assert (tmp_path / "r.csv").read_text() == "age,sex,diagnosis,ward\n" + released


@pytest.mark.parametrize(
    ("rows", "settings", "says"),
    [
        ([], {}, "0 records, fewer than k = 2"),
        (ROWS[:1], {}, "1 record, fewer than k = 2"),
        (ROWS, {"k": 10}, "9 records, fewer than k = 10"),
        (ROWS[:1], {"limit": 1}, "fewer than k"),
        (
            ROWS,
            {"limit": 0, "attributes": {**ROLES, "age": {**ROLES["age"], "boundary": {"level": 1}}}},
            "suppression.limit",
        ),
    ],
    ids=["empty", "one row", "k larger", "one row that could be suppressed", "boundary"],
)
def test_what_cannot_be_met_is_told_with_exit_1(
    tmp_path: Path, rows: list[list[str]], settings: dict[str, Any], says: str
) -> None:
    refused(release(tmp_path, "--json", rows=rows, **settings), says, code=1)
    assert names_in(tmp_path) == {"t.csv", "policy.yaml"}


def table_with(column: str, value: str, rows: int = 1) -> list[list[str]]:
    place = HEADER.index(column)
    return [[*row[:place], value, *row[place + 1 :]] if i < rows else row for i, row in enumerate(ROWS)]


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        (csv_text(ROWS, [*HEADER[:4], "room"]), {}, ["t.csv", "1 column without a role: room"]),
        (csv_text([row[:4] for row in ROWS], HEADER[:4]), {}, ["t.csv", "lacks ward"]),
        (csv_text(ROWS, ["name", "Age", *HEADER[2:]]), {}, ["1 column without a role: Age"]),
        (csv_text(table_with("sex", "*", 3)), {}, ["sex", "`*`", "3 records"]),
        (csv_text(table_with("diagnosis", "*", 2)), {}, ["diagnosis", "`*`", "2 records"]),
        (csv_text(table_with("ward", "*")), {}, ["ward", "`*`", "1 record"]),
        (csv_text(table_with("age", "101", 2)), {}, ["age", "1 value", "'101'", "2 records"]),
        (csv_text(table_with("age", "old", 9)), {}, ["age", "1 value", "'old'", "9 records"]),
        (
            csv_text([[r[0], f"x{i}", *r[2:]] for i, r in enumerate(ROWS)]),
            {},
            ["age", "9 values", "'x0', 'x1' and 'x2' and 6 more", "9 records"],
        ),
        (csv_text(ROWS), {"dependencies": ["ward -> diagnosis"]}, ["ward -> diagnosis", "2 left sides"]),
        (csv_text(ROWS), {"algorithm": "datfly"}, ["datfly", "did you mean 'datafly'"]),
        (csv_text(ROWS), {"k": 0}, ["privacy[0].k", "at least 1"]),
        (csv_text(ROWS), {"limt": 0.1, "seed": 1}, ["limt"]),
        (csv_text(ROWS), {"kveil": 2}, ["version 1"]),
    ],
)
def test_bad_input_is_one_sentence_with_exit_2(
    tmp_path: Path, text: str, settings: dict[str, Any], says: list[str]
) -> None:
    (tmp_path / "t.csv").write_text(text)
    policy = write_policy(tmp_path, **{"data": {"path": "t.csv"}, **settings})
    refused(run("anonymize", policy, "--output", tmp_path / "r.csv", "--json"), *says)
    assert names_in(tmp_path) == {"t.csv", "policy.yaml"}


def test_cells_that_a_spreadsheet_would_run_are_counted(tmp_path: Path) -> None:
    starts = ["=1+1", "+cmd", "-x", "@sum", "-12.5", "a=1", " =1", "+3"]
    rows = [["n", "31", "F", text, "w1"] for text in starts]
    outcome = release(tmp_path, "--json", rows=rows)
    (warning,) = (w for w in outcome.json["warnings"] if "spreadsheet" in w)
    assert re.match(r"[46] cells ", warning)  # whether a number with a sign is one may be argued
    assert [line.split(",")[2] for line in (tmp_path / "r.csv").read_text().splitlines()[1:]] == sorted(starts)
    assert not [w for w in release(tmp_path, "--json").json["warnings"] if "spreadsheet" in w]


def test_an_insensitive_column_that_is_nearly_unique_gets_a_warning_no_refusal(tmp_path: Path) -> None:
    rows = [[*row[:4], f"room {i}"] for i, row in enumerate(ROWS)]
    outcome = release(tmp_path, "--json", rows=rows)
    assert outcome.code == 0
    assert [w for w in outcome.json["warnings"] if w.startswith("ward is released as is and nearly unique")]
    assert "room" not in json.dumps(outcome.json["warnings"])


def test_the_policys_separator_is_taken(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(csv_text(ROWS, separator="#"))
    policy = write_policy(tmp_path, data={"path": "t.csv", "separator": "#"})
    assert run("anonymize", policy, "--output", tmp_path / "r.csv", "--quiet") == Outcome(0, "", "")
    assert (tmp_path / "r.csv").read_text().startswith("age#sex#diagnosis#ward\n30-39#F#")
    assert run("verify", policy, "--release", tmp_path / "r.csv", "--quiet") == Outcome(0, "", "")


def test_progress_is_for_terminals(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    policy = write_policy(tmp_path, data={"path": "t.csv"})
    arguments = ["anonymize", policy, "--output", tmp_path / "r.csv", "--json"]
    for quiet in (False, True):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            command(*arguments, *["--quiet"] * quiet), stdout=subprocess.PIPE, stderr=theirs, text=True
        ) as process:
            os.close(theirs)
            out = process.communicate(timeout=300)[0]
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal whose other side is closed
            while part := os.read(ours, 10_000):
                shown += part
        os.close(ours)
        assert process.returncode == 0
        assert json.loads(out)["records"]["input"] == 9
        assert (b"verifying" in shown or b"writing" in shown or b"reading" in shown) != quiet
    assert run_process(*arguments).err == ""


@pytest.mark.parametrize(("ages", "shown"), [(["31", "31"], ["31", "31"]), pytest.param(["31", "62"], ["*", "*"])])
def test_a_star_may_mean_missing_if_another_text_is_written_for_it(
    tmp_path: Path, ages: list[str], shown: list[str]
) -> None:
    rows = [["n", age, "*", "flu", "w1"] for age in ages]
    data = {"path": "t.csv", "missing": ["?", "*"]}
    assert release(tmp_path, "--quiet", rows=rows, limit=0, data=data) == Outcome(0, "", "")
    assert read_table(tmp_path / "r.csv").frame["sex"].to_list() == ["?", "?"]
    assert read_table(tmp_path / "r.csv").frame["age"].to_list() == shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["anonymize"], "Missing argument 'POLICY'"),
        (["anonymize", "no.yaml"], "no.yaml: the policy file cannot be read"),
        (["anonymize", "policy.yaml", "--bogus"], "--bogus"),
        (["anonymize", "policy.yaml", "--output"], "--output"),
        (["anonymize", "policy.yaml", "--algorithm", "magic"], "magic"),
        (["anonymize", "policy.yaml", "--output", "r.txt.zip"], "does not know files that end in '.zip'"),
        (["anonymize", "policy.yaml", "more"], "more"),
        (["nonsense"], "nonsense"),
        (["hierarchy", "nonsense"], "nonsense"),
        (["verify", "policy.yaml"], "--release"),
        (["verify", "policy.yaml", "--release", "t.csv", "--owner", "o.json"], "--original"),
        (["measure", "policy.yaml", "--release", "t.csv"], "--original"),
        (["--nonsense"], "--nonsense"),
        (["hierarchy", "show", "policy.yaml", "--attribute", "age", "--most", "0"], "--most"),
    ],
)
def test_bad_usage_is_one_sentence_with_exit_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data={"path": "t.csv"})
    monkeypatch.chdir(tmp_path)
    refused(run(*arguments), says)
    assert names_in(tmp_path) == {"t.csv", "policy.yaml"}


def test_no_command_at_all_shows_the_help(tmp_path: Path) -> None:
    for arguments in ([], ["hierarchy"]):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert "Usage" in outcome.out
        assert outcome.err == ""


def test_a_defect_is_told_without_quoting_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise KeyError("a planted value")

    monkeypatch.setattr("kveil.flow.steps.table_search.attempt", fail)
    outcome = release(tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert "defect of kveil (KeyError in table_search.py" in outcome.err
    assert "planted" not in outcome.err
    assert names_in(tmp_path) == {"t.csv", "policy.yaml"}


def test_the_place_of_a_defect_is_found_in_the_package_whatever_folders_are_called(tmp_path: Path) -> None:
    # git clone gives a clone the name kveil: its tests, and whatever else lies in it, are no part of the package.
    planted = tmp_path / "kveil" / "planted.py"
    planted.parent.mkdir()
    planted.write_text("def fail():\n    raise KeyError('a planted value')\n")
    namespace: dict[str, Any] = {}
    exec(compile(planted.read_text(), str(planted), "exec"), namespace)
    with pytest.raises(KeyError) as caught:
        words.listing([namespace["fail"]()])
    assert _where(caught.value) == "kveil"
    with pytest.raises(TypeError) as caught_inside:
        words.count(None, None)  # type: ignore[arg-type]
    assert _where(caught_inside.value).startswith("words.py, line ")


EVIL = "a\x1b]0;owned\x07\x9b31m\u202eb"


def test_names_reach_the_terminal_without_control_characters(tmp_path: Path) -> None:
    roles = {EVIL: {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    frame = pl.DataFrame({EVIL: ["x", "x", "y", "y"], "s": list("abcd")})
    frame.write_csv(tmp_path / "t.csv")
    policy = write_policy(tmp_path, roles, data={"path": "t.csv"})
    release, owner = tmp_path / "r.csv", tmp_path / "o.json"
    files = ["--release", release, "--original", tmp_path / "t.csv", "--owner", owner]
    for arguments in (
        ["anonymize", policy, "-o", release, "--owner", owner],
        ["anonymize", policy, "-o", release, "--owner", owner, "--json"],
        ["verify", policy, *files],
        ["measure", policy, *files],
        ["attack", policy, *files],
        ["check", policy],
        ["compare", policy, "--algorithms", "datafly"],
        ["dependencies", policy],
        ["init", tmp_path / "t.csv", "-o", tmp_path / "p.yaml"],
        ["hierarchy", "show", policy, "--attribute", "nothing"],
        ["anonymize", policy, "--algorithm", EVIL],
        ["verify", policy, "--release", tmp_path / f"{EVIL}.csv"],
    ):
        done = run(*arguments)
        assert not set("\x1b\x07\x9b\u202e") & set(done.out + done.err), arguments


def test_control_characters_are_written_out() -> None:
    assert visible("plain é 漢") == "plain é 漢"
    assert visible("two\nlines\tand a tab") == "two\nlines\tand a tab"
    assert visible("\x1b[31m") == "\\x1b[31m"
    assert visible("\u202e") == "\\u202e"


# ---------------------------------------------------------------------------------------------- verify and measure


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Return a folder with a policy, its table, a release and its owner's file."""
    assert release(tmp_path, "--quiet").code == 0
    return tmp_path


def given(folder: Path, *, owner: bool = True, release_name: str = "r.csv") -> list[object]:
    files: list[object] = ["--release", folder / release_name, "--original", folder / "t.csv"]
    return [*files, "--owner", folder / "owner.json"] if owner else files


def test_verify_says_that_a_release_holds(made: Path) -> None:
    for arguments in (["--release", made / "r.csv"], given(made)):
        outcome = run("verify", made / "policy.yaml", *arguments)
        assert (outcome.code, outcome.err) == (0, "")
        assert "Everything that was checked holds." in outcome.out
        verdict = run("verify", made / "policy.yaml", *arguments, "--json").json
        assert verdict["holds"] is True
        assert verdict["findings"] == []
        compared = "--original" in arguments
        assert (verdict["truth"] is not None) == compared
        assert ("not checked" in outcome.out) != compared
    assert run("verify", made / "policy.yaml", *given(made), "--quiet") == Outcome(0, "", "")


@pytest.mark.parametrize(
    ("old", "new", "says", "alone"),
    [
        ("30-39,F,cough", "20-29,F,cough", "k-anonymity", True),
        ("60-69,M,gout", "*,M,gout", "k-anonymity", True),
        ("30-39", "35-44", "does not know", True),
        ("F,cough,w2", "F,cold,w2", "diagnosis (sensitive) differs", False),
        ("M,gout,w3", "M,gout,w4", "ward (insensitive) differs", False),
    ],
)
def test_verify_finds_what_was_changed(made: Path, old: str, new: str, says: str, alone: bool) -> None:
    text = (made / "r.csv").read_text()
    assert old in text
    (made / "r.csv").write_text(text.replace(old, new, 1 if says != "does not know" else -1))
    compared = run("verify", made / "policy.yaml", *given(made))
    assert (compared.code, compared.err) == (1, "")
    assert says in " ".join(compared.out.split())
    assert "The release does not hold." in compared.out
    found = run("verify", made / "policy.yaml", "--release", made / "r.csv", "--json")
    assert found.code == int(alone)
    assert found.json["holds"] is not alone


def test_verify_refuses_what_is_no_release_of_the_policy(made: Path) -> None:
    (made / "short.csv").write_text("age,sex,diagnosis\n" + "30-39,F,flu\n" * 8)
    (made / "other.csv").write_text("a,b\n" + "1,2\n" * 8)
    for name in ("short.csv", "other.csv"):
        refused(run("verify", made / "policy.yaml", "--release", made / name), name, "lacks")
        refused(run("verify", made / "policy.yaml", *given(made, release_name=name)), name, "lacks")
    refused(run("measure", made / "policy.yaml", *given(made, release_name="other.csv")), "other.csv", "lacks")
    other = ["--release", made / "r.csv", "--original", made / "other.csv", "--owner", made / "owner.json"]
    refused(run("verify", made / "policy.yaml", *other), "other.csv")
    refused(run("measure", made / "policy.yaml", *other), "other.csv")
    refused(run("verify", made / "policy.yaml", "--release", made / "none.csv"), "none.csv", "cannot be read")


@pytest.mark.parametrize("verb", ["verify", "measure"])
def test_rows_are_aligned_by_the_owner_or_kept_order_or_not_at_all(tmp_path: Path, verb: str) -> None:
    assert release(tmp_path, "--quiet").code == 0
    policy = tmp_path / "policy.yaml"
    refused(run(verb, policy, *given(tmp_path, owner=False)), "--owner")
    assert run(verb, policy, *given(tmp_path)).code == 0

    keep = {"release": {"order": "keep"}}
    assert release(tmp_path, "--quiet", **keep).code == 0  # one record is gone
    refused(run(verb, policy, *given(tmp_path, owner=False)), "--owner")
    assert run(verb, policy, *given(tmp_path)).code == 0
    assert release(tmp_path, "--quiet", rows=ROWS[:8], **keep).code == 0
    assert run(verb, policy, *given(tmp_path, owner=False)).code == 0
    star = {"suppression": {"limit": 0.2, "show": "star"}}
    assert release(tmp_path, "--quiet", **keep, **star).code == 0
    assert run(verb, policy, *given(tmp_path, owner=False)).code == 0


@pytest.mark.parametrize("verb", ["verify", "measure"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c["rows"].pop(), "owner's file"),
        (lambda c: c["input"].update(rows=10), "owner's file"),
        (lambda c: c["rows"].__setitem__(0, 99), "does not have"),
        (lambda c: c["rows"].__setitem__(0, 0), "does not have"),
        (lambda c: c["rows"].__setitem__(0, c["rows"][1]), "twice"),
        (lambda c: c.pop("rows"), "no owner's file"),
        (lambda c: c["rows"].__setitem__(0, "x"), "no owner's file"),
    ],
)
def test_an_owners_file_of_another_release_is_refused(made: Path, verb: str, change: Any, says: str) -> None:
    content = json.loads((made / "owner.json").read_bytes())
    change(content)
    (made / "owner.json").write_text(json.dumps(content))
    refused(run(verb, made / "policy.yaml", *given(made)), says)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\xff"])
def test_what_is_no_owners_file_is_refused(made: Path, text: str) -> None:
    (made / "owner.json").write_bytes(text.encode("latin-1"))
    refused(run("verify", made / "policy.yaml", *given(made)), "owner.json")


def test_measure_gives_the_receipts_losses(tmp_path: Path) -> None:
    receipt = release(tmp_path, "--json").json
    measured = run("measure", tmp_path / "policy.yaml", *given(tmp_path), "--json")
    assert (measured.code, measured.err) == (0, "")
    assert measured.json["loss"] == receipt["loss"]
    assert measured.json["records"] == receipt["records"]
    shown = run("measure", tmp_path / "policy.yaml", *given(tmp_path))
    assert f"{receipt['loss']['ncp'] * 100:.2f} %" in shown.out


def test_a_release_in_another_kind_of_file_is_unchanged(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "x"], "s": [1.0, None, float("nan")], "n": ["u", None, "?"]})
    frame.write_parquet(tmp_path / "t.parquet")
    roles = {"a": QUASI, "s": "sensitive", "n": "insensitive"}
    policy = write_policy(
        tmp_path, roles, data={"path": "t.parquet", "missing": ["NA", "?"]}, release={"order": "keep"}
    )
    assert run("anonymize", policy, "--output", tmp_path / "r.csv", "--quiet").code == 0
    compared = run("verify", policy, "--release", tmp_path / "r.csv", "--original", tmp_path / "t.parquet", "--quiet")
    assert compared == Outcome(0, "", "")
    assert (tmp_path / "r.csv").read_text() == "a,s,n\nx,1,u\nx,NA,NA\nx,NA,?\n"


# ---------------------------------------------------------------------------------------------- start, help, modules


def test_version_by_command_and_module() -> None:
    assert run("--version") == Outcome(0, f"kveil {kveil.__version__}\n", "")
    assert run_process("--version") == Outcome(0, f"kveil {kveil.__version__}\n", "")


COMMANDS = [
    "anonymize",
    "verify",
    "measure",
    "init",
    "check",
    "compare",
    "attack",
    "dependencies",
    "algorithms",
    "schema",
    "warmup",
    "demo",
    "hierarchy",
]


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    heavy = ("numba", "polars", "altair", "numpy", "pydantic", "pandas", "pyarrow")
    probe = f"import atexit; atexit.register(lambda: print('loaded:', [m for m in {heavy} if m in sys.modules]))"
    for arguments in (["--help"], ["anonymize", "--help"], ["hierarchy", "build", "-h"], ["--version"]):
        outcome = run_process(*arguments, before=probe, env={"TERM": "dumb", "COLUMNS": "200"})
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.endswith("loaded: []\n")
        if arguments == ["--help"]:
            for name in COMMANDS:
                assert re.search(rf"\b{name}\b", outcome.out)


def test_a_run_without_archives_loads_neither_archives_nor_the_attacker(tmp_path: Path) -> None:
    rooms = ("kveil.archive", "kveil.previous", "kveil.flow.previous", "kveil.attacker.play", "kveil.discover.find")
    probe = f"import atexit; atexit.register(lambda: print('loaded:', [m for m in {rooms} if m in sys.modules]))"
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data={"path": "t.csv"})
    outcome = run_process("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", "-q", before=probe)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("loaded: []\n")


@pytest.mark.parametrize("name", [*COMMANDS, "hierarchy show", "hierarchy check", "hierarchy build"])
def test_every_command_has_a_help_with_what_it_does(name: str) -> None:
    outcome = run(*name.split(), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"Usage: kveil {name}" in outcome.out
    assert name == "hierarchy" or f"Example: kveil {name}" in outcome.out


def test_a_command_that_is_not_there_is_refused() -> None:
    refused(run("exports", "--help"), "No such command 'exports'", "export")


def test_shells_complete_commands_and_options() -> None:
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # there may be no shell above the tests
    assert run_process("--show-completion", "bash", env=named).out.count("kveil") >= 2
    env = {"_KVEIL_COMPLETE": "complete_bash", "COMP_WORDS": "kveil anonymize --re", "COMP_CWORD": "2"}
    completed = run_process(before="sys.argv = ['kveil']", env=env)
    assert completed.code == 0
    assert completed.out.split() == ["--receipt", "--report"]
    env |= {"COMP_WORDS": "kveil al", "COMP_CWORD": "1"}
    assert run_process(before="sys.argv = ['kveil']", env=env).out.split() == ["algorithms"]


# ---------------------------------------------------------------------------------------------- schema


# ---------------------------------------------------------------------------------------------- hierarchy
