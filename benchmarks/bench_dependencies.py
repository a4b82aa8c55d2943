"""K-MSD-AG against the floor, and Incognito against the whole lattice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from adult import ARX, K10, adult_policy, adult_rows
from made_up_data import rules_file, rules_policy
from measuring import Row, best, best_command, floor


def rules(folder: Path) -> Iterator[Row]:
    """K-MSD-AG with three rules on 1M rows, against the floor of the same file."""
    data, out = folder / "rules-1m.csv", folder / "release.csv"
    rules_file(data, 1_000_000)
    base = best(lambda: floor(data, out), 4)
    seconds, memory = best_command("anonymize", rules_policy(folder, data), "--output", out)
    yield Row(
        "k-msd-ag, k 10, three rules, 1M rows, end to end", seconds / base, "× floor", "≤ 20", seconds <= 20 * base
    )
    yield Row("k-msd-ag, memory at 1M rows", memory, "GB", "≤ 2", memory <= 2)


def incognito(folder: Path) -> Iterator[Row]:
    """Measure the search for nodes that hold on Adult's eight trees, against judging every node of the lattice."""
    from itertools import product

    from kveil.algorithms.full_domain.incognito import LevelLattice
    from kveil.frames import from_frame
    from kveil.table.encode import encode

    frame, home = adult_rows()
    for limit in ("0", "0.02"):
        policy = adult_policy(home, ARX, K10, f"suppression: {{limit: {limit}}}", "incognito")
        table = encode(from_frame(frame), policy)
        lattice = LevelLattice(table)
        lattice.search()
        ours = best(lattice.minimal)
        started = time.perf_counter()
        holds = {node for node in product(*map(range, lattice.sizes)) if lattice.judged(node)[2]}
        brute = time.perf_counter() - started
        lowest = {
            node
            for node in holds
            if not any((*node[:a], level - 1, *node[a + 1 :]) in holds for a, level in enumerate(node) if level)
        }
        same = lowest == set(lattice.minimal()[0])
        what = f"incognito against all {len(list(product(*map(range, lattice.sizes)))):,} nodes, Adult, limit {limit}"
        yield Row(what, brute / ours, "× faster", "≥ 5, same minimal nodes", brute >= 5 * ours and same)
