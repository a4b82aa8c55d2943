"""The models and the dependencies, counted on released texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl

from kveil.errors import count
from kveil.policy.dependencies import Dependency
from kveil.policy.model import PrivacyModel

CHECKED = {"k-anonymity"}


def can_check(model: PrivacyModel) -> bool:
    """Tell whether this version can verify a model."""
    return model.model in CHECKED


def parameters(model: PrivacyModel, attributes: tuple[str, ...]) -> dict[str, Any]:
    """Return a model as the receipt names it."""
    found: dict[str, Any] = {"model": model.model, "attributes": list(attributes)}
    for key, value in model.model_dump(exclude={"model", "attributes"}, exclude_none=True).items():
        found[key] = (int(value) if value == int(value) else float(value)) if isinstance(value, Decimal) else value
    return found


def check_model(
    model: PrivacyModel, attributes: tuple[str, ...], texts: pl.DataFrame
) -> tuple[dict[str, Any], list[str]]:
    """Return the receipt's entry for a model on the rows that take part, and what was found against it."""
    sizes = texts.group_by(attributes).len()["len"]
    worst = int(sizes.min()) if len(sizes) else None  # type: ignore[arg-type]
    assert model.model == "k-anonymity"
    small = sizes.filter(sizes < model.k)
    report = parameters(model, attributes) | {"holds": not len(small), "worst": worst, "groups": len(sizes)}
    if not len(small):
        return report, []
    return report, [
        f"k-anonymity over {', '.join(attributes)} does not hold: {count(len(small), 'group')} with "
        f"{count(int(small.sum()), 'record')} have fewer than {model.k} members, the smallest {worst}."
    ]


def check_dependency(rule: Dependency, texts: pl.DataFrame, quasi_identifiers: list[str]) -> dict[str, Any]:
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
