"""An option that takes several folders: `--previous 2025 2026` is `--previous 2025 --previous 2026`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from typer import Context
from typer.core import TyperCommand

SEVERAL = "--previous"


class SeveralFolders(TyperCommand):
    """A command with one argument, whose option `--previous` may be followed by more than one folder."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Let the option stand before each of its folders, as Click wants it."""
        return super().parse_args(ctx, spread(args))


def spread(arguments: Sequence[str]) -> list[str]:
    """Return arguments with the option before each of its folders.

    A command's own argument comes first, or last: where it did not come first, the last of several texts that follow
    the option is that argument.
    """
    rest = list(arguments)
    argument_is_first = bool(rest) and not rest[0].startswith("-")
    told: list[str] = []
    while rest:
        word = rest.pop(0)
        told.append(word)
        if word != SEVERAL:
            continue
        folders = list(takewhile(lambda text: not text.startswith("-"), rest))
        del rest[: len(folders)]
        told += folders[:1]
        for place, folder in enumerate(folders[1:], 2):
            is_argument = not argument_is_first and place == len(folders) and not rest
            told += [folder] if is_argument else [SEVERAL, folder]
    return told
