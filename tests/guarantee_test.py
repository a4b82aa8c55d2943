"""What a guarantee is made of: settings that name a model, and figures that do not."""

from __future__ import annotations

from kveil.guarantee import FIGURES, Guarantee, NamedModel
from kveil.words import model_in_words


def test_figures_are_all_that_a_guarantee_has_beside_its_model() -> None:
    assert {"holds", "worst", "groups", "smallest", "fingerprints", "shared", "releases", "below"} == FIGURES
    assert not FIGURES & set(NamedModel.__annotations__)


def test_a_model_is_named_alike_with_and_without_its_figures() -> None:
    model: NamedModel = {"model": "kl-diversity", "attributes": ["zip"], "sensitive": ["a", "b"], "k": 3, "l": 2}
    guarantee: Guarantee = {**model, "holds": True, "worst": 4, "groups": 7, "shared": 3, "fingerprints": 5}
    assert model_in_words(guarantee) == model_in_words(model) == "kl-diversity (sensitive a, b, k 3, l 2)"
