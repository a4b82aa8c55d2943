"""Run random joint policies through `auto` and say what became of each: `make joint`, or with two numbers of cases.

Every release passes the verifier before it is counted. What is refused, what fails in a way that kveil does not
foresee, and where `least-loss` loses more than another algorithm, is named by its number, so that
`tests/joint_policies.py` draws it again.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import kveil
from joint_policies import joint_case

ROWS = 400


def beaten(tried: Sequence[Mapping[str, Any]]) -> str | None:
    """Say which algorithm loses less than least-loss, and how much; None where none does."""
    losses = {entry["algorithm"]: entry["loss"] for entry in tried if entry["solved"] and "loss" in entry}
    least = min(losses, key=lambda name: losses[name])
    ours = losses.get("least-loss")
    if ours is None:
        return f"finds nothing, {least} does"
    return None if ours <= losses[least] + 1e-9 else f"loses {ours:.4f}, {least} {losses[least]:.4f}"


def main() -> None:
    """Run the cases from one number to another and print a tally."""
    first, last = (int(given) for given in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 10_000)
    tally: Counter[str] = Counter()
    began = perf_counter()
    for seed in range(first, last):
        case = joint_case(seed, ROWS)
        try:
            worse = beaten(kveil.anonymize(case.frame, case.policy()).account["tried"])
            outcome = "solved and verified" if worse is None else "solved and verified, least-loss beaten"
            if worse is not None:
                print(f"{seed}: least-loss {worse}", flush=True)
        except kveil.Unmeetable as error:
            outcome = "proved to be unmeetable" if error.proved else "no release found"
        except kveil.Refused as error:
            outcome = "refused"
            print(f"{seed}: {error}", flush=True)
        except kveil.DataError as error:
            outcome = "the table does not fit"
            print(f"{seed}: {error}", flush=True)
        except Exception as error:  # a defect: all of them are named, not only the first
            outcome = "a defect"
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
        tally[outcome] += 1
    for outcome, number in tally.most_common():
        print(f"{number:7,}  {outcome}")
    print(f"{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
