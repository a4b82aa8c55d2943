"""1:M-generalization: a million people, and the patients of diabetes130."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from made_up_data import people_file
from measuring import Row, best, best_command, command, floor


def people(folder: Path) -> Iterator[Row]:
    """Run 1m-generalization on 250k and 1M people with four items each, and on the patients of diabetes130."""
    from figures_people import DIABETES, diabetes_policy, diabetes_table

    out, account = folder / "release.csv", folder / "account.json"
    small, large = people_file(folder, 250_000), people_file(folder, 1_000_000)
    base = best(lambda: floor(folder / "people-1000000.csv", out), 2)
    few, _ = best_command("anonymize", small, "--output", out, times=2)
    seconds, memory = best_command("anonymize", large, "--output", out, times=1)
    text = "1m-generalization, k 10, l 5, 1M people with 4 items"
    yield Row(f"{text}, end to end", seconds / base, "× floor", "≤ 5", seconds <= 5 * base)
    yield Row(f"{text}, memory", memory, "GB", "reported", True)
    yield Row("1m-generalization, 1M people against 250k", seconds / few, "×", "≤ 5", seconds <= 5 * few)
    if not DIABETES.exists():
        return
    data = folder / "diabetes130.csv"
    diabetes_table().write_csv(data)
    base = best(lambda: floor(data, out), 4)
    for tree in ("icd9_even", "icd9_chapters"):
        policy = folder / f"{tree}.yaml"
        policy.write_text(diabetes_policy(tree, data.name))
        losses, solve = {}, []
        for _ in range(3):
            command("anonymize", policy, "--output", out, "--account", account)
            content = json.loads(account.read_text())
            losses = content["loss"]
            solve.append(content["seconds"]["solve"])
        text = f"1m-generalization, diabetes130 with {tree}, k 10, l 5"
        yield Row(f"{text}: solve", min(solve) / base, "× floor", "≤ 2", min(solve) <= 2 * base)
        even = tree == "icd9_even"
        for key, name, most in (("ncp", "QID-NCP", 2.4), ("sa_ncp", "SA-NCP", 3.6)):
            share = losses[key] * 100
            target, met = (f"≤ {most}", share <= most) if even else ("reported", True)
            yield Row(f"{text}: {name}", share, "%", target, met)
