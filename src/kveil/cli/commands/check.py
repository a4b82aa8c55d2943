"""`kveil check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kveil.cli.options import (
    EngineOption,
    InputOption,
    JsonOption,
    PolicyArgument,
    QuietOption,
    answer,
    load,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def check(
    policy: PolicyArgument,
    input_: InputOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say before any run what the policy forces: who can never be kept, and why. Exit 1 if it cannot be met."""
    from kveil.flow.check import check_file

    loaded = load(policy, engine=engine)
    with stages("check", quiet=quiet) as progress:
        content = check_file(loaded, given=place_of(input_), progress=progress)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_check

        show_check(out, content)

    answer(content, show, as_json=as_json, quiet=quiet)
    raise typer.Exit(0 if content["possible"] else 1)
