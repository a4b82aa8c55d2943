"""The command line's commands in the order of the help, each with its example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer

from kveil.cli.commands.algorithms import algorithms
from kveil.cli.commands.anonymize import anonymize
from kveil.cli.commands.apply import apply
from kveil.cli.commands.archive import archive_app
from kveil.cli.commands.attack import attack
from kveil.cli.commands.check import check
from kveil.cli.commands.compare import compare
from kveil.cli.commands.demo import demo
from kveil.cli.commands.dependencies import dependencies
from kveil.cli.commands.exchange import export_app, import_app
from kveil.cli.commands.hierarchy import hierarchy_app
from kveil.cli.commands.init import init
from kveil.cli.commands.measure import measure
from kveil.cli.commands.schema import schema
from kveil.cli.commands.studio import studio
from kveil.cli.commands.verify import verify
from kveil.cli.commands.warmup import warmup
from kveil.cli.folders import SeveralFolders
from kveil.version import __version__

EXAMPLES: dict[Callable[..., Any], str] = {
    anonymize: "kveil anonymize policy.yaml --output release.csv --receipt receipt.json",
    verify: "kveil verify policy.yaml --release release.csv --original patients.csv --owner owner.json",
    measure: "kveil measure policy.yaml --original patients.csv --release release.csv --owner owner.json",
    init: "kveil init patients.csv -o suggested.yaml",
    check: "kveil check policy.yaml",
    compare: "kveil compare policy.yaml --algorithms datafly,mondrian --seconds 60",
    attack: "kveil attack policy.yaml --original patients.csv --release release.csv --owner owner.json",
    apply: "kveil apply releases --input patients.csv --output applied.csv",
    dependencies: "kveil dependencies policy.yaml --json",
    algorithms: "kveil algorithms --json",
    schema: "kveil schema > kveil.schema.json",
    warmup: "kveil warmup",
    demo: "kveil demo",
    studio: "kveil studio patients.csv",
}


def _version(show: bool | None) -> None:  # which typer gives by position
    if show:
        typer.echo(f"kveil {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make microdata safe to publish: one policy in, one verified release out."""


def _with(commands: Iterable[Callable[..., Any]]) -> typer.Typer:
    made = typer.Typer(
        name="kveil",
        help="Make microdata safe to publish: one policy in, one verified release out.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(root)
    for command in commands:
        made.command(command.__name__, cls=SeveralFolders, epilog=f"Example: {EXAMPLES[command]}")(command)
    return made


app = _with(EXAMPLES)
app.add_typer(hierarchy_app, name="hierarchy")
app.add_typer(archive_app, name="archive")
app.add_typer(import_app, name="import")
app.add_typer(export_app, name="export")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return what runs a command line; where its command comes first, that alone: Typer takes time for every one."""
    asked = [command for command in EXAMPLES if [command.__name__] == list(arguments[:1])]
    return _with(asked) if asked else app
