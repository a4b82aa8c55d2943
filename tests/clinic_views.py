"""Policies that show some columns of the hospital's patients to one audience, for tests of several releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROMISES = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "sensitive": "diagnosis", "l": 3}]
STEPS: dict[str, Any] = {
    "birth": {"dates": ["month", "year", "decade"]},
    "zip": "zip.csv",
    "department": "department.csv",
}


def write_view(folder: Path, *quasi: str, algorithm: str, limit: float = 0, data: str = "patients.csv") -> Path:
    """Write a policy that shows some columns of the patients to one audience."""
    columns = (folder / "patients.csv").read_text().split("\n", 1)[0].split(",")
    attributes: dict[str, Any] = {name: {"role": "identifier"} for name in columns}
    attributes["diagnosis"] = {"role": "sensitive"}
    for name in quasi:
        attributes[name] = {"role": "quasi-identifier"} | ({"hierarchy": STEPS[name]} if name in STEPS else {})
    content = {
        "kveil": 1,
        "data": {"path": data, "key": "patient_id"},
        "attributes": attributes,
        "privacy": PROMISES,
        "suppression": {"limit": limit},
        "algorithm": algorithm,
    }
    path = folder / f"{'-'.join(quasi)}.yaml"
    path.write_text(json.dumps(content))
    return path
