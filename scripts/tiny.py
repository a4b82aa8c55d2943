"""Compare `auto` with all releases that there are of tiny tables under joint policies: `make tiny`, or two numbers.

Says how often a release is found where there is one, and how often it loses least. Cases that were missed, or lose more
than they need, are named by their number, so that `tests/tiny_policies.py` draws them again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from tiny_policies import compare, tiny_case


def main() -> None:
    """Compare the cases from one number to another."""
    first, last = (int(given) for given in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1_000)
    released = missed = optimal = none = unknown = proved = 0
    above = []
    began = perf_counter()
    for seed in range(first, last):
        compared = compare(tiny_case(seed))
        if compared is None:
            unknown += 1
            print(f"{seed}: too many releases to try", flush=True)
            continue
        if compared.least is None:
            none += 1
            proved += compared.proved
            continue
        released += 1
        missed += compared.missed
        optimal += compared.optimal
        if compared.missed:
            print(f"{seed}: none found, {float(compared.least):.4f} is possible; proved: {compared.proved}", flush=True)
        elif not compared.optimal:
            assert compared.found is not None
            above.append(float(compared.found - compared.least))
            print(f"{seed}: loses {float(compared.found):.4f}, {float(compared.least):.4f} is possible", flush=True)
    print(f"{last - first:,} tables: {released:,} have a release, {none:,} have none, {unknown} unknown")
    print(f"proved to have none: {proved:,}")
    if released:
        print(f"found: {released - missed:,}, {100 * (1 - missed / released):.1f} % of those that have one")
        print(f"at the optimum: {optimal:,}, {100 * optimal / released:.1f} %")
        print(f"the others lie {100 * fmean(above or [0.0]):.2f} points of NCP above it on average")
    print(f"{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
