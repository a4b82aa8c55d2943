"""Promises that a page proposes: as they are usual, or as near to that as a table's rows and values allow."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from kveil.free_form import Content

STEP = Decimal("0.05")  # of shares that a promise names


def weaker_promises(model: Content, *, rows: int, values: int | None) -> Iterator[Content]:
    """Return a promise, then weaker ones of its kind, each a little weaker than the one before.

    ``values`` is how many different ones the protected column has, None where that is not what the promise counts.
    """
    yield model
    first = {**model, **({"k": max(1, min(int(model["k"]), rows))} if _is_whole(model.get("k")) else {})}
    counted = next((key for key in ("l", "p") if _is_whole(model.get(key))), None)
    if counted is not None and values is not None:
        for number in range(min(int(model[counted]), values), 1, -1):
            yield {**first, counted: number}
        return
    if first != model:
        yield first
    if "alpha" in model:
        share = Decimal(str(model["alpha"]))
        while (share := share + STEP) < 1:
            yield {**first, "alpha": str(share.normalize())}


def _is_whole(value: object) -> bool:
    return str(value).isdecimal() and len(str(value)) < 7
