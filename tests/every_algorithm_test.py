"""The battery that every algorithm passes before its own tests: it joins by standing in the registry.

Random tables and policies, as far as an algorithm honours them; then the traps that tools of this field fall
into, each as a small table.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from battery import algorithms_for, cases_for, close, every_algorithm, honours, solve
from kveil.algorithms.algorithm import BOUNDARIES, MANY, RANGES, Algorithm, asks
from kveil.algorithms.registry import ALGORITHMS, find
from kveil.engines.solver import run
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.measure import measure_sources
from kveil.flow.steps.inputs import read, with_algorithm
from kveil.flow.steps.request import Request
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.table.encode import encode
from kveil.testing import FEWEST_SOLVED
from naive import release as naive
from strategies import Case, Placed, cases, examples, placed, rows_of


def same_losses(found: dict[str, Any], exact: dict[str, Any]) -> bool:
    keys = ("precision", "il", "il_per_cell", "ncp", "average_group")
    return found["discernibility"] == exact["discernibility"] and all(close(found[key], exact[key]) for key in keys)


# ---------------------------------------------------------------------------------------------- random policies


@every_algorithm
def test_a_release_keeps_every_promise(algorithm: Algorithm) -> None:
    solved: list[bool] = []

    @given(data=st.data())
    @examples(60)
    def every_promise_is_kept(data: st.DataObject) -> None:
        with placed(data.draw(cases_for(algorithm))) as here:
            result = solve(algorithm, here)
            solved.append(result is not None)
            if result is not None:
                keeps_every_promise(here, result)

    every_promise_is_kept()
    # An algorithm that gave up on everything would keep every promise.
    assert sum(solved) >= FEWEST_SOLVED * len(solved) > 0


def keeps_every_promise(here: Placed, result: Result) -> None:
    case = here.case
    twin, rows, aligned = here.twin, rows_of(result.data), result.owner.rows.tolist()
    assert verify(result.data, here.policy, original=case.frame(), owner=result.owner).findings == []
    assert verify(result.data, here.policy).findings == []  # without the original, too
    assert naive.recount(twin, rows).broken == []

    # The same by hand: k, cells that are ancestors inside their boundaries, unchanged cells, the limit.
    found = naive.recount(twin, rows, case.records, aligned)
    assert found.broken == []
    for said, counted in zip(result.account["guarantees"], found.guarantees, strict=True):
        assert {key: said[key] for key in counted} == counted

    secret = [name for name, a in twin.attributes.items() if a["role"] == "identifier"]
    assert result.data.columns == [name for name in case.columns if name not in secret]
    assert len(set(aligned)) == len(aligned)
    records = result.account["records"]
    gone = {int(i) for reason in result.owner.suppressed.values() for i in reason}
    event(f"suppressed, {twin.show}" if gone else "nothing suppressed")
    assert records == {"input": len(case.rows), "released": len(case.rows) - len(gone), "suppressed": len(gone)}
    assert found.suppressed <= records["suppressed"] <= twin.limit * len(case.rows)
    if twin.show == "drop":
        assert set(range(len(case.rows))) - set(aligned) == gone
    else:
        assert sorted(aligned) == list(range(len(case.rows)))
        starred = {at for at, row in zip(aligned, rows, strict=True) if starred_anywhere(twin, row)}
        assert gone <= starred
    texts = [tuple(row.values()) for row in rows]
    assert (aligned if twin.order == "keep" else texts) == sorted(aligned if twin.order == "keep" else texts)


def starred_anywhere(twin: naive.Policy, row: naive.Row) -> bool:
    return any(naive.starred_in(row, component) for component in twin.components)


@every_algorithm
@given(data=st.data())
@examples(40)
def test_losses_are_those_of_the_slow_twin_and_of_measure(algorithm: Algorithm, data: st.DataObject) -> None:
    case = data.draw(cases_for(algorithm))
    with placed(case) as here:
        assume(honours(algorithm, here.policy))
        policy, folder, twin = with_algorithm(here.policy, algorithm.name), here.path.parent, here.twin
        try:
            targets = Targets(folder / "out.csv", owner=folder / "owner.json")
            account = anonymize_file(Request.of(policy), folder / "data.csv", targets)
        except kveil.Unmeetable:
            return
        owner = Owner.load(folder / "owner.json")
        shown: list[naive.Row | None] = [None] * len(case.rows)
        with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
            for at, row in zip(owner.rows.tolist(), csv.DictReader(file), strict=True):
                shown[at] = row

        # Who is suppressed in which component is the algorithm's to say.
        table = encode(from_frame(case.frame()), policy)
        solution = run(algorithm, table, {})
        suppressed = {
            (i, twin.components[c])
            for c, row in enumerate(solution.suppressed.tolist())
            for i, s in enumerate(row)
            if s
        }
        exact = naive.losses(twin, case.records, shown, suppressed)
        assert same_losses(account["loss"], exact)
        for name, loss in account["loss_by_attribute"].items():
            assert all(close(loss[key], exact["attributes"][name][key]) for key in loss)

        measured = measure_sources(read(policy, folder / "out.csv"), policy, read(policy, folder / "data.csv"), owner)
        by_texts = naive.suppressed_by_texts(twin, case.records, shown)
        assert same_losses(measured.losses.as_json(), naive.losses(twin, case.records, shown, by_texts))
        assert measured.records["suppressed"] == len({i for i, _ in by_texts})
        # Stars cost everything, suppressed or not, unless the hierarchy has nothing to lose.
        untold = suppressed ^ by_texts
        if all(star_costs_all(twin, case, i, name) for i, component in untold for name in component):
            event("measure equals account")
            assert same_losses(measured.losses.as_json(), exact)


def star_costs_all(twin: naive.Policy, case: Case, i: int, name: str) -> bool:
    hierarchy = twin.hierarchy(name, [row[name] for row in case.records])
    was = twin.text(case.records[i][name])
    return hierarchy.ncp("*") == hierarchy.il("*") == hierarchy.precision_loss(was, "*") == 1


@every_algorithm
@given(data=st.data())
@examples(25)
def test_the_same_twice_and_for_shuffled_rows(algorithm: Algorithm, data: st.DataObject) -> None:
    case = data.draw(cases_for(algorithm, order="sorted"))
    order = list(range(len(case.rows)))
    Random(data.draw(st.integers(0, 999))).shuffle(order)
    with placed(case) as here:
        first, again, shuffled = (solve(algorithm, here, rows) for rows in (None, None, order))
        if first is None:
            assert again is None
            assert shuffled is None
            return
        assert again is not None
        assert shuffled is not None
        assert first.data.write_csv() == again.data.write_csv() == shuffled.data.write_csv()
        assert first.owner.rows.tolist() == again.owner.rows.tolist()
        accounts = [rounded(result.account | {"seconds": None}) for result in (first, again, shuffled)]
        assert accounts[0] == accounts[1] == accounts[2]


def rounded(content: Any) -> Any:
    """An account whose sums may have been taken in any order."""
    if isinstance(content, dict):
        return {key: rounded(value) for key, value in content.items()}
    if isinstance(content, list):
        return [rounded(value) for value in content]
    return round(content, 12) if isinstance(content, float) else content


@every_algorithm
@given(data=st.data())
@examples(30)
def test_a_table_that_holds_already_is_never_given_up(algorithm: Algorithm, data: st.DataObject) -> None:
    case = data.draw(cases_for(algorithm))
    with placed(case) as here:
        assume(honours(algorithm, here.policy))
        assume(len(case.rows) >= here.twin.largest_k)
        raw = [{name: here.twin.text(row[name]) for name in here.twin.quasi} for row in case.records]
        if naive.recount(here.twin, [{**row, **new} for row, new in zip(case.records, raw, strict=True)]).broken:
            return
        event("holds already")
        assert solve(algorithm, here) is not None


@given(cases())
@examples(60)
def test_datafly_gives_up_only_where_the_most_general_table_fails(case: Case) -> None:
    with placed(case) as here:
        if solve(find("datafly"), here) is None and len(case.rows) >= here.twin.largest_k:
            event("gave up")
            lost = naive.most_general(here.twin, case.records).lost
            assert len(lost) > here.twin.limit * len(case.rows)


@given(cases())
@examples(15)
def test_auto_takes_the_smallest_loss(case: Case) -> None:
    with placed(case) as here:
        able = [algorithm for algorithm in ALGORITHMS if honours(algorithm, here.policy)]
        alone = {algorithm.name: solve(algorithm, here) for algorithm in able}
        solved = {name: result.account["loss"]["ncp"] for name, result in alone.items() if result is not None}
        if not solved:
            with pytest.raises(kveil.Unmeetable):
                kveil.anonymize(case.frame(), here.policy, algorithm="auto")
            return
        account = kveil.anonymize(case.frame(), here.policy, algorithm="auto").account
        assert account["loss"]["ncp"] <= min(solved.values())  # auto refines the best once more
        assert account["algorithm"] in solved
        assert {tried["algorithm"]: tried["solved"] for tried in account["tried"]} == {
            name: name in solved for name in alone
        }
        for tried in account["tried"]:  # what was not run, since another one finds the same, does find the same
            if tried["solved"] and "reason" in tried and here.policy.loss == "ncp":
                assert tried["loss"] == solved[tried["algorithm"]]


# ---------------------------------------------------------------------------------------------- threads


RUN = """
import json, sys
from pathlib import Path
import kveil
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.steps.inputs import with_algorithm
from kveil.flow.steps.request import Request
for folder in map(Path, sys.argv[1:]):
    for name in json.loads((folder / "algorithms.json").read_text()):
        policy = with_algorithm(kveil.Policy.load(folder / "policy.yaml"), name)
        try:
            targets = Targets(folder / "out.csv", owner=folder / "owner.json")
            account = anonymize_file(Request.of(policy), folder / "data.csv", targets)
        except kveil.Unmeetable as error:
            print(folder.name, name, error)
            continue
        made = [(folder / file).read_bytes() for file in ("out.csv", "owner.json")]
        print(folder.name, name, made, account["loss"])
