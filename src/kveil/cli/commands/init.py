"""`kveil init`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    EncodingOption,
    ForceOption,
    JsonOption,
    QuietOption,
    SheetOption,
    answer,
    echo_file,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A table.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="POLICY", help="The policy; by default standard output.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Go through the guesses on the terminal first.")] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B,…",
            help="Name the columns of a file without a line of names; a copy with them is written beside the policy.",
        ),
    ] = None,
    skip: Annotated[
        int,
        typer.Option("--skip", min=0, metavar="N", help="Leave out lines above the names, or the first record."),
    ] = 0,
    sheet: SheetOption = None,
    encoding: EncodingOption = "utf-8",
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look at a table and write a commented policy that runs as it is."""
    from kveil.cli.loading import load_in_background
    from kveil.files import FileLayout
    from kveil.flow.init import FileForm, start

    correct = None
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    form = FileForm(names, FileLayout(encoding=encoding, sheet=sheet, skip=skip))
    if ask:
        from kveil.cli.ask import ask_roles

        if not sys.stdin.isatty():
            raise typer.BadParameter("--ask needs a terminal to ask on; leave it out and edit the policy instead.")
        correct = ask_roles
    with stages("init", quiet=quiet or ask) as progress:
        load_in_background(())  # whatever is suggested is tried
        started = start(place_of(data), output, force=force, correct=correct, form=form, progress=progress)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_guesses

        if output is None:
            echo_file(started.text)
        else:
            show_guesses(out, started.as_json(), str(output))

    answer(started.as_json(), show, as_json=as_json, quiet=quiet)
