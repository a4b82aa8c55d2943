"""What newcomers met on tables that nobody here had seen, a section per point."""

from __future__ import annotations

import json
import random
from pathlib import Path
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from label_reader import is_true
from support import run

from kveil.frames import from_frame
from kveil.report.story import MOST_BARS, tell_public
from kveil.report.warn.followers import following_columns
from laid_evidence import evidence
from support import run

Spec = dict[str, Any]

# D1: the attack on values that are shown as they are


def health_panel(sign: str, **others: str) -> tuple[Spec, pl.DataFrame]:
    """A panel of 120 people with incomes that nothing generalizes, written with a decimal comma or a point."""
    random = Random(3)
    rows = []
    for person in range(120):
        own = {"id": f"p{person}", "sex": random.choice("FM"), "age": str(random.randint(20, 69))}
        incomes = [f"{random.randint(0, 450) / 40:.2f}" for _ in range(random.randint(1, 4))]
        rows += [own | {"income": income.replace(".", sign)} for income in incomes]
    scale = {"from": 0, "to": "11.5", "widths": ["0.5", 1, 2, 4], "open": "both"}
    policy: Spec = {
        "kveil": 1,
        "data": {"separator": ";"},
        "attributes": {
            "id": {"role": "individual"},
            "sex": {"role": "quasi-identifier"},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}},
            },
            "income": {"role": "sensitive", "hierarchy": {"intervals": scale}},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "individual": {"conflicts": "generalize"},
        "release": others,
        "algorithm": "mondrian",
    }
    return policy, pl.DataFrame(rows)


def figures(attacks: list[Spec]) -> list[Spec]:
    return [{key: value for key, value in one.items() if key not in ("sentence", "title")} for one in attacks]


