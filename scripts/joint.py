"""Run random joint policies through `auto` and say what became of each: `make joint`, or with two numbers of cases.

Every release passes the verifier before it is counted. What is refused, or fails in a way that kveil does not foresee,
is named by its number, so that `tests/joint_policies.py` draws it again.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import kveil
from joint_policies import joint_case

ROWS = 400


def main() -> None:
    """Run the cases from one number to another and print a tally."""
    first, last = (int(given) for given in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 10_000)
    tally: Counter[str] = Counter()
    began = perf_counter()
    for seed in range(first, last):
        case = joint_case(seed, ROWS)
        try:
            kveil.anonymize(case.frame, case.policy())
            outcome = "solved and verified"
        except kveil.Unmeetable as error:
            outcome = "proved to be unmeetable" if error.proved else "no release found"
        except kveil.Refused as error:
            outcome = "refused"
            print(f"{seed}: {error}")
        except kveil.DataError:
            outcome = "the table does not fit"
        except Exception as error:  # a defect: all of them are named, not only the first
            outcome = "a defect"
            print(f"{seed}: {type(error).__name__}: {error}")
        tally[outcome] += 1
    for outcome, number in tally.most_common():
        print(f"{number:7,}  {outcome}")
    print(f"{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
