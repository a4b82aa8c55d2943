"""The command line's commands in the order of the help, each with its example."""

from __future__ import annotations

from collections.abc import Callable
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

app = typer.Typer(
    name="kveil",
    help="Make microdata safe to publish: one policy in, one verified release out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool | None) -> None:  # which typer gives by position
    if show:
        typer.echo(f"kveil {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make microdata safe to publish: one policy in, one verified release out."""


def _add(command: Callable[..., Any], example: str) -> None:
    app.command(command.__name__, cls=SeveralFolders, epilog=f"Example: {example}")(command)


_add(anonymize, "kveil anonymize policy.yaml --output release.csv --receipt receipt.json")
_add(verify, "kveil verify policy.yaml --release release.csv --original patients.csv --owner owner.json")
_add(measure, "kveil measure policy.yaml --original patients.csv --release release.csv --owner owner.json")
_add(init, "kveil init patients.csv -o suggested.yaml")
_add(check, "kveil check policy.yaml")
_add(compare, "kveil compare policy.yaml --algorithms datafly,mondrian --seconds 60")
_add(attack, "kveil attack policy.yaml --original patients.csv --release release.csv --owner owner.json")
_add(apply, "kveil apply releases --input patients.csv --output applied.csv")
_add(dependencies, "kveil dependencies policy.yaml --json")
_add(algorithms, "kveil algorithms --json")
_add(schema, "kveil schema > kveil.schema.json")
_add(warmup, "kveil warmup")
_add(demo, "kveil demo")
_add(studio, "kveil studio patients.csv")
app.add_typer(hierarchy_app, name="hierarchy")
app.add_typer(archive_app, name="archive")
app.add_typer(import_app, name="import")
app.add_typer(export_app, name="export")
