"""The commands, each a few lines on top of the pipeline."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.version import __version__

if TYPE_CHECKING:
    pass

from kveil.cli.options import JsonOption, OwnerOption, PolicyArgument, QuietOption, ReleaseOption, console, load, stages

app = typer.Typer(
    name="kveil",
    help="Make microdata safe to publish: one policy in, one verified release out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"kveil {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make microdata safe to publish: one policy in, one verified release out."""


@app.command(epilog="Example: kveil anonymize policy.yaml --output release.csv --receipt receipt.json")
def anonymize(
    policy: PolicyArgument,
    input_: Annotated[
        Path | None,
        typer.Option("--input", metavar="F", help="The table; by default the policy's data.path."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="F", help="The release; by default NAME-release beside the input."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option("--algorithm", metavar="A", help="Use this algorithm instead of the policy's."),
    ] = None,
    receipt: Annotated[Path | None, typer.Option("--receipt", metavar="F.json", help="Write the receipt.")] = None,
    owner: Annotated[
        Path | None,
        typer.Option("--owner", metavar="F", help="Write the owner's private file: released row to input row."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="F.html", help="Write the report, one page for the owner's eyes.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let the report tell only what release and receipt tell anybody.")
    ] = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="Also prove what any release of this policy loses at least.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release: solve, verify, and only then write it."""
    from kveil.flow.anonymize import anonymize_file, input_path, with_algorithm
    from kveil.kernels.compiling import load_in_background

    if public and report is None:
        raise typer.BadParameter("--public is about the report; give --report too.")
    load_in_background()
    loaded = with_algorithm(load(policy), algorithm)
    source = input_path(loaded, input_)
    target = output or source.with_name(f"{source.stem}-release{source.suffix}")
    with stages("anonymize", quiet) as progress:
        content = anonymize_file(loaded, source, target, receipt, owner, progress, report, public, bound)
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_receipt

        show_receipt(console(), content, target)


@app.command(
    epilog="Example: kveil verify policy.yaml --release release.csv --original patients.csv --owner owner.json"
)
def verify(
    policy: PolicyArgument,
    release: ReleaseOption,
    original: Annotated[
        Path | None,
        typer.Option("--original", metavar="F", help="The original, to check truth and boundaries too."),
    ] = None,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a release made by anyone. Exit 0 if everything holds, 1 if not."""
    from kveil.flow.anonymize import read, verify_sources
    from kveil.report.owner import Owner

    loaded = load(policy)
    if owner is not None and original is None:
        raise typer.BadParameter("--owner aligns a release with its original; give --original too.")
    with stages("verify", quiet) as progress:
        progress("reading")
        shown = read(loaded, release)
        was = None if original is None else read(loaded, original)
        way = None if owner is None else Owner.load(owner)
        progress("verifying")
        verdict = verify_sources(shown, loaded, was, way)
    if as_json:
        typer.echo(json.dumps(verdict.as_json(), indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_verdict

        show_verdict(console(), verdict, compared=original is not None)
    raise typer.Exit(0 if verdict else 1)


@app.command(
    epilog="Example: kveil measure policy.yaml --original patients.csv --release release.csv --owner owner.json"
)
def measure(
    policy: PolicyArgument,
    original: Annotated[Path, typer.Option("--original", metavar="F", help="The original.", show_default=False)],
    release: ReleaseOption,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a release lost, by every measure."""
    from kveil.flow.anonymize import measure_sources, read
    from kveil.report.owner import Owner

    loaded = load(policy)
    with stages("measure", quiet) as progress:
        progress("reading")
        shown, was = read(loaded, release), read(loaded, original)
        way = None if owner is None else Owner.load(owner)
        progress("measuring")
        losses, records, warnings = measure_sources(shown, loaded, was, way)
    content = {
        "records": records,
        "loss": losses.as_json(),
        "loss_by_attribute": {
            name: {"precision": loss.precision, "il_per_cell": loss.il_per_cell, "ncp": loss.ncp}
            for name, loss in losses.attributes.items()
        },
        "warnings": warnings,
    }
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_losses

        show_losses(console(), content)


@app.command("init", epilog="Example: kveil init patients.csv -o suggested.yaml")
def init(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="POLICY", help="The policy; by default standard output.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Go through the guesses on the terminal first.")] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B,…",
            help="Name the columns of a file without a line of names; a copy with them is written beside the policy.",
        ),
    ] = None,
    skip: Annotated[
        int, typer.Option("--skip", min=0, metavar="N", help="With --columns: leave out so many lines at the top.")
    ] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist; never the table.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look at a table and write a commented policy that runs as it is."""
    from kveil.flow.init import Names, start

    correct = None
    if skip and columns is None:
        raise typer.BadParameter("--skip goes with --columns; name the columns too.")
    names = None if columns is None else Names([name.strip() for name in columns.split(",")], skip)
    if ask:
        from kveil.cli.ask import ask_roles

        if not sys.stdin.isatty():
            raise typer.BadParameter("--ask needs a terminal to ask on; leave it out and edit the policy instead.")
        correct = ask_roles
    with stages("init", quiet or ask) as progress:
        started = start(data, output, force=force, correct=correct, names=names, progress=progress)
    if as_json:
        typer.echo(json.dumps(started.as_json(), indent=2, ensure_ascii=False))
    elif output is None and not quiet:
        typer.echo(started.text, nl=False)
    elif not quiet:
        from kveil.cli.terminal import show_guesses

        show_guesses(console(), started.as_json(), str(output))


@app.command(epilog="Example: kveil check policy.yaml")
def check(
    policy: PolicyArgument,
    input_: Annotated[
        Path | None, typer.Option("--input", metavar="F", help="The table; by default the policy's data.path.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say before any run what the policy forces: who can never be kept, and why. Exit 1 if it cannot be met."""
    from kveil.flow.check import check_file

    loaded = load(policy)
    with stages("check", quiet) as progress:
        content = check_file(loaded, input_, progress)
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_check

        show_check(console(), content)
    raise typer.Exit(0 if content["possible"] else 1)


