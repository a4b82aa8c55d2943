"""`kveil attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    JsonOption,
    OriginalOption,
    OwnerOption,
    PolicyArgument,
    PreviousOption,
    QuietOption,
    ReleaseOption,
    answer,
    load,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def attack(
    policy: PolicyArgument,
    original: OriginalOption,
    release: ReleaseOption,
    owner: OwnerOption = None,
    attacker: Annotated[
        str | None,
        typer.Option("--attacker", metavar="F", help="A table the attacker has, joined by quasi-identifiers."),
    ] = None,
    previous: PreviousOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play the attacker: success rates before and after the release."""
    from kveil.flow.attack import AttackMeans, attack_sources
    from kveil.flow.steps.inputs import read, read_release
    from kveil.report.owner import Owner

    loaded = load(policy)
    with stages("attack", quiet=quiet) as progress:
        progress("reading")
        attacks = attack_sources(
            read_release(loaded, place_of(release)),
            loaded,
            read(loaded, place_of(original)),
            None if owner is None else Owner.load(owner),
            means=AttackMeans(None if attacker is None else read(loaded, place_of(attacker)), previous or ()),
            progress=progress,
        )

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_attacks

        show_attacks(out, attacks)

    answer(attacks.as_json(), show, as_json=as_json, quiet=quiet)
