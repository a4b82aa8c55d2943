"""Room to count in is as large as what is counted."""

from __future__ import annotations

import numpy as np

from kveil.kernels.models.layout import Models, new_models, no_models
from laid_models import needs_of, values_of


def test_room_has_a_place_for_every_code_and_begins_empty() -> None:
    values = values_of([0, 2, 1], [1, 1, 1])
    models = new_models(needs_of(2, 2), values)
    assert models.tally.shape == models.touched.shape == values.whole.shape
    assert not models.tally.any()
    assert not models.used.any()
    assert len(models.below) == len(models.nodes) == values.edge.shape[1]


def test_no_models_have_the_types_of_others_so_that_loops_are_compiled_once() -> None:
    def types(models: Models) -> list[tuple[np.dtype, int]]:
        flat = [*models.needs, *models.values, *models[2:]]
        return [(array.dtype, array.ndim) for array in flat]

    assert types(no_models()) == types(new_models(needs_of(2, 2), values_of([0, 1], [1, 1])))
    assert len(no_models().needs.kind) == 0