"""


def large_case() -> Case:
    """Enough rows for every library to split them over its threads."""
    random = Random(7)
    rows = []
    for _ in range(12_000):
        birth = f"19{random.randrange(20, 99)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"
        zip_code = f"0{random.randrange(2100, 2190)}{random.randrange(10)}"
        rows.append((birth, zip_code, str(random.randrange(18, 90)), random.choice("mf?"), random.choice("abcdefgh")))
    policy = """
kveil: 1
data: {missing: ["?"]}
attributes:
  birth: {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3, 2]}}}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [5, 10, 20]}}}
  sex: {role: quasi-identifier}
  disease: {role: sensitive}
privacy: [{model: k-anonymity, k: 5}]
suppression: {limit: 0.02}
"""
    return Case(policy, (), ("birth", "zip", "age", "sex", "disease"), tuple(rows))


def test_the_same_bytes_on_one_and_on_two_threads(tmp_path: Path) -> None:
    drawn: list[Case] = [large_case()]

    @given(cases())
    @examples(12)
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    folders = []
    for number, case in enumerate(drawn):
        folder = tmp_path / str(number)
        folder.mkdir()
        policy = kveil.Policy.load(case.write(folder))
        names = [algorithm.name for algorithm in ALGORITHMS if honours(algorithm, policy)]
        (folder / "algorithms.json").write_text(json.dumps(names))
        folders.append(str(folder))
    outputs = []
    for threads in ("1", "2"):
        environment = os.environ | {"POLARS_MAX_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", RUN, *folders],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") >= len(drawn)
    assert outputs[0].count("'ncp':") > len(drawn) // 3


# ---------------------------------------------------------------------------------------------- traps


def policy_of(text: str) -> kveil.Policy:
    return Policy.parse(text, "policy.yaml", Path())


def table(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def release(algorithm: Algorithm, policy: str, frame: Any) -> Result:
    return kveil.anonymize(frame, policy_of(policy), algorithm=algorithm.name)


ONE = """
kveil: 1
data: {missing: ["", "?"]}
attributes:
  a: {role: quasi-identifier}
  b: {role: quasi-identifier}
  s: {role: sensitive}
