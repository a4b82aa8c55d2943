"""`kveil hierarchy`: look at, check, build and publish hierarchy files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    EncodingOption,
    ForceOption,
    JsonOption,
    QuietOption,
    SheetOption,
    SkipOption,
    answer,
    console,
    echo_file,
)
from kveil.words import count, visible

if TYPE_CHECKING:
    from rich.console import Console

hierarchy_app = typer.Typer(help="Look at, check, build and publish hierarchy files.", no_args_is_help=True)


@hierarchy_app.command("show", epilog="Example: kveil hierarchy show policy.yaml --attribute zip")
def hierarchy_show(
    file: Annotated[
        Path, typer.Argument(metavar="FILE|POLICY", help="A hierarchy file, or a policy.", show_default=False)
    ],
    attribute: Annotated[
        str | None, typer.Option("--attribute", metavar="A", help="The attribute, where FILE is a policy.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Children of a node to show.")] = 8,
) -> None:
    """Draw a hierarchy as a tree."""
    from kveil.cli.tree_drawing import show_tree
    from kveil.flow.hierarchies import hierarchy_of

    show_tree(console(), hierarchy_of(file, attribute), most)


@hierarchy_app.command("check", epilog="Example: kveil hierarchy check zip.csv --data patients.csv --column zip")
def hierarchy_check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy file.", show_default=False)],
    data: Annotated[Path | None, typer.Option("--data", metavar="F", help="A table whose values it must know.")] = None,
    column: Annotated[str | None, typer.Option("--column", metavar="C", help="The column of the table.")] = None,
    sheet: SheetOption = None,
    skip: SkipOption = 0,
    encoding: EncodingOption = "utf-8",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a hierarchy file, and whether it knows every value of a column. Exit 1 if it does not."""
    from kveil.files import FileLayout
    from kveil.flow.hierarchies import check_hierarchy

    content = check_hierarchy(file, data, column, layout=FileLayout(encoding=encoding, sheet=sheet, skip=skip))

    def show(out: Console) -> None:
        for line in content["sentences"]:
            typer.echo(visible(line))

    answer(content, show, as_json=as_json, quiet=quiet)
    raise typer.Exit(0 if content["holds"] else 1)


@hierarchy_app.command(
    "publish",
    epilog="Example: kveil hierarchy publish policy.yaml --release release.csv -o public.yaml",
)
def hierarchy_publish(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy of the release.", show_default=False)],
    release: Annotated[Path, typer.Option("--release", metavar="F", help="The release.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="POLICY", help="The policy for others.", show_default=False)
    ],
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a policy and hierarchies with only what a release shows, for others to verify it."""
    from kveil.flow.publish import publish

    published = publish(policy, release, output, force=force)

    def show(out: Console) -> None:
        files = f" with {count(len(published.files), 'hierarchy file')}" if published.files else ""
        typer.echo(visible(f"{output}{files}: kveil verify {output} --release {release}"))

    content = {"policy": str(output), "hierarchies": sorted(str(output.parent / name) for name in published.files)}
    answer(content, show, as_json=as_json, quiet=quiet)


@hierarchy_app.command(
    "build",
    epilog="Example: kveil hierarchy build patients.csv --column zip --as '{mask: {keep: [4, 3]}}' -o zips.csv",
)
def hierarchy_build(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table.", show_default=False)],
    column: Annotated[str, typer.Option("--column", metavar="C", help="The column.", show_default=False)],
    builder: Annotated[
        str,
        typer.Option("--as", metavar="BUILDER", help="A builder as a policy writes it, or `balanced` or `balanced:N`."),
    ],
    k: Annotated[
        int,
        typer.Option("--k", min=1, metavar="N", help="With balanced: name runs only by values of at least N records."),
    ] = 5,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="F", help="The file; by default standard output.")
    ] = None,
    sheet: SheetOption = None,
    skip: SkipOption = 0,
    encoding: EncodingOption = "utf-8",
    force: ForceOption = False,
) -> None:
    """Write a column's hierarchy as a file in ARX's form, to be edited by hand."""
    from kveil.files import FileLayout, Outputs
    from kveil.flow.hierarchies import build_hierarchy
    from kveil.flow.steps.outputs import check_new

    check_new([] if output is None else [output], [data], force=force)
    layout = FileLayout(encoding=encoding, sheet=sheet, skip=skip)
    text = build_hierarchy(data, column, builder, k=k, layout=layout)
    if output is None:
        echo_file(text)
        return
    with Outputs() as outputs:
        outputs.write(outputs.open(output), text.encode())
        outputs.commit()
