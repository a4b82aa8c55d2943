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
from kveil.platforms import show_unused

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
    seconds_each: Annotated[
        float | None,
        typer.Option("--seconds-each", min=0.1, metavar="S", help="Stop each algorithm after so many seconds."),
    ] = None,
    refine: Annotated[
        str | None,
        typer.Option(
            "--refine", metavar="EFFORT", help="Refine what each finds with this effort: off, normal, best or tries."
        ),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            "--predict",
            metavar="COLUMN",
            help="Train a model for this column on each release; test it on records held out.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="F.html", help="Write the comparison with its pictures.")
    ] = None,
    progress_as: ProgressOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run several algorithms on one policy: loss, suppression, groups and time, side by side."""
    from kveil.flow.compare import Terms, compare_file

    if predict is not None:
        show_unused()  # scikit-learn needs SciPy
    loaded = load(policy)
    terms = Terms(seconds, seconds_each, refine, predict)
    with stages("compare", quiet=quiet, progress=progress_as) as progress:
        names, place = names_in(algorithms), place_of(input_)
        compared = compare_file(loaded, path=place, algorithms=names, terms=terms, progress=progress, report=report)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_comparison

        show_comparison(out, compared)

    answer(compared.as_json(), show, as_json=as_json, quiet=quiet)