privacy: [{model: k-anonymity, k: 2}]
release: {order: keep}
"""
MASKED = ONE.replace("a: {role: quasi-identifier}", "a: {role: quasi-identifier, hierarchy: {mask: {keep: [1]}}}")
BY_FIVES = ONE.replace(
    "a: {role: quasi-identifier}",
    "a: {role: quasi-identifier, boundary: {level: 1}, hierarchy: {intervals: {from: 0, to: 100, widths: [5, 50]}}}",
)


@algorithms_for(ONE)
def test_a_unique_missing_value_is_counted(algorithm: Algorithm) -> None:
    # Five records have others like them, the sixth is the only one with a missing value: dropping it from the
    # count would release the table as it is.
    frame = table(a=["x", "x", "y", "y", "x", "?"], b=["m"] * 6, s=list("123456"))
    rows = rows_of(release(algorithm, ONE, frame).data)
    assert rows[5]["a"] == "*"
    sizes = naive.Counter((row["a"], row["b"]) for row in rows)
    assert min(sizes.values()) >= 2


@algorithms_for(ONE)
def test_missing_equals_missing_however_it_is_written(algorithm: Algorithm) -> None:
    frame = table(a=["x", "x", "?", ""], b=["m", "m", "m", "m"], s=list("1234"))
    assert [row["a"] for row in rows_of(release(algorithm, ONE, frame).data)] == ["x", "x", "", ""]


@algorithms_for(MASKED)
def test_a_missing_value_is_no_other_value(algorithm: Algorithm) -> None:
    # Nothing may be guessed for a missing value: it shows itself or the root.
    frame = table(a=["11", "12", "", ""], b=["m"] * 4, s=list("1234"))
    shown = [row["a"] for row in rows_of(release(algorithm, MASKED, frame).data)]
    assert shown[0] == shown[1]
    assert shown[0] in {"1*", "*"}
    assert shown[2] == shown[3]
    assert shown[2] in {"", "*"}


@algorithms_for(BY_FIVES)
@pytest.mark.parametrize("whole", [True, False])
def test_25_is_not_in_20_to_25(algorithm: Algorithm, whole: bool) -> None:
    half = "" if whole else ".5"
    frame = table(a=["20", f"24{half}", "25", f"29{half}"], b=["m"] * 4, s=list("1234"))
    shown = [row["a"] for row in rows_of(release(algorithm, BY_FIVES, frame).data)]
    assert shown == (["20-24"] * 2 + ["25-29"] * 2 if whole else ["[20,25)"] * 2 + ["[25,30)"] * 2)


MANY_K = """
kveil: 1
attributes:
  a: {role: quasi-identifier}
  b: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [%s], k: %s}
  - {model: k-anonymity, attributes: [%s], k: %s}
