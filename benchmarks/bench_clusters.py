"""k-member: a million records, an attribute of many values, and against comparing all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adult import ARX, K10, adult_policy, adult_rows
from made_up_data import clustering_file, clustering_policy
from measuring import Row, best, best_command, floor


def clusters(folder: Path) -> Iterator[Row]:
    """k-member on the clustering file at 100k and 1M rows, and with an attribute of 30,000 values."""
    small, large, wide = folder / "clusters-100k.csv", folder / "clusters-1m.csv", folder / "clusters-wide.csv"
    clustering_file(small, 100_000)
    clustering_file(large, 1_000_000)
    clustering_file(wide, 1_000_000, wide=True)
    out = folder / "release.csv"
    base = best(lambda: floor(large, out), 4)
    few, _ = best_command("anonymize", clustering_policy(folder, small, "k-member"), "--output", out)
    seconds, memory = best_command("anonymize", clustering_policy(folder, large, "k-member"), "--output", out, times=2)
    yield Row("k-member, k 10, clustering file, 1M rows", seconds / base, "× floor", "≤ 12", seconds <= 12 * base)
    yield Row("k-member, memory at 1M rows", memory, "GB", "≤ 1.5", memory <= 1.5)
    yield Row("k-member, 1M rows against 100k", seconds / few, "×", "≤ 40", seconds <= 40 * few)
    base = best(lambda: floor(wide, out), 4)
    policy = clustering_policy(folder, wide, "k-member", wide=True)
    seconds, _ = best_command("anonymize", policy, "--output", out, times=2)
    yield Row("k-member, one attribute of 30,000 values", seconds / base, "× floor", "≤ 90", seconds <= 90 * base)


def kmember(folder: Path) -> Iterator[Row]:
    """k-member on Adult (8 quasi-identifiers, k = 10) against comparing all pairs, and blocks against exact."""
    import numpy as np

    import kveil
    from kveil.algorithms.clustering.k_member import KMemberOptions, k_member
    from kveil.frames import from_frame
    from kveil.measures import measure_solution
    from kveil.table.encode import encode
    from naive.all_pairs import all_pairs

    frame, home = adult_rows()
    rng = np.random.default_rng(0)
    table = encode(from_frame(frame), adult_policy(home, ARX, K10, "", "k-member"))
    all_pairs(encode(from_frame(frame.head(100)), table.policy), 10)
    kveil.anonymize(frame.head(100), table.policy)
    ours = best(lambda: k_member(table, KMemberOptions(), rng))
    pairs = best(lambda: all_pairs(table, 10), 1)
    yield Row("k-member against comparing all pairs, Adult", pairs / ours, "× faster", "≥ 20", pairs >= 20 * ours)
    options = KMemberOptions(blocks=2_000)
    split = best(lambda: k_member(table, options, rng))
    yield Row("k-member in blocks of 2,000 against exact, time", split / ours, "×", "reported", True)
    exact, rough = (measure_solution(table, k_member(table, o, rng)).ncp for o in (KMemberOptions(), options))
    yield Row("k-member in blocks of 2,000 against exact, NCP", rough / exact, "×", "reported", True)
