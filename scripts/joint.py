"""Run random joint policies through `auto` and say what became of each: `make joint`, or two numbers of cases.

Every release passes the verifier before it is counted. What is refused, what fails in a way that kveil does not
foresee, and where `least-loss` loses more than another algorithm, is named by its number, so that
`tests/joint_policies.py` draws it again. With `--record` what was run is kept, slice by slice, with the commit that
ran it: slices that are in the file are left out, so that a run can be gone on with, and the tally is the whole file's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import kveil
from joint_policies import joint_case

ROOT = Path(__file__).parent.parent
ROWS = 400
SLICE = 50  # cases that are recorded together


class Outcome(NamedTuple):
    """What became of a case, and what there is to say about it, if anything."""

    kind: str
    finding: str | None = None


def beaten(tried: Sequence[Mapping[str, Any]]) -> str | None:
    """Say which algorithm loses less than least-loss, and how much; None where none does."""
    losses = {entry["algorithm"]: entry["loss"] for entry in tried if entry["solved"] and "loss" in entry}
    least = min(losses, key=lambda name: losses[name])
    ours = losses.get("least-loss")
    if ours is None:
        return f"finds nothing, {least} does"
    return None if ours <= losses[least] + 1e-9 else f"loses {ours:.4f}, {least} {losses[least]:.4f}"


def outcome_of(seed: int) -> Outcome:
    """Run one case."""
    case = joint_case(seed, ROWS)
    try:
        worse = beaten(kveil.anonymize(case.frame, case.policy()).account["tried"])
        if worse is None:
            return Outcome("solved and verified")
        return Outcome("solved and verified, least-loss beaten", f"least-loss {worse}")
    except kveil.Unmeetable as error:
        return Outcome("proved to be unmeetable" if error.proved else "no release found")
    except kveil.Refused as error:
        return Outcome("refused", str(error))
    except kveil.DataError as error:
        return Outcome("the table does not fit", str(error))
    except Exception as error:  # a defect: all of them are named, not only the first
        return Outcome("a defect", f"{type(error).__name__}: {error}")


def run_slice(first: int, last: int) -> dict[str, Any]:
    """Run cases, print what there is to say about any, and return what became of them as an entry of the record."""
    tally: Counter[str] = Counter()
    findings = []
    began = resource.getrusage(resource.RUSAGE_SELF)
    for seed in range(first, last):
        kind, finding = outcome_of(seed)
        tally[kind] += 1
        if finding is not None:
            findings.append(f"{seed}: {finding}")
            print(findings[-1], flush=True)
    ended = resource.getrusage(resource.RUSAGE_SELF)
    spent = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return {"from": first, "to": last, "tally": dict(tally), "findings": findings, "cpu_seconds": round(spent, 1)}


def commit() -> str:
    """Return the commit that is checked out, with a mark where the source differs from it."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    differs = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src"], cwd=ROOT, check=False).returncode != 0
    return head.stdout.strip() + ("+" if differs else "")


def main() -> None:
    """Run the cases from one number to another and print a tally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", nargs="?", type=int, default=0, help="the first case, 0 unless told")
    parser.add_argument("last", nargs="?", type=int, default=10_000, help="the one after the last, 10,000 unless told")
    parser.add_argument("--record", type=Path, help="a file of one JSON entry per slice that was run; gone on with")
    chosen = parser.parse_args()
    entries: list[dict[str, Any]] = []
    if chosen.record is not None and chosen.record.exists():
        entries = [json.loads(line) for line in chosen.record.read_text().splitlines()]
    done = {seed for entry in entries for seed in range(entry["from"], entry["to"])}
    for begin in range(chosen.first, chosen.last, SLICE):
        end = min(begin + SLICE, chosen.last)
        if done.issuperset(range(begin, end)):
            continue
        if chosen.record is None:
            entries.append(run_slice(begin, end))
            continue
        by = commit()
        entries.append({"commit": by, **run_slice(begin, end)})
        with chosen.record.open("a") as record:
            record.write(json.dumps(entries[-1]) + "\n")
    tally: Counter[str] = Counter()
    for entry in entries:
        tally.update(entry["tally"])
    for kind, number in tally.most_common():
        print(f"{number:7,}  {kind}")
    print(f"{sum(entry['cpu_seconds'] for entry in entries):.0f} s of CPU time")


if __name__ == "__main__":
    main()
