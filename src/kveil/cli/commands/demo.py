"""The demonstration: what was asked, rows before and after, what holds, what was lost."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kveil.cli.terminal import describe, show_receipt
from kveil.datasets import hospital
from kveil.flow.anonymize import anonymize_file
from kveil.policy.model import Policy
from kveil.progress import Progress
from kveil.verifier.guarantees import parameters

Stages = Callable[[], AbstractContextManager[Progress]]


def _rows(out: Console, title: str, frame: pl.DataFrame, rows: list[int]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, header_style="bold")
    for name in frame.columns:
        table.add_column(escape(name))
    for row in rows:
        table.add_row(*(escape(str(value)) for value in frame.row(row)))
    out.print(table)


def _asked(out: Console, policy: Policy) -> None:
    """Print what a policy asks for, part by part."""
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


def run_demo(out: Console, folder: Path | None, stages: Stages) -> None:
    """Anonymize the demo hospital's visits under a policy that uses everything, and print the whole story."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) if folder is None else folder
        if folder is not None:
            shutil.copytree(hospital(), place, dirs_exist_ok=True)
        policy = Policy.load(hospital() / "everything.yaml")
        target = place / "visits-release.csv"
        out.print("[bold]A made-up hospital wants to publish its visits, several a patient.[/] Its policy asks:")
        _asked(out, policy)
        out.print()
        source = hospital() / str(policy.data.path)
        with stages() as progress:
            receipt = anonymize_file(policy, source, target, place / "receipt.json", place / "owner.json", progress)
        before = pl.read_csv(source, infer_schema=False, empty_string_is_null=False)
        after = pl.read_csv(target, infer_schema=False, empty_string_is_null=False)
        _rows(out, "Before, three of its rows", before, [0, 1, 2])
        out.print()
        step = max(after.height // 3, 1)
        _rows(
            out,
            "After, three rows of the release, one a patient (sorted, so not the same)",
            after,
            [0, step, 2 * step],
        )
        out.print()
        show_receipt(out, receipt, Path(target.name) if folder is None else target)
        for rule in receipt["dependencies"]:
            out.print(f"dependency {rule['rule']}: {'holds' if rule['holds'] else 'does not hold'}")
        if folder is not None:
            out.print(f"Policies, data, release, receipt and owner's file are in {escape(str(folder))}.")
