"""What keeping dependencies costs on Adult: the NCP of releases with and without education <-> education-num.

python benchmarks/figures_rules.py
"""

from __future__ import annotations

import polars as pl

import kveil
from kveil.policy.model import Policy
from measuring import ADULT

COLUMNS = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation")
POLICY = """\
kveil: 1
data: {missing: ["?"]}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [5, 10, 20]}}}
  workclass: {role: quasi-identifier, hierarchy: hierarchies_arx/adult_hierarchy_workclass.csv}
  fnlwgt: {role: identifier}
  education: {role: quasi-identifier, hierarchy: hierarchies_arx/adult_hierarchy_education.csv}
  education-num: {role: quasi-identifier, hierarchy: {intervals: {from: 1, to: 16, widths: [2, 4, 8]}}}
  marital-status: {role: quasi-identifier, hierarchy: hierarchies_arx/adult_hierarchy_marital-status.csv}
  occupation: {role: sensitive}
privacy: [{model: k-anonymity, k: 10}]
"""
RULES = 'dependencies: ["education -> education-num", "education-num -> education"]\n'


def main() -> None:
    """Print a table, one line an algorithm."""
    whole = pl.read_csv(ADULT / "adult.data", has_header=False, infer_schema=False).drop_nulls()
    texts = {name: whole.to_series(i).str.strip_chars() for i, name in enumerate(COLUMNS)}
    frame = pl.DataFrame(texts).filter(pl.col("workclass") != "?")
    print("| algorithm | NCP without rules | rules that hold then | NCP with both rules |\n|---|---|---|---|")
    for algorithm in ("datafly", "incognito", "classfly", "mondrian", "k-msd", "k-msd-ag"):
        plain = Policy.parse(POLICY, "adult", ADULT)
        ruled = Policy.parse(POLICY + RULES, "adult", ADULT)
        without = kveil.anonymize(frame, plain, algorithm=algorithm)
        kept = kveil.anonymize(frame, ruled, algorithm=algorithm)
        held = sum(rule["holds"] for rule in kveil.verify(without.data, ruled).dependencies)
        losses = [f"{100 * result.account['loss']['ncp']:.1f} %" for result in (without, kept)]
        print(f"| {algorithm} | {losses[0]} | {held} of 2 | {losses[1]} |", flush=True)


if __name__ == "__main__":
    main()
