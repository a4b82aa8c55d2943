"""`kveil demo`: the main job on the made-up hospital that ships inside the package."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.datasets import hospital
from kveil.errors import Refused
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.account import Account


@dataclass(frozen=True)
class Demo:
    """What the demonstration made: the release at ``target``, the table before and after, and the account."""

    target: Path
    before: pl.DataFrame
    after: pl.DataFrame
    account: Account


def demo_policy() -> Policy:
    """Return the policy of the demonstration, which uses everything a policy can say."""
    return Policy.load(hospital() / "everything.yaml")


def run_demo(asked: Request, folder: Path, *, keep: bool, progress: Progress = silent) -> Demo:
    """Anonymize the hospital's visits into a folder; to ``keep`` the demonstration, its input is copied there too.

    A folder that has other files of these names is refused: nobody asked to have them replaced.
    """
    target = folder / "visits-release.csv"
    source = hospital() / str(asked.policy.data.path)
    targets = Targets(
        target, receipt=folder / "receipt.json", account=folder / "account.json", owner=folder / "owner.json"
    )
    if keep:
        _check_folder(folder, [target, *(path for path, _ in targets.beside())])
        shutil.copytree(hospital(), folder, dirs_exist_ok=True)
    account = anonymize_file(asked, source, targets, progress=progress)
    before, after = (pl.read_csv(path, infer_schema=False, empty_string_is_null=False) for path in (source, target))
    return Demo(target, before, after, account)


def _check_folder(folder: Path, made: Sequence[Path]) -> None:
    """Refuse a folder in which the demonstration would replace what it has not made itself."""
    shipped = [path for path in hospital().iterdir() if path.is_file()]
    there = [path for path in shipped if (folder / path.name).exists()]
    others = [path.name for path in there if not _same_file(path, folder / path.name)]
    if len(there) < len(shipped):  # so no demonstration has been here before
        others += [path.name for path in made if path.exists()]
    if others:
        raise Refused(f"{folder} has a {others[0]} of its own, which the demo would replace; give another folder.")


def _same_file(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()
