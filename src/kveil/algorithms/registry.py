"""The algorithms there are, and which parts of a policy each honours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np

from kveil.errors import Refused, listing
from kveil.kernels import compile_some, compiled_before
from kveil.policy.attributes import MaxWidth, Ranges
from kveil.policy.constraints import implied
from kveil.policy.fields import PolicyPart
from kveil.policy.model import Policy
from kveil.table.encode import Table
from kveil.table.solution import Solution

Solve = Callable[[Table, Any, np.random.Generator], Solution]

MANY = "several constraints"
BOUNDARIES = "boundaries"
MAX_WIDTH = "max_width"
RANGES = "ranges"
DEPENDENCIES = "dependencies"
MULTIVALUED = "multivalued dependencies"  # kept by climbing too; whoever does not is still asked to report them
INDIVIDUALS = "individuals"
FINGERPRINTS = "kl-diversity"
COMBINATIONS = "k-km-anonymity"
DIVERSE = "kl-diversity with l above 1"
GROUP_MODELS = ("l-diversity", "p-sensitive", "alpha-k", "t-closeness")
COUNTED_MODELS = ("l-diversity", "p-sensitive", "alpha-k")  # of shown items; distances need the original ones


KMSD_PAPER = "Huang, Song, Gao, Cai 2014"
CLASSFLY_PAPER = "Yang, Liu, Wang, Yu 2006"


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with the parts of a policy it honours, beyond one k-anonymity constraint on trees.

    Functions and options are named by their place, ``module:name``. ``needs`` are parts without which it has nothing
    to do; `auto` runs it only where the policy asks for one of ``made_for``, if there are any: elsewhere it would do
    what another one does.
    """

    name: str
    solve_at: str
    honours: frozenset[str]
    options_at: str
    summary: str
    paper: str
    needs: frozenset[str] = frozenset()
    made_for: frozenset[str] = frozenset()
    effort_at: str | None = None  # what auto weighs before it tries; None for what is quick
    refine: str = "off"  # the effort that follows unless the options say another
    starts: tuple[str, ...] = ()  # algorithms whose solution it goes on from: one has to honour the policy
    loops: tuple[str, ...] = ()  # compilers of loops that take a moment to load

    @property
    def solve(self) -> Solve:
        """The search itself."""
        return cast(Solve, _load(self.solve_at))

    @property
    def options(self) -> type[PolicyPart]:
        """The class of its options."""
        return cast(type[PolicyPart], _load(self.options_at))

    @property
    def effort(self) -> Callable[[Table], float] | None:
        """What the search would cost on a table, where it is not quick."""
        return None if self.effort_at is None else cast(Callable[[Table], float], _load(self.effort_at))

    def load(self) -> None:
        """Import what a run will need, and load its loops if they have been compiled before."""
        _load(self.solve_at)
        if self.loops and compiled_before():
            compile_some(self.loops)


