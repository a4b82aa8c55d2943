"""Pages that describe the tree agree with it: rooms, decisions, papers, and the synopses of commands."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from places import ROOT

with warnings.catch_warnings():  # Typer's own import asks click for names that click has deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    import typer

    from kveil.cli import app

DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "kveil"


# ---------------------------------------------------------------------------------------------- rooms


def rooms_of_the_page() -> list[str]:
    """The names in the tree that docs/flow.md draws: those of folders end in a slash."""
    text = (DOCS / "flow.md").read_text(encoding="utf-8")
    block = re.search(r"```text\nsrc/kveil/\n(.*?)```", text, flags=re.DOTALL)
    assert block is not None
    found: list[str] = []
    above: list[str] = []
    for line in block[1].splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0]
        above = [*above[: depth - 1], name]
        found.append("".join(above))
    return found


def rooms_of_the_tree() -> list[str]:
    """Every module at the top, every room and what it is divided into; of the inner rooms their own modules, too."""
    found = [path.name for path in SOURCE.glob("*.py")]
    for folder in SOURCE.iterdir():
        if folder.is_dir() and (any(folder.glob("*.py")) or folder.name == "data"):
            found.append(f"{folder.name}/")
            found += [f"{folder.name}/{below.parent.name}/" for below in folder.glob("*/__init__.py")]
            if folder.name in ("algorithms", "kernels"):
                found += [f"{folder.name}/{path.name}" for path in folder.glob("*.py") if path.name != "__init__.py"]
    return found


def test_the_rooms_of_the_page_are_those_of_the_source() -> None:
    page = rooms_of_the_page()
    assert len(set(page)) == len(page)
    assert sorted(page) == sorted(rooms_of_the_tree())


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
IN_THE_TREE = re.compile(r"`((?:src|tests|benchmarks|scripts|docs)/[\w/.-]+|[a-z_]+/[a-z_/]+\.py|[a-z_]+\.py)`")
PLACEHOLDERS = {"docs/algorithms/NAME.md", "kveil_in_a_row.py"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = set(IN_THE_TREE.findall(page.read_text(encoding="utf-8"))) - PLACEHOLDERS
    assert [name for name in sorted(named) if not any((above / name).exists() for above in (ROOT, SOURCE))] == []


# ---------------------------------------------------------------------------------------------- decisions


NOTES = sorted((DOCS / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_decision_has_a_number_a_status_and_its_parts(note: Path) -> None:
    text = note.read_text(encoding="utf-8")
    assert text.startswith(f"# {note.name[:3]} ")
    assert len(text.splitlines()) <= 42
    status = re.search(r"^\*\*Status\.\*\* (.*?)\n\n", text, flags=re.MULTILINE | re.DOTALL)
    assert status is not None
    assert status[1].startswith(("In force", "Replaced by ["))
    for part in ("**Context.**", "**Decision.**", "**Why.**"):
        assert part in text


def test_the_index_lists_every_decision_once_by_room() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    _, *rooms = index.split("\n## ")
    listed: list[str] = []
    for room in rooms:
        name = room.split("\n")[0].split(":")[0]
        assert name == "The whole" or (SOURCE / name).exists(), name
        entries = re.findall(r"^- \[(.*)\]\((.*)\)$", room, flags=re.MULTILINE)
        assert entries == sorted(entries, key=lambda entry: entry[1])
        for title, file in entries:
            assert (DOCS / "decisions" / file).read_text(encoding="utf-8").startswith(f"# {title}\n")
        listed += [file for _, file in entries]
    assert sorted(listed) == [note.name for note in NOTES]


# ---------------------------------------------------------------------------------------------- heads of modules


def test_what_a_module_says_it_is_behind_is_a_module_beside_it() -> None:
    named = 0
    for path in sorted(SOURCE.rglob("*.py")):
        head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for name in re.findall(r"\bbehind `(\w+)", head):
            named += 1
            assert list(SOURCE.glob(f"**/{name}.py")), f"{path.relative_to(ROOT)}: there is no module {name}"
            if path.stem == f"{name}_loops" or "The compiled loop" in head:
                assert (path.parent / f"{name}.py").exists(), f"{path.relative_to(ROOT)}: {name} stands elsewhere"
    assert named > 10


# ---------------------------------------------------------------------------------------------- papers


NAME = r"[A-Z][\w-]+"
CITED = re.compile(  # one author, or several; of a surname of two words the last one tells
    rf"\b({NAME})(?:(?: et al\.|(?:, {NAME})*,? (?:and|&) {NAME}(?: {NAME})?|(?:, {NAME})+),?|(?<=[a-z]))"
    r" \(?((?:19|20)\d\d)\b"
)
NO_AUTHORS = {"Black", "Jan", "Somebody", "White"}  # values and years of a table, a date, an algorithm of a plugin


def texts() -> Iterator[tuple[Path, str]]:
    for folder in ("src", "docs", "tests", "benchmarks", "scripts"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md") and path != Path(__file__):
                yield path, path.read_text(encoding="utf-8")


def test_every_paper_that_is_cited_is_in_the_list() -> None:
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    keys = re.findall(r"^\| (\w[^|]*?) ((?:19|20)\d\d) \|", page, flags=re.MULTILINE)
    known = {(re.split(r" et al\.| and ", authors)[0].split()[-1], year) for authors, year in keys}
    assert len(known) == len(keys) > 15
    cited = {
        (found[1], found[2], path.relative_to(ROOT).as_posix())
        for path, text in texts()
        if path != DOCS / "papers.md"  # which also names venues and their years
        for found in CITED.finditer(" ".join(text.split()))
        if found[1] not in NO_AUTHORS
    }
    assert len(cited) > 20
    assert [entry for entry in sorted(cited) if entry[:2] not in known] == []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("(g3, Kivinen & Mannila 1995)", "Kivinen"),
        ("those that Ciura (2001) gives", "Ciura"),
        ("targets (Wilson 1927).", "Wilson"),
        ("Truta and Vinay 2006", "Truta"),
        ("Yang et al. 2006", "Yang"),
        ("Huang, Song, Gao, Cai 2014", "Huang"),
        ("Sáinz-Pardo Díaz and López García 2022", "Díaz"),
    ],
)
def test_a_paper_is_cited_by_one_author_or_by_several(text: str, first: str) -> None:
    assert [found[1] for found in CITED.finditer(text)] == [first]


# ---------------------------------------------------------------------------------------------- commands


def commands() -> dict[str, Any]:
    """Every command by the words that call it."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        for name, below in command.commands.items():
            if hasattr(below, "commands"):
                walk(below, (*words, name))
            elif not below.hidden:
                found[" ".join((*words, name))] = below

    walk(typer.main.get_command(app), ())
    return found


