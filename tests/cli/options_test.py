"""What commands share: names in an option, places, answers that no terminal obeys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kveil.cli.options import Engine, ProgressForm, answer, load, names_in, place_of, print_json, stages
from kveil.databases import Address
from support import write_policy


def test_names_are_separated_by_commas() -> None:
    assert names_in("a, b c ,,d") == ["a", "b c", "d"]
    assert names_in("") == []
    assert names_in(None) is None


def test_a_place_is_a_file_or_a_table() -> None:
    assert place_of("t.csv") == Path("t.csv")
    table = place_of("sqlite:///t.db?table=x")
    assert isinstance(table, Address)
    assert table.table == "x"
    assert place_of(None) is None


def test_an_engine_that_is_named_replaces_the_policys(tmp_path: Path) -> None:
    path = write_policy(tmp_path, engine="local")
    assert load(path).engine == "local"
    assert load(path, engine=Engine.STREAM).engine == "stream"


def test_an_answer_is_json_or_words_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer({"a": 1}, lambda out: out.print("in words"), as_json=True, quiet=True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    answer({"a": 1}, lambda out: out.print("in words"), as_json=False, quiet=False)
    assert capsys.readouterr().out == "in words\n"
    answer({"a": 1}, lambda out: out.print("in words"), as_json=False, quiet=True)
    assert capsys.readouterr().out == ""


def test_control_characters_are_written_out_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a\x9b": "b\x1b\x7fé"})
    out = capsys.readouterr().out
    assert not {"\x9b", "\x1b", "\x7f"} & set(out)
    assert json.loads(out) == {"a\x9b": "b\x1b\x7fé"}


def test_progress_is_for_programs_or_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    with stages("anonymize", quiet=False) as tell:
        tell("reading")
    assert capsys.readouterr().err == ""  # no terminal
    with stages("anonymize", quiet=True, progress=ProgressForm.JSON) as tell:
        tell("reading")
    assert json.loads(capsys.readouterr().err)["stage"] == "reading"
