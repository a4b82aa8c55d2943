"""What keeping dependencies costs on Adult: the NCP of releases with and without education <-> education-num.

`python benchmarks/figures_rules.py` writes the table of docs/dependencies.md between its marker comments.
"""

from __future__ import annotations

import polars as pl

import kveil
from measuring import ADULT, ROOT, fill

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
    """Print a table, one line per algorithm, and write it into the page."""
    whole = pl.read_csv(ADULT / "adult.data", has_header=False, infer_schema=False).drop_nulls()
    texts = {name: whole.to_series(i).str.strip_chars() for i, name in enumerate(COLUMNS)}
    frame = pl.DataFrame(texts).filter(pl.col("workclass") != "?")
    lines = ["| algorithm | NCP without rules | rules that hold then | NCP with both rules |", "|---|---|---|---|"]
    for algorithm in ("datafly", "incognito", "classfly", "mondrian", "k-msd", "k-msd-ag"):
        plain = kveil.Policy.parse(POLICY, "adult", ADULT)
        ruled = kveil.Policy.parse(POLICY + RULES, "adult", ADULT)
        without = kveil.anonymize(frame, plain, algorithm=algorithm)
        kept = kveil.anonymize(frame, ruled, algorithm=algorithm)
        held = sum(rule["holds"] for rule in kveil.verify(without.data, ruled).dependencies)
        losses = [f"{100 * result.account['loss']['ncp']:.1f} %" for result in (without, kept)]
        lines.append(f"| {algorithm} | {losses[0]} | {held} of 2 | {losses[1]} |")
        print(lines[-1], flush=True)
    fill(ROOT / "docs" / "dependencies.md", "figures-rules", "adult", lines)


if __name__ == "__main__":
    main()
