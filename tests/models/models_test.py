"""The models over sensitive values: the check of the search, that of Mondrian's loops, the verifier, and slow twins.

A raw table is a release of itself, so one random table asks all four about the same groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import kveil
from kveil.flow.verify import verify
from kveil.frames import from_frame
from kveil.kernels.models import models_loops as loops
from kveil.kernels.models.layout import new_models
from kveil.kernels.splitting.layout import SplitTuples
from kveil.kernels.splitting.mondrian_loops import add_rows
from kveil.models.distributions import AlphaShare, Close, DistinctValues, EntropyL, FrequencyL, RecursiveCL
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs, one_group
from kveil.models.of_policy import group_model, least_members, sensitive_pairs
from kveil.models.packed import needs_of, values_of
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.words import count
from naive import models as naive

Spec = dict[str, Any]
Members = list[list[naive.Items]]  # the items of every member, group by group

TREE = {"tree": {"All": {"viral": {"flu": [], "lungs": {"cold": [], "cough": ["dry", "wet"]}}, "gout": [], "x": ["y"]}}}
# Hierarchies of a sensitive attribute with values that texts, numbers and leaves order differently.
HIERARCHIES: list[tuple[Any, tuple[str, ...]]] = [
    (TREE, ("wet", "flu", "gout", "cold", "y", "dry")),
    (TREE, ("gout", "flu")),
    (None, ("10", "9", "200", "9.5", "-1")),
    (None, ("10", "9", "200", "high")),
    ({"mask": {"keep": [2, 1]}}, ("123", "124", "13", "2", "21")),
    ({"intervals": {"from": 0, "to": 21, "widths": [2, 10]}}, ("1", "2", "11", "20", "21")),
    ({"intervals": {"from": 0, "to": 21, "widths": [1, 10]}}, ("1", "2.5", "11", "20")),
    ({"intervals": {"from": 3, "to": 14, "widths": [1, 4], "open": "both"}}, ("-4", "3", "5", "14", "22")),
    ({"intervals": {"from": 3, "to": 14, "widths": [1, 4], "open": "above"}}, ("3", "5.5", "14", "22")),
    ({"dates": ["month", "year"]}, ("1999-01-01", "1999-01-02", "1999-05-09", "2001-01-01")),
]


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@st.composite
def models(draw: st.DrawFn, hierarchical: bool = True) -> Spec:
    """Any model over the attribute `s`, near what small groups just reach."""
    kind = draw(
        st.sampled_from(["distinct", "entropy", "recursive", "frequency", "p-sensitive", "alpha-k", "t-closeness"])
    )
    if kind == "p-sensitive":
        return {"model": kind, "sensitive": "s", "p": draw(st.integers(1, 4))}
    if kind == "alpha-k":
        alpha = draw(st.sampled_from(["0.5", "0.25", "0.4", "0.75", "1"]))
        return {"model": kind, "sensitive": "s", "alpha": alpha, "k": draw(st.integers(1, 4))}
    if kind == "t-closeness":
        distances = ["equal", "ordered", *(["hierarchical"] if hierarchical else [])]
        t = draw(st.sampled_from(["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.4", "0.5", "0.6"]))
        return {"model": kind, "sensitive": "s", "t": t, "distance": draw(st.sampled_from(distances))}
    found = {"model": "l-diversity", "sensitive": "s", "variant": kind}
    if kind in ("distinct", "recursive"):
        found["l"] = draw(st.integers(1, 4))
    else:
        found["l"] = draw(st.sampled_from(["1", "1.5", "2", "2.5", "3", "4"]))
    if kind == "recursive":
        found["c"] = draw(st.sampled_from(["0.5", "1", "1.5", "2", "3"]))
    return found


@st.composite
def groups_of_members(draw: st.DrawFn, values: Sequence[str], persons: bool) -> Members:
    """Small groups; a member has one value or none, a person several."""
    one = st.sampled_from([(), *((value,) for value in values), *((value,) for value in values)])
    some = st.lists(st.sampled_from(values), max_size=3, unique=True)
    group = st.lists((some if persons else one).map(frozenset), min_size=1, max_size=7)
    return draw(st.lists(group, min_size=1, max_size=4))


def policy_of(models: Sequence[Spec], spec: Any, persons: bool, **others: Any) -> kveil.Policy:
    attributes: dict[str, Any] = {"g": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    if spec is not None:
        attributes["s"]["hierarchy"] = spec
    if persons:
        attributes["pid"] = {"role": "individual"}
    return kveil.Policy(
        **{"kveil": 1, "attributes": attributes, "privacy": list(models), "data": {"missing": ["", "?"]}, **others}
    )


def original_of(members: Members, persons: bool) -> pl.DataFrame:
    """One row per record: a person has as many as items, with missing ones among them."""
    rows = []
    for g, group in enumerate(members):
        for i, items in enumerate(group):
            cells = [*sorted(items), *([""] if not items or (persons and i % 2) else [])]
            rows += [(f"g{g}", cell, f"p{g}.{i}") for cell in cells]
    frame = pl.DataFrame(rows, schema={"g": pl.String, "s": pl.String, "pid": pl.String}, orient="row")
    return frame if persons else frame.drop("pid")


def release_of(members: Members, spec: Any = None) -> pl.DataFrame:
    """One row per record or person, items in sets, in the order of their hierarchy."""
    order = naive.as_shown({item for group in members for items in group for item in items}, spec)
    rows = [(f"g{g}", "|".join(sorted(items, key=order.index))) for g, group in enumerate(members) for items in group]
    return pl.DataFrame(rows, schema={"g": pl.String, "s": pl.String}, orient="row")


@dataclass(frozen=True)
class Drawn:
    """Groups of members, one model over them, and the policy and the table that say so."""

    spec: Any
    model: Spec
    members: Members
    policy: kveil.Policy
    table: Table

    @property
    def checked(self) -> GroupModel:
        return group_model(self.policy.privacy[0], self.table)


def drawn(data: st.DataObject, persons: bool) -> Drawn:
    """Any model over any groups of members."""
    spec, values = data.draw(st.sampled_from(HIERARCHIES))
    model = data.draw(models(hierarchical=spec is not None))
    members = data.draw(groups_of_members(values, persons))
    policy = policy_of([model], spec, persons)
    return Drawn(spec, model, members, policy, encode(from_frame(original_of(members, persons)), policy))


def grouped(table: Table) -> Groups:
    """The table's tuples, each a group of its own, numbered like the members' groups."""
    tree = table.trees[0]
    group = np.array([int(tree.labels[tree.leaf_nodes[leaf]][1:]) for leaf in table.distinct.low[0]], dtype=np.int32)
    return Groups(group, int(group.max()) + 1, table.distinct.weights, sensitive_pairs(table))


def by_search(table: Table, model: GroupModel) -> list[bool]:
    return [bool(good) for good in model.good(grouped(table))]


@numba.njit
def add_and_judge(models: Any, rows: Any, order: Any) -> bool:
    total = add_rows(rows, models, order, 0, len(order))
    good = loops.holds(models, 0, len(models.needs.kind), total)
    loops.clear(models)
    return good  # type: ignore[no-any-return]


def by_loops(table: Table, model: GroupModel) -> list[bool]:
    """What Mondrian's compiled condition says of every group."""
    groups = grouped(table)
    names = [] if model.sensitive is None else [model.sensitive]
    values = values_of(table, dict(groups.pairs), [model], groups.weights)
    tuples = np.arange(len(groups.weights), dtype=np.int32)
    spans = (np.ascontiguousarray(side.T) for side in (table.distinct.low, table.distinct.high))
    rows = SplitTuples(*spans, groups.weights, tuples)
    models = new_models(needs_of([model], names), values)
    found = []
    for group in range(groups.number):
        order = np.flatnonzero(groups.group == group).astype(np.int32)
        found.append(bool(add_and_judge(models, rows, order)))
        assert not models.tally.any()
        assert not models.below.any()
    return found


