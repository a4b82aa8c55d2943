"""One person, many records: who is counted, what is shown for a person, and that nobody's id ever leaves."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import kveil
import support
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.measure import measure_sources
from kveil.flow.steps.inputs import read
from kveil.flow.steps.request import Request
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify, verify_sources
from kveil.frames import from_frame
from kveil.report.owner import Owner

Spec = dict[str, Any]
QUASI = "quasi-identifier"
JOBS = {"tree": {"*": {"craft": ["smith", "baker"], "office": ["clerk", "judge"]}}}
AGES = {"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}
algorithms = pytest.mark.parametrize("algorithm", ["datafly", "mondrian"])
shapes = pytest.mark.parametrize("shape", ["sets", "long"])

COLUMNS = ["pid", "age", "job", "illness", "ward"]
# Two people in their thirties who are craftsmen, two in their sixties at a desk; seven records.
ROWS = [
    ("QX71", "31", "smith", "flu", "w"),
    ("QX72", "38", "baker", "", "w"),
    ("QX71", "31", "smith", "cold", "w"),
    ("QX73", "60", "clerk", "gout", "v"),
    ("QX74", "61", "judge", "flu", "v"),
    ("QX74", "61", "judge", "flu", "v"),
    ("QX73", "60", "clerk", "acne", "v"),
]


def frame_of(rows: list[tuple[str, ...]], columns: list[str] = COLUMNS) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def policy_of(*privacy: Spec, **others: Any) -> Spec:
    return {
        "kveil": 1,
        "attributes": {
            "pid": {"role": "individual"},
            "age": {"role": QUASI, "hierarchy": AGES},
            "job": {"role": QUASI, "hierarchy": JOBS},
            "illness": {"role": "sensitive"},
            "ward": {"role": "insensitive"},
        },
        "privacy": list(privacy) or [{"model": "k-anonymity", "k": 2}],
        "release": {"order": "keep"},
        **others,
    }


def run(policy: Spec, rows: list[tuple[str, ...]] | pl.DataFrame, columns: list[str] = COLUMNS) -> Result:
    frame = rows if isinstance(rows, pl.DataFrame) else frame_of(rows, columns)
    return kveil.anonymize(frame, kveil.Policy(**policy))


# ---------------------------------------------------------------------------------------------- who is counted


@algorithms
def test_a_row_is_an_individual(algorithm: str) -> None:
    result = run(policy_of(algorithm=algorithm), ROWS)
    assert result.data.columns == ["age", "job", "illness", "ward"]
    assert result.data.rows() == [
        ("30-39", "craft", ["cold", "flu"], "w"),
        ("30-39", "craft", [], "w"),
        ("60-69", "office", ["acne", "gout"], "v"),
        ("60-69", "office", ["flu"], "v"),
    ]
    assert result.owner.rows.tolist() == [0, 1, 2, 3]
    account = result.account
    assert account["records"] == {"input": 7, "released": 7, "suppressed": 0}
    assert account["individuals"] == {"input": 4, "released": 4, "suppressed": 0}
    assert [(g["worst"], g["groups"]) for g in account["guarantees"]] == [(2, 2)]
    # A row of the measures is an individual: four of them, two in each group.
    assert account["loss"]["discernibility"] == 8
    assert account["loss"]["average_group"] == 1.0
    assert account["loss_by_attribute"]["job"] == {"precision": 0.5, "il_per_cell": 0.5, "ncp": 0.5}


@algorithms
def test_ten_records_of_one_person_protect_nobody(algorithm: str) -> None:
    alone = [("one", "30", "smith", f"i{n}", "w") for n in range(10)]
    fixed = {"boundary": {"level": 0}}
    policy = policy_of(algorithm=algorithm, suppression={"limit": "0.5"})
    for name in ("age", "job"):
        policy["attributes"][name] = {**policy["attributes"][name], **fixed}
    with pytest.raises(kveil.Unmeetable, match=r"\b2\b"):
        run(policy, alone)
    others = [("two", "40", "baker", "flu", "w"), ("three", "40", "baker", "flu", "w")]
    result = run(policy, alone + others)
    assert result.data.rows() == [("40", "baker", ["flu"], "w")] * 2
    assert result.account["records"] == {"input": 12, "released": 2, "suppressed": 10}
    assert result.account["individuals"] == {"input": 3, "released": 2, "suppressed": 1}


@algorithms
@pytest.mark.parametrize(
    ("model", "good"),
    [
        # Two people: one has four things, the other one of them.
        ({"model": "l-diversity", "l": 4}, True),
        ({"model": "l-diversity", "l": 5}, False),
        ({"model": "p-sensitive", "p": 4}, True),
        ({"model": "l-diversity", "variant": "frequency", "l": 1}, True),
        ({"model": "l-diversity", "variant": "frequency", "l": 2}, False),  # both have a
        ({"model": "alpha-k", "alpha": 1, "k": 2}, True),
        ({"model": "alpha-k", "alpha": "0.9", "k": 2}, False),
        ({"model": "alpha-k", "alpha": 1, "k": 3}, False),
        ({"model": "k-anonymity", "k": 3}, False),
        ({"model": "l-diversity", "variant": "recursive", "c": 3, "l": 3}, True),  # 2 < 3 (1 + 1)
        ({"model": "l-diversity", "variant": "recursive", "c": 1, "l": 3}, False),
        ({"model": "l-diversity", "variant": "entropy", "l": "3.7"}, True),  # 2, 1, 1, 1 of five
        ({"model": "l-diversity", "variant": "entropy", "l": "3.8"}, False),
        ({"model": "t-closeness", "t": 0}, True),
    ],
)
def test_models_count_individuals(algorithm: str, model: Spec, good: bool) -> None:
    rows = [("1", "30", "smith", item, "w") for item in "aaaabcd"] + [("2", "30", "smith", "a", "w")]
    model = model if model["model"] == "k-anonymity" else {"sensitive": "illness", **model}
    policy = policy_of(model, algorithm=algorithm)
    if good:
        (guarantee,) = run(policy, rows).account["guarantees"]
        assert (guarantee["holds"], guarantee["groups"]) == (True, 1)
    else:
        with pytest.raises(kveil.Unmeetable):
            run(policy, rows)


@algorithms
def test_k_is_held_against_the_number_of_individuals(algorithm: str) -> None:
    with pytest.raises(kveil.Unmeetable, match="4 people, fewer than k = 5"):
        run(policy_of({"model": "k-anonymity", "k": 5}, algorithm=algorithm), ROWS)


@algorithms
def test_the_limit_counts_individuals(algorithm: str) -> None:
    # Three people alike, a fourth with most of the records who is not.
    rows = [(f"{n}", "30", "smith", "flu", "w") for n in range(3)]
    rows += [("other", "90", "judge", f"i{n}", "w") for n in range(5)]
    policy = policy_of(algorithm=algorithm, suppression={"limit": "0.25"})
    for name in ("age", "job"):
        policy["attributes"][name] = {**policy["attributes"][name], "boundary": {"level": 0}}
    result = run(policy, rows)
    assert result.account["individuals"] == {"input": 4, "released": 3, "suppressed": 1}
    assert result.account["records"] == {"input": 8, "released": 3, "suppressed": 5}
    policy["suppression"] = {"limit": "0.24"}
    with pytest.raises(kveil.Unmeetable, match="1 person can never be kept"):
        run(policy, rows)


# ---------------------------------------------------------------------------------------------- conflicts


CONFLICTING = [
    ("1", "31", "smith", "flu", "w"),
    ("1", "35", "baker", "cold", "w"),
    ("2", "38", "smith", "gout", "w"),
    ("2", "38", "baker", "gout", "w"),
    ("3", "33", "baker", "gout", "w"),
]


@algorithms
def test_conflicts_are_an_error_that_names_how_many_and_which_attributes(algorithm: str) -> None:
    with pytest.raises(kveil.DataError, match=r"2 people disagree on age and job;.*conflicts: generalize"):
        run(policy_of(algorithm=algorithm), CONFLICTING)
    with pytest.raises(kveil.DataError, match=r"1 person disagree on job;"):
        run(policy_of(algorithm=algorithm), CONFLICTING[2:])


@algorithms
def test_generalize_shows_what_covers_all_of_a_persons_values(algorithm: str) -> None:
    policy = policy_of({"model": "k-anonymity", "k": 1}, individual={"conflicts": "generalize"}, algorithm=algorithm)
    result = run(policy, CONFLICTING)
    assert [row[:2] for row in result.data.rows()] == [("30-39", "craft"), ("38", "craft"), ("33", "baker")]
    # Loss counts from the first record: 31 is one of three steps below 30-39, smith one of two below craft.
    assert result.account["loss_by_attribute"]["age"]["precision"] == pytest.approx(1 - (1 / 3) / 3)
    assert result.account["loss_by_attribute"]["job"]["precision"] == pytest.approx(1 - (1 / 2) * 2 / 3)
    assert verify(result.data, kveil.Policy(**policy), frame_of(CONFLICTING), result.owner).findings == []


def test_loss_counts_from_the_first_record() -> None:
    # The leaves lie at different depths: which record comes first decides what the root costs.
    policy = policy_of({"model": "k-anonymity", "k": 1}, individual={"conflicts": "generalize"}, algorithm="mondrian")
    policy["attributes"]["job"] = {
        "role": QUASI,
        "hierarchy": {"tree": {"*": {"A": {"B": ["deep"], "near": []}, "o": []}}},
    }
    one = ("1", "30", "deep", "flu", "w")
    other = ("1", "30", "near", "flu", "w")
    for rows, steps in (([one, other], 2 / 3), ([other, one], 1 / 2)):
        result = run(policy, rows)
        assert result.data["job"].to_list() == ["A"]
        assert result.account["loss_by_attribute"]["job"]["precision"] == pytest.approx(1 - steps)


@pytest.mark.parametrize("choose", ["widest", "gain"])
def test_a_persons_numbers_show_their_range(choose: str) -> None:
    policy = policy_of(
        {"model": "k-anonymity", "k": 1},
        individual={"conflicts": "generalize"},
        algorithm={"name": "mondrian", "choose": choose},
    )
    policy["attributes"]["age"] = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 100]}}}
    rows = [*CONFLICTING, ("4", "90", "judge", "flu", "w"), ("4", "", "judge", "flu", "w")]
    result = run(policy, rows)
    # A range and missing have only the root in common.
    assert result.data["age"].to_list() == ["31-35", "38", "33", "*"]
    policy["privacy"] = [{"model": "k-anonymity", "k": 2}]
    assert run(policy, rows[:5]).data["age"].to_list() == ["31-38"] * 3
    assert run(policy, rows[:5]).data["job"].to_list() == ["craft"] * 3


def test_people_whom_a_split_would_tear_apart_stay_in_the_rest() -> None:
    # Cut between 20 and 80: the person with both can be in neither half.
    policy = policy_of(individual={"conflicts": "generalize"}, algorithm="mondrian")
    policy["attributes"]["age"] = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 100]}}}
    rows = [(f"{n}", age, "smith", "flu", "w") for n, age in enumerate(["20", "20", "80", "80", "80"])]
    rows += [("both", "20", "smith", "flu", "w"), ("both", "80", "smith", "flu", "w")]
    result = run(policy, rows)
    # Alone that is no part of two: the rest takes in the smaller half.
    assert result.data["age"].to_list() == ["20-80", "20-80", "80", "80", "80", "20-80"]


@algorithms
def test_conflicts_beyond_a_boundary_are_an_error(algorithm: str) -> None:
    policy = policy_of({"model": "k-anonymity", "k": 1}, individual={"conflicts": "generalize"}, algorithm=algorithm)
    policy["attributes"]["job"] = {**policy["attributes"]["job"], "boundary": ["craft", "office"]}
    rows = [("1", "30", "smith", "flu", "w"), ("1", "30", "clerk", "flu", "w")]
    with pytest.raises(kveil.DataError, match=r"1 person disagree on job .* boundary"):
        run(policy, rows)


@algorithms
def test_conflicts_beyond_the_boundary_of_any_value_are_an_error(algorithm: str) -> None:
    # The first leaf may go to the root, the second not beyond itself: nothing may cover both.
    policy = policy_of({"model": "k-anonymity", "k": 1}, individual={"conflicts": "generalize"}, algorithm=algorithm)
    policy["attributes"]["job"] = {**policy["attributes"]["job"], "boundary": ["clerk"]}
    rows = [("1", "30", "smith", "flu", "w"), ("1", "30", "clerk", "flu", "w")]
    with pytest.raises(kveil.DataError, match=r"1 person disagree on job .* boundary"):
        run(policy, rows)


@algorithms
def test_what_varies_within_a_person_cannot_be_insensitive(algorithm: str) -> None:
    rows = [*ROWS, ("QX71", "31", "smith", "flu", "elsewhere")]
    with pytest.raises(kveil.DataError, match="ward is insensitive and varies within 1 person"):
        run(policy_of(algorithm=algorithm), rows)


@algorithms
@pytest.mark.parametrize("missing", ["", "?"])
def test_a_record_of_nobody_is_an_error(algorithm: str, missing: str) -> None:
    policy = policy_of(algorithm=algorithm, data={"missing": ["", "?"]})
    with pytest.raises(kveil.DataError, match=r"pid .* missing in 1 record"):
        run(policy, [*ROWS, (missing, "31", "smith", "flu", "w")])


# ---------------------------------------------------------------------------------------------- shapes and files


@algorithms
def test_long_shape_has_a_row_an_item(algorithm: str) -> None:
    policy = policy_of(algorithm=algorithm, release={"order": "keep", "shape": "long"})
    assert run(policy, ROWS).data.rows() == [
        (1, "30-39", "craft", "cold", "w"),
        (1, "30-39", "craft", "flu", "w"),
        (2, "30-39", "craft", "", "w"),
        (3, "60-69", "office", "acne", "v"),
        (3, "60-69", "office", "gout", "v"),
        (4, "60-69", "office", "flu", "v"),
    ]


@algorithms
def test_individuals_are_numbered_in_the_order_of_the_release(algorithm: str) -> None:
    policy = policy_of(algorithm=algorithm, release={"shape": "long"})
    result = run(policy, list(reversed(ROWS)))
    assert result.data["individual"].to_list() == [1, 2, 2, 3, 3, 4]
    # Sorted by texts: nothing, then cold and flu; acne and gout, then flu. Whoever came first in the input.
    assert result.data["illness"].to_list() == ["", "cold", "flu", "acne", "gout", "flu"]
    assert result.data.rows() == run(policy, ROWS).data.rows()


def test_items_stand_in_the_order_of_their_leaves() -> None:
    policy = policy_of(algorithm="mondrian")
    tree = {"tree": {"*": {"z": ["gout", "flu"], "a": ["cold", "acne"]}}}
    policy["attributes"]["illness"] = {"role": "sensitive", "hierarchy": tree}
    items = [row[2] for row in run(policy, ROWS).data.rows()]
    assert items == [["flu", "cold"], [], ["gout", "acne"], ["flu"]]


@algorithms
@shapes
@pytest.mark.parametrize("order", ["sorted", "keep", "shuffle"])
def test_verify_and_measure_align_by_owner_and_by_order(algorithm: str, shape: str, order: str, tmp_path: Path) -> None:
    release = {"order": order, "shape": shape}
    policy = kveil.Policy(**policy_of(algorithm=algorithm, release=release, suppression={"limit": "0.3"}))
    data, out, owner = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "owner.json"
    random = Random(5)
    rows = [
        (f"p{n}", *person, random.choice(["flu", "cold", "", "gout"]), "w")
        for n in range(24)
        for person in [(str(random.randint(20, 60)), random.choice(["smith", "baker", "clerk"]))]
        for _ in range(random.randint(1, 3))
    ]
    random.shuffle(rows)
    frame_of(rows).write_csv(data)
    account = anonymize_file(Request.of(policy), data, Targets(out, owner=owner))
    assert account["individuals"] is not None
    assert account["individuals"]["input"] == 24
    original, released = read(policy, data), read(policy, out)
    verdict = verify_sources(released, policy, original, Owner.load(owner)).verdict
    assert verdict.findings == []
    measured = measure_sources(released, policy, original, Owner.load(owner))
    assert measured.losses.as_json() == pytest.approx(account["loss"])
    assert measured.records == account["individuals"]
    if order == "keep" and not account["individuals"]["suppressed"]:
        assert verify_sources(released, policy, original, None).verdict.findings == []
        assert measure_sources(released, policy, original, None).losses.as_json() == pytest.approx(account["loss"])
    else:
        with pytest.raises(kveil.DataError, match="--owner"):
            verify_sources(released, policy, original, None)
    # A changed item, and a changed quasi-identifier, are found.
    name = "illness"
    changed = released.frame.with_columns(pl.Series(name, ["acne", *released.frame[name].to_list()[1:]]))
    assert any(
        name in said
        for said in verify_sources(from_frame(changed), policy, original, Owner.load(owner)).verdict.findings
    )


@shapes
def test_csv_and_parquet_hold_the_same_people(shape: str, tmp_path: Path) -> None:
    policy = kveil.Policy(**policy_of(algorithm="mondrian", release={"shape": shape}))
    data = tmp_path / "in.csv"
    frame_of(ROWS).write_csv(data)
    for suffix in ("csv", "parquet", "feather"):
        anonymize_file(Request.of(policy), data, Targets(tmp_path / f"out.{suffix}", owner=tmp_path / f"{suffix}.json"))
        released = read(policy, tmp_path / f"out.{suffix}")
        owner = Owner.load(tmp_path / f"{suffix}.json")
        assert verify_sources(released, policy, read(policy, data), owner).verdict.findings == []
    with (tmp_path / "out.csv").open(newline="") as file:
        texts = [row["illness"] for row in csv.DictReader(file)]
    column = pq.read_table(tmp_path / "out.parquet")["illness"]
    if shape == "sets":
        assert texts == ["", "cold|flu", "acne|gout", "flu"]
        assert str(column.type) in ("list<element: string>", "large_list<element: large_string>", "list<item: string>",
                                    "large_list<item: large_string>", "large_list<item: string>")  # fmt: skip
        assert column.to_pylist() == [[], ["cold", "flu"], ["acne", "gout"], ["flu"]]
    else:
        assert texts == ["", "cold", "flu", "acne", "gout", "flu"]
        assert column.to_pylist() == texts


def test_a_bar_inside_an_item_is_refused_for_sets_only() -> None:
    rows = [*ROWS, ("QX71", "31", "smith", "a|b", "w")]
    with pytest.raises(kveil.DataError, match=r"illness has `\|` in 1 value.*shape: long"):
        run(policy_of(algorithm="mondrian"), rows)
    released = run(policy_of(algorithm="mondrian", release={"shape": "long"}), rows).data
    assert "a|b" in released["illness"].to_list()


def test_long_shape_needs_its_column_to_itself() -> None:
    rows = [(*row, "x") for row in ROWS]
    policy = policy_of(algorithm="mondrian", release={"shape": "long"})
    policy["attributes"]["individual"] = {"role": "insensitive"}
    with pytest.raises(kveil.DataError, match="'individual'"):
        run(policy, rows, [*COLUMNS, "individual"])
    policy = kveil.Policy(**policy_of(release={"shape": "long"}))
    with pytest.raises(kveil.DataError, match="'individual'"):
        verify(pl.DataFrame({"age": ["3"], "job": ["*"], "illness": ["x"], "ward": ["w"]}), policy)


def test_records_with_two_sensitive_attributes_stay_whole() -> None:
    columns = [*COLUMNS, "drug"]
    drugs = ["a", "", "b", "c", "d", "e", "c"]
    rows = [(*row, drug) for row, drug in zip(ROWS, drugs, strict=True)]
    policy = policy_of(
        {"model": "k-anonymity", "k": 2},
        {"model": "l-diversity", "sensitive": "drug", "l": 2},
        algorithm="mondrian",
        release={"order": "keep", "shape": "long"},
    )
    policy["attributes"]["drug"] = {"role": "sensitive"}
    result = run(policy, rows, columns)
    assert [(row[0], row[3], row[5]) for row in result.data.rows()] == [
        (1, "cold", "b"),
        (1, "flu", "a"),
        (2, "", ""),
        (3, "acne", "c"),
        (3, "gout", "c"),
        (4, "flu", "d"),
        (4, "flu", "e"),
    ]
    assert verify(result.data, kveil.Policy(**policy), frame_of(rows, columns), result.owner).findings == []


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_of_every_kind(kind: str) -> None:
    frame = frame_of(ROWS)
    given = {"pandas": frame.to_pandas, "polars": lambda: frame, "arrow": frame.to_arrow}[kind]()
    result = kveil.anonymize(given, kveil.Policy(**policy_of(algorithm="mondrian")))
    assert isinstance(result.data, type(given))
    column = result.data["illness"]
    items = column.to_pylist() if kind == "arrow" else column.to_list() if kind == "polars" else column.tolist()
    assert [list(each) for each in items] == [["cold", "flu"], [], ["acne", "gout"], ["flu"]]
    assert verify(result.data, kveil.Policy(**policy_of()), given, result.owner).findings == []


def test_a_frames_labels_do_not_say_who_is_who() -> None:
    labelled = frame_of(ROWS).to_pandas().set_index(pd.Index([3, 1, 4, 1, 5, 9, 2]))
    policy = kveil.Policy(**policy_of(algorithm="mondrian"))
    plain = kveil.anonymize(frame_of(ROWS).to_pandas(), policy)
    assert kveil.anonymize(labelled, policy).data.to_dict() == plain.data.to_dict()


# ---------------------------------------------------------------------------------------------- stars


@algorithms
@shapes
def test_a_starred_persons_items_show_stars_too(algorithm: str, shape: str) -> None:
    policy = policy_of(
        algorithm=algorithm,
        suppression={"limit": "0.5", "show": "star"},
        release={"order": "keep", "shape": shape},
    )
    for name in ("age", "job"):
        policy["attributes"][name] = {**policy["attributes"][name], "boundary": {"level": 0}}
    rows = [
        ("1", "30", "smith", "flu", "w"),
        ("2", "30", "smith", "cold", "w"),
        ("3", "44", "judge", "rare", "w"),
        ("3", "44", "judge", "rarer", "w"),
    ]
    result = run(policy, rows)
    star = ["*"] if shape == "sets" else "*"
    assert result.data.rows()[-1][-4:] == ("*", "*", star, "w")
    assert result.data.height == 3
    assert "rare" not in str(result.data.rows())
    assert result.account["individuals"] == {"input": 3, "released": 2, "suppressed": 1}
    assert result.account["records"] == {"input": 4, "released": 2, "suppressed": 2}
    assert [(g["worst"], g["groups"]) for g in result.account["guarantees"]] == [(2, 1)]
    loaded = kveil.Policy(**policy)
    assert verify(result.data, loaded).findings == []
    assert verify(result.data, loaded, frame_of(rows), result.owner).findings == []
    assert verify(result.data, loaded, frame_of(rows)).findings == []
    # Half of the individuals may be starred; a third of these is one more than a quarter allows.
    strict = kveil.Policy(**{**policy, "suppression": {"limit": "0.25", "show": "star"}})
    assert any("1 person of 3" in said for said in verify(result.data, strict, frame_of(rows)).findings)


@algorithms
def test_a_person_whose_items_are_shown_is_kept_however_general(algorithm: str) -> None:
    policy = policy_of(algorithm=algorithm)
    rows = [("1", "10", "smith", "flu", "w"), ("2", "90", "judge", "cold", "w")]
    result = run(policy, rows)
    assert result.data.rows() == [("*", "*", ["flu"], "w"), ("*", "*", ["cold"], "w")]
    assert result.account["individuals"] == {"input": 2, "released": 2, "suppressed": 0}
    assert [(g["worst"], g["groups"]) for g in result.account["guarantees"]] == [(2, 1)]


# ---------------------------------------------------------------------------------------------- ids


@algorithms
@shapes
@pytest.mark.parametrize("show", ["drop", "star"])
def test_a_planted_id_appears_nowhere(algorithm: str, shape: str, show: str, tmp_path: Path) -> None:
    secret = "ZQXJ-0099"
    rows = [(f"{secret}{n // 2}", *row[1:4], "w") for n, row in enumerate(sorted(ROWS))]
    plain = policy_of(
        algorithm=algorithm,
        individual={"conflicts": "generalize"},
        suppression={"limit": 1, "show": show},
        release={"shape": shape},
    )
    (tmp_path / "policy.yaml").write_text(json.dumps(plain))
    frame_of(rows).write_csv(tmp_path / "in.csv")
    command = ("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / "in.csv", "--output", tmp_path / "out.csv")
    done = support.run(*command, "--receipt", tmp_path / "r.json", "--owner", tmp_path / "o.json")
    assert done.code == 0, done.err
    written = [(tmp_path / name).read_text() for name in ("out.csv", "r.json", "o.json")]
    checked = support.run(
        "verify", tmp_path / "policy.yaml", "--release", tmp_path / "out.csv", "--original", tmp_path / "in.csv",
        "--owner", tmp_path / "o.json", "--json",
    )  # fmt: skip
    assert checked.code == 0, checked.err
    # The errors that speak of people: conflicts, a cell that varies, too few of them, none for a record.
    wrong = [
        {**plain, "individual": {"conflicts": "error"}},
        {**plain, "attributes": {**plain["attributes"], "illness": {"role": "insensitive"}}},
        {**plain, "privacy": [{"model": "k-anonymity", "k": 99}]},
        {**plain, "data": {"missing": ["", rows[0][0]]}},
    ]
    said = [done.out, done.err, checked.out, checked.err, *written]
    for policy in wrong:
        (tmp_path / "policy.yaml").write_text(json.dumps(policy))
        failed = support.run(*command)
        assert failed.code in (1, 2)
        assert re.search(r"\b(?:person|people|whose record)\b", failed.err)
        said += [failed.out, failed.err]
    assert not [text for text in said if secret in text or "ZQXJ" in text]


@algorithms
def test_the_owners_rows_are_individuals_in_order_of_first_appearance(algorithm: str) -> None:
    result = run(policy_of(algorithm=algorithm, release={"order": "sorted"}), ROWS)
    # Sorted, the person without items comes first: the second to appear.
    assert result.owner.rows.tolist() == [1, 0, 2, 3]
    assert result.owner.as_json()["input"]["rows"] == 4


def test_a_person_without_items_shows_what_means_missing(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("pid,age,illness\np1,30,NA\np2,31,flu\np3,32,NA\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(
        "kveil: 1\ndata: {path: data.csv, missing: [NA]}\nattributes:\n  pid: {role: individual}\n"
        "  age: {role: quasi-identifier}\n  illness: {role: sensitive}\n"
        "privacy: [{model: k-anonymity, k: 3}]\nalgorithm: datafly\n",
        encoding="utf-8",
    )
    policy = tmp_path / "policy.yaml"
    assert support.run("anonymize", policy, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json").code == 0
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "age,illness\n*,NA\n*,NA\n*,flu\n"
    files = ("--release", tmp_path / "r.csv", "--original", tmp_path / "data.csv", "--owner", tmp_path / "o.json")
    assert support.run("verify", policy, *files).code == 0


@pytest.mark.parametrize("shape", ["sets", "long"])
@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_sensitive_values_keep_their_type(shape: str, kind: str) -> None:
    frame = pl.DataFrame({"id": [1, 1, 2, 3, 4], "age": [30, 30, 31, 52, 53], "cost": [1.5, 2.0, 3.0, 4.0, 4.0]})
    spec = {
        "attributes": {
            "id": {"role": "individual"},
            "age": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
            "cost": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "release": {"shape": shape},
        "algorithm": "mondrian",
    }
    policy = kveil.Policy(**spec)
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[kind]
    result = kveil.anonymize(given, policy)
    released = (
        result.data
        if kind == "polars"
        else pl.from_pandas(result.data)
        if kind == "pandas"
        else pl.from_arrow(result.data)
    )
    assert released["cost"].dtype == (pl.Float64 if shape == "long" else pl.List(pl.Float64))
    assert kveil.verify(result.data, policy, original=given, owner=result.owner)


def test_people_who_show_stars_are_in_a_group() -> None:
    frame = pl.DataFrame({"id": ["1", "2", "3"], "sex": ["f", "m", "m"], "ill": ["flu", "gout", "flu"]})
    spec = {
        "attributes": {"id": {"role": "individual"}, "sex": {"role": QUASI}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": "mondrian",
    }
    loss = kveil.anonymize(frame, kveil.Policy(**spec)).account["loss"]
    assert (loss["discernibility"], loss["average_group"]) == (9, 1.5)
