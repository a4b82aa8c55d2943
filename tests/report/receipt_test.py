"""Receipt and account: what may be published about a run, and what is the owner's alone."""

import json
import pickle
import re
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.report.receipt import round_to_step, step_of
from support import ROWS, columns_of, make_policy, run, write_policy, write_rows

PRIVATE = {"tried", "details", "seconds", "loss_by_attribute"}
SHARES = ("precision", "il_per_cell", "ncp")


def frame(times: int = 1) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(columns_of())] * times)


def test_the_receipt_is_the_account_without_what_only_the_owner_may_know() -> None:
    result = kveil.anonymize(frame(), make_policy())
    assert set(result.account) - set(result.receipt) == PRIVATE
    assert set(result.receipt) <= set(result.account)
    assert set(result.account["loss"]) - set(result.receipt["loss"]) == {"il"}
    assert result.receipt["engine"] == result.account["engine"] == "local"


@pytest.mark.parametrize("times", [1, 7, 30, 2000])
def test_published_means_are_rounded_so_that_ten_records_could_have_made_the_difference(times: int) -> None:
    result = kveil.anonymize(frame(times), make_policy())
    step = max(Fraction(1, 1000), Fraction(10, 9 * times))
    for key in SHARES:
        exact, published = result.account["loss"][key], result.receipt["loss"][key]
        assert abs(Fraction(exact) - Fraction(published)) <= step / 2 + Fraction(1, 10**12)
        multiple = Fraction(published) / step
        assert published == 1.0 or abs(multiple - round(multiple)) < Fraction(1, 10**9)  # none above 1
        assert 0 <= published <= 1


def test_means_are_rounded_to_the_nearest_multiple() -> None:
    assert step_of(100) == Fraction(1, 10)
    assert step_of(10**9) == Fraction(1, 1000)
    assert step_of(0) == 10
    assert round_to_step(0.1576, Fraction(1, 1000)) == 0.158
    assert round_to_step(0.24, Fraction(1, 10)) == 0.2


def test_no_exact_mean_of_a_small_table_tells_one_record_apart() -> None:
    # Two tables that differ in one suppressed record alone have the same receipt; their accounts differ.
    policy = make_policy(k=4)
    other = frame().with_columns(pl.col("age").replace({"95": "15"}))
    one, two = (kveil.anonymize(table, policy) for table in (frame(), other))
    assert one.data.equals(two.data)
    assert one.receipt == two.receipt


def test_groups_are_counted_on_the_release_alone() -> None:
    result = kveil.anonymize(frame(), make_policy())
    sizes = result.data.group_by("age", "sex").len()["len"].to_list()
    assert result.receipt["loss"]["discernibility"] == sum(size**2 for size in sizes)
    assert result.receipt["loss"]["average_group"] == sum(sizes) / len(sizes) / 2
    assert result.account["loss"]["discernibility"] == sum(size**2 for size in sizes) + 9


def test_where_nobody_is_suppressed_both_count_the_same_groups() -> None:
    result = kveil.anonymize(frame(3), make_policy(limit=0))
    assert result.account["records"]["suppressed"] == 0
    for key in ("discernibility", "average_group"):
        assert result.receipt["loss"][key] == result.account["loss"][key]  # type: ignore[literal-required]


def test_starred_rows_are_in_no_group_and_alike_to_every_released_row() -> None:
    result = kveil.anonymize(frame(), make_policy(suppression={"limit": 0.2, "show": "star"}))
    assert result.data.height == 9
    shown = result.data.filter(pl.col("age") != "*").group_by("age", "sex").len()["len"].to_list()
    assert result.receipt["loss"]["discernibility"] == sum(size**2 for size in shown) + (9 - sum(shown)) * 9


PEOPLE = {"person": {"role": "individual"}, "age": {"role": "quasi-identifier"}, "diagnosis": {"role": "sensitive"}}


def test_how_many_records_people_have_is_not_published() -> None:
    table = pl.DataFrame({"person": list("aabbccdd"), "age": list("11111111"), "diagnosis": list("xyxyxyxy")})
    result = kveil.anonymize(table, make_policy(PEOPLE))
    assert result.account["records"] == {"input": 8, "released": 8, "suppressed": 0}
    assert result.receipt["records"] is None
    assert result.receipt["individuals"] == {"input": 4, "released": 4, "suppressed": 0}


@pytest.mark.parametrize("loss", ["ncp", "il", "precision"])
def test_the_published_bound_is_rounded_like_the_loss(loss: str) -> None:
    result = kveil.anonymize(frame(5), make_policy(k=20, loss=loss), bound=True)
    exact, published = result.account["bound"], result.receipt["bound"]
    assert exact is not None
    assert published is not None
    assert exact["at_least"] > 0
    cells = 45 * 2 if loss == "il" else 1
    share = Fraction(published["at_least"]) / cells / step_of(45)
    assert abs(share - round(share)) < Fraction(1, 10**9)
    assert abs(exact["at_least"] - published["at_least"]) <= float(step_of(45) / 2) * cells + 1e-9


