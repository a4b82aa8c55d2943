"""`kveil apply`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.commands.archive import ArchiveArgument
from kveil.cli.options import JsonOption, QuietOption, WeakerOption, answer, stages

if TYPE_CHECKING:
    from rich.console import Console


class AppliedForm(StrEnum):
    """What of a release is used again."""

    LEVELS = "levels"


def apply(
    folder: ArchiveArgument,
    input_: Annotated[Path, typer.Option("--input", metavar="F", help="The new records.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="F", help="The new records as released.", show_default=False)
    ],
    number: Annotated[
        int | None, typer.Option("--number", min=1, metavar="N", help="Which release; by default the latest.")
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Solve records that it shows nothing for as new groups.")
    ] = False,
    applied_as: Annotated[
        AppliedForm | None,
        typer.Option("--as", help="Only the levels of a full-domain release, for any table; promises nothing."),
    ] = None,
    weaker: WeakerOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Give new records the values that an archived release shows for records like them."""
    from kveil.flow.apply import Application, apply_file

    levels = applied_as is AppliedForm.LEVELS
    if levels and extend:
        raise typer.BadParameter("--as levels shows every record; leave --extend out.")
    if levels and weaker:
        raise typer.BadParameter("--as levels promises nothing that could be weaker; leave --weaker out.")
    if output.resolve() == input_.resolve():
        raise typer.BadParameter("--output is the input itself; name another file.")
    with stages("apply", quiet=quiet) as progress:
        content = apply_file(Application(folder, number, extend, levels, weaker), input_, output, progress=progress)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_applied

        show_applied(out, content, output)

    answer(content, show, as_json=as_json, quiet=quiet)
