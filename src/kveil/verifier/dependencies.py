"""Declared dependencies, tested on texts."""

from __future__ import annotations

import polars as pl

from kveil.policy.dependencies import Dependency
from kveil.verifier.verdict import DependencyCheck
from kveil.words import count


def broken_rule(checked: DependencyCheck) -> str:
    """Return the finding about a functional rule that does not hold."""
    return (
        f"the dependency {checked['rule']} does not hold: {count(checked['broken'], 'left side')} shown with more than "
        "one right side."
    )


def check_dependency(rule: Dependency, texts: pl.DataFrame, quasi_identifiers: list[str]) -> DependencyCheck:
    """Test a rule on texts: whether it holds, and how many left sides break it.

    A multivalued rule X ->> Y is tested over the quasi-identifiers and the attributes it names: within every X
    each Y must occur with each combination of the rest.
    """
    left, right = list(rule.left), list(rule.right)
    if not rule.multivalued:
        images = texts.select([*left, *(n for n in right if n not in left)]).unique().group_by(left).len()["len"]
        broken = int((images > 1).sum())
    else:
        right = [name for name in right if name not in left]
        rest = [name for name in quasi_identifiers if name not in left and name not in right]
        if not rest or not right:
            broken = 0
        else:
            counted = texts.group_by(left).agg(
                pl.struct(right).n_unique().alias("y"),
                pl.struct(rest).n_unique().alias("z"),
                pl.struct(right + rest).n_unique().alias("yz"),
            )
            broken = int((counted["y"] * counted["z"] != counted["yz"]).sum())
    return {"rule": rule.rule, "holds": broken == 0, "broken": broken}
