"""The algorithms there are, and which parts of a policy each honours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from kveil.algorithms.algorithm import (
    BOUNDARIES,
    COMBINATIONS,
    DEPENDENCIES,
    DIVERSE,
    FINGERPRINTS,
    GROUP_MODELS,
    INDIVIDUALS,
    MANY,
    MAX_WIDTH,
    MULTIVALUED,
    RANGES,
    Algorithm,
    Search,
    asks,
)
from kveil.algorithms.entry_points import plugged_algorithm
from kveil.errors import Refused
from kveil.policy.components import Component, binding, binding_sets, components
from kveil.policy.model import Policy
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import listing

KMSD_PAPER = "Huang, Song, Gao, Cai 2014"
CLASSFLY_PAPER = "Yang, Liu, Wang, Yu 2006"
PEOPLE = frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, FINGERPRINTS, *GROUP_MODELS})


def _datafly() -> Search:
    from kveil.algorithms.full_domain.datafly import DataflyOptions, datafly

    return Search(datafly, DataflyOptions)


def _classfly(number: int) -> Search:
    from kveil.algorithms.classfly import classfly as own

    ways = own.classfly, own.classfly_naive, own.classfly_complete, own.classfly_partial
    return Search(ways[number], own.ClassflyOptions)


def _mondrian() -> Search:
    from kveil.algorithms.splitting.mondrian import MondrianOptions, mondrian

    return Search(mondrian, MondrianOptions)


def _incognito() -> Search:
    from kveil.algorithms.full_domain.incognito import IncognitoOptions, incognito, lattice_effort

    return Search(incognito, IncognitoOptions, lattice_effort)


def _k_member(number: int) -> Search:
    from kveil.algorithms.clustering import k_member as own

    return Search((own.k_member, own.greedy_cka)[number], own.KMemberOptions, own.clustering_effort)


def _pk_clustering() -> Search:
    from kveil.algorithms.clustering.k_member import clustering_effort
    from kveil.algorithms.clustering.pk import PkClusteringOptions, pk_clustering

    return Search(pk_clustering, PkClusteringOptions, clustering_effort)


def _k_msd() -> Search:
    from kveil.algorithms.sequential.k_msd import KmsdOptions, kmsd

    return Search(kmsd, KmsdOptions)


def _k_msd_ag() -> Search:
    from kveil.algorithms.sequential.k_msd import KmsdOptions, kmsd_ag

    return Search(kmsd_ag, KmsdOptions)


def _one_to_many() -> Search:
    from kveil.algorithms.people.one_to_many import PeopleOptions, one_to_many

    return Search(one_to_many, PeopleOptions)


def _partition() -> Search:
    from kveil.algorithms.people.one_to_many import PeopleOptions, partition

    return Search(partition, PeopleOptions)


def _rmerger() -> Search:
    from kveil.algorithms.people.rmerger import RmergerOptions, rmerger

    return Search(rmerger, RmergerOptions)


def _least_loss() -> Search:
    from kveil.algorithms.least_loss.least_loss import LeastLossOptions, least_loss

    def solve(table: Table, options: LeastLossOptions, rng: np.random.Generator) -> Solution:
        own = find("least-loss")
        starts = starts_of(own, table.policy, table.rows)
        return least_loss(table, rng, starts, last=last_starts_of(own, table.policy, starts))

    return Search(solve, LeastLossOptions)


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "datafly",
        _datafly,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "one level for all records; generalizes the attribute with the most distinct values",
        "Sweeney 2002; many constraints as in Yang et al. 2006",
        on_tuples=True,
    ),
    Algorithm(
        "classfly",
        partial(_classfly, 0),
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "sets aside the records that satisfy the constraint, generalizes only the rest",
        CLASSFLY_PAPER,
        loops=("widening",),
        on_tuples=True,
    ),
    Algorithm(
        "classfly+naive",
        partial(_classfly, 1),
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "classfly on the union of each component's constraints",
        CLASSFLY_PAPER,
        loops=("widening",),
        on_tuples=True,
    ),
    Algorithm(
        "classfly+complete",
        partial(_classfly, 2),
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "sets aside the maximal anonymous subset under all constraints of a component",
        CLASSFLY_PAPER,
        loops=("widening",),
        on_tuples=True,
    ),
    Algorithm(
        "classfly+partial",
        partial(_classfly, 3),
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "the same subset, found by adding constraints in order of growing k",
        CLASSFLY_PAPER,
        loops=("widening",),
        on_tuples=True,
    ),
    Algorithm(
        "mondrian",
        _mondrian,
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "splits the table top-down, one attribute at a time, while every part satisfies every model",
        "LeFevre, DeWitt, Ramakrishnan 2006",
        loops=("mondrian",),
        on_tuples=True,
    ),
    Algorithm(
        "incognito",
        _incognito,
        frozenset({MANY, BOUNDARIES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "one level for all records; searches the whole lattice for the one that loses least",
        "LeFevre, DeWitt, Ramakrishnan 2005",
        on_tuples=True,
    ),
    Algorithm(
        "k-member",
        partial(_k_member, 0),
        frozenset({RANGES, INDIVIDUALS, DEPENDENCIES}),
        "grows clusters of k around far-apart records, each time by the record that adds least loss",
        "Byun, Kamra, Bertino, Li 2006",
        loops=("greedy",),
    ),
    Algorithm(
        "greedy-cka",
        partial(_k_member, 1),
        frozenset({BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES}),
        "k-member inside the groups that boundaries leave; suppresses only what no release could keep",
        "Miller, Campan, Truta 2008",
        loops=("greedy",),
    ),
    Algorithm(
        "pk-clustering",
        _pk_clustering,
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, *GROUP_MODELS}),
        "clusters inside the boundaries: diversity first, then size, then the rest",
        "Truta, Campan, Meyer 2007",
        loops=("greedy",),
    ),
    Algorithm(
        "k-msd",
        _k_msd,
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES}),
        "makes one attribute after another k-anonymous inside the groups of those before",
        KMSD_PAPER,
        loops=("k-msd",),
        on_tuples=True,
    ),
    Algorithm(
        "k-msd-ag",
        _k_msd_ag,
        frozenset({BOUNDARIES, INDIVIDUALS, DEPENDENCIES, MULTIVALUED}),
        "the same, right sides of dependencies following their left sides",
        KMSD_PAPER,
        loops=("k-msd",),
        on_tuples=True,
    ),
    Algorithm(
        "1m-generalization",
        _one_to_many,
        PEOPLE | {DIVERSE, COMBINATIONS},
        "generalizes the sets of items people have by partition, then the quasi-identifiers by mondrian",
        "Gong, Luo, Yang, Ni, Li 2017",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({FINGERPRINTS, COMBINATIONS}),
        loops=("partition", "mondrian"),
    ),
    Algorithm(
        "partition",
        _partition,
        PEOPLE,
        "opens the nodes of an item tree while k people share every set; quasi-identifiers as the models ask",
        "He, Naughton 2009",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({FINGERPRINTS}),
        loops=("partition", "mondrian"),
    ),
    Algorithm(
        "rmerger",
        _rmerger,
        frozenset({MANY, BOUNDARIES, MAX_WIDTH, RANGES, INDIVIDUALS, DEPENDENCIES, COMBINATIONS}),
        "clusters people, merges near clusters, and generalizes items until k share every combination of m",
        "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013",
        needs=frozenset({INDIVIDUALS}),
        made_for=frozenset({COMBINATIONS}),
        loops=("greedy", "combinations"),
    ),
    Algorithm(
        "least-loss",
        _least_loss,
        PEOPLE | {DIVERSE, COMBINATIONS},
        "starts top-down, then takes neighbourhoods of groups apart and keeps what loses less",
        "kveil's own, see docs/least-loss-research.md",
        refine="normal",
        starts=("mondrian", "classfly+complete", "datafly", "1m-generalization"),
        starts_by_values=("pk-clustering",),
        loops=("mondrian", "widening"),
    ),
)

LAST_STARTS = {"incognito"}  # of least-loss, where others find nothing
SOME_ROWS = (
    10_000  # up to which it also goes on from other ways to climb under overlapping constraints, which are quick
)
FEW_ROWS = 1_000  # of a table up to which least-loss goes on from the best of all algorithms, which take no time there
PLAIN_CLUSTERS = {"k-member", "greedy-cka", "pk-clustering"}  # the same loop clusters where sizes alone decide
DIVERSE_CLUSTERS = frozenset(GROUP_MODELS)  # models with which pk-clustering looks at values, not at sizes alone


def find(name: str) -> Algorithm:
    """Return the algorithm of a name; a name that there is none of is refused."""
    for algorithm in ALGORITHMS:
        if algorithm.name == name:
            return algorithm
    plugged = plugged_algorithm(name)
    if plugged is not None:
        return plugged
    names = [algorithm.name for algorithm in ALGORITHMS]
    raise Refused(f"{name} is not in this version of kveil; there are auto, {listing(names)}.")


def demands_not_honoured(algorithm: Algorithm, policy: Policy) -> list[str]:
    """Return what a policy asks for that an algorithm does not honour, or not together with the rest."""
    wanted = asks(policy)
    missing = [part for part in wanted if part not in algorithm.honours]
    if missing or not algorithm.starts:
        return missing
    # Rules are kept by a pass after, whatever an algorithm starts from.
    left = [[part for part in wanted if part not in {*a.honours, DEPENDENCIES}] for a in map(find, algorithm.starts)]
    return min(left, key=len)


def starts_of(algorithm: Algorithm, policy: Policy, rows: int) -> list[Algorithm]:
    """Return the algorithms that an algorithm may go on from under a policy: all that can where there are few rows."""
    climbing = ("classfly+naive", "classfly+partial") if rows <= SOME_ROWS and len(binding_sets(policy)) > 1 else ()
    several = map(find, (*algorithm.starts, *_by_values(algorithm, policy), *climbing))
    return [start for start in (several if rows > FEW_ROWS else ALGORITHMS) if _may_start(start, policy)]


def last_starts_of(algorithm: Algorithm, policy: Policy, starts: Sequence[Algorithm]) -> list[Algorithm]:
    """Return the algorithms to go on from where ``starts`` find nothing: those whose effort can be told beforehand."""
    return [a for a in ALGORITHMS if a not in starts and a.name in LAST_STARTS and _may_start(a, policy)]


def _may_start(start: Algorithm, policy: Policy) -> bool:
    """Tell whether another algorithm may go on from what one finds under a policy."""
    wanted = set(asks(policy))
    return (
        wanted <= start.honours | {DEPENDENCIES}
        and start.needs <= wanted
        and (not start.made_for or bool(start.made_for & wanted))
        and not start.starts
    )


def _by_values(algorithm: Algorithm, policy: Policy) -> tuple[str, ...]:
    """Return the starts that an algorithm has only where models look at values."""
    return algorithm.starts_by_values if DIVERSE_CLUSTERS.intersection(asks(policy)) else ()


def able(algorithm: Algorithm, policy: Policy) -> bool:
    """Tell whether an algorithm honours a whole policy and finds in it what it needs."""
    return not demands_not_honoured(algorithm, policy) and algorithm.needs <= set(asks(policy))


def algorithms_honouring(policy: Policy) -> list[Algorithm]:
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


def families(policy: Policy) -> list[tuple[str, ...]]:
    """Return sets of algorithms that find the same under a policy, those of them that honour it, by name.

    The filters of Classfly differ in how constraints over different attributes meet: over one set of attributes they
    set the same groups aside. K-member is greedy-cka without boundaries, and honours none.
    """
    same: list[tuple[str, ...]] = [("k-member", "greedy-cka")]
    if len(binding_sets(policy)) == 1:
        same.append(("classfly", "classfly+naive", "classfly+complete", "classfly+partial"))
    return same


def finds_the_same(algorithm: Algorithm, other: Algorithm, found: Solution | None, policy: Policy) -> bool:
    """Tell whether an algorithm would find what another one has found, or failed to, under a policy both honour."""
    if any(algorithm.name in own and other.name in own for own in families(policy)):
        return True
    # Of rows that are left out, or that would show nothing but stars, pk-clustering makes something else.
    both = {algorithm.name, other.name} <= PLAIN_CLUSTERS
    return both and found is not None and found.plain and not policy.dependencies


def loops_of(policy: Policy, algorithms: Sequence[Algorithm]) -> list[str]:
    """Return the families of loops that algorithms need under a policy, as far as the policy tells."""
    starts = [find(name) for algorithm in algorithms for name in _by_values(algorithm, policy)]
    algorithms = [*algorithms, *(start for start in starts if _may_start(start, policy) and start not in algorithms)]
    names = ["groups", *(name for algorithm in algorithms for name in algorithm.loops)]
    if len(algorithms) > 1 or any(algorithm.refine != "off" for algorithm in algorithms):
        names += [loops for component in components(policy) for loops in _refining(policy, component)]
    if FINGERPRINTS in asks(policy):
        names.append("partition")
    by_values = DIVERSE_CLUSTERS.intersection(asks(policy))
    if by_values and "pk-clustering" in [algorithm.name for algorithm in algorithms]:
        names.append("diverse")
    return list(dict.fromkeys(names))


def _refining(policy: Policy, component: Component) -> list[str]:
    """Return the loops that refine a component: those of overlapping constraints where there are several."""
    over = {policy.attributes_of(policy.privacy[i]) for i in component.models if i in binding(policy)}
    return ["overlaps"] if len(over) > 1 else ["least-loss"]


def check_honours(algorithm: Algorithm, policy: Policy) -> None:
    """Raise Refused where a policy asks for more than an algorithm honours, naming those that honour it all."""
    missing = demands_not_honoured(algorithm, policy)
    absent = sorted(algorithm.needs.difference(asks(policy)))
    if missing:
        others = [a.name for a in algorithms_honouring(policy)]
        raise Refused(
            f"{algorithm.name} does not honour {listing(missing)}, which the policy asks for; {listing(others)} "
            f"{'does' if len(others) == 1 else 'do'}."
        )
    if absent:
        others = [a.name for a in algorithms_honouring(policy)]
        raise Refused(
            f"{algorithm.name} needs {listing(absent)}, which the policy does not name; give the column that says "
            f"whose record it is role individual, or use {listing(others)}."
        )
