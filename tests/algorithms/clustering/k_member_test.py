"""k-member and greedy-cka: record for record what their slow twin gives, and what boundaries ask for."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kveil
import places
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify
from kveil.policy.keys import AlgorithmChoice
from naive import release as naive
from naive.k_member import Twin
from strategies import Case, Placed, cases, examples, placed

GOLDEN = places.GOLDEN / "boundaries"
QUASI = "quasi-identifier"


def solved(here: Placed, algorithm: str, **options: Any) -> Result | None:
    policy = here.policy.model_copy(update={"algorithm": AlgorithmChoice(name=algorithm, options=options)})
    try:
        return kveil.anonymize(here.case.frame(), policy)
    except kveil.Unmeetable:
        return None


def check_against(here: Placed, algorithm: str) -> None:
    """Every record shows what the twin's clusters show, and the same records are suppressed."""
    records = here.case.records
    if not records or len(records) < here.twin.largest_k:
        return
    twin = Twin(here.path, records)
    clusters, out, hidden = twin.solve()
    result = solved(here, algorithm)
    allowed = here.twin.limit * len(records)
    if len(out | hidden) > allowed:
        assert result is None
        return
    assert result is not None
    wanted: dict[int, dict[str, str]] = {i: twin.shown(cluster) for cluster in clusters for i in cluster}
    gone = {int(i) for rows in result.owner.suppressed.values() for i in rows}
    assert gone == out | hidden
    for at, row in zip(result.owner.rows.tolist(), result.data.to_dicts(), strict=True):
        if at not in gone:
            assert {name: here.twin.text(row[name]) for name in here.twin.quasi} == wanted[at]


LOSSES = st.sampled_from(["ncp", "il", "precision"])


def with_loss(case: Case, loss: str) -> Case:
    return Case(f"loss: {loss}\n{case.policy}", case.files, case.columns, case.rows)


@given(case=cases(many=False, bounded=False, with_ranges=True), loss=LOSSES)
@examples(40)
def test_k_member_is_its_slow_twin_record_for_record(case: Case, loss: str) -> None:
    with placed(with_loss(case, loss)) as here:
        check_against(here, "k-member")


@given(case=cases(many=False, with_ranges=True), loss=LOSSES)
@examples(40)
def test_greedy_cka_is_its_slow_twin_record_for_record(case: Case, loss: str) -> None:
    with placed(with_loss(case, loss)) as here:
        check_against(here, "greedy-cka")


@pytest.mark.uncompiled
def test_the_papers_example_cell_for_cell() -> None:
    policy = kveil.Policy.load(GOLDEN / "policy.yaml")
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    result = kveil.anonymize(frame, policy)
    assert result.data.equals(pl.read_csv(GOLDEN / "expected.csv", infer_schema=False))
    assert result.account["algorithm"] == "greedy-cka"
    assert result.account["boundaries"] == {"violations": 0}


# ---------------------------------------------------------------------------------------------- suppression


@given(case=cases(many=False, most_rows=9))
@examples(40)
def test_out_is_the_fewest_that_can_be_suppressed(case: Case) -> None:
    """No larger set of records can be generalized within the boundaries so that groups have k: every set is tried."""
    with placed(case) as here:
        records, k = here.case.records, here.twin.largest_k
        if len(records) < k:
            return
        twin = Twin(here.path, records)
        _, out, hidden = twin.solve()
        hierarchies = {name: here.twin.hierarchy(name, [r[name] for r in records]) for name in here.twin.quasi}

        def together(rows: tuple[int, ...]) -> bool:
            """Whether some value of every attribute covers the records and lies inside all their boundaries."""
            for name, hierarchy in hierarchies.items():
                assert isinstance(hierarchy, naive.Hierarchy)
                values = [twin.records[i][name] for i in rows]
                shown = hierarchy.lca(values)
                if not all(hierarchy.within(value, shown) for value in values):
                    return False
            return True

        everyone = range(len(records))
        able = {i for rows in combinations(everyone, k) if together(rows) for i in rows}
        assert set(everyone) - able == out
        result = solved(here, "greedy-cka")
        if result is not None:
            gone = {int(i) for rows in result.owner.suppressed.values() for i in rows}
            assert gone - hidden == out - hidden


def test_out_beyond_the_limit_is_refused_and_counted_within_it(tmp_path: Path) -> None:
    attributes = {
        "city": {
            "role": QUASI,
            "hierarchy": {"tree": {"*": {"N": ["Oslo", "Bergen"], "S": ["Rome", "Pisa"]}}},
            "boundary": ["N", "S"],
        }
    }
    rows = ["Oslo", "Bergen", "Oslo", "Rome"]
    frame = pl.DataFrame({"city": rows})
    policy: dict[str, Any] = {
        "attributes": attributes,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": "greedy-cka",
    }
    with pytest.raises(kveil.Unmeetable, match="1 record of 4 cannot be kept within the boundaries"):
        kveil.anonymize(frame, kveil.Policy(**policy))
    result = kveil.anonymize(frame, kveil.Policy(**policy, suppression={"limit": 0.25}))
    assert result.data["city"].to_list() == ["N", "N", "N"]
    assert result.account["details"]["boundaries"] == {"groups": 2, "groups_out": 1, "out": 1}
    assert {r: rows.tolist() for r, rows in result.owner.suppressed.items()} == {
        "its group within the boundaries has fewer than 2 members": [3]
    }


def test_k_member_names_who_honours_boundaries() -> None:
    policy = kveil.Policy(
        attributes={"a": {"role": QUASI, "boundary": ["x"]}},
        privacy=[{"model": "k-anonymity", "k": 2}],
        algorithm="k-member",
    )
    with pytest.raises(kveil.Refused, match=r"k-member does not honour boundaries.*greedy-cka"):
        kveil.anonymize(pl.DataFrame({"a": ["x", "x"]}), policy)