@pytest.mark.parametrize("shape", ["sets", "long"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_d1_a_column_that_is_shown_as_it_is_keeps_its_risk(shape: str, suffix: str, tmp_path: Path) -> None:
    told = {}
    for sign in ",.":
        policy, frame = health_panel(sign, shape=shape)
        (tmp_path / "p.yaml").write_text(json.dumps(policy))
        frame.write_csv(tmp_path / "c.csv", separator=";")
        files = [tmp_path / "p.yaml", "--original", tmp_path / "c.csv", "--release", tmp_path / f"r{suffix}"]
        files += ["--owner", tmp_path / "o.json", "--json"]
        made = ["anonymize", files[0], "--input", files[2], "-o", files[4], "--owner", files[6], "-q"]
        assert run(*made).code == 0
        assert run("verify", *files).code == 0  # it took the sets of its own release for others
        told[sign] = figures(run("attack", *files).json["attacks"])
    assert told[","] == told["."]
    sets = Counter(frozenset(own) for own in frame.group_by("id").agg("income")["income"].to_list())
    known = next(one for one in told[","] if one["attack"] == "fingerprint" and one["items"] is None)
    assert known["after"]["rate"] == pytest.approx(len(sets) / 120)  # whoever shares a set with n finds 1 in n


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_d1_pythons_report_tells_what_its_attack_tells(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, frame = health_panel(",")
    own: Any = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}[kind]
    result = kveil.anonymize(own, kveil.Policy(**policy))
    expected = kveil.attack(result.data, result.policy, own, result.owner).as_json()["attacks"]
    pages: list[Any] = []
    monkeypatch.setattr("kveil.report.page._report_page", lambda story: pages.append(story) or "")
    result.report(tmp_path / "a.html")
    result.report(tmp_path / "b.html", original=own)
    for story in pages:
        assert story.owner.attacks.as_json()["attacks"] == expected


def test_d1_a_star_is_no_guess_and_rows_of_stars_hide_nobody() -> None:
    rows = [("p0", "a", "x"), ("p1", "a", "x"), ("p2", "a", "y"), ("p3", "a", "y"), ("p4", "b", "z"), ("p5", "c", "w")]
    frame = pl.DataFrame(rows, schema=["who", "q", "s"], orient="row")
    policy = kveil.Policy(
        attributes={
            "who": {"role": "individual"},
            "q": {"role": "quasi-identifier"},
            "s": {"role": "sensitive", "hierarchy": {"tree": {"*": {"xy": ["x", "y"], "wz": ["w", "z"]}}}},
        },
        privacy=[{"model": "k-anonymity", "k": 2}, {"model": "kl-diversity", "sensitive": "s", "k": 1, "l": 1}],
        suppression={"limit": "0.4", "show": "star"},
        release={"order": "keep"},
        algorithm="partition",
    )
    stars = pl.DataFrame({"q": ["a"] * 4 + ["*"] * 2, "s": ["x", "x", "y", "y", "*", "*"]})
    attacks = kveil.attack(stars, policy, frame).as_json()["attacks"]
    played = {(one["attack"], one.get("items", "no")): one["after"] for one in attacks}
    assert played["fingerprint", None]["rate"] == pytest.approx((4 * 1 / 2 + 2 * 1 / 2) / 6)  # not one of four
    all_stars = pl.DataFrame({"q": ["a"] * 4 + ["b", "c"], "s": ["*"] * 6})
    attacks = kveil.attack(all_stars, policy, frame).as_json()["attacks"]
    for one in attacks:
        if one["attack"] in ("homogeneity", "best guess"):
            assert one["after"]["rate"] == 0  # it was 100 %: everybody's value is `*`


def test_d1_every_attack_says_in_words_what_it_is_and_what_is_known() -> None:
    policy, frame = health_panel(",")
    result = kveil.anonymize(frame, kveil.Policy(**policy))
    for one in kveil.attack(result.data, result.policy, frame, result.owner).as_json()["attacks"]:
        assert one["title"]
        assert one["knowing"]
        assert one["sentence"]
        if one["attack"] in ("homogeneity", "best guess", "fingerprint"):
            assert one["sensitive"] == "income"


# D2: two tables, one screen

# D3: labels that are true when read

BREEDS = "Abyssinian Akita Beagle Birman Bombay Boxer Briard Burmese Collie Korat Korean Korthals LaPerm Lhasa Löwchen"


def seen_by_everybody(rng: random.Random, kind: str) -> list[str]:
    """Return a column of texts, dates or numbers: some values are frequent, and many are a single record's."""
    if kind == "moments":
        often = [f"2016/0{month}/{day:02} 02:28:48" for month in (1, 3) for day in (1, 31)]
        rare = [
            f"20{rng.randint(15, 17)}/{rng.randint(1, 12):02}/{rng.randint(1, 28):02} {rng.randint(0, 23):02}:00:00"
            for _ in range(80)
        ]
    elif kind == "dates":
        often = ["01.01.2016", "31.03.2016", "24.12.2017"]
        rare = [f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(2012, 2019)}" for _ in range(80)]
    elif kind == "codes":
        often = ["1", "2", "3", "12"]
        rare = [str(rng.randint(4, 60)) for _ in range(80)]
    else:
        often = ["Korean Jindo", "LaPerm", "ECCO", "Folwell"]
        words = BREEDS.split()
        rare = [f"{rng.choice(words)}{rng.choice(('', ' mix', '-' + rng.choice(words), ' (old)'))}" for _ in range(120)]
    texts = [value for value in often for _ in range(40)] + rare
    rng.shuffle(texts)
    return texts[:200]


@pytest.mark.parametrize("kind", ["moments", "dates", "codes", "names"])
def test_d3_labels_that_init_makes_hold_for_every_value_below_them(tmp_path: Path, kind: str) -> None:
    rng = random.Random(kind)
    texts = seen_by_everybody(rng, kind)
    name = {"moments": "incident_date", "dates": "visit_date", "codes": "type_code", "names": "breed"}[kind]
    frame = pl.DataFrame({name: texts, "sex": rng.choices("FM", k=200), "income": rng.choices(range(900), k=200)})
    frame.write_csv(tmp_path / "t.csv")
    assert run("init", tmp_path / "t.csv", "-o", tmp_path / "t.yaml").code == 0
    policy = kveil.Policy.load(tmp_path / "t.yaml")
    lines = policy.fixed_lines(name)
    assert lines is not None
    assert max(map(len, lines.lines)) > 2
    for value, *above in lines.lines:
        for label in above:
            assert is_true(label, value), (label, value)
    values = set(texts)
    rare = {value for value in values if texts.count(value) < 3}
    for label in {label for line in lines.lines for label in line[1:-1]}:
        assert label not in values
        assert not any(value in label for value in rare if len(value) > 2)
    done = run("anonymize", tmp_path / "t.yaml", "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    assert done.code == 0, done.err
    given = ["--original", tmp_path / "t.csv", "--owner", tmp_path / "o.json"]
    assert run("verify", tmp_path / "t.yaml", "--release", tmp_path / "r.csv", *given).code == 0


HOODS = {"*": {"Other": ["Hale"], "%s": ["ECCO", "East Phillips", "Folwell"]}}


def hood_files(folder: Path, label: str) -> list[str | Path]:
    """Write a table, its release and a policy with a tree whose node has this label; return how to verify it."""
    tree = {"*": {label: HOODS["*"]["%s"], "Other": HOODS["*"]["Other"]}}
    policy = {
        "kveil": 1,
        "data": {"path": "t.csv"},
        "attributes": {"hood": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "release": {"order": "keep"},
        "algorithm": "datafly",
    }
    (folder / "p.yaml").write_text(json.dumps(policy), encoding="utf-8")
    hoods = ["ECCO", "ECCO", "East Phillips", "Folwell", "Folwell", "Hale", "Hale"]
    pl.DataFrame({"hood": hoods}).write_csv(folder / "t.csv")
    pl.DataFrame({"hood": [label] * 5 + ["Other"] * 2}).write_csv(folder / "r.csv")
    return [folder / "p.yaml", "--release", folder / "r.csv"]


@pytest.mark.parametrize("label", ["ECCO … Folwell", "Eb… to Fo…", "F… to H…"])
def test_d3_verify_finds_a_label_with_two_ends_that_a_value_below_lies_outside_of(tmp_path: Path, label: str) -> None:
    verify = hood_files(tmp_path, label)
    for given in ([], ["--original", tmp_path / "t.csv"]):
        done = run("verify", *verify, *given)
        assert done.code == 1
        assert "found: hood shows a label with two ends that a value below lies outside of" in done.out
    done = run("anonymize", verify[0], "-o", tmp_path / "new.csv")
    assert done.code == 2
    assert "rename such labels" in done.err
    assert not (tmp_path / "new.csv").exists()
    assert "the hierarchy of hood has 1 label with two ends" in run("check", verify[0]).out


@pytest.mark.parametrize("label", ["E… to F…", "East-Folwell", "E and F", "Central", "part 1 of 2"])
def test_d3_verify_finds_nothing_in_labels_that_hold_or_are_no_range(tmp_path: Path, label: str) -> None:
    verify = hood_files(tmp_path, label)
    assert run("verify", *verify, "--original", tmp_path / "t.csv").code == 0
    assert run("anonymize", verify[0], "-o", tmp_path / "new.csv").code == 0
    assert "two ends" not in run("check", verify[0]).out


def test_d3_hierarchy_check_and_build_agree_on_what_labels_say(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("18;18-25;*\n26;18-25;*\n30;26-40;*\n", encoding="utf-8")
    assert "1 label with two ends" in run("hierarchy", "check", tmp_path / "h.csv").out
    hoods = [f"{word} {end}" for word in BREEDS.split() for end in ("East", "west", "2")]
    pl.DataFrame({"hood": hoods * 6}).write_csv(tmp_path / "t.csv")
    build = run("hierarchy", "build", tmp_path / "t.csv", "--column", "hood", "--as", "balanced")
    (tmp_path / "b.csv").write_text(build.out, encoding="utf-8")
    assert "two ends" not in run("hierarchy", "check", tmp_path / "b.csv").out
    lines = [line.split(";") for line in build.out.splitlines()]
    assert all(is_true(label, value) for value, *above in lines for label in above)
    assert any("…" in label for line in lines for label in line)


# D4: why l cannot be had

# D5: which column gives which back


def table_with_rules(random: Random) -> dict[str, list[str]]:
    """A quasi-identifier that is hidden, and columns that give it back, follow from it, or neither."""
    values = [f"v{i}" for i in range(random.randint(4, 12))]
    kinds: dict[str, Callable[[str], str]] = {
        "region": lambda value: f"r{int(value[1:]) % 2}",
        "code": lambda value: f"{value}-{random.randint(0, 2)}",
        "same": lambda value: f"s{value}",
        "noise": lambda _: random.choice("abc"),
    }
    rows = [random.choice(values) for _ in range(random.randint(30, 80))]
    columns = {name: [make(value) for value in rows] for name, make in kinds.items() if random.random() < 0.7}
    for cells in columns.values():
        if random.random() < 0.3:
            cells[random.randrange(len(cells))] = "odd"
    return {"zip": rows, **columns}


def right_guesses(known: list[str], hidden: list[str]) -> int:
    """Of how many rows the most frequent hidden value beside the known one is theirs."""
    beside = defaultdict(Counter)  # type: ignore[var-annotated]
    for one, other in zip(known, hidden, strict=True):
        beside[one][other] += 1
    return sum(max(counts.values()) for counts in beside.values())


def test_d5_which_column_gives_which_back_is_what_counting_says() -> None:
    ways = Counter[str]()
    for seed in range(150):
        table = table_with_rules(Random(seed))
        others = [name for name in table if name != "zip"]
        rows = len(table["zip"])
        roles = {"zip": {"role": "quasi-identifier"}} | {name: {"role": "insensitive"} for name in others}
        policy = kveil.Policy(attributes=roles, privacy=[{"model": "k-anonymity", "k": rows}])
        for warning in following_columns(evidence(policy, table, {**table, "zip": ["*"] * rows})):
            back = re.match(r"(.+?) (?:each give|gives) zip back", warning)
            follow = re.match(r"(.+?) (?:each follow|follows) from zip", warning)
            found = back or follow
            assert found is not None
            for name in re.split(", | and ", found[1]):
                ways["back" if back else "follow"] += 1
                known = right_guesses(table[name], table["zip"])
                if back:
                    assert known >= 0.95 * rows
                    assert f"{known:,} of {rows} records" in warning or f"{name} of {known:,}" in warning
                else:
                    assert known < 0.95 * rows
                    assert right_guesses(table["zip"], table[name]) >= 0.95 * rows
                    beside = [
                        len({zip_ for zip_, own in zip(table["zip"], table[name], strict=True) if own == value})
                        for value in set(table[name])
                    ]
                    low, high = min(beside), max(beside)
                    assert f"beside {low} to {high}" in warning or (f"beside {low}" in warning and low == high)
                assert name != "noise"
                assert not any(value in warning.split() for value in {*table["zip"], *table[name]} - {"odd"})
    assert min(ways["back"], ways["follow"]) > 30


def test_d5_a_school_leaving_certificate_does_not_give_people_back() -> None:
    people = [str(number) for number in range(40) for _ in range(3)]
    school = [f"s{int(number) % 4}" for number in people]
    policy = kveil.Policy(
        attributes={"person": {"role": "quasi-identifier"}, "school": {"role": "insensitive"}},
        privacy=[{"model": "k-anonymity", "k": 50}],
    )
    (warning,) = following_columns(
        evidence(policy, {"person": people, "school": school}, {"person": ["*"] * 120, "school": school})
    )
    assert warning.startswith("school follows from person")
    assert (
        "it does not give person back, but narrows it down (each of its values stands beside 10 of person)" in warning
    )
    assert "120 records of 120 fall below k 50" in warning


# D6: what SPSS and Stata files say of their columns

# D8: types that the README's uses rely on

# D9: small things


def report_of(tmp_path: Path, ages: list[str], spec: Spec, k: int = 2) -> str:
    policy = kveil.Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": spec}, "d": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": 1},
        algorithm="mondrian",
    )
    result = kveil.anonymize(pl.DataFrame({"age": ages, "d": ["x"] * len(ages)}), policy)
    result.report(tmp_path / "r.html")
    return (tmp_path / "r.html").read_text()


def test_d9_labels_of_a_report_stand_in_the_order_of_their_numbers() -> None:
    policy = kveil.Policy(
        attributes={"q": {"role": "quasi-identifier"}}, privacy=[{"model": "k-anonymity", "k": 1}], algorithm="mondrian"
    )
    frame = pl.DataFrame({"q": ["1"]})
    receipt = kveil.anonymize(frame, policy).receipt
    orders = [
        ["<0.5", "[0.5,1)", "[2,3)", "[10,10.5)", "10.25", ">=12", "unknown"],
        ["<-5", "[-10,-3]", "-4", "0-4", "0-9", "5-9", "10-19", ">=20"],
        ["[-10.5,-2)", "[-2,0)", "[0,10)", "[10,20)", "[100,110)"],
    ]
    for order in orders:  # as texts, `<0.5` came last, and numbers below 0 after all others
        for seed in range(5):
            shown = pl.DataFrame({"q": Random(seed).sample(order, len(order))})
            story = tell_public(policy, receipt, from_frame(shown))
            assert [label for label, _ in story.columns[0].after] == order


def test_d9_one_label_more_than_are_drawn_is_drawn(tmp_path: Path) -> None:
    ages = [str(age) for age in range(MOST_BARS + 1)] * 2
    page = report_of(tmp_path, ages, {"intervals": {"from": 0, "to": 99, "widths": [10]}})
    assert "1 other" not in page
    assert f">{MOST_BARS}<" in page


def test_d9_a_printed_report_has_its_colours_its_table_and_its_day(tmp_path: Path) -> None:
    policy = {
        "kveil": 1,
        "attributes": {"age": {"role": "quasi-identifier"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    (tmp_path / "p.yaml").write_text(json.dumps(policy))
    (tmp_path / "visits & more.csv").write_text("age\n1\n2\n")
    arguments = ["--input", tmp_path / "visits & more.csv", "-o", tmp_path / "r.csv", "-q"]
    assert run("anonymize", tmp_path / "p.yaml", *arguments, "--report", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text()
    assert f"Table: visits &amp; more.csv. Report of {date.today().isoformat()}." in page
    assert "<title>Release report: visits &amp; more.csv, " in page
    printed = page.partition("@media print")[2]
    assert re.search(r"\.meter i, \.dot, \.tree \.bar \{ print-color-adjust: exact", printed)
    assert ".card { break-inside: auto; }" in printed  # so that no small column has a page of its own
    assert run("anonymize", tmp_path / "p.yaml", *arguments, "--report", tmp_path / "r.html", "--public").code == 0
    assert "visits" not in (tmp_path / "r.html").read_text().partition('id="again"')[0]
