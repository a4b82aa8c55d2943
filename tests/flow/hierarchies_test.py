"""Hierarchy files for people: drawn, checked, built."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import (
    QUASI,
    ROLES,
    ROWS,
    Outcome,
    names_in,
    refused,
    run,
    write_policy,
    write_rows,
)

ZIP = "02138;0213*;*\n02139;0213*;*\n90210;9021*;*\n"


def test_hierarchy_show_draws_a_file(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text(ZIP)
    outcome = run("hierarchy", "show", tmp_path / "zip.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert "3 leaves, 3 inner nodes, height 2" in outcome.out
    for label in ("02138", "90210", "0213* (2 leaves)"):
        assert label in outcome.out
    assert "… 1 more" in run("hierarchy", "show", tmp_path / "zip.csv", "--most", "1").out


def test_hierarchy_show_draws_what_a_policy_builds(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    policy = write_policy(tmp_path, data={"path": "t.csv"})
    outcome = run("hierarchy", "show", policy, "--attribute", "age")
    assert outcome.code == 0
    assert "30-39 (3 leaves)" in outcome.out
    refused(run("hierarchy", "show", policy), "--attribute")
    refused(run("hierarchy", "show", policy, "--attribute", "agee"), "did you mean 'age'")
    refused(run("hierarchy", "show", policy, "--attribute", "name"), "role identifier")
    refused(run("hierarchy", "show", tmp_path / "none.csv"), "none.csv", "cannot be read")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;x;*\nb;x;y\n", "two parents"),
        ("a;x;*\na;y;*\n", "listed twice"),
        ("a;x;*\nx;*\n", "both a leaf and an inner node"),
        ("a;x\nb;y\n", "two roots"),
        ("", "no leaf"),
        ('"a;x;*\n', "quote"),
        ("a;b;a;*\n", "two parents"),
    ],
)
def test_hierarchy_check_refuses_what_is_no_tree(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "h.csv").write_text(text)
    refused(run("hierarchy", "check", tmp_path / "h.csv"), "h.csv", says)


def test_hierarchy_check_knows_its_column_or_exits_1(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text(ZIP)
    (tmp_path / "t.csv").write_text("zip,n\n02138,1\n90210,2\n,3\n")
    arguments = ["hierarchy", "check", tmp_path / "zip.csv"]
    plain = run(*arguments, "--json")
    assert (plain.code, plain.err) == (0, "")
    assert {k: plain.json[k] for k in ("holds", "leaves", "height", "balanced", "root")} == {
        "holds": True,
        "leaves": 3,
        "height": 2,
        "balanced": True,
        "root": "*",
    }
    column = ["--data", tmp_path / "t.csv", "--column", "zip"]
    assert run(*arguments, *column).code == 0
    (tmp_path / "t.csv").write_text("zip,n\n02138,1\n2138,2\n2138,3\n")
    unknown = run(*arguments, *column)
    assert (unknown.code, unknown.err) == (1, "")
    assert "1 value of zip ('2138') in 2 records" in unknown.out
    assert run(*arguments, *column, "--json").json["unknown"] == 1
    refused(run(*arguments, "--data", tmp_path / "t.csv"), "--column")
    refused(run(*arguments, "--data", tmp_path / "t.csv", "--column", "zipp"), "did you mean 'zip'")


def test_hierarchy_build_writes_what_a_policy_can_use(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    arguments = ["hierarchy", "build", tmp_path / "t.csv", "--column", "age"]
    shown = run(*arguments, "--as", "{intervals: {from: 0, to: 99, widths: [10]}}")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == "31;30-39;*"
    for builder in ("{intervals: {from: 0, to: 99, widths: [10]}}", "{mask: {keep: [1]}}", "balanced:2", "balanced"):
        target = tmp_path / "age.csv"
        assert run(*arguments, "--as", builder, "--output", target, "--force") == Outcome(0, "", "")
        assert run("hierarchy", "check", target, "--data", tmp_path / "t.csv", "--column", "age").code == 0
        policy = write_policy(tmp_path, {**ROLES, "age": {"role": QUASI, "hierarchy": "age.csv"}}, limit=0.5)
        made = run("anonymize", policy, "--input", tmp_path / "t.csv", "--output", tmp_path / "r.csv", "--quiet")
        assert made == Outcome(0, "", "")


@pytest.mark.parametrize(
    ("builder", "says"),
    [
        ("{mask: {keep: [3, 4]}}", "must fall"),
        ("{masc: {keep: [4]}}", "exactly one of"),
        ("{mask: {keep: [4]}", "--as"),
        ("location.csv", "--as"),
        ("{ranges: {within: [0, 9]}}", "--as"),
        ("{dates: [year]}", "does not know 9 values" if len({r[1] for r in ROWS}) == 9 else "does not know 8 values"),
        ("balanced:1", "at least 2"),
        ("balanced:x", "whole number"),
        ("{tree: {'*': {x: [a], y: [a]}}}", "listed twice"),
    ],
)
def test_hierarchy_build_refuses_what_is_no_builder(tmp_path: Path, builder: str, says: str) -> None:
    write_rows(tmp_path / "t.csv")
    arguments = ["--column", "age", "--as", builder, "--output", tmp_path / "age.csv"]
    refused(run("hierarchy", "build", tmp_path / "t.csv", *arguments), says)
    assert names_in(tmp_path) == {"t.csv"}


def test_hierarchy_build_never_writes_over_its_table_nor_over_a_file_that_exists(tmp_path: Path) -> None:
    table, tree = write_rows(tmp_path / "t.csv"), tmp_path / "age.csv"
    build: list[str | Path] = ["hierarchy", "build", table, "--column", "age", "--as", "balanced", "--output"]
    refused(run(*build, table), "never replaced")
    refused(run(*build, table, "--force"), "never replaced")
    tree.write_text("edited by hand")
    refused(run(*build, tree), "exists already", "--force")
    assert tree.read_text() == "edited by hand"
    assert run(*build, tree, "--force").code == 0
    assert tree.read_text() != "edited by hand"