release: {order: keep}
"""


@algorithms_for(MANY_K % ("a", 2, "b", 3))
@pytest.mark.parametrize("first", ["a", "b"])
def test_every_constraint_has_its_own_k(algorithm: Algorithm, first: str) -> None:
    # Values of a stand twice, those of b three times: fine for 2 and 3, whichever comes first.
    ks = {"a": 2, "b": 3}
    second = "b" if first == "a" else "a"
    frame = table(a="uuvvww", b="xxxyyy")
    fine = release(algorithm, MANY_K % (first, ks[first], second, ks[second]), frame)
    assert rows_of(fine.data) == rows_of(frame)
    # The other way round b still holds and a must be generalized.
    swapped = release(algorithm, MANY_K % (first, ks[second], second, ks[first]), frame)
    assert [row["b"] for row in rows_of(swapped.data)] == list("xxxyyy")
    assert {row["a"] for row in rows_of(swapped.data)} == {"*"}
    worst = {tuple(g["attributes"]): g["k"] for g in swapped.account["guarantees"]}
    assert worst == {("a",): 3, ("b",): 2}


FIXED = """
kveil: 1
attributes:
  a: {role: quasi-identifier, boundary: {level: 0}}
  b: {role: quasi-identifier, boundary: {level: 0}}
privacy: [{model: k-anonymity, k: 2}]
suppression: {limit: %s, show: %s}
release: {order: keep}
"""


@algorithms_for(FIXED % (0, "drop"))
@pytest.mark.parametrize("show", ["drop", "star"])
def test_a_table_that_nothing_can_be_done_about_is_not_released(algorithm: Algorithm, show: str) -> None:
    # The first, unsplit partition is a group like any other.
    with pytest.raises(kveil.Unmeetable):
        release(algorithm, FIXED % (0, show), table(a="xy", b="mm"))


@algorithms_for(ONE)
def test_k_larger_than_the_table_is_unmeetable(algorithm: Algorithm) -> None:
    policy = ONE.replace("k: 2", "k: 4")
    with pytest.raises(kveil.Unmeetable, match=r"\b4\b"):
        release(algorithm, policy, table(a="xxx", b="mmm", s="123"))


@algorithms_for(ONE)
def test_all_rows_equal_are_released_as_they_are(algorithm: Algorithm) -> None:
    frame = table(a="xxx", b="mmm", s="121")
    assert rows_of(release(algorithm, ONE, frame).data) == rows_of(frame)


@algorithms_for(ONE)
def test_one_row_is_a_group_for_k_1(algorithm: Algorithm) -> None:
    frame = table(a="x", b="m", s="1")
    assert rows_of(release(algorithm, ONE.replace("k: 2", "k: 1"), frame).data) == rows_of(frame)


@algorithms_for(FIXED % (0, "drop"))
def test_rows_shown_as_stars_are_no_class(algorithm: Algorithm) -> None:
    frame = table(a="xxxyz", b="mmmmm")
    result = release(algorithm, FIXED % (0.4, "star"), frame)
    assert [row["a"] for row in rows_of(result.data)] == ["x", "x", "x", "*", "*"]
    assert [row["b"] for row in rows_of(result.data)] == ["m", "m", "m", "*", "*"]
    (guarantee,) = result.account["guarantees"]
    assert (guarantee["groups"], guarantee["worst"]) == (1, 3)
    assert result.account["records"] == {"input": 5, "released": 3, "suppressed": 2}
    assert result.account["loss"]["discernibility"] == 3 * 3 + 2 * 5
    assert result.account["loss"]["average_group"] == 1.5


@algorithms_for(FIXED % (0, "drop"))
def test_fewer_stars_than_k_are_warned_of(algorithm: Algorithm) -> None:
    result = release(algorithm, FIXED % (0.4, "star"), table(a="xxxxy", b="mmmmm"))
    assert any("fewer than 2" in warning for warning in result.account["warnings"])


TWO_PARTS = """
kveil: 1
attributes:
  a: {role: quasi-identifier, boundary: {level: 0}}
  b: {role: quasi-identifier, boundary: {level: 0}}
