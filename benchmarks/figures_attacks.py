"""What two attacks come to on small made-up tables, as docs/limits.md tells it: who is missing, and rerunning.

With ``--rerun`` it prints what somebody learns who reruns kveil, algorithm by algorithm and model by model, which takes
about forty minutes; names of algorithms behind it print their lines alone.
"""

from __future__ import annotations

import argparse
from typing import Any, TypeVar

import numpy as np
import polars as pl

import kveil
from kveil.attacker.attacks import Attack, MissingPeople, Rerun
from kveil.flow.attack import attack_sources
from kveil.frames import from_frame
from reruns import SEARCHES, TABLES, print_reruns

Kind = TypeVar("Kind", bound=Attack)
CROWDED_TABLES = 100  # of 60 people
SMALL_TABLES = 12  # of 7 people, each of them released as often as there are ways to give values to people


def played(frame: pl.DataFrame, policy: kveil.Policy, kind: type[Kind]) -> Kind | None:
    """Return one attack on kveil's release of a table, None where it cannot be played."""
    try:
        result = kveil.anonymize(frame, policy)
    except kveil.Unmeetable:
        return None
    attacks = attack_sources(from_frame(result.data), policy, from_frame(frame), result.owner).attacks
    return next((attack for attack in attacks if isinstance(attack, kind)), None)


def policy_of(
    ages: dict[str, Any], models: list[dict[str, Any]], limit: float, algorithm: str = "mondrian"
) -> kveil.Policy:
    """Return a policy over age and diagnosis."""
    return kveil.Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": ages}, "diagnosis": {"role": "sensitive"}},
        privacy=models,
        suppression={"limit": limit},
        algorithm=algorithm,
    )


def missing() -> str:
    """Return how often the released majority's value is that of people who are seen to be missing."""
    models = [{"model": "l-diversity", "sensitive": "diagnosis", "l": 2, "variant": "frequency"}]
    policy = policy_of({"ranges": {"within": [0, 99]}}, [*models, {"model": "k-anonymity", "k": 2}], 0.3)
    right = seen = 0.0
    everybody = []
    for seed in range(CROWDED_TABLES):
        draw = np.random.default_rng(seed)
        values = np.where(draw.random(60) < 0.55, "HIV", draw.choice(["flu", "gout", "asthma"], 60))
        attack = played(_table(draw, values.tolist(), 90), policy, MissingPeople)
        if attack is not None:
            seen += attack.after.targets
            right += attack.after.rate * attack.after.targets
            everybody.append(attack.before.rate)
    before, after = (f"{np.mean(everybody):.0%}", f"{right / seen:.0%}") if seen else ("–", "–")
    told = f"{seen:.0f} people seen to be missing"
    return f"| {CROWDED_TABLES} tables of 60 people, mondrian | {told} | {before} | {after} |"


def rerun(algorithm: str) -> str:
    """Return how sure an attacker is who reruns kveil on everything that a release allows, of the true values."""
    models = [{"model": "l-diversity", "sensitive": "diagnosis", "l": 2}, {"model": "k-anonymity", "k": 2}]
    policy = policy_of({"intervals": {"from": 20, "to": 59, "widths": [5, 10, 20, 40]}}, models, 0, algorithm)
    without, after, certain = [], [], [0, 0]
    for seed in range(SMALL_TABLES):
        draw = np.random.default_rng(seed)
        values = draw.permutation(["HIV", "HIV", "HIV", "flu", "flu", "gout", "gout"])
        attack = played(_table(draw, values.tolist(), 40), policy, Rerun)
        if attack is not None:
            without.append(attack.without.rate)
            after.append(attack.after.rate)
            certain[0] += attack.without.certain > 0
            certain[1] += attack.after.certain > 0
    told = f"certain of somebody in {certain[0]} tables without rerunning, in {certain[1]} with"
    return f"| {len(after)} tables of 7 people, {algorithm} | {told} | {np.mean(without):.0%} | {np.mean(after):.0%} |"


def _table(draw: np.random.Generator, values: list[str], span: int) -> pl.DataFrame:
    ages = [str(20 + int(age)) if span < 60 else str(int(age)) for age in draw.integers(0, span, len(values))]
    return pl.DataFrame({"age": ages, "diagnosis": values})


def main() -> None:
    """Print one of the two kinds of tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rerun", nargs="*", choices=SEARCHES, metavar="ALGORITHM", help="by algorithm and model")
    parser.add_argument("--tables", type=int, default=TABLES, metavar="N", help="for each algorithm and model")
    asked = parser.parse_args()
    if asked.rerun is not None:
        print_reruns(asked.rerun, asked.tables)
        return
    print("| tables | what is seen | before | after |", "| --- | --- | --- | --- |", missing(), sep="\n")
    for algorithm in ("mondrian", "auto"):
        print(rerun(algorithm))


if __name__ == "__main__":
    main()
