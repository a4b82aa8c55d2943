"""`kveil verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    EngineOption,
    JsonOption,
    OwnerOption,
    PolicyArgument,
    PreviousOption,
    QuietOption,
    ReleaseOption,
    WeakerOption,
    answer,
    load,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def verify(
    policy: PolicyArgument,
    release: ReleaseOption,
    original: Annotated[
        str | None,
        typer.Option("--original", metavar="F", help="The original, to check truth and boundaries too."),
    ] = None,
    owner: OwnerOption = None,
    previous: PreviousOption = None,
    weaker: WeakerOption = False,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="Another tool made it: identifiers that show `*` alone are a hint.")
    ] = False,
    engine: EngineOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a release made by anyone. Exit 0 if everything holds, 1 if not."""
    from kveil.cli.loading import read_release_in_background

    loaded = load(policy, engine=engine)
    if owner is not None and original is None:
        raise typer.BadParameter("--owner aligns a release with its original; give --original too.")
    place, before = place_of(release), place_of(original)
    alone = before is None and not previous and not loaded.previous and loaded.individual_column is None
    alone = alone and not foreign  # else different lines are counted
    reading = read_release_in_background(loaded, place, alone=alone, hashed=as_json)  # only JSON tells the hash
    from kveil.flow.steps.inputs import store_for
    from kveil.flow.verify import VerifyTerms, verify_sources
    from kveil.report.owner import Owner

    with stages("verify", quiet=quiet) as progress:
        progress("reading")
        if loaded.engine == "spark":
            from kveil.engines.choosing import refuse_earlier, refuse_on_spark
            from kveil.errors import Refused
            from kveil.flow.spark.spark_checks import verify_on_spark
            from kveil.flow.steps.request import NOTHING_EARLIER

            refuse_earlier(loaded, previous or [])
            if weaker:
                raise Refused(NOTHING_EARLIER)
            refuse_on_spark("--foreign" if foreign else "")
            checked, digest = verify_on_spark(loaded, place, before, owner), None
        else:
            local = "--previous" if previous else "--foreign" if foreign else ""
            store = store_for(loaded, place, before, progress=progress, local=local)
            shown = store.read_release(loaded, place, hashed=as_json) if reading is None else reading.source()
            was = None if before is None else store.read(loaded, before)
            way = None if owner is None else Owner.load(owner)
            progress("verifying")
            file = place if isinstance(place, Path) else None
            terms = VerifyTerms(file, previous or [], weaker=weaker, foreign=foreign)
            checked = verify_sources(shown, loaded, was, way, terms=terms)
            digest = shown.sha256
    verdict = checked.verdict

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_verdict

        show_verdict(out, verdict, compared=original is not None)

    digests = {"policy": checked.policy_sha256, "release": digest}
    answer({**verdict.as_json(), "sha256": digests}, show, as_json=as_json, quiet=quiet)
    raise typer.Exit(0 if verdict else 1)