# ---------------------------------------------------------------------------------------------- all say the same


@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
@given(data=st.data())
@examples(250)
def test_no_group_is_good_with_fewer_members_than_its_model_needs(persons: bool, data: st.DataObject) -> None:
    case = drawn(data, persons)
    least = least_members(case.checked, case.table)
    for group, good in zip(case.members, by_search(case.table, case.checked), strict=True):
        assert not good or len(group) >= least


def test_one_person_with_several_values_is_diverse_alone_and_so_is_one_without_any() -> None:
    """What the lower bound took for l members at least."""
    several = policy_of([{"model": "p-sensitive", "sensitive": "s", "p": 3}], None, True)
    table = encode(from_frame(original_of([[frozenset("abc")]], True)), several)
    assert least_members(group_model(several.privacy[0], table), table) == 1
    frequent = {"model": "l-diversity", "sensitive": "s", "l": 3, "variant": "frequency"}
    policy = policy_of([frequent], None, False)
    table = encode(from_frame(original_of([[frozenset()]], False)), policy)
    assert least_members(group_model(policy.privacy[0], table), table) == 1
    table = encode(from_frame(original_of([[frozenset("a")]], False)), policy)
    assert least_members(group_model(policy.privacy[0], table), table) == 3


@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
@given(data=st.data())
@examples(100)
def test_a_group_looked_at_alone_is_the_group_among_others(persons: bool, data: st.DataObject) -> None:
    case = drawn(data, persons)
    checked, groups = case.checked, grouped(case.table)
    alone = checked.against(groups) if isinstance(checked, Close) else checked
    for number, good in enumerate(checked.good(groups).tolist()):
        tuples = np.flatnonzero(groups.group == number)
        assert alone.good(one_group(tuples, groups.weights, groups.pairs)).tolist() == [good]


