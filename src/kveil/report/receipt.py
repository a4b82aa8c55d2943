"""The receipt: what was asked, what holds, what was lost. It holds no value of the data and no hash of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kveil.policy.components import components, implied
from kveil.policy.model import Policy
from kveil.verifier import Verdict
from kveil.version import __version__

if TYPE_CHECKING:
    from kveil.engines.local import Attempt


def make_receipt(
    policy: Policy,
    attempt: Attempt,
    verdict: Verdict,
    records: dict[str, int],
    individuals: dict[str, int] | None,
    warnings: list[str],
    seconds: dict[str, float],
    release_sha256: str | None,
    bound: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the receipt of a verified release, as plain data."""
    return {
        "kveil": __version__,
        "algorithm": attempt.algorithm.name,
        "options": dict(attempt.options),
        "seed": policy.seed,
        "records": records,
        "individuals": individuals,
        "guarantees": verdict.guarantees,
        "dependencies": [{"rule": d["rule"], "holds": d["holds"]} for d in verdict.dependencies],
        "boundaries": {"violations": (verdict.boundaries or {}).get("violations", 0)},
        "loss": attempt.losses.as_json(),
        "loss_by_attribute": {
            name: {"precision": loss.precision, "il_per_cell": loss.il_per_cell, "ncp": loss.ncp}
            for name, loss in attempt.losses.attributes.items()
        },
        "bound": bound,
        "components": [
            {"attributes": list(part.attributes), "constraints": list(part.models)} for part in components(policy)
        ],
        "implied": [{"constraint": i, "by": j} for i, j in implied(policy).items()],
        "details": dict(attempt.solution.details),
        "tried": attempt.tried,
        "warnings": warnings,
        "seconds": seconds,
        "sha256": {"policy": policy.sha256, "release": release_sha256},
    }
