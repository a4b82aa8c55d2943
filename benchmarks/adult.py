"""Adult, its two sets of trees, and policies over its eight quasi-identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from measuring import ADULT

# In the order of the UCI file, as the literature lists them: Datafly breaks ties by it.
QUASI = {
    "age": "age",
    "workclass": "workclass",
    "education": "education",
    "marital-status": "marital",
    "occupation": "occupation",
    "race": "race",
    "sex": "sex",
    "native-country": "country",
}
ARX = {name: f"hierarchies_arx/adult_hierarchy_{name}.csv" for name in QUASI}
ANJANA = {name: f"hierarchies_anjana/{file}.csv" for name, file in QUASI.items()}
K10 = "  - {model: k-anonymity, k: 10}"


def adult_rows() -> tuple[Any, Path]:
    """Return the complete rows of Adult as a Polars frame, and the folder of its hierarchies."""
    return pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False), ADULT


def adult_policy(folder: Path, hierarchies: dict[str, str], privacy: str, extra: str, algorithm: str) -> Any:
    """Return a policy over Adult: trees by attribute, the lines of its models, other keys, and the algorithm."""
    from kveil.policy.model import Policy

    lines = "".join(
        f"  {name}: {{role: quasi-identifier, hierarchy: {folder / path}}}\n" for name, path in hierarchies.items()
    )
    text = f"kveil: 1\nattributes:\n{lines}  salary-class: {{role: sensitive}}\nprivacy:\n{privacy}\n{extra}\n"
    return Policy.parse(f"{text}algorithm: {algorithm}\n", "adult", folder)
