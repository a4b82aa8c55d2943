"""The texts of a release, or of an original, as the verifier compares them."""

from __future__ import annotations

import polars as pl

from kveil.files import Source
from kveil.policy.model import Policy


def released_texts(source: Source, policy: Policy, name: str) -> pl.Series:
    """Return a column of a release, or of an original, as the texts that stand for its values.

    Everything that means missing becomes the one text that is written for it.
    """
    shown = policy.data.missing[0]
    texts = source.texts(name).fill_null(shown)
    others = [text for text in policy.data.missing if text != shown]
    return texts.replace(dict.fromkeys(others, shown)) if others else texts
