"""What commands share: arguments and options by name, the console, progress, and how they answer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, overload

import typer

from kveil.progress import Progress, silent
from kveil.words import visible

if TYPE_CHECKING:
    from rich.console import Console

    from kveil.databases import Place
    from kveil.policy.load import Document
    from kveil.policy.model import Policy


class ProgressForm(StrEnum):
    """How progress is told to another program."""

    JSON = "json"


class Engine(StrEnum):
    """Where a run holds its tables."""

    LOCAL = "local"
    STREAM = "stream"
    SPARK = "spark"


PolicyArgument = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist; never what is read.")]
SheetOption = Annotated[
    str | None, typer.Option("--sheet", metavar="S", help="The sheet of a workbook, by its name or number from 1.")
]
SkipOption = Annotated[
    int, typer.Option("--skip", min=0, metavar="N", help="How many lines stand above the names of columns.")
]
EncodingOption = Annotated[str, typer.Option("--encoding", metavar="E", help="The encoding of a CSV, such as cp1252.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
ProgressOption = Annotated[
    ProgressForm | None,
    typer.Option(
        "--progress",
        help="Tell progress to another program: one JSON object per line on standard error.",
        show_default=False,
    ),
]
AlgorithmOption = Annotated[
    str | None, typer.Option("--algorithm", metavar="A", help="Use this algorithm instead of the policy's.")
]
EngineOption = Annotated[
    Engine | None,
    typer.Option(
        "--engine",
        help="Hold tables in memory (local), leave them on the disk (stream) or on a cluster (spark); by default "
        "what fits.",
        show_default=False,
    ),
]
OwnerOption = Annotated[
    Path | None, typer.Option("--owner", metavar="F", help="The owner's file that the release was made with.")
]
OwnerKeyOption = Annotated[
    str | None,
    typer.Option(
        "--owner-key", metavar="A,B", help="On Spark, columns that say who is who: the owner's folder goes by them."
    ),
]
InputOption = Annotated[
    str | None,
    typer.Option("--input", metavar="F", help="The table, a file or a database's; by default the policy's data.path."),
]
ArchiveOption = Annotated[
    Path | None,
    typer.Option("--archive", metavar="DIR", help="Keep what later releases need in this private folder."),
]
PreviousOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--previous", metavar="DIR", help="Archives of earlier releases to hold together with, one or several."
    ),
]
WeakerOption = Annotated[
    bool,
    typer.Option("--weaker", help="Allow what keeps less than earlier releases promised, and say for how many people."),
]
OriginalOption = Annotated[str, typer.Option("--original", metavar="F", help="The original.", show_default=False)]
ReleaseOption = Annotated[str, typer.Option("--release", metavar="F", help="The released file.", show_default=False)]


def console(*, stderr: bool = False) -> Console:
    """Return a console for people; it wraps no tables of data and marks nothing up by itself."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


@contextmanager
def stages(command: str, *, quiet: bool, progress: ProgressForm | None = None) -> Iterator[Progress]:
    """Show on a terminal what is being done and since when; say nothing in a pipe, unless JSON is asked for."""
    if progress is ProgressForm.JSON:
        from kveil.cli.progress import progress_lines

        yield progress_lines(sys.stderr, command)
        return
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from kveil.cli.progress import progress_bar

    with progress_bar(console(stderr=True), command) as tell:
        yield tell


def load(policy: Path, *, engine: Engine | None = None, document: Document | None = None) -> Policy:
    """Return a policy file's policy, whose YAML may be read already, with another engine if one is named."""
    from kveil.policy.model import Policy

    loaded = Policy.load(policy) if document is None else Policy.of_file(document, policy)
    return loaded if engine is None else loaded.model_copy(update={"engine": engine.value})


@overload
def place_of(given: str) -> Place: ...
@overload
def place_of(given: None) -> None: ...
def place_of(given: str | None) -> Place | None:
    """Return the file or the database's table that an option names."""
    from kveil.databases import parse_place

    return None if given is None else parse_place(given, named=True)


def names_in(option: str | None) -> list[str] | None:
    """Return the names that an option lists, separated by commas; None where it is not given."""
    return None if option is None else [name.strip() for name in option.split(",") if name.strip()]


def answer(content: Any, show: Callable[[Console], None], *, as_json: bool, quiet: bool) -> None:
    """Answer a command: as JSON, else as ``show`` tells people, or not at all where that is asked for."""
    if as_json:
        print_json(content)
    elif not quiet:
        show(console())


def print_json(content: Any) -> None:
    """Print plain data as JSON; control characters of names are written out, so that no terminal obeys them."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    typer.echo(re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text))


def echo_file(text: str) -> None:
    """Print what may become a file, as it is; with control characters written out where a terminal shows it."""
    typer.echo(visible(text) if writes_to_terminal() else text, nl=False)


def writes_to_terminal() -> bool:
    """Tell whether a terminal shows what is printed."""
    return sys.stdout.isatty()
