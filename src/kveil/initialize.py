"""`kveil init`: look at a file, suggest a policy, make sure that it runs, write it."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kveil.algorithms.registry import honouring
from kveil.choose import trials
from kveil.errors import FileError, KveilError, NotVerified
from kveil.files import Outputs, read_table
from kveil.pipeline import Progress, silent
from kveil.policy.hierarchy import Lines, check_lines
from kveil.policy.load import parse_policy
from kveil.policy.model import Policy
from kveil.suggest import Suggestion, policy_text, suggest
from kveil.suggest.propose import Correct
from kveil.suggest.write import relative
from kveil.table.encode import Table, encode

LIMITS = ("0.05", "0.2", "1")
PATIENCE = 60.0  # seconds


@dataclass(frozen=True)
class Started:
    """A suggested policy: its text, the hierarchy files beside it, and the guesses it is made of."""

    suggestion: Suggestion
    text: str
    files: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return the guesses as plain data, with the policy's text."""
        return {
            "columns": [
                {
                    "column": guess.name,
                    "role": guess.role,
                    "reason": guess.reason,
                    "hierarchy": None if guess.way is None else guess.way.reason,
                    "doubtful": guess.doubtful or (guess.way is not None and guess.way.doubtful),
                }
                for guess in self.suggestion.guesses
            ],
            "k": self.suggestion.k,
            "files": sorted(self.files),
            "policy": self.text,
        }


def _read_back(started: Started, folder: Path) -> Table:
    """Make sure that the policy reads and that every value has its place in it."""
    try:
        policy = parse_policy(started.text, "the suggested policy", folder)
        _with_files(policy, started.files)
        return encode(started.suggestion.source, policy)
    except KveilError as error:
        raise NotVerified(
            f"kveil suggested a policy that does not run ({str(error).rstrip('.')}); nothing was written. This is a "
            "defect of kveil: please report it."
        ) from None


def _can_be_met(table: Table) -> bool:
    """Tell whether some algorithm meets the policy; one that takes too long is taken to."""
    able = honouring(table.policy)
    able.sort(key=lambda algorithm: algorithm.name != "mondrian")  # the quickest of those that honour most
    return any(trial.solution is not None or trial.timed_out for trial in trials(table, able, {}, silent, PATIENCE))


def _with_files(policy: Policy, files: dict[str, str]) -> None:
    """Give the policy its hierarchy files before they are on the disk."""
    for name, attribute in policy.attributes.items():
        spec = attribute.hierarchy
        if spec is not None and spec.form == "file" and spec.path in files:
            rows = [tuple(fields) for fields in csv.reader(files[spec.path].splitlines(), delimiter=";")]
            lines = check_lines(rows, name)
            policy._lines[name] = Lines(lines, lines[0][-1], built=False)


def start(
    data: Path,
    output: Path | None,
    force: bool = False,
    correct: Correct | None = None,
    progress: Progress = silent,
) -> Started:
    """Suggest a policy for a file and write it, with its hierarchy files, where an output is named.

    A policy that exists is not replaced unless forced: somebody may have worked on it.
    """
    if output is not None and output.exists() and not force:
        raise FileError(f"{output.name} exists already; name another file with -o, or replace it with --force.")
    folder = output.parent if output is not None else Path.cwd()
    progress("reading")
    source = read_table(data)
    progress("looking at the columns")
    suggestion = suggest(source, correct)
    progress("trying the policy")
    started = _suggested(suggestion, data, folder, output)
    if output is not None:
        with Outputs() as outputs:
            for name, content in started.files.items():
                outputs.write(outputs.open(folder / name), content.encode())
            outputs.write(outputs.open(output), started.text.encode())
            outputs.commit()
    return started


def _suggested(suggestion: Suggestion, data: Path, folder: Path, output: Path | None) -> Started:
    """Return the policy with the first suppression limit under which it can be met."""
    for limit in LIMITS:
        limited = replace(suggestion, limit=limit)
        text, files = policy_text(limited, relative(data, folder), None if output is None else output.stem)
        started = Started(limited, text, files)
        if _can_be_met(_read_back(started, folder)):
            break
    return started
