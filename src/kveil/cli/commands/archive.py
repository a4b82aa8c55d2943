"""`kveil archive`: look at archives of releases, and check them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import JsonOption, QuietOption, answer
from kveil.words import count, visible

if TYPE_CHECKING:
    from rich.console import Console

archive_app = typer.Typer(help="Look at archives of releases, and check them.", no_args_is_help=True)
ArchiveArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder that --archive made.", show_default=False)
]


@archive_app.command("list", epilog="Example: kveil archive list releases")
def archive_list(folder: ArchiveArgument, as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the releases of an archive, the earliest first."""
    from kveil.flow.archive import list_releases

    content = list_releases(folder)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_archive

        show_archive(out, content)

    answer(content, show, as_json=as_json, quiet=quiet)


@archive_app.command("show", epilog="Example: kveil archive show releases --number 1")
def archive_show(
    folder: ArchiveArgument,
    number: Annotated[
        int | None, typer.Option("--number", min=1, metavar="N", help="Which release; by default the latest.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Tell what one archived release promised and lost. Nothing about anybody in it."""
    from kveil.flow.archive import show_release

    content = show_release(folder, number)

    def show(out: Console) -> None:
        for line in content["sentences"]:
            typer.echo(visible(line))

    answer(content, show, as_json=as_json, quiet=quiet)


@archive_app.command("check", epilog="Example: kveil archive check releases")
def archive_check(folder: ArchiveArgument, as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Check that nothing of an archive was lost or changed, and that it is private. Exit 1 if not."""
    from kveil.flow.archive import check_releases

    content = check_releases(folder)

    def show(out: Console) -> None:
        whole = f"{count(content['releases'], 'release')}, whole, unchanged and private."
        for line in content["findings"] or [whole]:
            typer.echo(visible(line))

    answer(content, show, as_json=as_json, quiet=quiet)
    raise typer.Exit(0 if content["holds"] else 1)