def test_warnings_that_only_the_original_tells_are_the_owners() -> None:
    # The right side of a rule narrows groups down; by how much is known to whoever has the original.
    attributes = {"zip": {"role": "quasi-identifier"}, "city": {"role": "quasi-identifier"}}
    table = pl.DataFrame({"zip": list("1122"), "city": list("aabb")})
    policy = make_policy(attributes, dependencies=["zip -> city"])
    result = kveil.anonymize(table, policy)
    verdict = kveil.verify(result.data, policy, original=table, owner=result.owner)
    assert set(result.receipt["warnings"]).isdisjoint(verdict.private_warnings)
    assert set(result.receipt["warnings"]) <= set(result.account["warnings"])


def test_what_auto_tried_is_the_owners(tmp_path: Path) -> None:
    result = kveil.anonymize(frame(), make_policy(algorithm="auto"))
    assert len(result.account["tried"]) > 5
    assert "tried" not in json.dumps(result.receipt)


# ---------------------------------------------------------------------------------------------- files


def test_the_account_is_a_private_file_and_what_json_prints(tmp_path: Path) -> None:
    policy, data = write_policy(tmp_path), write_rows(tmp_path / "t.csv")
    account, receipt = tmp_path / "account.json", tmp_path / "receipt.json"
    written = ["-o", tmp_path / "r.csv", "--account", account, "--receipt", receipt]
    done = run("anonymize", policy, "--input", data, *written, "--json")
    assert done.code == 0, done.err
    assert json.loads(account.read_bytes()) == done.json
    assert stat.S_IMODE(account.stat().st_mode) == 0o600
    assert set(done.json) - set(json.loads(receipt.read_bytes())) == PRIVATE
    assert set(done.json["seconds"]) == {"read", "solve", "verify", "write"}


def texts_of(page: Path) -> str:
    return re.sub(r"clip\d+", "clip", page.read_text(encoding="utf-8"))  # pictures number their clippings on and on


def test_the_public_report_is_made_from_the_receipt_alone(tmp_path: Path) -> None:
    result = kveil.anonymize(frame(), make_policy(algorithm="auto"))
    public, owners = tmp_path / "public.html", tmp_path / "owner.html"
    result.report(public, public=True)
    result.report(owners)
    for word in ("What auto tried", "loss_by_attribute", "The account", "Loss by column"):
        assert word not in texts_of(public)
        assert word in texts_of(owners)
    assert "The receipt" in texts_of(public)
    exact = f"{result.account['loss']['ncp']}"
    assert exact in texts_of(owners)
    assert exact not in texts_of(public)


# ---------------------------------------------------------------------------------------------- results


def test_a_result_tells_nothing_of_the_way_back() -> None:
    result = kveil.anonymize(frame(), make_policy())
    assert repr(result) == "Result(8 of 9 records released by datafly, verified)"
    assert repr(result.owner) == "Owner(private: 8 released rows of 9)"
    html = result._repr_html_()
    for row in ROWS:
        assert row[0] not in repr(result) + html


def reachable(thing: Any, seen: set[int]) -> list[object]:
    """Return all that an object holds, through attributes, containers and closures."""
    if id(thing) in seen or isinstance(thing, type):
        return []
    seen.add(id(thing))
    parts: list[object] = [thing]
    inside: list[object] = []
    if isinstance(thing, dict):
        inside = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inside = list(thing)
    elif isinstance(thing, pl.DataFrame):
        inside = list(thing.get_columns())
    elif hasattr(thing, "__closure__") and thing.__closure__:
        inside = [cell.cell_contents for cell in thing.__closure__]
    elif hasattr(thing, "__dict__"):
        inside = list(vars(thing).values())
    for part in inside:
        parts += reachable(part, seen)
    return parts


def test_a_result_keeps_no_identifier_and_a_pickled_one_nothing_of_the_original(tmp_path: Path) -> None:
    people = {**PEOPLE, "name": {"role": "identifier"}}
    names = [f"name-{row}" for row in range(8)]
    persons = [f"person-{row // 2}" for row in range(8)]
    table = pl.DataFrame({"person": persons, "age": list("11111122"), "diagnosis": list("xyxyxyxy"), "name": names})
    policy = make_policy(people, limit=0.5)
    result = kveil.anonymize(table, policy)
    held = [part for part in reachable(result, set()) if isinstance(part, pl.Series)]
    assert held
    for column in held:
        assert not {str(value) for value in column.to_list()}.intersection([*names, *persons])
    packed = pickle.dumps(result)
    for value in (*names, *persons):
        assert value.encode() not in packed
    again = pickle.loads(packed)
    assert again.account == result.account
    assert again.data.equals(result.data)
    with pytest.raises(kveil.DataError, match="original=…"):
        again.report(tmp_path / "r.html")
    again.report(tmp_path / "r.html", public=True)
    again.report(tmp_path / "again.html", original=table)
    result.report(tmp_path / "first.html")
    assert texts_of(tmp_path / "again.html") == texts_of(tmp_path / "first.html")