# ---------------------------------------------------------------------------------------------- cells of numbers


@pytest.mark.parametrize("algorithm", ["greedy-cka", "mondrian"])
@pytest.mark.parametrize(("k", "limit", "kept"), [(2, 0, 7), (3, "0.2", 6)])
def test_a_largest_width_is_kept_and_suppresses_the_fewest(algorithm: str, k: int, limit: Any, kept: int) -> None:
    ages = ["20", "24", "30", "31", "33", "40", "42"]
    policy = kveil.Policy(
        attributes={
            "age": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 100]}}, "boundary": {"max_width": 10}}
        },
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": limit},
        algorithm=algorithm,
    )
    result = kveil.anonymize(pl.DataFrame({"age": ages}), policy)
    assert len(result.data) == kept
    for low, high in (text.split("-") for text in result.data["age"]):
        assert int(high) - int(low) <= 10


# ---------------------------------------------------------------------------------------------- edges


def test_one_row_equal_rows_and_k_of_the_whole_table() -> None:
    def release(values: list[str], k: int) -> list[str]:
        policy = kveil.Policy(
            attributes={"a": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}},
            privacy=[{"model": "k-anonymity", "k": k}],
            algorithm="k-member",
        )
        return kveil.anonymize(pl.DataFrame({"a": values}), policy).data["a"].to_list()

    assert release(["3"], 1) == ["3"]
    assert release(["3"] * 5, 2) == ["3"] * 5
    assert release(["1", "5", "3"], 3) == ["1-5"] * 3
    assert release(["1", "5", "3"], 1) == ["1", "3", "5"]
    with pytest.raises(kveil.Unmeetable, match="fewer than k"):
        release(["1", "2"], 3)


def test_clusters_of_stars_are_dissolved() -> None:
    # Greedily a, a, b would end together, and show nothing.
    policy = kveil.Policy(
        attributes={"a": {"role": QUASI}}, privacy=[{"model": "k-anonymity", "k": 3}], algorithm="k-member"
    )
    assert kveil.anonymize(pl.DataFrame({"a": list("aaaaabbbbb")}), policy).data["a"].to_list() == list("aaaaabbbbb")


def random_adult(rows: int, seed: int) -> tuple[pl.DataFrame, str]:
    """A table like Adult's, with an attribute of many values."""
    random = Random(seed)
    frame = pl.DataFrame(
        {
            "age": [str(min(int(random.expovariate(0.04)) + 17, 90)) for _ in range(rows)],
            "zip": [f"{int(random.betavariate(1, 3) * 300):04}" for _ in range(rows)],
            "job": [random.choice("aaaaabbbccdefghijk") for _ in range(rows)],
            "sex": [random.choice("mf") for _ in range(rows)],
        }
    )
    policy = f"""kveil: 1
attributes:
  age: {{role: {QUASI}, hierarchy: {{ranges: {{within: [0, 99], round: 5}}}}, weight: 2}}
  zip: {{role: {QUASI}, hierarchy: {{mask: {{keep: [3, 2, 1]}}}}}}
  job: {{role: {QUASI}, hierarchy: {{tree: {{"*": {{x: [a, b, c], y: {{z: [d, e], w: [f, g, h]}}, v: [i, j, k]}}}}}}}}
  sex: {{role: {QUASI}}}
privacy: [{{model: k-anonymity, k: 4}}]
"""
    return frame, policy


@pytest.mark.parametrize("loss", ["ncp", "il"])
def test_a_larger_table_is_its_slow_twin_too(tmp_path: Path, loss: str) -> None:
    frame, policy = random_adult(220, 5)
    rows = tuple(map(tuple, frame.rows()))
    with placed(Case(f"{policy}loss: {loss}\n", (), tuple(frame.columns), rows)) as here:
        check_against(here, "k-member")


def test_blocks_say_what_they_are_and_cost_loss() -> None:
    frame, text = random_adult(600, 6)
    with placed(Case(text, (), tuple(frame.columns), tuple(map(tuple, frame.rows())))) as here:
        exact, split = solved(here, "k-member"), solved(here, "k-member", blocks=50)
        assert exact is not None
        assert split is not None
        assert split.account["details"]["blocks"] > 5
        assert "blocks" not in exact.account["details"]
        assert verify(split.data, here.policy, original=frame, owner=split.owner)
        assert split.account["loss"]["ncp"] > exact.account["loss"]["ncp"]


@pytest.mark.parametrize("algorithm", ["greedy-cka", "pk-clustering", "mondrian"])
def test_people_whose_records_disagree_stay_within_a_largest_width(algorithm: str) -> None:
    def release(ages: dict[str, list[str]]) -> list[str]:
        policy = kveil.Policy(
            attributes={
                "who": {"role": "individual"},
                "age": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}, "boundary": {"max_width": 10}},
            },
            privacy=[{"model": "k-anonymity", "k": 2}],
            individual={"conflicts": "generalize"},
            algorithm=algorithm,
        )
        pairs = [(who, age) for who, own in ages.items() for age in own]
        frame = pl.DataFrame({"who": [who for who, _ in pairs], "age": [age for _, age in pairs]})
        return kveil.anonymize(frame, policy).data["age"].to_list()

    assert release({"a": ["20"], "b": ["21", "25"], "c": ["28"], "d": ["50"], "e": ["51"]}) == [
        *["20-28"] * 3, *["50-51"] * 2
    ]  # fmt: skip
    with pytest.raises(kveil.DataError, match="1 person disagree on age so far"):
        release({"a": ["20"], "b": ["21", "35"], "c": ["28"]})
