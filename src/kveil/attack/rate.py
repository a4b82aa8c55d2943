"""Success rates with their confidence intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # 95 % of a normal distribution lie within as many standard deviations


def wilson(rate: float, targets: int) -> tuple[float, float]:
    """Return the 95 % interval of a share seen among so many targets (Wilson 1927)."""
    if not targets:
        return 0.0, 1.0
    spread = Z * math.sqrt(rate * (1 - rate) / targets + Z * Z / (4 * targets * targets))
    middle = rate + Z * Z / (2 * targets)
    scale = 1 + Z * Z / targets
    return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)


def rate_of(chances: NDArray[np.float64]) -> dict[str, Any]:
    """Return the rate of success over targets, given the chance of each.

    ``worst`` is the most exposed target's chance, ``certain`` how many targets are hit for certain.
    """
    targets = len(chances)
    rate = float(chances.mean()) if targets else 0.0
    low, high = wilson(min(max(rate, 0.0), 1.0), targets)
    return {
        "rate": rate,
        "interval": [low, high],
        "worst": float(chances.max()) if targets else 0.0,
        "certain": int((chances >= 1).sum()),
        "targets": targets,
    }
