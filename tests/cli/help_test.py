"""Every command's help has an example, and the example runs."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer.main

import anjana_scripts
import arx_projects
import running_studio
from kveil.cli import app
from kveil.datasets import hospital
from support import run


def commands(group: Any = None, before: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            found += commands(command, (*before, name))
        else:
            found.append(((*before, name), command))
    return found


COMMANDS = [pytest.param(words, command, id=" ".join(words)) for words, command in commands()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hospital, with the files that examples name."""
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    made = run(
        "anonymize", "policy.yaml", "--algorithm", "mondrian", "-o", "release.csv", "--owner", "owner.json",
        "--archive", "releases", "-q",
    )  # fmt: skip
    assert made.code == 0, made.err
    arx_projects.project(tmp_path, arx_projects.parts()).rename("project.deid")
    anjana_scripts.clinic(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_the_example_of_a_help_runs(words: tuple[str, ...], command: Any, folder: Path) -> None:
    told = re.fullmatch(r"Example: kveil (.*)", command.epilog or "")
    assert told is not None, f"kveil {' '.join(words)} --help has no example"
    arguments = shlex.split(told[1].split(" > ")[0])
    assert tuple(arguments[: len(words)]) == words
    if words == ("anonymize",):
        arguments += ["--algorithm", "datafly"]  # auto is tried elsewhere
    if words == ("studio",):  # it serves until it is stopped
        running_studio.start(folder, *arguments[1:]).stop()
        return
    done = run(*arguments)
    assert done.code == 0, done.err


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_help_is_there(words: tuple[str, ...], command: Any) -> None:
    done = run(*words, "--help")
    assert done.code == 0
    assert "Example: kveil" in " ".join(done.out.split())


# These print what was asked for and nothing else.
WITHOUT_JSON = {("warmup",), ("demo",), ("hierarchy", "show"), ("hierarchy", "build"), ("schema",), ("studio",)}
WITHOUT_QUIET = {
    ("schema",),
    ("hierarchy", "show"),
    ("hierarchy", "build"),
    ("demo",),
    ("algorithms",),
    ("studio",),
} | {("export", "pycanon")}


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_json_and_quiet_are_everywhere(words: tuple[str, ...], command: Any) -> None:
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options or words in WITHOUT_JSON
    assert "--quiet" in options or words in WITHOUT_QUIET
