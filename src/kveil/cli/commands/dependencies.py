"""`kveil dependencies`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import JsonOption, QuietOption, answer, load, names_in, place_of, stages

if TYPE_CHECKING:
    from rich.console import Console


def dependencies(
    file: Annotated[str, typer.Argument(metavar="DATA|POLICY", help="A table, or a policy.", show_default=False)],
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="F", help="With a policy: another table, a release for example."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B", help="Look for rules among these columns only.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the dependencies that hold in a table and test a policy's. Exit 1 if a declared functional one fails."""
    from kveil.flow.dependencies import dependencies_of_file, dependencies_of_policy

    is_policy = file.lower().endswith((".yaml", ".yml"))
    if input_ is not None and not is_policy:
        raise typer.BadParameter("--input goes with a policy; give the table itself instead.")
    chosen = names_in(columns)
    loaded = load(Path(file)) if is_policy else None
    with stages("dependencies", quiet=quiet) as progress:
        content = (
            dependencies_of_file(place_of(file), columns=chosen, progress=progress)
            if loaded is None
            else dependencies_of_policy(loaded, path=place_of(input_), columns=chosen, progress=progress)
        )

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_rules

        show_rules(out, content)

    answer(content, show, as_json=as_json, quiet=quiet)
    broken = any(rule["kind"] == "functional" and not rule["holds"] for rule in content["declared"])
    raise typer.Exit(1 if broken else 0)