@pytest.mark.uncompiled
@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
@given(data=st.data())
@examples(250)
def test_search_loops_verifier_and_twin_agree(persons: bool, data: st.DataObject) -> None:
    case = drawn(data, persons)
    spec, model, members = case.spec, case.model, case.members
    everyone = [items for group in members for items in group]
    expected = [naive.holds(model, group, everyone, spec) for group in members]
    event(f"{model['model']} {model.get('variant', model.get('distance', ''))}: {all(expected)}")

    assert by_search(case.table, case.checked) == expected
    assert by_loops(case.table, case.checked) == expected

    verdict = verify(release_of(members, spec), case.policy)
    (guarantee,) = verdict.guarantees
    worst = naive.worst(model, members, spec)
    assert guarantee["holds"] == all(expected) == bool(verdict)
    assert guarantee["groups"] == len(members)
    assert guarantee["worst"] == (None if worst is None else pytest.approx(worst, abs=1e-9))
    if not verdict:
        failing = [group for group, good in zip(members, expected, strict=True) if not good]
        noun = "person" if persons else "record"
        people = sum(map(len, failing))
        said = f"does not hold in {len(failing)} group{'s'[: len(failing) > 1]} with {count(people, noun)};"
        assert said in verdict.findings[0]


def test_k_anonymity_needs_sizes_alone() -> None:
    members: Members = [[frozenset()] * 3, [frozenset(["flu"])] * 4, [frozenset(["flu"])]]
    for k in range(1, 6):
        policy = policy_of([{"model": "k-anonymity", "k": k}], TREE, False)
        table = encode(from_frame(original_of(members, False)), policy)
        found = group_model(policy.privacy[0], table)
        assert by_search(table, found) == by_loops(table, found) == [k <= 3, k <= 4, k <= 1]


