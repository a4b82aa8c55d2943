"""Success rates with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from kveil.arrays import Floats

Z = 1.959963984540054  # 95 % of a normal distribution lie within as many standard deviations


class RateFigures(TypedDict):
    """A rate as plain data."""

    rate: float
    interval: list[float]
    worst: float
    certain: int
    targets: int
    at_most: NotRequired[float]


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds over its targets.

    ``interval`` holds the rate with 95 % confidence, ``worst`` is the most exposed target's chance, ``certain`` how
    many targets are hit for certain. ``at_most`` is what the rate would be if every target's own group were known.
    """

    rate: float
    interval: tuple[float, float]
    worst: float
    certain: int
    targets: int
    at_most: float | None = None

    def as_json(self) -> RateFigures:
        """Return the rate as plain data."""
        content: RateFigures = {
            "rate": self.rate,
            "interval": list(self.interval),
            "worst": self.worst,
            "certain": self.certain,
            "targets": self.targets,
        }
        if self.at_most is not None:
            content["at_most"] = self.at_most
        return content


def wilson(rate: float, targets: int) -> tuple[float, float]:
    """Return the 95 % interval of a share seen among so many targets (Wilson 1927)."""
    if not targets:
        return 0.0, 1.0
    spread = Z * math.sqrt(rate * (1 - rate) / targets + Z * Z / (4 * targets * targets))
    middle = rate + Z * Z / (2 * targets)
    scale = 1 + Z * Z / targets
    # Never, and always, are ends of their intervals: rounding would leave a share "under 0.01 %" there.
    low = 0.0 if rate == 0 else max((middle - spread) / scale, 0.0)
    return low, 1.0 if rate == 1 else min((middle + spread) / scale, 1.0)


def rate_of(chances: Floats, *, most: Floats | None = None) -> Rate:
    """Return the rate of success over targets, given the chance of each, and its chance if its group were known."""
    targets = len(chances)
    rate = float(chances.mean()) if targets else 0.0
    return Rate(
        rate=rate,
        interval=wilson(min(max(rate, 0.0), 1.0), targets),
        worst=float(chances.max()) if targets else 0.0,
        certain=int((chances >= 1).sum()),
        targets=targets,
        at_most=None if most is None else float(most.mean()) if targets else 0.0,
    )