def _load(place: str) -> Any:
    """Return what stands at ``module:name`` among the algorithms; a run imports only what it uses."""
    module, name = place.split(":")
    return getattr(import_module(f"kveil.algorithms.{module}"), name)


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "datafly",
        "fulldomain:datafly",
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "fulldomain:DataflyOptions",
        "one level for all records; generalizes the attribute with the most distinct values",
        "Sweeney 2002; many constraints as in Yang et al. 2006",
    ),
    Algorithm(
        "classfly",
        "classfly:classfly",
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "classfly:ClassflyOptions",
        "sets aside the records that satisfy the constraint, generalizes only the rest",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+naive",
        "classfly:classfly_naive",
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "classfly:ClassflyOptions",
        "classfly on the union of each component's constraints",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+complete",
        "classfly:classfly_complete",
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "classfly:ClassflyOptions",
        "sets aside the maximal anonymous subset under all constraints of a component",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "classfly+partial",
        "classfly:classfly_partial",
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "classfly:ClassflyOptions",
        "the same subset, found by adding constraints in order of growing k",
        CLASSFLY_PAPER,
    ),
    Algorithm(
        "mondrian",
        "mondrian:mondrian",
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "mondrian:MondrianOptions",
        "splits the table top-down, one attribute at a time, while every part satisfies every model",
        "LeFevre, DeWitt, Ramakrishnan 2006",
    ),
    Algorithm(
        "incognito",
        "incognito:incognito",
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "incognito:IncognitoOptions",
        "one level for all records; searches the whole lattice for the one that loses least",
        "LeFevre, DeWitt, Ramakrishnan 2005",
        effort_at="incognito:effort",
    ),
    Algorithm(
        "k-member",
        "kmember:k_member",
        frozenset({RANGES, INDIVIDUALS, DEPENDENCIES}),
        "kmember:KMemberOptions",
        "grows clusters of k around far-apart records, each time by the record that adds least loss",
        "Byun, Kamra, Bertino, Li 2006",
    ),
    Algorithm(
        "greedy-cka",
        "kmember:greedy_cka",
        frozenset({BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES}),
        "kmember:KMemberOptions",
        "k-member inside the groups that boundaries leave; suppresses only what no release could keep",
        "Miller, Campan, Truta 2008",
    ),
    Algorithm(
        "pk-clustering",
        "pkclustering:pk_clustering",
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "pkclustering:PkClusteringOptions",
        "clusters inside the boundaries: diversity first, then size, then the rest",
        "Truta, Campan, Meyer 2007",
    ),
    Algorithm(
        "k-msd",
        "kmsd:kmsd",
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES}),
        "kmsd:KmsdOptions",
        "makes one attribute after another k-anonymous inside the groups of those before",
        KMSD_PAPER,
    ),
    Algorithm(
        "k-msd-ag",
        "kmsd:kmsd_ag",
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES, MULTIVALUED}),
        "kmsd:KmsdOptions",
        "the same, right sides of dependencies following their left sides",
        KMSD_PAPER,
    ),
    Algorithm(
        "1m-generalization",
        "people:one_to_many",
        frozenset({MANY, BOUNDARIES, RANGES, INDIVIDUALS, DEPENDENCIES, FINGERPRINTS, DIVERSE, *COUNTED_MODELS}),
        "people:PeopleOptions",
        "generalizes the sets of items people have by partition, then the quasi-identifiers by mondrian",
        "Gong, Luo, Yang, Ni, Li 2017",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({FINGERPRINTS}),
        loops=("partition:refine_nothing", "mondrian:split_nothing"),
    ),
    Algorithm(
        "partition",
        "people:partition",
        frozenset({MANY, BOUNDARIES, RANGES, INDIVIDUALS, DEPENDENCIES, FINGERPRINTS, *COUNTED_MODELS}),
        "people:PeopleOptions",
        "opens the nodes of an item tree while k people share every set; quasi-identifiers as the models ask",
        "He, Naughton 2009",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({FINGERPRINTS}),
    ),
    Algorithm(
        "rmerger",
        "rmerger:rmerger",
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, COMBINATIONS}),
        "rmerger:RmergerOptions",
        "clusters people, merges near clusters, and generalizes items until k share every combination of m",
        "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({COMBINATIONS}),
    ),
    Algorithm(
        "least-loss",
        "leastloss:least_loss",
        frozenset(
            {MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, FINGERPRINTS, DIVERSE, *GROUP_MODELS}
        ),
        "leastloss:LeastLossOptions",
        "starts top-down, then takes neighbourhoods of groups apart and keeps what loses less",
        "kveil's own, see docs/least-loss-research.md",
        refine="normal",
        starts=("mondrian", "classfly+complete", "datafly", "1m-generalization"),
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
    if any(model.model == "kl-diversity" and model.l > 1 for model in policy.privacy):
        found.append(DIVERSE)
    return found


def find(name: str) -> Algorithm:
    """Return the algorithm of a name; a name of the contract that is not built yet is refused."""
    for algorithm in ALGORITHMS:
        if algorithm.name == name:
            return algorithm
    names = [algorithm.name for algorithm in ALGORITHMS]
    raise Refused(f"{name} is not in this version of kveil; there are auto, {listing(names)}.")


def lacking(algorithm: Algorithm, policy: Policy) -> list[str]:
    """Return what a policy asks for that an algorithm does not honour, or not together with the rest."""
    wanted = asks(policy)
    missing = [part for part in wanted if part not in algorithm.honours]
    if missing or not algorithm.starts:
        return missing
    # Rules are kept by a pass after, whatever an algorithm starts from.
    left = [[part for part in wanted if part not in {*a.honours, DEPENDENCIES}] for a in map(find, algorithm.starts)]
    return min(left, key=len)


def starts_of(algorithm: Algorithm, policy: Policy) -> list[Algorithm]:
    """Return the algorithms that an algorithm may go on from under a policy."""
    wanted = set(asks(policy))
    return [
        start
        for start in map(find, algorithm.starts)
        if wanted <= start.honours | {DEPENDENCIES} and (not start.made_for or start.made_for & wanted)
    ]


def able(algorithm: Algorithm, policy: Policy) -> bool:
    """Tell whether an algorithm honours a whole policy and finds in it what it needs."""
    return not lacking(algorithm, policy) and algorithm.needs <= set(asks(policy))


def honouring(policy: Policy) -> list[Algorithm]:
    """Return the algorithms that honour a whole policy and are made for it; refuse where there is none."""
    wanted = set(asks(policy))
    found = [a for a in ALGORITHMS if able(a, policy) and (not a.made_for or a.made_for & wanted)]
    if not found:
        nobody = [part for part in asks(policy) if not any(part in a.honours for a in ALGORITHMS)]
        raise Refused(
            f"no algorithm in this version of kveil honours {listing(nobody or asks(policy))}"
            f"{'' if nobody else ' together'}; take that out of the policy, or use a later version."
        )
    return found


def check_honours(algorithm: Algorithm, policy: Policy) -> None:
    """Raise Refused where a policy asks for more than an algorithm honours, naming those that honour it all."""
    missing = lacking(algorithm, policy)
    absent = sorted(algorithm.needs.difference(asks(policy)))
    if missing:
        others = [a.name for a in honouring(policy)]
        raise Refused(
            f"{algorithm.name} does not honour {listing(missing)}, which the policy asks for; {listing(others)} "
            f"{'does' if len(others) == 1 else 'do'}."
        )
    if absent:
        others = [a.name for a in honouring(policy)]
        raise Refused(
            f"{algorithm.name} needs {listing(absent)}, which the policy does not name; give the column that says "
            f"whose record it is role individual, or use {listing(others)}."
        )