@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
@given(data=st.data())
@examples(100)
def test_tuples_that_are_out_are_not_counted(persons: bool, data: st.DataObject) -> None:
    # The reference of t-closeness moves, the order and the tree of the values left, and every count.
    case = drawn(data, persons)
    members = case.members
    out = data.draw(st.sets(st.sampled_from(range(len(members))), max_size=len(members) - 1))
    kept = [group for g, group in enumerate(members) if g not in out]
    everyone = [items for group in kept for items in group]
    groups = grouped(case.table)
    weights = np.where(np.isin(groups.group, list(out)), 0, groups.weights)
    found = case.checked.good(Groups(groups.group, groups.number, weights, groups.pairs))
    expected = [g in out or naive.holds(case.model, group, everyone, case.spec) for g, group in enumerate(members)]
    assert found.tolist() == expected


# ---------------------------------------------------------------------------------------------- earth mover's


def moved_by_program(kind: str, group: Sequence[naive.Items], everyone: Sequence[naive.Items], spec: Any) -> float:
    """The least work that turns one distribution into the other, as a linear program."""
    p, q = naive.shares(group), naive.shares(everyone)
    values = naive.in_order(q, spec)
    ground = naive.ground_distances(kind, values, spec)
    pairs = list(itertools.product(values, values))
    sums = [[float(pair[side] == value) for pair in pairs] for side in (0, 1) for value in values]
    shares = [float(p.get(value, 0)) for value in values] + [float(q[value]) for value in values]
    done = linprog([float(ground[pair]) for pair in pairs], A_eq=sums, b_eq=shares, bounds=(0, None))
    assert done.status == 0
    return float(done.fun)


