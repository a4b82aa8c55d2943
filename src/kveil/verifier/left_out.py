"""Who was left out: whether they, taken as one group, satisfy what the policy asks of sensitive values.

No model says anything about people who are missing from a release. But whoever looks for one and finds no row that fits
knows that this one was left out: where most of them have the same value, that tells it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.policy.model import Policy
from kveil.policy.privacy import KAnonymity, KKmAnonymity, KLDiversity, PrivacyModel
from kveil.verifier.alignment import BesideOriginal
from kveil.verifier.fingerprints import one_set_is_too_frequent
from kveil.verifier.guarantees import holds_as_one_group, name_of
from kveil.verifier.rows import Rows
from kveil.verifier.stars import Suppressed
from kveil.words import count, listing


def warnings_of_left_out(policy: Policy, aligned: BesideOriginal, suppressed: Suppressed) -> list[str]:
    """Warn of those left out of a component who, by the values they had, break its models as a group."""
    before = aligned.before
    warnings: dict[str, None] = {}
    for part, starred in zip(suppressed.parts, suppressed.rows, strict=True):
        gone = np.ones(before.height, dtype=bool)
        gone[aligned.places[~starred.to_numpy()]] = False
        number = before.count(gone)
        broken = [
            name_of(policy.privacy[i])
            for i in part.models
            if number and not _hold(policy.privacy[i], policy, before, pl.Series(gone))
        ]
        if broken:
            them = "it breaks" if number == 1 else "they break"
            warnings[
                f"{count(number, before.noun)} left out, and as a group {them} {listing(list(dict.fromkeys(broken)))}: "
                "whoever finds no row that fits somebody knows that they were left out, and may guess what they have; "
                "a policy that leaves out fewer, or nobody, tells less."
            ] = None
    return list(warnings)


def _hold(model: PrivacyModel, policy: Policy, rows: Rows, gone: pl.Series) -> bool:
    """Tell whether those left out satisfy a model, as far as it is about the values of a group.

    The size of a group alone is not. Of (k,l)-diversity the share that one set may have is; that k people share a set
    is about sets as they are shown.
    """
    if isinstance(model, (KAnonymity, KKmAnonymity)):
        return True
    if isinstance(model, KLDiversity):
        return not one_set_is_too_frequent(model, rows, gone.to_numpy())
    return holds_as_one_group(model, policy, rows, gone, pl.Series(np.ones(rows.height, dtype=bool)))
