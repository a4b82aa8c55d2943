"""What single models take, and what they refuse by name."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from kveil.errors import PolicyError
from kveil.policy.privacy import AlphaK, KAnonymity, KLDiversity, LDiversity, TCloseness, sensitive_of


def test_a_model_names_its_sensitive_attributes() -> None:
    assert sensitive_of(KAnonymity(k=2)) == ()
    assert sensitive_of(LDiversity(sensitive="s", l=Decimal(2))) == ("s",)
    assert sensitive_of(KLDiversity(sensitive=("s", "t"), k=2, l=Decimal(1))) == ("s", "t")


@pytest.mark.parametrize(
    ("model", "values", "sentence"),
    [
        (KAnonymity, {"k": 0}, "k must be at least 1"),
        (KAnonymity, {"k": 2.5}, "k must be a whole number"),
        (LDiversity, {"sensitive": "s", "l": 0.5}, "l must be at least 1"),
        (LDiversity, {"sensitive": "s", "l": 2, "variant": "recursive"}, "needs a number `c`"),
        (LDiversity, {"sensitive": "s", "l": 2, "c": 1}, "only variant recursive uses"),
        (LDiversity, {"sensitive": "s", "l": 2.5}, "variant distinct needs a whole number"),
        (LDiversity, {"sensitive": "s", "l": 2, "variant": "recursive", "c": 0}, "c must be more than 0"),
        (AlphaK, {"sensitive": "s", "alpha": 0, "k": 2}, "alpha must be more than 0"),
        (AlphaK, {"sensitive": "s", "alpha": "50%", "k": 2}, "shares are written as 0.05 for 5 %"),
        (TCloseness, {"sensitive": "s", "t": 1.5}, "t must be at most 1"),
        (TCloseness, {"sensitive": "s", "t": 0.2, "distance": "far"}, "allowed: equal, ordered or hierarchical"),
        (KAnonymity, {"k": 2, "kk": 3}, "has no key 'kk'"),
    ],
)
def test_a_model_that_asks_for_nonsense_is_refused(model: Any, values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        model(**values)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("variant", ["entropy", "frequency"])
def test_l_may_be_a_fraction_where_it_bounds_a_share(variant: str) -> None:
    assert LDiversity(sensitive="s", l=Decimal("2.5"), variant=variant).l == Decimal("2.5")  # type: ignore[arg-type]
