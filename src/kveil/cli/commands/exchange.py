"""`kveil import` and `kveil export`: policies and hierarchies from and to other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    ForceOption,
    InputOption,
    JsonOption,
    PolicyArgument,
    QuietOption,
    answer,
    echo_file,
    place_of,
)
from kveil.words import count, visible

if TYPE_CHECKING:
    from rich.console import Console

    from kveil.flow.exchange import Imported

import_app = typer.Typer(help="Take over policies and hierarchies of ARX and ANJANA.", no_args_is_help=True)
export_app = typer.Typer(help="Give hierarchies to ARX, and questions to pyCANON.", no_args_is_help=True)

PolicyOutput = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="F", help="The policy, or the hierarchy file, to write.")
]
DataOption = Annotated[Path | None, typer.Option("--data", metavar="F", help="The table; by default the tool's own.")]
KOption = Annotated[
    int | None, typer.Option("--k", min=1, metavar="N", help="Ask for k-anonymity of N beside what is carried over.")
]


def _tell(imported: Imported, *, as_json: bool, quiet: bool) -> None:
    def show(out: Console) -> None:
        files = f" with {count(len(imported.files), 'hierarchy file')}" if imported.files else ""
        table = f" and the table ({imported.table}, for you alone)" if imported.table else ""
        typer.echo(visible(f"{imported.policy}{files}{table}: kveil check {imported.policy}"))
        for told in imported.left_out:
            typer.echo(visible(f"not carried over: {told}"))

    answer(imported.as_json(), show, as_json=as_json, quiet=quiet)


@import_app.command("arx", epilog="Example: kveil import arx project.deid -o imported.yaml")
def import_arx(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A project (.deid), settings (.ahs) or a hierarchy.", show_default=False),
    ],
    output: PolicyOutput = None,
    data: DataOption = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="C", help="With --data: the column that settings (.ahs) group.")
    ] = None,
    k: KOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take over a project of ARX, or a hierarchy; what cannot be carried over is listed."""
    from kveil.flow import exchange

    if file.suffix.lower() == ".deid":
        if output is None:
            raise typer.BadParameter("a project becomes several files; name the policy with -o.")
        imported = exchange.import_arx(file, output, data=data, k=k, force=force)
        _tell(imported, as_json=as_json, quiet=quiet)
        return
    if column is not None and data is None:
        raise typer.BadParameter("--column is one of a table; give the table with --data too.")
    hierarchy = exchange.import_hierarchy(file, data=data, column=column)

    def show(out: Console) -> None:
        if output is None:
            echo_file(hierarchy.text)
        for told in hierarchy.left_out:
            typer.echo(visible(f"not carried over: {told}"), err=output is None)

    if output is None:
        answer(hierarchy.as_json(), show, as_json=as_json, quiet=False)
        return
    from kveil.files import Outputs
    from kveil.flow.steps.outputs import check_new

    check_new([output], [file], force=force)
    with Outputs() as outputs:
        outputs.write(outputs.open(output), hierarchy.text.encode())
        outputs.commit()
    answer(hierarchy.as_json(), show, as_json=as_json, quiet=quiet)


@import_app.command("anjana", epilog="Example: kveil import anjana script.py -o imported.yaml")
def import_anjana(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="The script that calls ANJANA; it is not run.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="POLICY", help="The policy to write.", show_default=False)
    ],
    data: DataOption = None,
    k: KOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take over what a Python script asks ANJANA for; the script is read, never run."""
    from kveil.flow import exchange

    _tell(exchange.import_anjana(script, output, data=data, k=k, force=force), as_json=as_json, quiet=quiet)


@export_app.command("arx", epilog="Example: kveil export arx policy.yaml -o arx")
def export_arx(
    policy: PolicyArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder.", show_default=False)],
    input_: InputOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a policy's hierarchies as ARX reads them, and say what else to set there."""
    from kveil.flow import exchange

    exported = exchange.export_arx(policy, output, data=place_of(input_), force=force)
    content = {
        "folder": str(output),
        "roles": exported.roles,
        "models": list(exported.models),
        "suppression_limit": exported.limit,
        "left_out": list(exported.left_out),
    }

    def show(out: Console) -> None:
        typer.echo(visible(f"{output}: {count(len(exported.hierarchies), 'hierarchy', 'hierarchies')} for ARX"))
        for name, role in exported.roles.items():
            typer.echo(visible(f"  {name}: {role}"))
        for model in exported.models:
            typer.echo(visible(f"  {model}"))
        typer.echo(f"  suppression limit {exported.limit}")
        for told in exported.left_out:
            typer.echo(visible(f"not carried over: {told}"))

    answer(content, show, as_json=as_json, quiet=quiet)


@export_app.command("pycanon", epilog="Example: kveil export pycanon policy.yaml --release release.csv > check.py")
def export_pycanon(
    policy: PolicyArgument,
    release: Annotated[Path, typer.Option("--release", metavar="F", help="The release.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Print a script that asks pyCANON whether a release keeps a policy."""
    from kveil.flow import exchange

    script, left_out = exchange.export_pycanon(policy, release)

    def show(out: Console) -> None:
        echo_file(script + "".join(f"# not asked: {' '.join(told.splitlines())}\n" for told in left_out))

    answer({"script": script, "left_out": left_out}, show, as_json=as_json, quiet=False)
