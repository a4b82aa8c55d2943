"""`kveil anonymize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import (
    AlgorithmOption,
    ArchiveOption,
    Engine,
    EngineOption,
    InputOption,
    JsonOption,
    OwnerKeyOption,
    PolicyArgument,
    PreviousOption,
    ProgressOption,
    QuietOption,
    WeakerOption,
    answer,
    load,
    names_in,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console

    from kveil.databases import Place
    from kveil.engines.memory import BeingRead
    from kveil.policy.model import Policy


PublicOption = Annotated[
    bool, typer.Option("--public", help="Let the report tell only what release and receipt tell anybody.")
]


def anonymize(
    policy: PolicyArgument,
    input_: InputOption = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="F", help="The release; by default NAME-release beside the input."),
    ] = None,
    algorithm: AlgorithmOption = None,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", metavar="F.json", help="Write the receipt, which may be published.")
    ] = None,
    account: Annotated[
        Path | None,
        typer.Option("--account", metavar="F.json", help="Write the account: the whole story, for the owner's eyes."),
    ] = None,
    owner: Annotated[
        Path | None,
        typer.Option("--owner", metavar="F", help="Write the owner's private file: released row to input row."),
    ] = None,
    owner_key: OwnerKeyOption = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="F.html", help="Write the report, one page for the owner's eyes.")
    ] = None,
    archive: ArchiveOption = None,
    previous: PreviousOption = None,
    weaker: WeakerOption = False,
    public: PublicOption = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="Also prove what any release of this policy loses at least.")
    ] = False,
    engine: EngineOption = None,
    progress_as: ProgressOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release: solve, verify, and only then let it appear."""
    if public and report is None:
        raise typer.BadParameter("--public is about the report; give --report too.")
    loaded, place, source = _begun(policy, input_, engine, hashed=owner is not None or archive is not None)
    from kveil.cli.loading import compile_and_load
    from kveil.flow.anonymize import anonymize_file
    from kveil.flow.steps.inputs import with_algorithm
    from kveil.flow.steps.outputs import Targets, default_destination
    from kveil.flow.steps.request import Request

    target = place_of(output) or default_destination(place)
    beside = {"receipt": receipt, "account": account, "owner": owner, "report": report, "archive": archive}
    targets = Targets(target, public=public, owner_key=tuple(names_in(owner_key) or ()), **beside)
    asked = Request.of(with_algorithm(loaded, algorithm), bounded=bound, previous=previous or (), weaker=weaker)
    with stages("anonymize", quiet=quiet, progress=progress_as) as progress:
        compile_and_load(asked, progress)
        content = anonymize_file(asked, source, targets, progress=progress)

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_account

        show_account(out, content, str(target) if isinstance(target, Path) else target.name)

    answer(content, show, as_json=as_json, quiet=quiet)


def _begun(
    path: Path, given: str | None, engine: Engine | None, *, hashed: bool
) -> tuple[Policy, Place, Place | BeingRead]:
    """Return the policy and the table to read, and begin to read it if that can be done while all else is imported."""
    from kveil.cli.loading import read_early, read_in_background
    from kveil.policy.load import read_document

    document = read_document(path)
    early = read_early(document, path.parent, given) if engine in (None, Engine.LOCAL) else None
    policy = load(path, engine=engine, document=document)
    from kveil.flow.steps.places import input_path

    place = input_path(policy, place_of(given))
    return policy, place, read_in_background(policy, place, hashed=hashed, early=early) or place