def synopses() -> dict[str, str]:
    """What docs/commands.md gives as the call of each command."""
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    spans = re.findall(r"^`kveil ([^`]+)`", page, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for span in spans:
        words = span.split()
        if words[0].startswith("-"):
            continue
        name = " ".join(words[: 2 if words[0] in ("hierarchy", "archive", "import", "export") else 1])
        assert name not in found, f"{name} has two synopses"
        found[name] = span
    return found


def test_every_command_has_a_synopsis() -> None:
    assert sorted(synopses()) == sorted(commands())


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_synopsis_names_what_the_command_takes(name: str) -> None:
    words = set(re.findall(r"(?<![\w-])--?[\w-]+", synopses()[name]))
    taken: set[str] = set()
    for parameter in commands()[name].params:
        if parameter.param_type_name != "option" or parameter.name == "help":
            continue
        named = words & set(parameter.opts)
        assert named, f"`{name}` takes {parameter.opts[0]}, which its synopsis leaves out"
        taken |= named
    assert words == taken, f"the synopsis of `{name}` names {words - taken}, which it does not take"


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_synopsis_has_the_arguments_of_the_command(name: str) -> None:
    arguments = [p for p in commands()[name].params if p.param_type_name == "argument"]
    bare = re.sub(r"\[.*?\]", "", synopses()[name]).split()[len(name.split()) :]
    needed = [argument for argument in arguments if argument.required]
    assert len([word for word in bare if word.isupper() or "|" in word][: len(needed)]) == len(needed)
    for argument in arguments:  # one that may be left out stands in brackets
        assert argument.required or f" {argument.make_metavar(None)}" in synopses()[name]