@app.command(epilog="Example: kveil compare policy.yaml --algorithms datafly,mondrian --seconds 60")
def compare(
    policy: PolicyArgument,
    input_: Annotated[
        Path | None, typer.Option("--input", metavar="F", help="The table; by default the policy's data.path.")
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option("--algorithms", metavar="A,B", help="Only these; by default all that honour the policy."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=1, metavar="S", help="Stop what is not done after so many seconds in all."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="F.html", help="Write the comparison with its pictures.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run several algorithms on one policy: loss, suppression, groups and time, side by side."""
    from kveil.flow.compare import compare_file

    loaded = load(policy)
    names = None if algorithms is None else [name.strip() for name in algorithms.split(",") if name.strip()]
    with stages("compare", quiet) as progress:
        found = compare_file(loaded, input_, names, seconds, progress, report)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_comparison

        show_comparison(console(), found.as_json())


@app.command(
    epilog="Example: kveil attack policy.yaml --original patients.csv --release release.csv --owner owner.json"
)
def attack(
    policy: PolicyArgument,
    original: Annotated[Path, typer.Option("--original", metavar="F", help="The original.", show_default=False)],
    release: ReleaseOption,
    owner: OwnerOption = None,
    attacker: Annotated[
        Path | None,
        typer.Option("--attacker", metavar="F", help="A table the attacker has, joined by quasi-identifiers."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Play the attacker: success rates before and after the release."""
    from kveil.flow.anonymize import attack_sources, read
    from kveil.report.owner import Owner

    loaded = load(policy)
    with stages("attack", quiet) as progress:
        progress("reading")
        content = attack_sources(
            read(loaded, release),
            loaded,
            read(loaded, original),
            None if owner is None else Owner.load(owner),
            None if attacker is None else read(loaded, attacker),
            progress,
        )
    if as_json:
        typer.echo(json.dumps(content.as_json(), indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_attacks

        show_attacks(console(), content)


@app.command(epilog="Example: kveil dependencies policy.yaml --json")
def dependencies(
    file: Annotated[Path, typer.Argument(metavar="DATA|POLICY", help="A table, or a policy.", show_default=False)],
    input_: Annotated[
        Path | None,
        typer.Option("--input", metavar="F", help="With a policy: another table, a release for example."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B", help="Look for rules among these columns only.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the dependencies that hold in a table and test a policy's. Exit 1 if a declared functional one fails."""
    from kveil.discover import describe_rules
    from kveil.files import read_table
    from kveil.flow.anonymize import input_path, read

    is_policy = file.suffix.lower() in {".yaml", ".yml"}
    if input_ is not None and not is_policy:
        raise typer.BadParameter("--input goes with a policy; give the table itself instead.")
    chosen = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    loaded = load(file) if is_policy else None
    with stages("dependencies", quiet) as progress:
        progress("reading")
        table = read_table(file) if loaded is None else read(loaded, input_path(loaded, input_))
        content = describe_rules(table, loaded, chosen, progress=progress)
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif not quiet:
        from kveil.cli.terminal import show_rules

        show_rules(console(), content)
    broken = any(rule["kind"] == "functional" and not rule["holds"] for rule in content["declared"])
    raise typer.Exit(1 if broken else 0)


@app.command(epilog="Example: kveil algorithms --json")
def algorithms(as_json: JsonOption = False) -> None:
    """List the algorithms and what each honours."""
    from kveil.algorithms.least_loss.options import RefineOptions
    from kveil.algorithms.registry import ALGORITHMS

    content = [
        {
            "name": algorithm.name,
            "honours": sorted(algorithm.honours),
            "options": sorted({**algorithm.options.model_fields, **RefineOptions.model_fields}),
            "summary": algorithm.summary,
            "paper": algorithm.paper,
        }
        for algorithm in ALGORITHMS
    ]
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    from kveil.cli.terminal import show_algorithms

    show_algorithms(console(), content)


@app.command(epilog="Example: kveil schema > kveil.schema.json")
def schema() -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check it."""
    from kveil.policy.model import json_schema

    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@app.command(epilog="Example: kveil warmup")
def warmup(quiet: QuietOption = False) -> None:
    """Compile the kernels now, so that the first run need not."""
    with stages("warmup", quiet) as progress:
        progress("compiling the kernels (once for each version of kveil)")
        from kveil.kernels.compiling import compile_all

        compiled = compile_all(processes=min(os.cpu_count() or 1, 4))
    if not quiet:
        typer.echo(f"{compiled} kernels are ready.")


@app.command(epilog="Example: kveil demo")
def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Keep the demo's files and results in this folder."),
    ] = None,
) -> None:
    """Run the main job on data that ships inside the package: a small made-up hospital."""
    from kveil.cli.commands.demo import run_demo

    run_demo(console(), folder, lambda: stages("anonymize", quiet=False))
