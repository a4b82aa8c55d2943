"""Declared dependencies survive every algorithm: planted rules on random tables, and small tables worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import polars as pl
import pytest
import yaml
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
import places
from every_algorithm_test import every_algorithm, solve
from kveil.algorithms.registry import BOUNDARIES, DEPENDENCIES, MANY, MAX_WIDTH, RANGES, Algorithm, able
from kveil.datasets import hospital
from kveil.flow.verify import verify
from kveil.policy.load import parse_policy
from naive import release as naive
from strategies import DUMPER, Case, Spec, examples, placed, rows_of

ADULT = places.ADULT / "adult.data"
RuleNames = tuple[tuple[str, ...], tuple[str, ...]]


def breaks(rows: list[dict[str, str]], rules: Sequence[RuleNames]) -> bool:
    return not all(naive.functional(rows, left, right) for left, right in rules)


def plant(
    rows: list[dict[str, str]], rules: Sequence[RuleNames], values: dict[str, tuple[str, ...]], rng: Random
) -> None:
    """Change rows so that rules hold: right sides are functions of left sides; rows that still break go."""
    for left, right in rules:
        image: dict[tuple[str, ...], dict[str, str]] = {}
        for row in rows:
            new = {name: rng.choice(values[name]) for name in right}
            row.update(image.setdefault(tuple(row[name] for name in left), new))
    for _ in range(4):
        for left, right in rules:
            seen: dict[tuple[str, ...], dict[str, str]] = {}
            for row in rows:
                first = seen.setdefault(tuple(row[name] for name in left), row)
                row.update({name: first[name] for name in right})
    kept: list[dict[str, str]] = []
    for row in rows:
        if not breaks([*kept, row], rules):
            kept.append(row)
    rows[:] = kept


def grown(rng: Random, name: str) -> tuple[Spec, tuple[str, ...]]:
    """A hierarchy over some values, as a policy writes it: a tree of two levels, unbalanced, or a builder."""
    form = rng.choice(["tree", "tree", "tree", "mask", "intervals", "ranges", "none"])
    if form == "tree":
        leaves = [f"{name}{i}" for i in range(rng.randint(3, 8))]
        cut = rng.randint(1, len(leaves) - 1)
        middle = rng.randint(cut, len(leaves))
        upper: Spec = {f"{name}A": leaves[:cut], f"{name}B": {f"{name}C": leaves[cut:middle]} if middle > cut else []}
        for leaf in leaves[middle:]:
            upper[leaf] = []
        if not upper[f"{name}B"]:
            del upper[f"{name}B"]
        return {"hierarchy": {"tree": {rng.choice(["*", "*", "*", "All"]): upper}}}, tuple(leaves)
    if form == "mask":
        return {"hierarchy": {"mask": {"keep": [2, 1]}}}, ("111", "112", "121", "211", "212", "221")
    if form == "intervals":
        return {"hierarchy": {"intervals": {"from": 0, "to": 19, "widths": [2, 10]}}}, ("1", "2", "3", "11", "12", "19")
    if form == "ranges":
        spec: Spec = {"within": [-5, 30]} | rng.choice([{}, {"round": 5}])
        return {"hierarchy": {"ranges": spec}}, ("-3", "0", "7", "8", "20", "21.5")
    return {}, ("x", "y", "z")


def bounded(rng: Random, algorithm: Algorithm, spec: Spec, values: Sequence[str]) -> Spec:
    hierarchy = spec.get("hierarchy", {})
    if "ranges" in hierarchy:
        return {"boundary": {"max_width": rng.choice([5, 10, 30])}} if MAX_WIDTH in algorithm.honours else {}
    if BOUNDARIES not in algorithm.honours:
        return {}
    if "tree" in hierarchy and rng.random() < 0.5:
        (below,) = hierarchy["tree"].values()
        return {"boundary": rng.sample(sorted(below), rng.randint(1, len(below)))}
    return {"boundary": {"level": rng.randint(0, 2)}}


def planted(algorithm: Algorithm, rng: Random, outside: bool = True, individuals: bool = False) -> Case:
    """A case with one to three rules: chains, composite sides, cycles, shared right sides, other columns."""
    quasi = ["zip", "age", "job", "city"][: rng.randint(2, 4)]
    attributes: dict[str, Spec] = {}
    values: dict[str, tuple[str, ...]] = {}
    for name in quasi:
        spec, values[name] = grown(rng, name)
        while "ranges" in spec.get("hierarchy", {}) and RANGES not in algorithm.honours:
            spec, values[name] = grown(rng, name)
        attributes[name] = {"role": "quasi-identifier"} | spec
        if rng.random() < 0.25:
            attributes[name] |= bounded(rng, algorithm, spec, values[name])
        if rng.random() < 0.2:
            values[name] += ("",)
    attributes |= {"ward": {"role": "insensitive"}, "disease": {"role": "sensitive"}}
    values |= {"ward": ("w1", "w2"), "disease": ("flu", "cold", "gout")}
    rules: list[RuleNames] = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        names = rng.sample(quasi, len(quasi))
        if outside and rng.random() < 0.15:
            names = rng.sample([*quasi[:2], rng.choice(["ward", "disease"])], 3)
        wide = 2 if len(names) > 2 and rng.random() < 0.3 else 1
        rules.append((tuple(names[:wide]), tuple(names[wide : wide + rng.choice([1, 1, 2])])))
    if len(rules) == 2 and rng.random() < 0.3:
        rules[1] = (rules[0][1], rules[0][0])  # a cycle
    kinds = [{name: rng.choice(values[name]) for name in attributes} for _ in range(rng.randint(3, 22))]
    rows = [dict(kind) for kind in kinds for _ in range(rng.choice([1, 1, 2, 3]))]
    for row in rows:
        row |= {name: rng.choice(values[name]) for name in ("ward", "disease")}
    plant(rows, rules, values, rng)
    policy: Spec = {
        "kveil": 1,
        "attributes": attributes,
        "privacy": privacy(rng, algorithm, quasi),
        "dependencies": [f"{', '.join(left)} -> {', '.join(right)}" for left, right in rules],
        "suppression": {"limit": rng.choice([0, "0.1", "0.25", "0.5", 1]), "show": rng.choice(["drop", "star"])},
    }
    columns = list(attributes)
    if individuals:
        attributes["person"] = {"role": "individual"}
        columns.append("person")
        for i, row in enumerate(rows):
            row["person"] = f"p{i}"
    text = yaml.dump(policy, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
    return Case(text, (), tuple(columns), tuple(tuple(row[name] for name in columns) for row in rows))


def privacy(rng: Random, algorithm: Algorithm, quasi: list[str]) -> list[Spec]:
    """Constraints with their own k that cover all quasi-identifiers, now and then a model over the sensitive values."""
    if MANY not in algorithm.honours or rng.random() < 0.3:
        return [{"model": "k-anonymity", "k": rng.randint(2, 4)}]
    rest = rng.sample(quasi, len(quasi))
    found: list[Spec] = []
    while rest:
        size = rng.randint(1, len(rest))
        over = sorted({*rest[:size], *rng.sample(quasi, rng.choice([0, 0, 1]))})
        found.append({"model": "k-anonymity", "attributes": over, "k": rng.randint(2, 3)})
        rest = rest[size:]
    kinds = [
        {"model": "l-diversity", "sensitive": "disease", "l": 2},
        {"model": "l-diversity", "sensitive": "disease", "l": "1.5", "variant": "entropy"},
        {"model": "p-sensitive", "sensitive": "disease", "p": 2},
        {"model": "alpha-k", "sensitive": "disease", "alpha": "0.75", "k": 2},
        {"model": "t-closeness", "sensitive": "disease", "t": "0.5"},
    ]
    if rng.random() < 0.3:
        model = rng.choice(kinds)
        if model["model"] in algorithm.honours:
            found.append(model | {"attributes": sorted(rng.sample(quasi, rng.randint(1, len(quasi))))})
    return found


@every_algorithm
@given(seed=st.integers(0, 10**9))
@examples(25)
def test_planted_rules_survive(algorithm: Algorithm, seed: int) -> None:
    if DEPENDENCIES not in algorithm.honours:
        pytest.skip(f"{algorithm.name} does not honour dependencies")
    case = planted(algorithm, Random(seed))
    with placed(case) as here:
        result = solve(algorithm, here)
        if result is None:
            return
        assert verify(result.data, here.policy, original=case.frame(), owner=result.owner).findings == []
        found = naive.recount(here.twin, rows_of(result.data), case.records, result.owner.rows.tolist())
        assert found.broken == []
        assert all(rule["holds"] for rule in result.account["dependencies"])
        event("climbed" if "association" in result.account["details"] else "held")
        gone = {int(i) for reason in result.owner.suppressed.values() for i in reason}
        records = result.account["records"]
        assert records == {"input": len(case.rows), "released": len(case.rows) - len(gone), "suppressed": len(gone)}
        assert len(gone) <= here.twin.limit * len(case.rows)


# ---------------------------------------------------------------------------------------------- by hand


def policy_of(text: str) -> kveil.Policy:
    return parse_policy(text, "policy.yaml", Path())


def table(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


SPLIT = """
kveil: 1
attributes:
  dept: {role: quasi-identifier, hierarchy: {tree: {"*": {Science: [Maths, Physics], Arts: [Music, Dance]}}}}
  phone: {role: quasi-identifier, hierarchy: {mask: {keep: [2, 1]}}}
  sex: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [dept], k: 3}
  - {model: k-anonymity, attributes: [phone, sex], k: 4}
