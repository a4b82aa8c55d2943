"""Answers for people: figures as they are, and no text of others that a terminal obeys."""

from __future__ import annotations

import io
from typing import Any

import polars as pl
from rich.console import Console

import kveil
from kveil.cli.terminal import (
    describe,
    safe,
    show_account,
    show_algorithms,
    show_guarantees,
    show_verdict,
    show_warnings,
)
from support import columns_of, make_policy


def shown(show: Any, *given: Any, **more: Any) -> str:
    out = io.StringIO()
    show(Console(file=out, highlight=False, soft_wrap=True, width=200), *given, **more)
    return out.getvalue()


GUARANTEE = {"model": "k-anonymity", "k": 5, "attributes": ["zip", "age"], "holds": True, "worst": 1234, "groups": 5678}


def test_texts_of_others_are_neither_markup_nor_commands() -> None:
    assert shown(lambda out: out.print(safe("[bold]a[/] \x1b[31m"))) == "[bold]a[/] \\x1b[31m\n"
    assert shown(show_warnings, ["[red]x[/]"]) == "note: [red]x[/]\n"


def test_guarantees_are_told_with_what_they_are_over() -> None:
    assert describe(GUARANTEE) == "k-anonymity (k 5) over zip, age"
    assert describe({**GUARANTEE, "attributes": []}) == "k-anonymity (k 5) over everyone"
    lines = shown(show_guarantees, [GUARANTEE, {**GUARANTEE, "holds": False, "worst": None}]).splitlines()
    assert lines[1].split()[-3:] == ["yes", "1,234", "5,678"]
    assert lines[2].split()[-3:] == ["NO", "-", "5,678"]
    assert "0.1235" in shown(show_guarantees, [{**GUARANTEE, "worst": 0.12345}])


def test_an_account_and_a_verdict_are_told() -> None:
    frame = pl.DataFrame(columns_of())
    policy = make_policy(algorithm="mondrian")
    result = kveil.anonymize(frame, policy, bound=True)
    told = shown(show_account, result.account, "r[1].csv")
    assert told.startswith(f"r[1].csv: {result.account['records']['released']} records of 9 released")
    assert "bound: no release of this policy has NCP below" in told
    verdict = kveil.verify(result.data, policy, frame, result.owner)
    assert "k-anonymity (k 2)" in shown(show_verdict, verdict, compared=True)
    broken = verdict.with_findings(["a planted finding."])
    assert "a planted finding." in shown(show_verdict, broken, compared=True)


def test_a_bound_of_nothing_has_no_gap() -> None:
    result = kveil.anonymize(pl.DataFrame(columns_of()), make_policy(k=1, algorithm="mondrian"), bound=True)
    line = next(line for line in shown(show_account, result.account, "r").splitlines() if line.startswith("bound"))
    assert line.endswith("below 0.00 %")


def test_what_algorithms_honour_is_marked() -> None:
    about = {"summary": "does it", "paper": "Somebody 2020"}
    rows = [
        {"name": "one", "honours": ["k-km-anonymity", "kl-diversity", "t-closeness"], **about},
        {"name": "other", "honours": ["dependencies"], **about},
    ]
    text = shown(show_algorithms, rows)
    assert "does it (Somebody 2020)" in text
    marks = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "·" in line}
    assert marks["one"].count("x") >= 2
    assert marks["other"].count("x") == 1
    assert len(marks["one"]) == len(marks["other"])
