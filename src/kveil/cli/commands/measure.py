"""`kveil measure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kveil.cli.options import (
    EngineOption,
    JsonOption,
    OriginalOption,
    OwnerOption,
    PolicyArgument,
    QuietOption,
    ReleaseOption,
    answer,
    load,
    place_of,
    stages,
)

if TYPE_CHECKING:
    from rich.console import Console


def measure(
    policy: PolicyArgument,
    original: OriginalOption,
    release: ReleaseOption,
    owner: OwnerOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a release lost, by every measure."""
    from kveil.flow.measure import measure_sources
    from kveil.flow.steps.inputs import store_for
    from kveil.report.owner import Owner

    loaded = load(policy, engine=engine)
    with stages("measure", quiet=quiet) as progress:
        progress("reading")
        after, before = place_of(release), place_of(original)
        if loaded.engine == "spark":
            from kveil.flow.spark.spark_checks import measure_on_spark

            content = measure_on_spark(loaded, after, before, owner).as_json()
        else:
            store = store_for(loaded, after, before, progress=progress)
            shown, was = store.read_release(loaded, after), store.read(loaded, before)
            way = None if owner is None else Owner.load(owner)
            progress("measuring")
            content = measure_sources(shown, loaded, was, way).as_json()

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_losses, show_warnings
        from kveil.words import visible

        show_losses(out, content["loss"], content["loss_by_attribute"])
        for name, value in content.get("others", {}).items():
            out.print(f"{visible(name)}: {value:.4g}")
        show_warnings(out, content["warnings"])

    answer(content, show, as_json=as_json, quiet=quiet)