dependencies: ["dept -> phone"]
release: {order: keep}
"""


@pytest.mark.parametrize("algorithm", ["datafly", "classfly+complete", "mondrian", "incognito"])
def test_a_climb_that_splits_the_group_of_another_constraint(algorithm: str) -> None:
    # Maths and Physics must become Science, which takes phone 111 and 112 to 11*. Music keeps its 111, and over
    # (phone, sex) it loses the two Maths records it stood with: those four have to climb together.
    frame = table(
        dept=["Maths", "Maths", "Physics", "Physics", "Music", "Music", "Music", "Dance", "Dance", "Dance"],
        phone=["111", "111", "112", "112", "111", "111", "111", "112", "112", "112"],
        sex=["f", "f", "f", "f", "f", "f", "f", "f", "f", "f"],
    )
    loaded = policy_of(SPLIT)
    before = kveil.anonymize(frame, loaded.model_copy(update={"dependencies": ()}), algorithm=algorithm).data
    assert not kveil.verify(before, loaded)
    result = kveil.anonymize(frame, loaded, algorithm=algorithm)
    assert kveil.verify(result.data, loaded, original=frame)
    assert result.account["records"]["suppressed"] == 0
    assert set(result.data["phone"]) == {"11*"}


OUTSIDE = """
kveil: 1
attributes:
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [2, 1]}}}
  sex: {role: quasi-identifier}
  region: {role: insensitive}
