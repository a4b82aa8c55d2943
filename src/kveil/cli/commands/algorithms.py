"""`kveil algorithms`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kveil.cli.options import JsonOption, answer

if TYPE_CHECKING:
    from rich.console import Console

    from kveil.cli.terminal import ListedAlgorithm


def algorithms(as_json: JsonOption = False) -> None:
    """List the algorithms and what each honours."""
    from kveil.algorithms.entry_points import plugged_algorithms
    from kveil.algorithms.least_loss.refine_options import RefineOptions
    from kveil.algorithms.registry import ALGORITHMS

    content: list[ListedAlgorithm] = [
        {
            "name": algorithm.name,
            "honours": sorted(algorithm.honours),
            "options": sorted({**algorithm.options.model_fields, **RefineOptions.model_fields}),
            "summary": algorithm.summary,
            "paper": algorithm.paper,
            "package": algorithm.package,
        }
        for algorithm in (*ALGORITHMS, *plugged_algorithms())
    ]

    def show(out: Console) -> None:
        from kveil.cli.terminal import show_algorithms

        show_algorithms(out, content)

    answer(content, show, as_json=as_json, quiet=False)
