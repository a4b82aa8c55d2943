"""`kveil demo`: what was asked, rows before and after, what holds, what was lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kveil.cli.options import console, stages

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from kveil.flow.demo import Demo
    from kveil.policy.model import Policy


def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Keep the demo's files and results in this folder."),
    ] = None,
) -> None:
    """Run the main job on data that ships inside the package: a small made-up hospital."""
    from kveil.cli.loading import compile_first
    from kveil.flow.demo import demo_policy, run_demo
    from kveil.flow.steps.request import Request

    out = console()
    policy = demo_policy()
    _show_asked(out, policy)
    asked = Request.of(policy)
    with tempfile.TemporaryDirectory() as temporary, stages("anonymize", quiet=False) as progress:
        compile_first(asked, progress)
        made = run_demo(asked, folder or Path(temporary), keep=folder is not None, progress=progress)
    _show_made(out, made, folder)


def _show_asked(out: Console, policy: Policy) -> None:
    """Print what a policy asks for, part by part."""
    from kveil.cli.terminal import describe
    from kveil.verifier.guarantees import parameters

    out.print("[bold]A made-up hospital wants to publish its visits, several per patient.[/] Its policy asks:")
    for model in policy.privacy:
        out.print(f"  - {describe(parameters(model, policy.attributes_of(model)))}")
    if policy.individual_column is not None:
        out.print(f"  - k and l count people ({policy.individual_column}), not rows; a person has several")
    bounded = [name for name in policy.quasi_identifiers if policy.attributes[name].boundary is not None]
    if bounded:
        out.print(f"  - no value goes beyond the boundary of its column: {', '.join(bounded)}")
    for rule in policy.dependencies:
        out.print(f"  - {rule.rule} still holds on what is shown")
    out.print(
        f"  - never released: {', '.join(policy.with_role('identifier'))}; "
        f"at most {float(policy.suppression.limit):.0%} suppressed"
    )
    out.print()


def _show_made(out: Console, made: Demo, folder: Path | None) -> None:
    """Print rows before and after, then the account."""
    from kveil.cli.terminal import safe, show_account

    _show_rows(out, "Before, three of its rows", made.before, [0, 1, 2])
    out.print()
    step = max(made.after.height // 3, 1)
    title = "After, three rows of the release, one per patient (sorted, so not the same)"
    _show_rows(out, title, made.after, [0, step, 2 * step])
    out.print()
    show_account(out, made.account, made.target.name if folder is None else str(made.target))
    for rule in made.account["dependencies"]:
        out.print(f"dependency {rule['rule']}: {'holds' if rule['holds'] else 'does not hold'}")
    if folder is not None:
        out.print(f"Policies, data, release, receipt, account and owner's file are in {safe(str(folder))}.")


def _show_rows(out: Console, title: str, frame: pl.DataFrame, rows: list[int]) -> None:
    from rich.table import Table

    from kveil.cli.terminal import safe

    table = Table(title=title, title_justify="left", title_style="bold", box=None, header_style="bold")
    for name in frame.columns:
        table.add_column(safe(name))
    for row in rows:
        table.add_row(*(safe(str(value)) for value in frame.row(row)))
    out.print(table)