privacy:
  - {model: k-anonymity, attributes: [a], k: 2}
  - {model: k-anonymity, attributes: [b], k: 2}
suppression: {limit: %s, show: %s}
release: {order: keep}
"""


@algorithms_for(TWO_PARTS % (0, "drop"))
@pytest.mark.parametrize("show", ["drop", "star"])
def test_one_limit_for_all_components(algorithm: Algorithm, show: str) -> None:
    # One record is alone in a, another one in b: within 1 of 8 each, together 2 of 8.
    frame = table(a="uxxxyyyy", b="mmmnnnnv")
    with pytest.raises(kveil.Unmeetable):
        release(algorithm, TWO_PARTS % (0.125, show), frame)
    assert release(algorithm, TWO_PARTS % (0.25, show), frame).account["records"]["suppressed"] == 2


@algorithms_for(TWO_PARTS % (0, "drop"))
def test_a_record_is_starred_in_one_component_and_whole_in_the_other(algorithm: Algorithm) -> None:
    result = release(algorithm, TWO_PARTS % (0.25, "star"), table(a="uxxxyyyy", b="mmmnnnnv"))
    assert [row["a"] for row in rows_of(result.data)] == list("*xxxyyyy")
    assert [row["b"] for row in rows_of(result.data)] == list("mmmnnnn*")
    # Half of the cells of two records: 2 of 16.
    assert result.account["loss"]["ncp"] == 0.125
    assert result.account["loss"]["il"] == 2.0


@algorithms_for(TWO_PARTS % (0, "drop"))
def test_dropping_in_one_component_empties_groups_of_the_other(algorithm: Algorithm) -> None:
    # The record alone in a takes its partner in b with it, whose going leaves u in a alone, and so on.
    frame = table(a="zuuxxx", b="mmnnoo")
    policy = TWO_PARTS % ("%s", "drop")
    result = release(algorithm, policy % 0.99, frame)
    kept = rows_of(result.data)
    assert kept == [{"a": "x", "b": "o"}, {"a": "x", "b": "o"}]
    assert result.account["records"]["suppressed"] == 4
    with pytest.raises(kveil.Unmeetable):
        release(algorithm, policy % 0.5, frame)


@algorithms_for(ONE)
def test_a_column_without_a_role_is_refused(algorithm: Algorithm) -> None:
    frame = table(a="xx", b="mm", s="12", extra="pq")
    with pytest.raises(kveil.DataError, match="extra"):
        release(algorithm, ONE, frame)
    with pytest.raises(kveil.DataError, match="lacks s"):
        release(algorithm, ONE, frame.select("a", "b"))


@algorithms_for(ONE)
def test_labels_of_a_frame_are_no_positions(algorithm: Algorithm) -> None:
    columns = {"a": list("xyxyxz"), "b": list("mnmnmn"), "s": list("123456")}
    plain = pd.DataFrame(columns)
    labelled = pd.DataFrame(columns, index=[3, 1, 4, 1, 5, 0])
    policy = ONE + "suppression: {limit: 0.2}\n"
    first, second = release(algorithm, policy, plain), release(algorithm, policy, labelled)
    pd.testing.assert_frame_equal(first.data, second.data)
    assert first.owner.rows.tolist() == second.owner.rows.tolist()
    assert list(second.data.index) == list(range(len(second.data)))


A = "a: {role: quasi-identifier"
# A policy for each thing that an algorithm may or may not honour.
ASKING = {
    MANY: ONE.replace("k: 2}]", "k: 2}, {model: k-anonymity, attributes: [a], k: 3}]"),
    BOUNDARIES: ONE.replace(A, f"{A}, boundary: [x]"),
    RANGES: ONE.replace(A, f"{A}, hierarchy: {{ranges: {{within: [0, 9]}}}}"),
    **{model: ONE.replace("{model: k-anonymity, k: 2}", text) for model, text in {
        "l-diversity": "{model: l-diversity, sensitive: s, l: 2}",
        "p-sensitive": "{model: p-sensitive, sensitive: s, p: 2}",
        "alpha-k": "{model: alpha-k, sensitive: s, alpha: 0.5, k: 2}",
        "t-closeness": "{model: t-closeness, sensitive: s, t: 0.5}",
    }.items()},
}  # fmt: skip


def test_what_a_policy_asks_for_is_named() -> None:
    assert {part: asks(policy_of(policy)) for part, policy in ASKING.items()} == {part: [part] for part in ASKING}


@pytest.mark.parametrize(
    ("algorithm", "part"),
    [
        pytest.param(algorithm, part, id=f"{algorithm.name}-{part}")
        for algorithm in ALGORITHMS
        for part in ASKING
        if part not in algorithm.honours
    ],
)
def test_what_an_algorithm_does_not_honour_is_refused_by_name(algorithm: Algorithm, part: str) -> None:
    with pytest.raises(kveil.Refused, match=part):
        kveil.anonymize(table(a="111", b="mmm", s="123"), policy_of(ASKING[part]), algorithm=algorithm.name)


@pytest.mark.parametrize(
    ("algorithm", "part"),
    [
        pytest.param(algorithm, part, id=f"{algorithm.name}-{part}")
        for algorithm in ALGORITHMS
        for part in ASKING
        if part in algorithm.honours and not algorithm.needs
    ],
)
def test_what_an_algorithm_honours_it_does(algorithm: Algorithm, part: str) -> None:
    frame = table(a="111111", b="mmmmmm", s="123123")
    result = kveil.anonymize(frame, policy_of(ASKING[part].replace("[x]", "['1']")), algorithm=algorithm.name)
    assert all(guarantee["holds"] for guarantee in result.account["guarantees"])


@algorithms_for(FIXED % (0, "drop"))
def test_a_failed_run_leaves_no_file(algorithm: Algorithm, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\nx,m\ny,m\n")
    with pytest.raises(kveil.Unmeetable):
        anonymize_file(
            Request.of(with_algorithm(policy_of(FIXED % (0, "drop")), algorithm.name)),
            tmp_path / "data.csv",
            Targets(tmp_path / "out.csv", receipt=tmp_path / "receipt.json", owner=tmp_path / "owner.json"),
        )
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