privacy: [{model: k-anonymity, k: %s}]
dependencies: ["zip -> region"]
suppression: {limit: %s}
release: {order: keep}
"""


@every_algorithm
def test_a_right_side_that_is_released_as_is_bounds_the_left(algorithm: Algorithm) -> None:
    # 111 and 112 are north, 121 and 122 south: zips may meet inside a region, at 11* and 12*, never above.
    loaded = policy_of(OUTSIDE % (2, 0))
    if not able(algorithm, loaded):
        pytest.skip(f"{algorithm.name} does not honour the policy")
    frame = table(zip=["111", "112", "121", "122"], sex="mmmm", region=["n", "n", "s", "s"])
    result = kveil.anonymize(frame, loaded, algorithm=algorithm.name)
    assert result.data["zip"].to_list() == ["11*", "11*", "12*", "12*"]


def test_a_right_side_that_no_group_can_have_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kveil.algorithms.full_domain.datafly.Judge", None)
    frame = table(zip=["111", "112", "121"], sex="mmm", region=["n", "n", "s"])
    with pytest.raises(kveil.Unmeetable, match=r"zip -> region cannot be kept: region is insensitive.*1 record of 3"):
        kveil.anonymize(frame, policy_of(OUTSIDE % (2, 0)), algorithm="datafly")


def test_what_cannot_meet_inside_a_boundary_is_suppressed_within_the_limit() -> None:
    text = """
kveil: 1
attributes:
  a: {role: quasi-identifier, boundary: {level: 1}}
  b: {role: quasi-identifier, boundary: {level: 1}}
  y: {role: quasi-identifier, boundary: {level: 0}}
privacy:
  - {model: k-anonymity, attributes: [a, b], k: 2}
  - {model: k-anonymity, attributes: [y], k: 1}
dependencies: ["a, b -> y"]
suppression: {limit: %s, show: %s}
release: {order: keep}
"""
    frame = table(a="pqrrr", b="mmnnn", y="uvwww")
    with pytest.raises(kveil.Unmeetable, match="dependencies cannot be kept"):
        kveil.anonymize(frame, policy_of(text % (0, "drop")), algorithm="classfly+complete")
    for show in ("drop", "star"):
        result = kveil.anonymize(frame, policy_of(text % (0.4, show)), algorithm="classfly+complete")
        assert result.account["records"]["suppressed"] <= 2
        assert result.account["dependencies"] == [{"rule": "a, b -> y", "holds": True}]


def test_a_rule_over_items_in_long_shape_is_refused() -> None:
    text = """
kveil: 1
attributes:
  id: {role: individual}
  zip: {role: quasi-identifier}
  drug: {role: sensitive}
privacy: [{model: k-anonymity, k: 1}]
dependencies: ["drug -> zip"]
release: {shape: %s}
"""
    frame = table(id="112", zip="aab", drug="xyz")
    with pytest.raises(kveil.Refused, match="long shape"):
        kveil.anonymize(frame, policy_of(text % "long"), algorithm="mondrian")
    result = kveil.anonymize(frame, policy_of(text % "sets"), algorithm="mondrian")
    assert result.account["dependencies"] == [{"rule": "drug -> zip", "holds": True}]


def test_a_multivalued_rule_is_reported_and_k_msd_ag_keeps_it() -> None:
    text = """