@pytest.mark.parametrize("kind", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
def test_distances_are_the_earth_movers(kind: str, persons: bool) -> None:
    @given(data=st.data())
    @examples(40)
    def compare(data: st.DataObject) -> None:
        known = [case for case in HIERARCHIES if kind != "hierarchical" or case[0] is not None]
        spec, values = data.draw(st.sampled_from(known))
        members = data.draw(groups_of_members(values, persons))
        everyone = [items for group in members for items in group]
        expected = [moved_by_program(kind, group, everyone, spec) for group in members]
        assert [float(naive.distance(kind, g, everyone, spec)) for g in members] == pytest.approx(expected, abs=1e-9)
        policy = policy_of([{"model": "t-closeness", "sensitive": "s", "t": 0, "distance": kind}], spec, persons)
        table = encode(from_frame(original_of(members, persons)), policy)
        found = group_model(policy.privacy[0], table)
        assert isinstance(found, Close)
        assert found.distances(grouped(table)).tolist() == pytest.approx(expected, abs=1e-9)
        (guarantee,) = verify(release_of(members), policy).guarantees
        assert guarantee["worst"] == pytest.approx(max(expected), abs=1e-9)

    compare()


def test_distances_of_the_paper() -> None:
    # Li, Li and Venkatasubramanian 2007, section 4.2: salaries 3k to 11k; the example's two groups.
    salaries = [f"{k}" for k in range(3, 12)]
    everyone = [frozenset([salary]) for salary in salaries]
    low, high = ([frozenset([salary]) for salary in group] for group in (("3", "4", "5"), ("6", "8", "11")))
    assert naive.distance("ordered", low, everyone) == naive.Fraction(375, 1000)
    assert float(naive.distance("ordered", high, everyone)) == pytest.approx(0.167, abs=5e-4)
    policy = policy_of([{"model": "t-closeness", "sensitive": "s", "t": 1, "distance": "ordered"}], None, False)
    rest = [items for items in everyone if items not in low]
    (guarantee,) = verify(release_of([low, rest]), policy).guarantees
    assert guarantee["worst"] == pytest.approx(0.375)


def test_an_unbalanced_tree_is_measured_by_heights() -> None:
    # All(4) over viral(3) over lungs(2) over cough(1): wet and dry are a quarter apart, gout and flu the whole way.
    members: Members = [[frozenset(["wet"])], [frozenset(["dry"])]]
    for other, apart in (("dry", 0.25), ("cold", 0.5), ("flu", 0.75), ("gout", 1.0), ("y", 1.0)):
        members[1] = [frozenset([other])]
        policy = policy_of(
            [{"model": "t-closeness", "sensitive": "s", "t": 1, "distance": "hierarchical"}], TREE, False
        )
        (guarantee,) = verify(release_of(members), policy).guarantees
        assert guarantee["worst"] == pytest.approx(apart / 2)  # half of the whole is already there


# ---------------------------------------------------------------------------------------------- missing values


@pytest.mark.parametrize(
    ("model", "known", "absent", "good"),
    [
        ({"model": "l-diversity", "l": 2}, ["a"], 3, False),
        ({"model": "l-diversity", "l": 2}, ["a", "b"], 0, True),
        ({"model": "l-diversity", "l": 1}, [], 2, False),
        ({"model": "p-sensitive", "p": 2}, ["a"], 3, False),
        ({"model": "k-anonymity", "k": 4}, ["a"], 3, True),
        # A value of one in four: missing makes the group larger.
        ({"model": "l-diversity", "variant": "frequency", "l": 4}, ["a"], 3, True),
        ({"model": "l-diversity", "variant": "frequency", "l": 4}, ["a", "a"], 3, False),
        # Entropy and recursion are over what is known.
        ({"model": "l-diversity", "variant": "entropy", "l": 2}, ["a", "b"], 9, True),
        ({"model": "l-diversity", "variant": "entropy", "l": "1.5"}, ["a"], 9, False),
        ({"model": "l-diversity", "variant": "entropy", "l": "1.5"}, [], 9, False),
        ({"model": "l-diversity", "variant": "recursive", "c": 2, "l": 2}, ["a", "b"], 9, True),
        ({"model": "l-diversity", "variant": "recursive", "c": 1, "l": 2}, ["a", "b"], 9, False),
        ({"model": "l-diversity", "variant": "recursive", "c": 2, "l": 1}, [], 9, False),
        # For (α,k) missing is a value like any other.
        ({"model": "alpha-k", "alpha": "0.5", "k": 1}, ["a", "a"], 2, True),
        ({"model": "alpha-k", "alpha": "0.5", "k": 1}, ["a"], 2, False),
    ],
)
def test_missing_counts_in_the_size_and_never_as_a_value(
    model: Spec, known: list[str], absent: int, good: bool
) -> None:
    model = model if model["model"] == "k-anonymity" else {"sensitive": "s", **model}
    members: Members = [[*(frozenset([value]) for value in known), *[frozenset[str]()] * absent]]
    assert naive.holds(model, members[0], members[0]) is good
    policy = policy_of([model], None, False)
    table = encode(from_frame(original_of(members, False)), policy)
    found = group_model(policy.privacy[0], table)
    assert by_search(table, found) == by_loops(table, found) == [good]
    assert bool(verify(release_of(members), policy)) is good


def test_missing_is_a_value_for_t_closeness() -> None:
    members: Members = [[frozenset(["a"])], [frozenset[str]()]]
    for kind in ("equal", "ordered"):
        policy = policy_of([{"model": "t-closeness", "sensitive": "s", "t": 1, "distance": kind}], None, False)
        (guarantee,) = verify(release_of(members), policy).guarantees
        assert guarantee["worst"] == 0.5


def test_a_person_without_items_is_missing_and_one_with_items_is_not() -> None:
    frame = pl.DataFrame({"g": ["x"] * 4, "s": ["", "?", "a", ""], "pid": ["1", "1", "2", "2"]})
    model = {"model": "alpha-k", "sensitive": "s", "alpha": "0.5", "k": 2}
    table = encode(from_frame(frame), policy_of([model], None, True))
    pairs = sensitive_pairs(table)["s"]
    assert (pairs.codes.tolist(), pairs.counts.tolist(), pairs.known) == ([0, 1], [1, 1], 1)


# ---------------------------------------------------------------------------------------------- declared properties


EVERY_MODEL: list[Spec] = [
    {"model": "k-anonymity", "k": 2},
    {"model": "l-diversity", "sensitive": "s", "l": 2},
    {"model": "p-sensitive", "sensitive": "s", "p": 2},
    {"model": "l-diversity", "sensitive": "s", "variant": "entropy", "l": 2},
    {"model": "l-diversity", "sensitive": "s", "variant": "recursive", "l": 2, "c": 2},
    {"model": "l-diversity", "sensitive": "s", "variant": "frequency", "l": 2},
    {"model": "alpha-k", "sensitive": "s", "alpha": "0.5", "k": 2},
    {"model": "t-closeness", "sensitive": "s", "t": "0.25", "distance": "equal"},
    {"model": "t-closeness", "sensitive": "s", "t": "0.25", "distance": "ordered"},
    {"model": "t-closeness", "sensitive": "s", "t": "0.25", "distance": "hierarchical"},
]
CLASSES = (AtLeastK, DistinctValues, EntropyL, RecursiveCL, FrequencyL, AlphaShare, Close)


def name_of(model: Spec) -> str:
    return f"{model['model']}-{model.get('variant', model.get('distance', ''))}"


def class_of(model: Spec) -> type[GroupModel]:
    table = encode(from_frame(pl.DataFrame({"g": ["g0"], "s": ["flu"]})), policy_of([model], TREE, False))
    return type(group_model(table.policy.privacy[0], table))


def test_every_model_is_asked_for_its_properties() -> None:
    assert {class_of(model) for model in EVERY_MODEL} == set(CLASSES)


@pytest.mark.parametrize("persons", [False, True], ids=["records", "individuals"])
@pytest.mark.parametrize("model", EVERY_MODEL, ids=name_of)
def test_monotone_models_survive_the_merging_of_good_groups(model: Spec, persons: bool) -> None:
    assert class_of(model).monotone
    random = Random(f"{model}{persons}")
    values = ["flu", "cold", "wet", "gout"]
    merged = 0
    for _ in range(1500):
        groups = []
        for _ in range(3):
            few = random.sample(values, random.randrange(1, 5))
            several = [0, 1, 1, 2] if persons else [0, 1, 1, 1]
            groups.append(
                [
                    frozenset(random.sample(few, min(random.choice(several), len(few))))
                    for _ in range(random.randrange(1, 7))
                ]
            )
        everyone = [items for group in groups for items in group]
        if naive.holds(model, groups[0], everyone, TREE) and naive.holds(model, groups[1], everyone, TREE):
            merged += 1
            assert naive.holds(model, groups[0] + groups[1], everyone, TREE), groups
    assert merged >= 20


Records = list[tuple[int, str]]  # their group and their value, "" for missing


def is_good(model: Spec, rows: Records, chosen: Iterable[int]) -> bool:
    """Whether every group of a set of records satisfies the model."""
    items = {i: frozenset([rows[i][1]] if rows[i][1] else []) for i in chosen}
    groups = naive.groups_of(items, lambda i: rows[i][0]).values()
    return all(naive.holds(model, [items[i] for i in part], list(items.values()), TREE) for part in groups)


@pytest.mark.parametrize("model", EVERY_MODEL, ids=name_of)
def test_unique_subset_means_that_unions_of_good_sets_are_good(model: Spec) -> None:
    random = Random(5)
    broken = 0
    for _ in range(30):
        rows = [(random.randrange(2), random.choice(["flu", "cold", "wet", ""])) for _ in range(7)]
        every = (frozenset(chosen) for size in range(8) for chosen in itertools.combinations(range(7), size))
        good = [chosen for chosen in every if is_good(model, rows, chosen)]
        known = set(good)
        closed = all(one | other in known for one, other in itertools.combinations(good, 2))
        broken += not closed
        if not class_of(model).unique_subset:
            continue
        assert closed, rows
        # Then the fixpoint is the largest good set, and it is the only largest one.
        largest = frozenset().union(*good)
        assert found_subset(model, rows) == largest
        assert [chosen for chosen in good if len(chosen) == len(largest)] == [largest]
    # Where it is not declared, it is not true.
    assert (broken == 0) == class_of(model).unique_subset


@pytest.mark.parametrize("model", EVERY_MODEL, ids=name_of)
def test_the_subset_that_is_found_is_good(model: Spec) -> None:
    random = Random(6)
    for _ in range(60):
        rows = [(random.randrange(3), random.choice(["flu", "cold", "wet", ""])) for _ in range(9)]
        assert is_good(model, rows, found_subset(model, rows))


def found_subset(model: Spec, rows: Records) -> frozenset[int]:
    """What the search keeps, every record being a tuple of its own."""
    frame = pl.DataFrame({"g": [f"g{g}" for g, _ in rows], "s": [value for _, value in rows]})
    table = encode(from_frame(frame), policy_of([model], TREE, False))
    s, ones = table.sensitive["s"], np.ones(len(rows), dtype=np.int64)
    group = np.array([g for g, _ in rows], dtype=np.int32)
    need = Requirement(group_model(table.policy.privacy[0], table), group, int(group.max()) + 1)
    pairs = {"s": Pairs(s.row, s.code, ones, s.known)}
    return frozenset(np.flatnonzero(maximal_anonymous_subset([need], ones, pairs, ones > 0)).tolist())


@pytest.mark.parametrize("model", EVERY_MODEL, ids=name_of)
def test_local_models_ask_nobody_else(model: Spec) -> None:
    random = Random(7)
    moved = 0
    values = ["flu", "cold", "wet", "gout", ""]
    for _ in range(200):
        own, one, other = (
            [frozenset([value] if (value := random.choice(values)) else []) for _ in range(random.randrange(1, 6))]
            for _ in range(3)
        )
        verdicts = []
        for rest in (one, other):
            table = encode(from_frame(original_of([own, rest], False)), policy_of([model], TREE, False))
            verdicts.append(by_search(table, group_model(table.policy.privacy[0], table))[0])
        moved += verdicts[0] != verdicts[1]
    assert (moved == 0) == class_of(model).local


# ---------------------------------------------------------------------------------------------- individuals


def test_ten_records_of_one_person_are_one() -> None:
    frame = pl.DataFrame({"g": ["g0"] * 12, "s": ["flu", "cold"] * 6, "pid": ["1"] * 10 + ["2"] * 2})
    for model, good in (
        ({"model": "k-anonymity", "k": 2}, True),
        ({"model": "k-anonymity", "k": 3}, False),
        # Both have both: each value is had by all.
        ({"model": "l-diversity", "sensitive": "s", "variant": "frequency", "l": 2}, False),
        ({"model": "alpha-k", "sensitive": "s", "alpha": "0.5", "k": 2}, False),
        ({"model": "l-diversity", "sensitive": "s", "variant": "entropy", "l": 2}, True),
    ):
        policy = policy_of([model], TREE, True)
        table = encode(from_frame(frame), policy)
        found = group_model(policy.privacy[0], table)
        assert by_search(table, found) == by_loops(table, found) == [good]
        release = pl.DataFrame({"g": ["g0"] * 2, "s": ["flu|cold"] * 2})
        assert bool(verify(release, policy)) is good


@pytest.mark.parametrize("shape", ["sets", "long", "lists"])
def test_the_verifier_counts_individuals_in_every_shape(shape: str) -> None:
    model = {"model": "l-diversity", "sensitive": "s", "variant": "frequency", "l": 2}
    policy = policy_of([model], TREE, True, release={"shape": "long" if shape == "long" else "sets"})
    people = [["flu", "cold"], ["gout"], ["cold"], ["flu"]]
    if shape == "long":
        rows = [(n, "g0", item) for n, items in enumerate(people, 1) for item in items]
        frame = pl.DataFrame(rows, schema=["individual", "g", "s"], orient="row")
    else:
        cells = people if shape == "lists" else ["|".join(items) for items in people]
        frame = pl.DataFrame({"g": ["g0"] * 4, "s": cells})
    (guarantee,) = verify(frame, policy).guarantees
    assert (guarantee["holds"], guarantee["worst"], guarantee["groups"]) == (True, 2.0, 1)
