"""`kveil studio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    given: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POLICY|DATA|DIR]", help="What to start with; by default this folder.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; by default one that is free.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
) -> None:
    """Open the studio in the browser: from a raw file to a release, step by step, on this machine alone."""
    from kveil.studio.server import serve

    serve(given, port=port, browser=not no_browser)
