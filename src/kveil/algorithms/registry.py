"""The algorithms there are, and which parts of a policy each honours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kveil.algorithms import classfly, fulldomain, leastloss, mondrian
from kveil.errors import Refused, listing
from kveil.policy.constraints import implied
from kveil.policy.fields import PolicyPart
from kveil.policy.model import MaxWidth, Policy, Ranges
from kveil.table.encode import Table
from kveil.table.solution import Solution

Solve = Callable[[Table, Any, np.random.Generator], Solution]

MANY = "several constraints"
BOUNDARIES = "boundaries"
MAX_WIDTH = "max_width"
RANGES = "ranges"
DEPENDENCIES = "dependencies"
INDIVIDUALS = "individuals"
GROUP_MODELS = ("l-diversity", "p-sensitive", "alpha-k", "t-closeness")


CLASSFLY_PAPER = "Yang, Liu, Wang, Yu 2006"


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with the parts of a policy it honours, beyond one k-anonymity constraint on trees."""

    name: str
    solve: Solve
    honours: frozenset[str]
    options: type[PolicyPart]
    summary: str
    paper: str
    refine: str = "off"  # the effort that follows unless the options say another


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "datafly",
        fulldomain.datafly,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, *GROUP_MODELS}),
        fulldomain.DataflyOptions,
        "one level for all records; generalizes the attribute with the most distinct values",
        "Sweeney 2002; many constraints as in Yang et al. 2006",
    ),
    Algorithm(
        "classfly",
        classfly.classfly,
        frozenset({BOUNDARIES, INDIVIDUALS, *GROUP_MODELS}),
        classfly.ClassflyOptions,
        "sets aside the records that satisfy the constraint, generalizes only the rest",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+naive",
        classfly.classfly_naive,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, *GROUP_MODELS}),
        classfly.ClassflyOptions,
        "classfly on the union of each component's constraints",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+complete",
        classfly.classfly_complete,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, *GROUP_MODELS}),
        classfly.ClassflyOptions,
        "sets aside the maximal anonymous subset under all constraints of a component",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+partial",
        classfly.classfly_partial,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, *GROUP_MODELS}),
        classfly.ClassflyOptions,
        "the same subset, found by adding constraints in order of growing k",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "mondrian",
        mondrian.mondrian,
        frozenset({MANY, BOUNDARIES, RANGES, INDIVIDUALS, *GROUP_MODELS}),
        mondrian.MondrianOptions,
        "splits the table top-down, one attribute at a time, while every part satisfies every model",
        "LeFevre, DeWitt, Ramakrishnan 2006",
    ),
    Algorithm(
        "least-loss",
        leastloss.least_loss,
        frozenset({MANY, BOUNDARIES, RANGES, INDIVIDUALS, *GROUP_MODELS}),
        leastloss.LeastLossOptions,
        "starts top-down, then takes neighbourhoods of groups apart and keeps what loses less",
        "kveil's own, see docs/least-loss-research.md",
        refine="normal",
    ),
)


def asks(policy: Policy) -> list[str]:
    """Return the parts of a policy that an algorithm has to honour, beyond one k-anonymity constraint."""
    found = []
    if len(policy.privacy) - len(implied(policy)) > 1:
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
    found.extend(sorted({model.model for model in policy.privacy if model.model != "k-anonymity"}))
    return found


def find(name: str) -> Algorithm:
    """Return the algorithm of a name; a name of the contract that is not built yet is refused."""
    for algorithm in ALGORITHMS:
        if algorithm.name == name:
            return algorithm
    names = [algorithm.name for algorithm in ALGORITHMS]
    raise Refused(f"{name} is not in this version of kveil; there are auto, {listing(names)}.")


def honouring(policy: Policy) -> list[Algorithm]:
    """Return the algorithms that honour a whole policy; refuse where there is none."""
    wanted = asks(policy)
    found = [a for a in ALGORITHMS if set(wanted) <= a.honours]
    if not found:
        nobody = [part for part in wanted if not any(part in a.honours for a in ALGORITHMS)]
        raise Refused(
            f"no algorithm in this version of kveil honours {listing(nobody or wanted)}"
            f"{'' if nobody else ' together'}; take that out of the policy, or use a later version."
        )
    return found


def check_honours(algorithm: Algorithm, policy: Policy) -> None:
    """Raise Refused where a policy asks for more than an algorithm honours, naming those that honour it all."""
    missing = [part for part in asks(policy) if part not in algorithm.honours]
    if missing:
        others = [a.name for a in honouring(policy)]
        raise Refused(
            f"{algorithm.name} does not honour {listing(missing)}, which the policy asks for; {listing(others)} "
            f"{'does' if len(others) == 1 else 'do'}."
        )
