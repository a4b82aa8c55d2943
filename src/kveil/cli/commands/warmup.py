"""`kveil warmup`."""

from __future__ import annotations

import typer

from kveil.cli.options import QuietOption, stages


def warmup(quiet: QuietOption = False) -> None:
    """Compile the kernels now, so that the first run need not."""
    with stages("warmup", quiet=quiet) as progress:
        from kveil.kernels.compiling import compile_all
        from kveil.kernels.threads import threads

        compiled = compile_all(threads(), progress)
    if not quiet:
        typer.echo(f"{compiled} kernels are ready.")
