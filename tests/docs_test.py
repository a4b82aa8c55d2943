"""What README and docs show is true: policies load, commands run and print what the page says they print.

In a page, a line that holds nothing but a file's name in backticks and a colon names the block under it, which is
then written as that file. In a `console` block, lines after `$ ` are commands and the others what they print, up to
white space and with `...` for anything. A command's exit code is 0 unless `$ echo $?` says otherwise. A number in a
comment behind a Python expression is its value, rounded. Each page starts in a fresh copy of the hospital that ships
with kveil; commands other than `kveil`, `cat` and `head` are for people, and are not run.
"""

import contextlib
import io
import re
import shlex
import shutil
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from kveil.datasets import hospital
from kveil.policy.model import Policy
from places import ROOT

with warnings.catch_warnings():  # Typer's own import asks click for names that click has deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from kveil.cli import main


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``name`` is the file the page says it is."""

    language: str
    text: str
    line: int
    name: str | None


@dataclass(frozen=True)
class Step:
    """A command of a console block and what the page says it prints."""

    command: str
    prints: str


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    before, start, language, inside = "", 0, "", False
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
            before = line if line.strip() and not inside else before
        elif inside:
            named = re.fullmatch(r"`([\w.-]+)`:", before.strip())
            found.append(Block(language, "\n".join(lines) + "\n", start, named[1] if named else None))
            before, inside = "", False
        else:
            language, start, lines, inside = line[3:].strip(), number, [], True
    assert not inside, f"{page.name}: the block that starts in line {start} has no end"
    return found


def steps_of(block: Block) -> list[Step]:
    joined = block.text.replace("\\\n", " ")
    parts = re.split(r"^\$ (.*)\n", joined, flags=re.MULTILINE)
    assert not parts[0].strip(), f"line {block.line}: a console block starts with a command"
    return [Step(command, prints) for command, prints in zip(parts[1::2], parts[2::2], strict=True)]


def said(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run(command: str) -> tuple[int, str] | None:
    """Run one command in this process; None for commands that are not for tests."""
    words = shlex.split(command)
    if words[0] == "cat":
        return 0, "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    if words[:2] == ["head", "-n"]:
        return 0, "".join(Path(words[3]).read_text(encoding="utf-8").splitlines(keepends=True)[: int(words[2])])
    if words[0] != "kveil":
        return None
    target = Path(words.pop()) if words[-2] == ">" else None
    arguments = words[:-1] if target else words
    out = io.StringIO()
    code: object = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        patch.setattr(sys, "argv", arguments)
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
    assert isinstance(code, int)
    if target:
        target.write_text(out.getvalue(), encoding="utf-8")
        return code, ""
    return code, out.getvalue()


def same(expected: str, printed: str) -> bool:
    parts = [re.escape(" ".join(part.split())) for part in expected.split("...")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(printed.split()), flags=re.DOTALL) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def policies() -> list[object]:
    return [
        pytest.param(page, block, id=f"{said(page)}:{block.line}")
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "yaml" and block.text.startswith("kveil: 1")
    ]


@pytest.mark.parametrize(("page", "block"), policies())
def test_a_policy_in_a_page_loads(page: Path, block: Block, folder: Path) -> None:
    for other in blocks_of(page):
        if other.name:
            (folder / other.name).write_text(other.text, encoding="utf-8")
    Policy.parse(block.text, said(page), folder).read_hierarchies()


def test_there_are_policies_to_load() -> None:
    assert any(block.text.startswith("kveil: 1") for block in blocks_of(ROOT / "README.md"))


@pytest.mark.parametrize("page", PAGES, ids=said)
def test_examples_do_what_the_page_says(page: Path, folder: Path) -> None:
    scope: dict[str, object] = {}
    for block in blocks_of(page):
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            exec(compile(block.text, f"{said(page)}:{block.line}", "exec"), scope)
            for expression, number in re.findall(r"^(\S.*?)  # (\d+\.\d+)\b", block.text, flags=re.MULTILINE):
                assert round(eval(expression, scope), len(number.partition(".")[2])) == float(number), expression
        if block.language != "console":
            continue
        steps = steps_of(block)
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            done = run(step.command)
            if done is None:
                continue
            code, printed = done
            asked = int(after.prints) if after is not None and after.command == "echo $?" else 0
            assert code == asked, f"{said(page)}:{block.line}: {step.command}\n{printed}"
            assert same(step.prints, printed), f"{said(page)}:{block.line}: {step.command}\n{printed}"


def test_every_command_of_the_readme_succeeds() -> None:
    for block in blocks_of(ROOT / "README.md"):
        if block.language == "console":
            assert not any(step.command == "echo $?" for step in steps_of(block))


@pytest.mark.parametrize("page", PAGES, ids=said)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) + re.findall(r'src="([^"]+)"', text)
    for target in targets:
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{said(page)} links to {target}"
