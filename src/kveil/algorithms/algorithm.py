"""What an algorithm is, and the parts of a policy that one has to honour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from pydantic import Field

from kveil.algorithms.settle import settle
from kveil.errors import Refused
from kveil.kernels.compiling import compile_some, not_compiled
from kveil.policy.attributes import MaxWidth, Ranges
from kveil.policy.components import binding
from kveil.policy.fields import Count, PolicyPart
from kveil.policy.model import Policy
from kveil.policy.privacy import KAnonymity, KLDiversity, TCloseness
from kveil.table.solution import Solution
from kveil.table.table import Table

Solve = Callable[[Table, Any, np.random.Generator], Solution]

MANY = "several constraints"
BOUNDARIES = "boundaries"
MAX_WIDTH = "max_width"
RANGES = "ranges"
DEPENDENCIES = "dependencies"
MULTIVALUED = "multivalued dependencies"  # kept in the search; under others they are only reported
INDIVIDUALS = "individuals"
FINGERPRINTS = "kl-diversity"
COMBINATIONS = "k-km-anonymity"
DIVERSE = "kl-diversity with l above 1"
GROUP_MODELS = ("l-diversity", "p-sensitive", "alpha-k", "t-closeness")
COUNTED_MODELS = ("l-diversity", "p-sensitive", "alpha-k")  # of shown items; distances need the original ones

START_EFFORT = 1e8  # of an algorithm whose solution another one goes on from: about a search of Adult takes as long

# What to do where parts of a table cannot be solved by themselves.
TAKE_IT_WHOLE = "take engine local or stream, or give the driver more memory."


class DivideOptions(PolicyPart):
    """What algorithms can be asked for that would take too long, or too much memory, on a whole table.

    divide: cut the table into parts of at most so many records (individuals) first, as Mondrian cuts, and solve each by
    itself. Left out: the table is solved as a whole.
    """

    divide: Count | None = Field(
        default=None, description="cut the table into parts of at most so many records, and solve each by itself"
    )


def check_divide(policy: Policy) -> None:
    """Raise Refused where parts of a table that hold by themselves would not hold together."""
    if any(isinstance(model, TCloseness) for model in policy.privacy):
        raise Refused(
            "divide solves parts of the table by themselves, and t-closeness compares groups with the whole table; "
            "leave divide out, or ask for l-diversity instead."
        )


@dataclass(frozen=True)
class Search:
    """What a run of an algorithm needs: the search itself and the class of its options.

    ``effort`` is what the search would cost on a table, for what may take very long; None for what is quick.
    """

    solve: Solve
    options: type[PolicyPart]
    effort: Callable[[Table], float] | None = None


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with the parts of a policy it honours, beyond one k-anonymity constraint on trees.

    ``search`` imports the algorithm when a run needs it. ``needs`` are parts without which it has nothing to do; `auto`
    runs it only where the policy asks for one of ``made_for``, if there are any: elsewhere it would do what another
    one does.
    """

    name: str
    search: Callable[[], Search]
    honours: frozenset[str]
    summary: str
    paper: str
    _: KW_ONLY
    needs: frozenset[str] = frozenset()
    made_for: frozenset[str] = frozenset()
    package: str | None = None  # the one that brings it along, where it is not kveil's own
    refine: str = "off"  # the effort that follows unless the options say another
    starts: tuple[str, ...] = ()  # algorithms whose solution it goes on from: one has to honour the policy
    starts_by_values: tuple[str, ...] = ()  # more of them, where models look at sensitive values
    on_tuples: bool = False  # equal records share their fate, so that it works on tuples with counts as on records
    loops: tuple[str, ...] = ()  # names in `compiling.FAMILIES`, beside the loops that group rows and those that refine

    @property
    def solve(self) -> Solve:
        """The search itself; what it finds is settled."""
        search = self.search().solve

        def solve(table: Table, options: Any, rng: np.random.Generator) -> Solution:
            return settle(table, search(table, options, rng), self.name)

        return solve

    @property
    def options(self) -> type[PolicyPart]:
        """The class of its options."""
        return self.search().options

    @property
    def effort(self) -> Callable[[Table], float] | None:
        """What the search would cost on a table, where it is not quick."""
        return self.search().effort

    def load(self) -> None:
        """Import what a run will need, and load its loops if they have been compiled before."""
        self.search()
        if self.loops and not not_compiled(self.loops):
            compile_some(self.loops)


def asks(policy: Policy) -> list[str]:
    """Return the parts of a policy that an algorithm has to honour, beyond one k-anonymity constraint."""
    found = []
    if len(binding(policy)) > 1:
        found.append(MANY)
    quasi = [policy.attributes[name] for name in policy.quasi_identifiers]
    if any(a.boundary is not None and not isinstance(a.boundary, MaxWidth) for a in quasi):
        found.append(BOUNDARIES)
    if any(isinstance(a.boundary, MaxWidth) for a in quasi):
        found.append(MAX_WIDTH)
    if any(isinstance(a.hierarchy, Ranges) for a in quasi):
        found.append(RANGES)
    if policy.dependencies:
        found.append(DEPENDENCIES)
    if policy.individual_column is not None:
        found.append(INDIVIDUALS)
    found.extend(sorted({model.model for model in policy.privacy if not isinstance(model, KAnonymity)}))
    if any(isinstance(model, KLDiversity) and model.l > 1 for model in policy.privacy):
        found.append(DIVERSE)
    return found
