"""What the tests of files, frames, faults, leaks and commands share: small policies, and runs of the command line."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import kveil

with warnings.catch_warnings():  # Typer's own import asks click for names that click has deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from kveil.cli import main

QUASI = "quasi-identifier"
ROLES = {
    "name": {"role": "identifier"},
    "age": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
    "sex": {"role": QUASI},
    "diagnosis": {"role": "sensitive"},
    "ward": {"role": "insensitive"},
}
HEADER = list(ROLES)
# Two groups of four over (age in tens, sex), and one record that is alone.
ROWS = [
    ["Ann", "31", "F", "flu", "w1"],
    ["Bea", "35", "F", "cough", "w2"],
    ["Cid", "62", "M", "flu", "w1"],
    ["Dan", "68", "M", "gout", "w3"],
    ["Eva", "39", "F", "flu", "w1"],
    ["Fay", "31", "F", "gout", "w2"],
    ["Gus", "61", "M", "cough", "w1"],
    ["Hal", "66", "M", "flu", "w2"],
    ["Ivy", "95", "F", "rare", "w9"],
]


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left: its exit code and both its streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def policy_dict(attributes: Mapping[str, Any] = ROLES, k: int = 2, limit: float = 0.2, **others: Any) -> dict[str, Any]:
    """Return a policy over attributes, each given by its role or by a mapping."""
    return {
        "kveil": 1,
        "attributes": {name: {"role": a} if isinstance(a, str) else a for name, a in attributes.items()},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "suppression": {"limit": limit},
        "algorithm": "datafly",
        **others,
    }


def make_policy(attributes: Mapping[str, Any] = ROLES, k: int = 2, limit: float = 0.2, **others: Any) -> kveil.Policy:
    return kveil.Policy(**policy_dict(attributes, k, limit, **others))


def write_policy(
    folder: Path, attributes: Mapping[str, Any] = ROLES, k: int = 2, limit: float = 0.2, **others: Any
) -> Path:
    """Write a policy as a file; JSON is YAML, and keeps every text as it is."""
    path = folder / "policy.yaml"
    path.write_text(json.dumps(policy_dict(attributes, k, limit, **others), ensure_ascii=False), encoding="utf-8")
    return path


def csv_text(rows: Iterable[Sequence[str]], header: Sequence[str] = HEADER, separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in [header, *rows])


def write_rows(path: Path, rows: Iterable[Sequence[str]] = ROWS, header: Sequence[str] = HEADER) -> Path:
    path.write_text(csv_text(rows, header), encoding="utf-8")
    return path


def columns_of(rows: Sequence[Sequence[str]] = ROWS, header: Sequence[str] = HEADER) -> dict[str, list[str]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def run(*arguments: object) -> Outcome:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", ["kveil", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


def command(*arguments: object, before: str = "") -> list[str]:
    """Return the command line as a process of its own; ``before`` is Python that runs in it first."""
    if not before:
        return [sys.executable, "-m", "kveil", *map(str, arguments)]
    script = f"import sys\nsys.argv = ['kveil', *sys.argv[1:]]\n{before}\nfrom kveil.cli import main\nmain()\n"
    return [sys.executable, "-c", script, *map(str, arguments)]


def run_process(*arguments: object, before: str = "", env: Mapping[str, str] | None = None) -> Outcome:
    """Run the command line as a process of its own."""
    done = subprocess.run(
        command(*arguments, before=before),
        capture_output=True,
        text=True,
        timeout=300,  # kernels may have to be compiled first
        check=False,
        env={**os.environ, **(env or {})},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def refused(outcome: Outcome, *parts: str, code: int = 2) -> str:
    """Check that a run failed as every run should: its code, one sentence on stderr, nothing else. Return it."""
    assert outcome.code == code, (outcome.code, outcome.err)
    assert outcome.out == ""
    assert outcome.err.startswith("kveil: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.rstrip("\n")[-1] in ".?"
    assert "Traceback" not in outcome.err
    assert "defect of kveil" not in outcome.err
    for part in parts:
        assert part in outcome.err, (part, outcome.err)
    return outcome.err


def names_in(folder: Path) -> set[str]:
    """Return everything in a folder, hidden files included."""
    return {entry.name for entry in os.scandir(folder)}
