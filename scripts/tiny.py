"""Compare `auto` with all releases that there are of tiny tables under joint policies: `make tiny`, or two numbers.

Says how often a release is found where there is one, and how often it loses least. Cases that were missed, or lose more
than they need, are named by their number, so that `tests/tiny_policies.py` draws them again; so are those whose release
is none of those that count, since it leaves out somebody else. With `--missing`, says of how many who are missing
somebody is certain who reruns kveil, and names those cases.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from tiny_policies import compare, missing, tiny_case


def compare_all(first: int, last: int) -> None:
    """Compare the cases from one number to another."""
    released = missed = optimal = below = none = beyond = unknown = proved = 0
    above = []
    for seed in range(first, last):
        compared = compare(tiny_case(seed))
        if compared is None:
            unknown += 1
            print(f"{seed}: too many releases to try", flush=True)
            continue
        if compared.beyond:
            print(f"{seed}: the release is none of those that count", flush=True)
        if compared.least is None:
            none += 1
            beyond += compared.beyond
            proved += compared.proved
            continue
        released += 1
        below += compared.beyond
        missed += compared.missed
        optimal += compared.optimal
        if compared.missed:
            print(f"{seed}: none found, {float(compared.least):.4f} is possible; proved: {compared.proved}", flush=True)
        elif not compared.optimal:
            assert compared.found is not None
            above.append(float(compared.found - compared.least))
            print(f"{seed}: loses {float(compared.found):.4f}, {float(compared.least):.4f} is possible", flush=True)
    print(f"{last - first:,} tables: {released:,} have a release, {none:,} have none, {unknown} unknown")
    print(f"proved to have none: {proved:,}; released all the same, leaving out somebody else: {beyond:,}")
    if released:
        print(f"found: {released - missed:,}, {100 * (1 - missed / released):.1f} % of those that have one")
        print(f"at the optimum: {optimal:,}, {100 * optimal / released:.1f} %, {below:,} of them below it")
        print(f"the others lie {100 * fmean(above or [0.0]):.2f} points of NCP above it on average")


def rerun_all(first: int, last: int) -> None:
    """Play somebody who reruns kveil to learn what those have who are missing."""
    tables = people = certain = 0
    for seed in range(first, last):
        found = missing(tiny_case(seed))
        tables += bool(found.who)
        people += len(found.who)
        certain += len(found.certain)
        if found.certain:
            print(f"{seed}: certain of {len(found.certain)} of {len(found.who)} who are missing", flush=True)
    print(f"{last - first:,} tables: of {tables:,} somebody is missing, {people:,} in all; certain of {certain:,}")


def main() -> None:
    """Compare the cases from one number to another, or play an attacker on them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", nargs="?", type=int, default=0, help="the first case, 0 unless told")
    parser.add_argument("last", nargs="?", type=int, default=1_000, help="the one after the last, 1,000 unless told")
    parser.add_argument("--missing", action="store_true", help="rerun kveil to learn what those have who are missing")
    chosen = parser.parse_args()
    (rerun_all if chosen.missing else compare_all)(chosen.first, chosen.last)
    print(f"{process_time():.0f} s of CPU time")


if __name__ == "__main__":
    main()
