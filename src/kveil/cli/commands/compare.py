"""`kveil compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    InputOption,
    JsonOption,
    PolicyArgument,
    ProgressOption,
    QuietOption,
    answer,
    load,
    names_in,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def compare(
    policy: PolicyArgument,
    input_: InputOption = None,
    algorithms: Annotated[
        str | None,
        typer.Option("--algorithms", metavar="A,B", help="Only these; by default all that honour the policy."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=1, metavar="S", help="Stop what is not done after so many seconds in all."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="F.html", help="Write the comparison with its pictures.")
    ] = None,
    progress_as: ProgressOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run several algorithms on one policy: loss, suppression, groups and time, side by side."""
    from kveil.flow.compare import compare_file

    loaded = load(policy)
    names = names_in(algorithms)
    with stages("compare", quiet=quiet, progress=progress_as) as progress:
        content = compare_file(
            loaded, place_of(input_), names, seconds=seconds, progress=progress, report=report
        ).as_json()

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_comparison

        show_comparison(out, content)

    answer(content, show, as_json=as_json, quiet=quiet)