kveil: 1
attributes:
  course: {role: quasi-identifier, hierarchy: {tree: {"*": {Science: [Maths, Physics], Arts: [Music, Dance]}}}}
  teacher: {role: quasi-identifier}
  room: {role: quasi-identifier}
privacy: [{model: k-anonymity, k: 2}]
dependencies: ["course ->> teacher"]
release: {order: keep}
"""
    frame = table(
        course=["Maths", "Maths", "Maths", "Maths", "Physics", "Music", "Music"],
        teacher=["a", "a", "b", "b", "c", "d", "d"],
        room=["1", "2", "1", "2", "1", "3", "3"],
    )
    broken = kveil.anonymize(frame, policy_of(text), algorithm="k-msd")
    kept = kveil.anonymize(frame, policy_of(text), algorithm="k-msd-ag")
    assert [rule["rule"] for rule in broken.account["dependencies"]] == ["course ->> teacher"]
    assert kept.account["dependencies"] == [{"rule": "course ->> teacher", "holds": True}]


def test_whoever_knows_a_rule_may_tell_groups_apart() -> None:
    # Over x alone A has four records. Beside z1, p is the y of x1 alone, and r that of x2: two records each.
    text = """
kveil: 1
attributes:
  x: {role: quasi-identifier, hierarchy: {tree: {"*": {A: [x1, x2], B: [x3]}}}}
  z: {role: quasi-identifier}
  y: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [x], k: 4}
  - {model: k-anonymity, attributes: [z, y], k: 2}
dependencies: ["x, z -> y"]
release: {order: keep}
"""
    frame = table(x=["x1", "x1", "x2", "x2"], z=["z1", "z1", "z2", "z2"], y=["p", "p", "r", "r"])
    release = frame.with_columns(pl.lit("A").alias("x"))
    verdict = kveil.verify(release, policy_of(text), original=frame)
    assert verdict
    (warning,) = verdict.warnings
    assert "over x apart down to 2 records, fewer than k = 4" in warning
    assert kveil.verify(release, policy_of(text)).warnings == []


HOSPITAL = """
kveil: 1
attributes:
  patient_id: {role: identifier}
  name: {role: identifier}
  birth: {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  city: {role: quasi-identifier, hierarchy: city.csv}
  state: {role: quasi-identifier, hierarchy: state.csv}
  weight: {role: identifier}
  department: {role: quasi-identifier, hierarchy: department.csv}
  phone: {role: quasi-identifier, hierarchy: {mask: {keep: [11, 10, 8, 4]}}}
  diagnosis: {role: sensitive}
  insurance: {role: insensitive}
privacy: [{model: k-anonymity, k: 5}]
dependencies: ["department -> phone", "zip -> city", "city -> state"]
"""


@pytest.mark.parametrize("algorithm", ["datafly", "mondrian", "k-msd", "k-msd-ag"])
def test_the_rules_of_the_demo_hospital_survive(algorithm: str) -> None:
    frame = pl.read_csv(hospital() / "patients.csv", infer_schema=False)
    loaded = parse_policy(HOSPITAL, "policy.yaml", hospital())
    result = kveil.anonymize(frame, loaded, algorithm=algorithm)
    assert [rule["holds"] for rule in result.account["dependencies"]] == [True, True, True]
    for left, right in (("department", "phone"), ("zip", "city"), ("city", "state")):
        assert result.data.select(left, right).n_unique() == result.data[left].n_unique()


@pytest.mark.skipif(not ADULT.exists(), reason="the shared data is not here")
@pytest.mark.parametrize("algorithm", ["mondrian", "k-msd-ag", "incognito"])
def test_a_pair_of_attributes_that_determine_each_other_on_adult(algorithm: str) -> None:
    # education <-> education-num, a real pair of rules, each the other's right side.
    columns = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
    whole = pl.read_csv(ADULT, has_header=False, infer_schema=False).drop_nulls()
    frame = pl.DataFrame({name: whole.to_series(i).str.strip_chars() for i, name in enumerate(columns)})
    text = """
kveil: 1
data: {missing: ["?"]}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [5, 10, 20]}}}
  workclass: {role: quasi-identifier}
  fnlwgt: {role: identifier}
  education: {role: quasi-identifier}
  education-num: {role: quasi-identifier, hierarchy: {intervals: {from: 1, to: 16, widths: [2, 4, 8]}}}
  marital-status: {role: quasi-identifier}
  occupation: {role: sensitive}
privacy: [{model: k-anonymity, k: 10}]
dependencies: ["education -> education-num", "education-num -> education"]
"""
    result = kveil.anonymize(frame, policy_of(text), algorithm=algorithm)
    assert [rule["holds"] for rule in result.account["dependencies"]] == [True, True]
    pairs = result.data.select("education", "education-num").n_unique()
    assert pairs == result.data["education"].n_unique() == result.data["education-num"].n_unique()
