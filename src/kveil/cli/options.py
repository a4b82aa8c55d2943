"""What commands share: arguments and options by name, the console, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from kveil.policy.model import Policy

PolicyArgument = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file (YAML).", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
OwnerOption = Annotated[
    Path | None, typer.Option("--owner", metavar="F", help="The owner's file that the release was made with.")
]
ReleaseOption = Annotated[Path, typer.Option("--release", metavar="F", help="The released file.", show_default=False)]


def console(stderr: bool = False) -> Console:
    """Return a console for people; it wraps no tables of data and marks nothing up by itself."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


@contextmanager
def stages(command: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done and since when; say nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage: None
        return
    from kveil.cli.progress import progress_bar

    with progress_bar(console(stderr=True), command) as tell:
        yield tell


def load(policy: Path) -> Policy:
    """Return a policy file's policy."""
    from kveil.policy.model import Policy

    return Policy.load(policy)
