"""Run the same commands with two checkouts of kveil, one after the other, and print how their times compare.

    python benchmarks/two_trees.py OTHER [--times N] [--only NAME …] [--write docs/benchmarks.md]

OTHER is the root of another checkout that has its own `.venv` with kveil in it. The two take turns, so that whatever
else the machine does meets both; the least CPU time and the least time of each are compared. What each needs, bytecode
and compiled loops, is made by a first run that does not count.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from made_up_data import (
    EIGHT,
    clustering_file,
    clustering_policy,
    floor_file,
    floor_policy,
    people_file,
    rules_file,
    rules_policy,
)
from measuring import ROOT, commit_of, where_and_when, write_section


@dataclass(frozen=True)
class Took:
    """What one run took, in seconds."""

    wall: float
    cpu: float


def commands(folder: Path) -> dict[str, list[str | Path]]:
    """Return the commands to compare by name, and make the files that they read."""
    from figures_people import DIABETES, diabetes_policy, diabetes_table

    data, clusters, rules = (folder / f"{name}.csv" for name in ("floor", "clusters", "rules"))
    floor_file(data, 1_000_000)
    clustering_file(clusters, 1_000_000)
    rules_file(rules, 1_000_000)
    policies = {
        "datafly": floor_policy(folder, data, "datafly"),
        "mondrian": floor_policy(folder, data, "mondrian"),
        "classfly+complete": floor_policy(folder, data, "classfly+complete", EIGHT),
        "k-msd-ag": rules_policy(folder, rules),
        "k-member": clustering_policy(folder, clusters, "k-member"),
        "1m-generalization, 250,000 people": people_file(folder, 250_000),
    }
    if DIABETES.exists():
        diabetes_table().write_csv(folder / "diabetes130.csv")
        path = folder / "diabetes130.yaml"
        path.write_text(diabetes_policy("icd9_even", "diabetes130.csv"), encoding="utf-8")
        policies["1m-generalization, diabetes130"] = path
    found: dict[str, list[str | Path]] = {name: ["anonymize", path, "--output"] for name, path in policies.items()}
    found["verify"] = ["verify", policies["mondrian"], "--release"]
    return found


def run(tree: Path, arguments: list[str | Path], release: Path) -> Took:
    """Run one command of a checkout, and return what it took with all of its processes."""
    call = [str(tree / ".venv/bin/python"), "-m", "kveil", *map(str, arguments), str(release), "--quiet"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"kveil of {tree} failed with {process.returncode}")
    return Took(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Compare this checkout with another one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("other", type=Path)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--write", type=Path, help="a page whose section on two checkouts is replaced")
    chosen = parser.parse_args()
    lines = ["| command | CPU time over the other's | time over the other's |", "|---|---|---|"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as temporary:
        for name, arguments in commands(Path(temporary)).items():
            if chosen.only and name not in chosen.only and name != "mondrian":
                continue  # mondrian's release is what verify reads
            took: dict[Path, list[Took]] = {ROOT: [], chosen.other: []}
            for _ in range(chosen.times + 1):
                for number, tree in enumerate(took):
                    release = "mondrian" if name == "verify" else name
                    took[tree].append(run(tree, arguments, Path(temporary) / f"{release}-{number}.out.csv"))
            least = [Took(min(t.wall for t in found[1:]), min(t.cpu for t in found[1:])) for found in took.values()]
            cpu, wall = least[0].cpu / least[1].cpu, least[0].wall / least[1].wall
            lines.append(f"| {name} | {cpu:.2f} | {wall:.2f} |")
            print(lines[-1], flush=True)
    if chosen.write:
        commit = commit_of(chosen.other)
        told = f"{where_and_when()} Against commit {commit}; the least of {chosen.times} runs each, taking turns."
        write_section(chosen.write, "two checkouts", [told, "", *lines])


if __name__ == "__main__":
    main()
